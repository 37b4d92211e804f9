//! The machine a run was measured on: its processor, memory, limits, devices and permissions.
//!
//! These are plain facts, as reported by the kernel and tools. A fact that the machine does not
//! report is `None` or an empty list; one that exists but could not be read or understood is also
//! listed, with the reason, in [`Machine::unread`]. The host's name is left out on purpose, so that
//! a run directory can be shown to others.
//!
//! Every structure accepts documents that lack some of its fields, so that fields can be added.

mod storage;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use storage::{BlockDevice, DeviceNumber, LoopBacking, Mount, Storage, WriteCache};

/// Everything known about a computer at the time it was described.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Machine {
    /// The operating system's distribution.
    pub os_release: OsRelease,
    /// The running kernel.
    pub kernel: Kernel,
    /// The processor, over all its sockets.
    pub processor: Processor,
    /// The processor's caches, by level, then data before instruction before unified.
    pub caches: Vec<Cache>,
    /// Main memory.
    pub memory: Memory,
    /// The control groups that this process is in; `None` if the kernel shows none.
    pub cgroup: Option<Cgroup>,
    /// The kernel's clock source.
    pub clock_source: ClockSource,
    /// Each processor vulnerability and what the kernel does about it
    /// (`/sys/devices/system/cpu/vulnerabilities/*`), for example `meltdown` -> `Mitigation: PTI`.
    pub mitigations: BTreeMap<String, String>,
    /// The hypervisor, or `unknown` if there is one that does not give its name; `None` on bare
    /// metal or if there is no way to tell.
    pub hypervisor: Option<String>,
    /// When the kernel started, in seconds since 1970 UTC (`btime` in `/proc/stat`).
    pub boot_time_unix_s: Option<u64>,
    /// How much dirty data the kernel keeps, and for how long.
    pub dirty_limits: DirtyLimits,
    /// The tendency to reclaim cached dentries and inodes: 100 is the kernel's default, 0 never
    /// reclaims them (`/proc/sys/vm/vfs_cache_pressure`).
    pub vfs_cache_pressure: Option<u32>,
    /// The tendency to swap rather than drop page cache, from 0 to 200 (`/proc/sys/vm/swappiness`).
    pub swappiness: Option<u32>,
    /// What this process may do here.
    pub permissions: Permissions,
    /// The names of all file systems that are registered with the kernel (`/proc/filesystems`).
    pub kernel_file_systems: Vec<String>,
    /// The file systems that can become scratch targets, and what the kernel and the installed
    /// tools offer for each.
    pub file_systems: Vec<FileSystemSupport>,
    /// The storage below the directories that matter to the run.
    pub storage: Vec<Storage>,
    /// Files that exist but could not be read or understood.
    pub unread: Vec<Unread>,
}

/// A file that exists but yielded no information.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Unread {
    /// The file's path on the described machine.
    pub source: String,
    /// Why it yielded none.
    pub reason: String,
}

/// The distribution, from `/etc/os-release` or `/usr/lib/os-release`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct OsRelease {
    /// `ID`: a lower-case word such as `debian`.
    pub id: Option<String>,
    /// `VERSION_ID`, such as `12`; rolling distributions have none.
    pub version_id: Option<String>,
    /// `PRETTY_NAME`, for people, such as `Debian GNU/Linux 12 (bookworm)`.
    pub pretty_name: Option<String>,
}

/// The running kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Kernel {
    /// The release, such as `6.1.0-25-amd64` (`/proc/sys/kernel/osrelease`).
    pub release: Option<String>,
    /// The build, such as `#1 SMP PREEMPT_DYNAMIC Debian 6.1.106-3`
    /// (`/proc/sys/kernel/version`).
    pub version: Option<String>,
    /// The instruction set as reported by `uname -m`, such as `x86_64` or `aarch64`.
    pub architecture: Option<String>,
    /// The parameters in `/proc/cmdline` that affect measurements, as given: `mitigations`,
    /// `isolcpus`, `nohz_full` and `transparent_hugepage`.
    pub command_line: Vec<String>,
}

