//! The machine a run was measured on: its processor, memory, limits, devices and permissions.
//!
//! These are plain facts, as the kernel and the tools report them. A fact that the machine does
//! not tell is `None` or an empty list; one that is there but could not be read or understood is
//! also named, with the reason, in [`Machine::unread`]. The host's name is left out on purpose:
//! a run directory can be shown to others.
//!
//! Every structure reads documents that lack some of its fields, so that fields can be added.

mod storage;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use storage::{BlockDevice, DeviceNumber, LoopBacking, Mount, Storage, WriteCache};

/// All that is known of a computer, at the moment when it was described.
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
    /// The control groups that this process is in; `None` where the kernel shows none.
    pub cgroup: Option<Cgroup>,
    /// The kernel's clock source.
    pub clock_source: ClockSource,
    /// Each processor vulnerability and what the kernel does about it
    /// (`/sys/devices/system/cpu/vulnerabilities/*`), for example `meltdown` -> `Mitigation: PTI`.
    pub mitigations: BTreeMap<String, String>,
    /// The hypervisor underneath, `unknown` when there is one that gives no name; `None` on bare
    /// metal, or where nothing tells.
    pub hypervisor: Option<String>,
    /// When the kernel started, in seconds since 1970 UTC (`btime` in `/proc/stat`).
    pub boot_time_unix_s: Option<u64>,
    /// How much dirty data the kernel keeps, and how long.
    pub dirty_limits: DirtyLimits,
    /// The tendency to reclaim cached dentries and inodes: 100 is the kernel's default, 0 never
    /// reclaims them (`/proc/sys/vm/vfs_cache_pressure`).
    pub vfs_cache_pressure: Option<u32>,
    /// The tendency to swap rather than to drop page cache, 0 to 200
    /// (`/proc/sys/vm/swappiness`).
    pub swappiness: Option<u32>,
    /// What this process may do here.
    pub permissions: Permissions,
    /// The names of all file systems the kernel has registered now (`/proc/filesystems`).
    pub kernel_file_systems: Vec<String>,
    /// The file systems that can become scratch targets: what the kernel and the tools offer.
    pub file_systems: Vec<FileSystemSupport>,
    /// What lies below the directories that matter to the run.
    pub storage: Vec<Storage>,
    /// Files that exist but could not be read or understood.
    pub unread: Vec<Unread>,
}

/// One file that exists but gave no fact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Unread {
    /// The file's path, as on the described machine.
    pub source: String,
    /// Why it gave no fact.
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
    /// The instruction set, as `uname -m` gives it, such as `x86_64` or `aarch64`.
    pub architecture: Option<String>,
    /// Those parameters of `/proc/cmdline` that change measurements, each as it was given:
    /// `mitigations`, `isolcpus`, `nohz_full` and `transparent_hugepage`.
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
    /// The maker, such as `GenuineIntel`, or `ARM` for an implementer code that is known.
    pub vendor: Option<String>,
    /// The model's name; on ARM the part numbers, such as `part 0xd0c`.
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
    /// The greatest guaranteed frequency of any core (`cpufreq/base_frequency`, else
    /// `acpi_cppc/nominal_freq`).
    pub base_frequency_hz: Option<u64>,
    /// The greatest frequency of any core, turbo included (`cpufreq/cpuinfo_max_freq`).
    pub max_frequency_hz: Option<u64>,
    /// The frequency governors in use, sorted, each once; empty where the kernel does not
    /// control the frequency.
    pub governors: Vec<String>,
    /// Those flags of `/proc/cpuinfo` that describe the time-stamp counter: `tsc`, `rdtscp`,
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

/// All caches of one level, kind and geometry, from `/sys/devices/system/cpu/cpu*/cache`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cache {
    /// The level, 1 next to the core.
    pub level: u32,
    /// What it holds.
    pub kind: CacheKind,
    /// The size of one instance.
    pub size_bytes: Option<u64>,
    /// The size of a line.
    pub line_bytes: Option<u32>,
    /// Ways of associativity; 0 is fully associative.
    pub ways: Option<u32>,
    /// The number of sets.
    pub sets: Option<u32>,
    /// The CPUs that share the first instance, the one with the lowest CPU number.
    pub shared_by: Vec<u32>,
    /// How many such caches there are among the online CPUs.
    pub instances: u32,
}

/// Main memory, from `/proc/meminfo` where nothing else is said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Memory {
    /// `MemTotal`: what the kernel can use.
    pub total_bytes: Option<u64>,
    /// `MemAvailable`: what can be had without swapping.
    pub available_bytes: Option<u64>,
    /// The size of a base page.
    pub page_bytes: Option<u64>,
    /// `always`, `madvise` or `never` (`/sys/kernel/mm/transparent_hugepage/enabled`).
    pub transparent_hugepage: Option<String>,
    /// `SwapTotal`.
    pub swap_total_bytes: Option<u64>,
    /// The number of NUMA nodes online (`/sys/devices/system/node/online`).
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
    /// Both: each controller is in one of them.
    Hybrid,
}

