//! Readers of counters, cheap enough to be used around every replicate.
//!
//! A reader opens its files once and then re-reads them from the start, which makes the kernel
//! regenerate them: a few microseconds per reading.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use record::machine::{CgroupVersion, DeviceNumber};

use super::cgroup::Hierarchies;
use super::counters::{
    CpuTimes, DeviceCounters, PressureCounters, ProcessCounters, ThrottleCounters,
};
use super::error::DescribeError;
use super::parse::field;
use super::sources::{Reader, Sources};

/// The kernel counts I/O in sectors of this size, whatever the device's own blocks are.
const SECTOR_BYTES: u64 = 512;

/// Enough for each of these files, or for the part of it that is needed.
const TEXT_BYTES_MAX: usize = 4096;

/// A kernel file that is read repeatedly.
#[derive(Debug)]
pub(super) struct CounterFile {
    file: File,
    /// Its path on the described machine, for errors.
    path: PathBuf,
}

impl CounterFile {
    pub(super) fn open(sources: &Sources, path: impl Into<PathBuf>) -> Result<Self, DescribeError> {
        let path = path.into();
        match File::open(sources.path(&path)) {
            Ok(file) => Ok(Self { file, path }),
            Err(source) => Err(DescribeError::Read { path, source }),
        }
    }

    /// Reads the start of the file and parses it; `expected` describes what `parse` looks for.
    pub(super) fn read<T>(
        &self,
        expected: &'static str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, DescribeError> {
        let mut bytes = [0; TEXT_BYTES_MAX];
        let length = self.read_at(&mut bytes, 0)?;
        self.parsed(&bytes[..length], expected, parse)
    }

    /// Like [`Self::read`], but reads the whole file, however long.
    pub(super) fn read_whole<T>(
        &self,
        expected: &'static str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, DescribeError> {
        let mut bytes = Vec::new();
        loop {
            let begun = bytes.len();
            bytes.resize(begun + TEXT_BYTES_MAX, 0);
            let length = self.read_at(&mut bytes[begun..], begun as u64)?;
            bytes.truncate(begun + length);
            if length == 0 {
                return self.parsed(&bytes, expected, parse);
            }
        }
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> Result<usize, DescribeError> {
        loop {
            match self.file.read_at(bytes, offset) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => {
                    return Err(DescribeError::Read { path: self.path.clone(), source });
                }
                Ok(length) => return Ok(length),
            }
        }
    }

    fn parsed<T>(
        &self,
        bytes: &[u8],
        expected: &'static str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, DescribeError> {
        // A character that the end of the buffer cuts in two is beyond what is needed.
        let text = bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid());
        parse(text).ok_or_else(|| DescribeError::Malformed { path: self.path.clone(), expected })
    }
}

/// Reads [`CpuTimes`].
#[derive(Debug)]
pub struct CpuTimesReader {
    file: CounterFile,
    tick_ns: u64,
}

impl CpuTimesReader {
    /// Opens `/proc/stat`.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open() -> Result<Self, DescribeError> {
        Self::open_in(&Sources::default())
    }

    pub(crate) fn open_in(sources: &Sources) -> Result<Self, DescribeError> {
        let ticks_per_s = rustix::param::clock_ticks_per_second().max(1);
        Ok(Self {
            file: CounterFile::open(sources, "/proc/stat")?,
            tick_ns: 1_000_000_000 / ticks_per_s,
        })
    }

    /// The times now.
    ///
    /// # Errors
    /// If the file cannot be read, or has no line `cpu`.
    pub fn read(&self) -> Result<CpuTimes, DescribeError> {
        self.file.read("line `cpu` with eight times", |text| cpu_times(text, self.tick_ns))
    }
}

/// The line `cpu user nice system idle iowait irq softirq steal guest guest_nice`, in ticks. `user`
/// and `nice` include guest time.
fn cpu_times(text: &str, tick_ns: u64) -> Option<CpuTimes> {
    let numbers = numbers(text.lines().next()?.strip_prefix("cpu ")?);
    let ticks = numbers.get(..8)?;
    let total = ticks.iter().try_fold(0_u64, |sum, &ticks| sum.checked_add(ticks))?;
    Some(CpuTimes {
        steal_ns: ticks[7].checked_mul(tick_ns)?,
        total_ns: total.checked_mul(tick_ns)?,
    })
}