impl Kernel {
    /// Whether the release is `major.minor` or newer; `None` if the release cannot be parsed.
    #[must_use]
    pub fn is_at_least(&self, major: u32, minor: u32) -> Option<bool> {
        let mut parts = self.release.as_deref()?.split(|c: char| !c.is_ascii_digit());
        let have_major: u32 = parts.next()?.parse().ok()?;
        let have_minor: u32 = parts.next()?.parse().ok()?;
        Some((have_major, have_minor) >= (major, minor))
    }
}

/// The processor, over all sockets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Processor {
    /// The vendor, such as `GenuineIntel`; on ARM, what the implementer code stands for, such as
    /// `ARM`, or the code itself if unknown.
    pub vendor: Option<String>,
    /// The name of the model; on ARM, the part numbers, such as `part 0xd0c`.
    pub model: Option<String>,
    /// Processor packages with at least one online CPU.
    pub sockets: Option<u32>,
    /// Physical cores with at least one online CPU.
    pub cores: Option<u32>,
    /// Hardware threads (what the kernel calls CPUs) that are online.
    pub threads: Option<u32>,
    /// Numbers of the online CPUs (`/sys/devices/system/cpu/online`).
    pub online: Vec<u32>,
    /// Numbers of the CPUs this process may run on (`Cpus_allowed_list` in `/proc/self/status`).
    pub allowed: Vec<u32>,
    /// The highest guaranteed frequency of any core, in Hz (`cpufreq/base_frequency`, or else
    /// `acpi_cppc/nominal_freq`).
    pub base_frequency_hz: Option<u64>,
    /// The highest frequency of any core, including turbo, in Hz (`cpufreq/cpuinfo_max_freq`).
    pub max_frequency_hz: Option<u64>,
    /// The frequency governors in use, sorted, without duplicates; empty if the kernel does not
    /// control the frequency.
    pub governors: Vec<String>,
    /// The flags in `/proc/cpuinfo` that describe the time-stamp counter: `tsc`, `rdtscp`,
    /// `constant_tsc`, `nonstop_tsc`, `tsc_known_freq`, `tsc_reliable`.
    pub tsc_flags: Vec<String>,
}

impl Processor {
    /// Whether the time-stamp counter runs at one rate in every frequency and sleep state.
    #[must_use]
    pub fn has_invariant_tsc(&self) -> bool {
        ["constant_tsc", "nonstop_tsc"].iter().all(|flag| self.tsc_flags.iter().any(|f| f == flag))
    }
}

/// What a cache holds.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum CacheKind {
    /// Data only.
    Data,
    /// Instructions only.
    Instruction,
    /// Both.
    Unified,
}

/// Working sets between these multiples of a cache's size are in its fragile zone: there, a few
/// pages more or less of available cache change the share of misses, and with it the result, by
/// factors (Tarasov et al., "Benchmarking File System Benchmarking: It *IS* Rocket Science",
/// section 3.1: relative spread of up to 35 %).
pub const FRAGILE: std::ops::RangeInclusive<f64> = 0.5..=1.5;

/// All caches of one level, kind and geometry, from `/sys/devices/system/cpu/cpu*/cache`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cache {
    /// The level; 1 is closest to the core.
    pub level: u32,
    /// What it holds.
    pub kind: CacheKind,
    /// The size of one instance, in bytes.
    pub size_bytes: Option<u64>,
    /// The size of a line, in bytes.
    pub line_bytes: Option<u32>,
    /// Ways of associativity; 0 means fully associative.
    pub ways: Option<u32>,
    /// The number of sets.
    pub sets: Option<u32>,
    /// The CPUs that share the first instance, which is the one with the lowest CPU number.
    pub shared_by: Vec<u32>,
    /// The number of such caches among the online CPUs.
    pub instances: u32,
}