/// This process's control groups and the limits they set. Each limit is the effective one, the
/// least along the path; a limit set above a container's own root cannot be seen from inside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cgroup {
    /// Which generation is mounted.
    pub version: CgroupVersion,
    /// The path for each controller or named hierarchy of version 1, and for `unified`, the
    /// hierarchy of version 2 (`/proc/self/cgroup`).
    pub paths: BTreeMap<String, String>,
    /// The hard limit (`memory.max`, `memory.limit_in_bytes`); `None` is unlimited.
    pub memory_limit_bytes: Option<u64>,
    /// The size above which allocations are slowed and pages reclaimed (`memory.high`);
    /// version 2 only; `None` is unlimited.
    pub memory_high_bytes: Option<u64>,
    /// CPU time per time, in cores (`cpu.max`, `cpu.cfs_quota_us`); `None` is unlimited.
    pub cpu_quota_cores: Option<f64>,
    /// The CPUs of the cpuset; `None` without a cpuset controller.
    pub cpuset: Option<Vec<u32>>,
    /// Limits on block devices, by device number.
    pub io_limits: Vec<IoLimit>,
}

/// The limits on one block device (`io.max`, `blkio.throttle.*`); `None` is unlimited.
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
    /// Those that could be used, in the kernel's order of preference.
    pub available: Vec<String>,
}

/// When the kernel writes dirty data back, from `/proc/sys/vm`. Of each pair of ratio and bytes
/// one is in force; the other reads 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DirtyLimits {
    /// `dirty_ratio`: the share of available memory, in percent, at which writers must wait.
    pub dirty_ratio_percent: Option<u32>,
    /// `dirty_bytes`: the same as a size.
    pub dirty_bytes: Option<u64>,
    /// `dirty_background_ratio`: the share, in percent, at which write-back begins.
    pub dirty_background_ratio_percent: Option<u32>,
    /// `dirty_background_bytes`: the same as a size.
    pub dirty_background_bytes: Option<u64>,
    /// `dirty_expire_centisecs`: the age, in hundredths of a second, at which data is written.
    pub dirty_expire_centisecs: Option<u64>,
    /// `dirty_writeback_centisecs`: how often, in hundredths of a second, the flusher wakes;
    /// 0 is never.
    pub dirty_writeback_centisecs: Option<u64>,
}

/// Whether something is permitted here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Permission {
    /// As far as files and capabilities show it is. A security module or a system-call filter
    /// may still refuse.
    Granted,
    /// It is not.
    Denied {
        /// What is lacking.
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
    /// Mounting, in a mount namespace of our own.
    pub mount: Permission,
    /// Attaching loop devices.
    pub loop_devices: Permission,
    /// Dropping the page cache, dentries and inodes (`/proc/sys/vm/drop_caches`).
    pub drop_caches: Permission,
    /// Making a control group that limits memory.
    pub cgroup_memory: Permission,
    /// Making a control group that limits block devices (`io`, or `blkio` in version 1).
    pub cgroup_io: Permission,
    /// Creating `io_uring` instances.
    pub io_uring: Permission,
    /// Counting resident and dirty pages (`cachestat`, Linux 6.5).
    pub cachestat: Permission,
    /// Telling which pages of this user's own files are resident (`mincore`). Of files that the
    /// user neither owns nor may write the kernel never tells it.
    pub mincore: Permission,
    /// Telling where files lie on their device (`FIEMAP`), where the file system does.
    pub fiemap: Permission,
    /// Setting how far the kernel reads ahead (`/sys/class/bdi/*/read_ahead_kb`).
    pub read_ahead: Permission,
    /// -1 allows everybody nearly everything; 2 is the kernel's default; Debian's own 3 and 4
    /// allow nothing to users without capabilities (`/proc/sys/kernel/perf_event_paranoid`).
    pub perf_event_paranoid: Option<i32>,
    /// Whether the processor's performance counters are there
    /// (`/sys/bus/event_source/devices`); `None` if that directory cannot be read.
    pub hardware_counters: Option<bool>,
}

/// How the kernel offers a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KernelSupport {
    /// It is registered now.
    Registered,
    /// It is a module that mounting loads.
    Module,
    /// It is not offered.
    Missing,
}

/// What is there of one file system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileSystemSupport {
    /// Its name, as `mount -t` takes it.
    pub name: String,
    /// How the kernel offers it.
    pub kernel: KernelSupport,
    /// Its formatting tool; `None` if none is found, or none is needed.
    pub mkfs: Option<Mkfs>,
    /// The Debian package with the formatting tool; `None` if none is needed.
    pub mkfs_package: Option<String>,
}

/// A formatting tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Mkfs {
    /// Where it is.
    pub path: String,
    /// The version it tells, such as `1.47.0`; `None` if it tells none in time.
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