/// The leading numbers of a text, up to the first word that is not one.
pub(super) fn numbers(text: &str) -> Vec<u64> {
    text.split_whitespace().map_while(|word| word.parse().ok()).collect()
}

/// Reads [`ThrottleCounters`] of the control groups that this process is in at the time of opening.
#[derive(Debug)]
pub struct ThrottleReader {
    files: Vec<CounterFile>,
    /// The key of the line with the time, and its unit.
    time_key: &'static str,
    time_unit_ns: u64,
}

impl ThrottleReader {
    /// Opens `cpu.stat` of each group along the path. If no group can be throttled, the counters
    /// stay zero.
    #[must_use]
    pub fn open() -> Self {
        Self::open_in(&Sources::default())
    }

    pub(crate) fn open_in(sources: &Sources) -> Self {
        let reader = Reader::new(sources);
        let controller = Hierarchies::read(&reader).controller(&reader, "cpu");
        let (time_key, time_unit_ns) = match &controller {
            Some(controller) if controller.version == CgroupVersion::V1 => ("throttled_time", 1),
            _ => ("throttled_usec", 1_000),
        };
        let directories = controller.map(|controller| controller.directories).unwrap_or_default();
        let files = directories
            .iter()
            .filter_map(|directory| CounterFile::open(sources, directory.join("cpu.stat")).ok())
            // The root of version 2 lacks these lines because it cannot be throttled.
            .filter(|file| file.read("nr_throttled", |text| count(text, "nr_throttled")).is_ok())
            .collect();
        Self { files, time_key, time_unit_ns }
    }

    /// The counters now.
    ///
    /// # Errors
    /// If a file cannot be read or lacks the counters, as after a group has been removed.
    pub fn read(&self) -> Result<ThrottleCounters, DescribeError> {
        let mut sum = ThrottleCounters::default();
        for file in &self.files {
            let (throttled, time) = file.read("nr_throttled and throttled time", |text| {
                Some((count(text, "nr_throttled")?, count(text, self.time_key)?))
            })?;
            sum.throttled = sum.throttled.saturating_add(throttled);
            let time_ns = time.saturating_mul(self.time_unit_ns);
            sum.throttled_ns = sum.throttled_ns.saturating_add(time_ns);
        }
        Ok(sum)
    }
}

pub(super) fn count(text: &str, key: &str) -> Option<u64> {
    field(text, key)?.parse().ok()
}

/// Reads [`PressureCounters`].
#[derive(Debug)]
pub struct PressureReader {
    cpu: CounterFile,
    memory: CounterFile,
    io: CounterFile,
}

impl PressureReader {
    /// Opens `/proc/pressure/{cpu,memory,io}`.
    ///
    /// # Errors
    /// If they cannot be opened: many kernels are built without them, or need `psi=1` at boot.
    pub fn open() -> Result<Self, DescribeError> {
        Self::open_in(&Sources::default())
    }

    pub(crate) fn open_in(sources: &Sources) -> Result<Self, DescribeError> {
        Ok(Self {
            cpu: CounterFile::open(sources, "/proc/pressure/cpu")?,
            memory: CounterFile::open(sources, "/proc/pressure/memory")?,
            io: CounterFile::open(sources, "/proc/pressure/io")?,
        })
    }

    /// The counters now.
    ///
    /// # Errors
    /// If a file cannot be read (the kernel refuses if accounting is disabled), or lacks the
    /// counters.
    pub fn read(&self) -> Result<PressureCounters, DescribeError> {
        let some = |text: &str| stall_ns(text, "some");
        let both = |text: &str| Some((stall_ns(text, "some")?, stall_ns(text, "full")?));
        let cpu_some_ns = self.cpu.read("line `some` with a total", some)?;
        let (memory_some_ns, memory_full_ns) =
            self.memory.read("lines `some` and `full` with a total", both)?;
        let (io_some_ns, io_full_ns) =
            self.io.read("lines `some` and `full` with a total", both)?;
        Ok(PressureCounters { cpu_some_ns, memory_some_ns, memory_full_ns, io_some_ns, io_full_ns })
    }
}