/// Main memory, from `/proc/meminfo` unless stated otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Memory {
    /// `MemTotal`: the memory that the kernel can use.
    pub total_bytes: Option<u64>,
    /// `MemAvailable`: the memory that can be had without swapping.
    pub available_bytes: Option<u64>,
    /// The size of a base page, in bytes.
    pub page_bytes: Option<u64>,
    /// `always`, `madvise` or `never` (`/sys/kernel/mm/transparent_hugepage/enabled`).
    pub transparent_hugepage: Option<String>,
    /// `SwapTotal`.
    pub swap_total_bytes: Option<u64>,
    /// The number of online NUMA nodes (`/sys/devices/system/node/online`).
    pub numa_nodes: Option<u32>,
}

/// Which generation of control groups is mounted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CgroupVersion {
    /// Version 1 hierarchies only.
    V1,
    /// The unified hierarchy only.
    V2,
    /// Both: each controller belongs to one or the other.
    Hybrid,
}

/// This process's control groups and the limits they set. Each limit is the effective one, the
/// lowest along the path; a limit set above a container's own root is not visible from inside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cgroup {
    /// Which generation of control groups is mounted.
    pub version: CgroupVersion,
    /// The path for each controller or named hierarchy of version 1, and under `unified`, that for
    /// the hierarchy of version 2 (`/proc/self/cgroup`).
    pub paths: BTreeMap<String, String>,
    /// The hard limit (`memory.max`, `memory.limit_in_bytes`); `None` means unlimited.
    pub memory_limit_bytes: Option<u64>,
    /// The size above which allocations are slowed down and pages are reclaimed (`memory.high`);
    /// version 2 only; `None` means unlimited.
    pub memory_high_bytes: Option<u64>,
    /// The limit on CPU time per unit of time, in cores (`cpu.max`, `cpu.cfs_quota_us`); `None`
    /// means unlimited.
    pub cpu_quota_cores: Option<f64>,
    /// The CPUs of the cpuset; `None` if there is no cpuset controller.
    pub cpuset: Option<Vec<u32>>,
    /// Limits on block devices, by device number.
    pub io_limits: Vec<IoLimit>,
}

/// The limits on one block device (`io.max`, `blkio.throttle.*`); `None` means unlimited.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct IoLimit {
    /// The device.
    pub device: DeviceNumber,
    /// Bytes read per second.
    pub read_bytes_per_s: Option<u64>,
    /// Bytes written per second.
    pub write_bytes_per_s: Option<u64>,
    /// Read requests per second.
    pub reads_per_s: Option<u64>,
    /// Write requests per second.
    pub writes_per_s: Option<u64>,
}

/// The kernel's clock source, from `/sys/devices/system/clocksource/clocksource0`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ClockSource {
    /// The one in use, such as `tsc`.
    pub current: Option<String>,
    /// The available ones, in the kernel's order of preference.
    pub available: Vec<String>,
}

/// When the kernel writes dirty data back, from `/proc/sys/vm`. In each pair of a ratio and a
/// number of bytes, only one is in force; the other reads 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DirtyLimits {
    /// `dirty_ratio`: the share of available memory, in percent, at which writers must wait.
    pub dirty_ratio_percent: Option<u32>,
    /// `dirty_bytes`: the same, in bytes.
    pub dirty_bytes: Option<u64>,
    /// `dirty_background_ratio`: the share, in percent, at which write-back begins.
    pub dirty_background_ratio_percent: Option<u32>,
    /// `dirty_background_bytes`: the same, in bytes.
    pub dirty_background_bytes: Option<u64>,
    /// `dirty_expire_centisecs`: the age, in hundredths of a second, at which data is written back.
    pub dirty_expire_centisecs: Option<u64>,
    /// `dirty_writeback_centisecs`: how often, in hundredths of a second, the flusher wakes up; 0
    /// means never.
    pub dirty_writeback_centisecs: Option<u64>,
}

/// Whether something is permitted here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Permission {
    /// It is, as far as files and capabilities show. A security module or a system-call filter may
    /// still refuse.
    Granted,
    /// It is not.
    Denied {
        /// What is missing.
        reason: String,
    },
}

