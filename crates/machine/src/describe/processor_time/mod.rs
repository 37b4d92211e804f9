//! Processor time of everything that runs on this machine: whatever a process did not use itself
//! was used by others, including kernel threads that work on its behalf.
//!
//! Kernels report it in several places of differing quality, so the best one that this kernel has
//! is used:
//!
//! - `cpuacct.usage` of the version 1 root control group, in nanoseconds. Up to one tick is
//!   missing for whatever is running on another processor at the time of the reading.
//! - `/proc/schedstat`, in nanoseconds. For whatever is running at the time of the reading,
//!   everything since it was scheduled in is missing.
//! - `cpu.stat` of the version 2 root. The root's value is not a sum over groups: each processor
//!   tick is charged to whatever it interrupts.
//! - `/proc/stat`, which is the same in hundredths of a second.
//!
//! Interrupt time is charged to whatever was interrupted; on an idle processor only the last two
//! include it.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use super::error::DescribeError;
use super::mounts::{MOUNTINFO, MountEntry, entries};
use super::readers::{CounterFile, count, numbers};
use super::sources::{Reader, Sources};

/// The initial cgroup namespace (`PROC_CGROUP_INIT_INO` of the kernel's `linux/proc_ns.h`), whose
/// root contains everything. What other namespaces see as the root is just a group.
const FIRST_NAMESPACE: &str = "cgroup:[4026531835]";
/// The mount type of control groups of version 2.
const UNIFIED_KIND: &str = "cgroup2";
/// Which column of a line `cpuN` of `/proc/schedstat`, from 0, has the time spent running (the
/// kernel's `Documentation/scheduler/sched-stats.rst`).
const RUNNING_COLUMN: usize = 6;
/// The first version in which that column is in nanoseconds.
const SCHEDSTAT_VERSION_MIN: u64 = 15;

/// Where the processor time of the whole machine is read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessorTimeSource {
    /// `cpuacct.usage` of the version 1 root control group.
    Cpuacct,
    /// `/proc/schedstat`.
    Schedstat,
    /// `cpu.stat` of the version 2 root control group.
    CpuStat,
    /// `/proc/stat`.
    Stat,
}

impl ProcessorTimeSource {
    /// Whether time is sampled, by looking at each tick which task is running; then tasks that run
    /// for less than many ticks are counted by chance.
    #[must_use]
    pub fn is_sampled(self) -> bool {
        match self {
            Self::Cpuacct | Self::Schedstat => false,
            Self::CpuStat | Self::Stat => true,
        }
    }
}

impl fmt::Display for ProcessorTimeSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cpuacct => "cpuacct.usage",
            Self::Schedstat => "/proc/schedstat",
            Self::CpuStat => "cpu.stat",
            Self::Stat => "/proc/stat",
        })
    }
}

/// Reads the processor time of the whole machine.
#[derive(Debug)]
pub struct ProcessorTimeReader {
    file: CounterFile,
    source: ProcessorTimeSource,
}

impl ProcessorTimeReader {
    /// Opens the best source that this machine has.
    ///
    /// # Errors
    /// If it has none, not even `/proc/stat`.
    pub fn open() -> Result<Self, DescribeError> {
        Self::open_in(&Sources::default())
    }

    pub(crate) fn open_in(sources: &Sources) -> Result<Self, DescribeError> {
        let reader = Reader::new(sources);
        let of_groups = |kind, file: &str| Some(root_of_groups(&reader, kind)?.join(file));
        let candidates = [
            (ProcessorTimeSource::Cpuacct, of_groups("cgroup", "cpuacct.usage")),
            (ProcessorTimeSource::Schedstat, Some(PathBuf::from("/proc/schedstat"))),
            (ProcessorTimeSource::CpuStat, of_groups(UNIFIED_KIND, "cpu.stat")),
        ];
        let found = candidates.into_iter().find_map(|(source, path)| {
            let made = Self::open_source(sources, source, path?).ok()?;
            made.read().is_ok().then_some(made)
        });
        found.map_or_else(
            || Self::open_source(sources, ProcessorTimeSource::Stat, "/proc/stat".into()),
            Ok,
        )
    }

