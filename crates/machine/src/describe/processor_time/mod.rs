//! Processor time of everything that runs on this machine: what a process did not use itself,
//! somebody else did, kernel threads that work for it among them.
//!
//! Kernels tell it in several places and not equally well, so the best that this one has is taken:
//!
//! - `cpuacct.usage` of the root of the control groups of version 1, in nanoseconds. What runs on
//!   another processor at a reading lacks up to one tick of its time.
//! - `/proc/schedstat`, in nanoseconds. What runs at a reading lacks all its time since it was put
//!   on its processor.
//! - `cpu.stat` of the root of version 2. There it is no sum over groups: each tick of a processor
//!   is given to whom it meets.
//! - `/proc/stat`, which is the same, told in hundredths of a second.
//!
//! Time in interrupts counts with whom they interrupt; on an idle processor only the last two see
//! it.

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

/// The first namespace of control groups (`PROC_CGROUP_INIT_INO` of the kernel's
/// `linux/proc_ns.h`), whose root holds everything. What others see as the root is a group.
const FIRST_NAMESPACE: &str = "cgroup:[4026531835]";
/// The type of mounts of control groups of version 2.
const UNIFIED_KIND: &str = "cgroup2";
/// Which column of a line `cpuN` of `/proc/schedstat`, from 0, holds the time spent running (the
/// kernel's `Documentation/scheduler/sched-stats.rst`).
const RUNNING_COLUMN: usize = 6;
/// From this version on it is in nanoseconds.
const SCHEDSTAT_VERSION_MIN: u64 = 15;

/// Where the processor time of the whole machine is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessorTimeSource {
    /// `cpuacct.usage` of the root of the control groups of version 1.
    Cpuacct,
    /// `/proc/schedstat`.
    Schedstat,
    /// `cpu.stat` of the root of the control groups of version 2.
    CpuStat,
    /// `/proc/stat`.
    Stat,
}

impl ProcessorTimeSource {
    /// Whether time is counted by looking, at each tick, at who is running: then what runs less
    /// than many ticks is counted by chance.
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
            let made = Self::of(sources, source, path?).ok()?;
            made.read().is_ok().then_some(made)
        });
        found.map_or_else(|| Self::of(sources, ProcessorTimeSource::Stat, "/proc/stat".into()), Ok)
    }

    fn of(
        sources: &Sources,
        source: ProcessorTimeSource,
        path: PathBuf,
    ) -> Result<Self, DescribeError> {
        let file = CounterFile::open(sources, path)?;
        Ok(Self { file, source })
    }

    /// Where it reads.
    #[must_use]
    pub fn source(&self) -> ProcessorTimeSource {
        self.source
    }

    /// The time of all processors together until now in which they were not idle, in nanoseconds.
    /// The time of the thread that asks is in it up to now; through `/proc/schedstat` it sleeps for
    /// that, some 60 us, and through the others a reading takes a few.
    ///
    /// # Errors
    /// If the file cannot be read, or lacks the time.
    pub fn read(&self) -> Result<u64, DescribeError> {
        match self.source {
            ProcessorTimeSource::Cpuacct => {
                // Asking for its own time has the kernel charge what this thread has run.
                let _up_to_now = clock_gettime(ClockId::ThreadCPUTime);
                self.file.read("a number of nanoseconds", |text| text.trim().parse().ok())
            }
            ProcessorTimeSource::Schedstat => {
                // A thread that leaves its processor is charged.
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

/// Where the root of all control groups is mounted, of version 1 (`cgroup`) that of `cpuacct`;
/// `None` where what looks like it is a group, as in a container.
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

/// The lines `cpuN` of `/proc/schedstat`, added up.
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