impl Permission {
    /// Whether this is [`Permission::Granted`].
    #[must_use]
    pub fn is_granted(&self) -> bool {
        *self == Self::Granted
    }
}

impl Default for Permission {
    fn default() -> Self {
        Self::Denied { reason: "it was not determined".to_owned() }
    }
}

/// What this process may do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Permissions {
    /// Whether the effective user is root (`Uid` in `/proc/self/status`).
    pub root: bool,
    /// The effective capabilities that matter here, such as `CAP_SYS_ADMIN`, sorted.
    pub capabilities: Vec<String>,
    /// Mounting, in a mount namespace of its own.
    pub mount: Permission,
    /// Attaching loop devices.
    pub loop_devices: Permission,
    /// Dropping the page cache, dentries and inodes (`/proc/sys/vm/drop_caches`).
    pub drop_caches: Permission,
    /// Creating a control group that limits memory.
    pub cgroup_memory: Permission,
    /// Creating a control group that limits block devices (`io`, or `blkio` in version 1).
    pub cgroup_io: Permission,
    /// Creating `io_uring` instances.
    pub io_uring: Permission,
    /// Counting resident and dirty pages (`cachestat`, Linux 6.5).
    pub cachestat: Permission,
    /// Finding out which pages of this user's own files are resident (`mincore`). For files that
    /// the user neither owns nor may write, the kernel never says.
    pub mincore: Permission,
    /// Finding out where files lie on their device (`FIEMAP`), if the file system supports it.
    pub fiemap: Permission,
    /// Setting the kernel's maximum read-ahead (`/sys/class/bdi/*/read_ahead_kb`).
    pub read_ahead: Permission,
    /// -1 allows almost everything to everyone; 2 is the kernel's default; Debian's own 3 and 4
    /// allow nothing to users without capabilities (`/proc/sys/kernel/perf_event_paranoid`).
    pub perf_event_paranoid: Option<i32>,
    /// Whether the processor's performance counters are available
    /// (`/sys/bus/event_source/devices`); `None` if that directory cannot be read.
    pub hardware_counters: Option<bool>,
}

/// How the kernel supports a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KernelSupport {
    /// It is registered.
    Registered,
    /// It is a module that is loaded when such a file system is mounted.
    Module,
    /// It is not supported.
    Missing,
}

/// What is available for one file system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileSystemSupport {
    /// Its name, as `mount -t` expects it.
    pub name: String,
    /// How the kernel supports it.
    pub kernel: KernelSupport,
    /// Its formatting tool; `None` if none was found or none is needed.
    pub mkfs: Option<Mkfs>,
    /// The Debian package with the formatting tool; `None` if none is needed.
    pub mkfs_package: Option<String>,
}

/// A formatting tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Mkfs {
    /// Its path.
    pub path: String,
    /// The version it reports, such as `1.47.0`; `None` if it does not report one in time.
    pub version: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_that_lacks_fields_is_read() {
        let machine: Machine = serde_json::from_str(r#"{"kernel": {"release": "6.1"}}"#).unwrap();
        let kernel = Kernel { release: Some("6.1".to_owned()), ..Kernel::default() };
        assert_eq!(machine, Machine { kernel, ..Machine::default() });
    }

    #[test]
    fn a_machine_survives_json() {
        let machine = Machine {
            cgroup: Some(Cgroup {
                version: CgroupVersion::Hybrid,
                paths: BTreeMap::from([("memory".to_owned(), "/a".to_owned())]),
                memory_limit_bytes: Some(u64::MAX),
                memory_high_bytes: None,
                cpu_quota_cores: Some(1.5),
                cpuset: Some(vec![0, 3]),
                io_limits: vec![IoLimit::default()],
            }),
            permissions: Permissions { mount: Permission::Granted, ..Permissions::default() },
            ..Machine::default()
        };
        let text = serde_json::to_string(&machine).unwrap();
        assert_eq!(serde_json::from_str::<Machine>(&text).unwrap(), machine);
    }
}