    fn open_source(
        sources: &Sources,
        source: ProcessorTimeSource,
        path: PathBuf,
    ) -> Result<Self, DescribeError> {
        let file = CounterFile::open(sources, path)?;
        Ok(Self { file, source })
    }

    /// The source in use.
    #[must_use]
    pub fn source(&self) -> ProcessorTimeSource {
        self.source
    }

    /// The non-idle time of all processors together until now, in nanoseconds. It includes the
    /// calling thread's time up to now. With `/proc/schedstat` the call sleeps to ensure that, some
    /// 60 us; with the other sources it takes a few microseconds.
    ///
    /// # Errors
    /// If the file cannot be read, or lacks the time.
    pub fn read(&self) -> Result<u64, DescribeError> {
        match self.source {
            ProcessorTimeSource::Cpuacct => {
                // Reading this thread's CPU clock makes the kernel charge what it has run so far.
                let _up_to_now = clock_gettime(ClockId::ThreadCPUTime);
                self.file.read("a number of nanoseconds", |text| text.trim().parse().ok())
            }
            ProcessorTimeSource::Schedstat => {
                // A thread is charged when it leaves its processor.
                thread::sleep(Duration::from_nanos(1));
                self.file.read_whole("processors' time running in version 15", running_ns)
            }
            ProcessorTimeSource::CpuStat => {
                self.file.read("usage_usec", |text| count(text, "usage_usec")?.checked_mul(1_000))
            }
            ProcessorTimeSource::Stat => {
                self.file.read("line `cpu` with eight times", |text| busy_ns(text, user_tick_ns()))
            }
        }
    }
}

/// Where the root of all control groups is mounted (in version 1, `cgroup`, the one with
/// `cpuacct`); `None` if what looks like the root is just a group, as in a container.
fn root_of_groups(reader: &Reader<'_>, kind: &str) -> Option<PathBuf> {
    let namespace = fs::read_link(reader.sources().path("/proc/self/ns/cgroup"));
    if namespace.is_ok_and(|name| name != Path::new(FIRST_NAMESPACE)) {
        return None;
    }
    let is_wanted = |mount: &MountEntry| {
        let accounts = mount.super_options.iter().any(|option| option == "cpuacct");
        mount.file_system == kind && (kind == UNIFIED_KIND || accounts)
    };
    let mounts = entries(&reader.text(MOUNTINFO)?);
    let mount = mounts.into_iter().rfind(|mount| is_wanted(mount))?;
    (mount.root == Path::new("/")).then_some(mount.mount_point)
}

/// The unit of `/proc/stat`.
fn user_tick_ns() -> u64 {
    1_000_000_000 / rustix::param::clock_ticks_per_second().max(1)
}

/// The sum over the lines `cpuN` of `/proc/schedstat`.
fn running_ns(text: &str) -> Option<u64> {
    let version: u64 = text.lines().next()?.strip_prefix("version ")?.trim().parse().ok()?;
    if version < SCHEDSTAT_VERSION_MIN {
        return None;
    }
    let mut processors = text.lines().filter(|line| line.starts_with("cpu")).peekable();
    processors.peek()?;
    processors.try_fold(0_u64, |sum, line| {
        let (_, columns) = line.split_once(' ')?;
        sum.checked_add(*numbers(columns).get(RUNNING_COLUMN)?)
    })
}

/// The line `cpu` of `/proc/stat` without the columns `idle`, `iowait` and `steal`.
fn busy_ns(text: &str, tick_ns: u64) -> Option<u64> {
    let ticks = numbers(text.lines().next()?.strip_prefix("cpu ")?);
    let &[user, nice, system, _idle, _iowait, irq, softirq, _steal] = ticks.first_chunk()?;
    let all = [user, nice, system, irq, softirq];
    let sum = all.iter().try_fold(0_u64, |sum, &ticks| sum.checked_add(ticks))?;
    sum.checked_mul(tick_ns)
}

#[cfg(test)]
mod tests;