/// The total of a line `some avg10=0.00 avg60=0.00 avg300=0.00 total=7`, which is in microseconds.
fn stall_ns(text: &str, key: &str) -> Option<u64> {
    let total = field(text, key)?.split_whitespace().find_map(|word| word.strip_prefix("total="));
    total?.parse::<u64>().ok()?.checked_mul(1_000)
}

/// Reads [`DeviceCounters`] of one block device.
#[derive(Debug)]
pub struct DeviceCounterReader {
    file: CounterFile,
}

impl DeviceCounterReader {
    /// Opens `/sys/dev/block/MAJOR:MINOR/stat`.
    ///
    /// # Errors
    /// [`DescribeError::NoSuchDevice`], or if the file cannot be opened.
    pub fn open(major: u32, minor: u32) -> Result<Self, DescribeError> {
        Self::open_in(&Sources::default(), DeviceNumber { major, minor })
    }

    pub(crate) fn open_in(sources: &Sources, device: DeviceNumber) -> Result<Self, DescribeError> {
        match CounterFile::open(sources, Path::new("/sys/dev/block").join(format!("{device}/stat")))
        {
            Ok(file) => Ok(Self { file }),
            Err(DescribeError::Read { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Err(DescribeError::NoSuchDevice { device })
            }
            Err(error) => Err(error),
        }
    }

    /// The counters now.
    ///
    /// # Errors
    /// If the file cannot be read, for instance because the device is gone, or lacks the counters.
    pub fn read(&self) -> Result<DeviceCounters, DescribeError> {
        self.file.read("eleven counters", device_counters)
    }

    /// The number of requests issued to the device and not yet completed.
    ///
    /// # Errors
    /// As [`DeviceCounterReader::read`].
    pub fn in_flight(&self) -> Result<u64, DescribeError> {
        self.file.read("eleven counters", in_flight)
    }
}

fn in_flight(text: &str) -> Option<u64> {
    numbers(text).get(8).copied()
}

/// The columns of `stat` (the kernel's `Documentation/block/stat.rst`), from 0: reads, merged,
/// sectors, ms; writes, the same four; in flight, busy ms, waited ms; discards, the same four;
/// flushes, ms.
fn device_counters(text: &str) -> Option<DeviceCounters> {
    let columns = numbers(text);
    if columns.len() < 11 {
        return None;
    }
    Some(DeviceCounters {
        reads: columns[0],
        read_bytes: columns[2].checked_mul(SECTOR_BYTES)?,
        writes: columns[4],
        written_bytes: columns[6].checked_mul(SECTOR_BYTES)?,
        discards: columns.get(11).copied(),
        flushes: columns.get(15).copied(),
        io_ms: columns[9],
    })
}

/// Reads [`ProcessCounters`] of the process that opened it.
#[derive(Debug)]
pub struct ProcessCounterReader {
    file: CounterFile,
}

impl ProcessCounterReader {
    /// Opens `/proc/self/io`.
    ///
    /// # Errors
    /// If it cannot be opened: kernels can be built without it.
    pub fn open() -> Result<Self, DescribeError> {
        Self::open_in(&Sources::default())
    }

    pub(crate) fn open_in(sources: &Sources) -> Result<Self, DescribeError> {
        Ok(Self { file: CounterFile::open(sources, "/proc/self/io")? })
    }

    /// The counters now.
    ///
    /// # Errors
    /// If the file cannot be read, or lacks the counters.
    pub fn read(&self) -> Result<ProcessCounters, DescribeError> {
        self.file.read("read_bytes, write_bytes and cancelled_write_bytes", |text| {
            Some(ProcessCounters {
                read_bytes: count(text, "read_bytes")?,
                write_bytes: count(text, "write_bytes")?,
                cancelled_write_bytes: count(text, "cancelled_write_bytes")?,
            })
        })
    }
}

#[cfg(test)]
mod tests;
