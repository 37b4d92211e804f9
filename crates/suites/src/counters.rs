//! What the device and the processors did while a replicate ran.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use file_system::FileSystem;
use machine::describe::{
    CpuTimes, CpuTimesReader, DescribeError, DeviceCounterReader, DeviceCounters,
    ProcessCounterReader, ProcessCounters, ThrottleCounters, ThrottleReader,
};
use targets::Target;

/// Readers of everything that can disturb or refute a replicate.
#[derive(Debug)]
pub(crate) struct Counters {
    storage: Storage,
    /// The disk that holds the image of the target's device.
    below: Option<DeviceCounterReader>,
    processor: Option<CpuTimesReader>,
    throttle: ThrottleReader,
}

/// Where the target's device reads are counted.
#[derive(Debug)]
enum Storage {
    /// A device that nobody else uses, so everything it does counts. In addition, what this process
    /// requested, if that is known.
    OwnDevice(DeviceCounterReader, Option<ProcessCounterReader>),
    /// A device shared with others, so only what this process caused counts.
    SharedDevice(ProcessCounterReader),
    /// No device: the pages in memory are the only copy.
    None,
}

/// One reading of all counters.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reading {
    device: Option<DeviceCounters>,
    process: Option<ProcessCounters>,
    processor: CpuTimes,
    throttle: ThrottleCounters,
}

/// What happened between two readings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CounterDeltas {
    /// Read requests that the device served; only if nobody else uses it.
    pub(crate) device_reads: Option<u64>,
    pub(crate) device_read_bytes: Option<u64>,
    /// How many of these bytes this process requested, at most.
    pub(crate) caller_read_bytes: Option<u64>,
    pub(crate) device_written_bytes: Option<u64>,
    pub(crate) device_writes: Option<u64>,
    /// Flushes of the device's write cache; only if nobody else uses it, and since Linux 5.5.
    pub(crate) device_flushes: Option<u64>,
    pub(crate) steal_ns: u64,
    pub(crate) throttled_periods: u64,
}

impl Counters {
    /// Opens the counters for `target`.
    pub(crate) fn open(target: &Target, scratch: bool) -> Result<Self, DescribeError> {
        let storage = match target.device_numbers() {
            _ if !target.supports_cold() => Storage::None,
            Some(numbers) if scratch => {
                let device = DeviceCounterReader::open(numbers.major, numbers.minor)?;
                Storage::OwnDevice(device, caller_of(target))
            }
            _ => Storage::SharedDevice(ProcessCounterReader::open()?),
        };
        let below = match &storage {
            Storage::OwnDevice(..) => target.image_directory().and_then(disk_of),
            Storage::SharedDevice(_) | Storage::None => None,
        };
        // Without /proc/stat, stolen time is unknown.
        Ok(Self {
            storage,
            below,
            processor: CpuTimesReader::open().ok(),
            throttle: ThrottleReader::open(),
        })
    }

    /// Requests in flight on the target's own device; `None` if it has none of its own.
    pub(crate) fn in_flight(&self) -> Result<Option<u64>, DescribeError> {
        match &self.storage {
            Storage::OwnDevice(reader, _) => reader.in_flight().map(Some),
            Storage::SharedDevice(_) | Storage::None => Ok(None),
        }
    }

    /// Counters of the disk below the target's image and of the target's own device.
    pub(crate) fn disk(&self) -> Option<(DeviceCounters, DeviceCounters)> {
        let Storage::OwnDevice(own, _) = &self.storage else { return None };
        self.below.as_ref()?.read().ok().zip(own.read().ok())
    }

    pub(crate) fn read(&self) -> Result<Reading, DescribeError> {
        let (mut device, mut process) = (None, None);
        match &self.storage {
            Storage::OwnDevice(reader, caller) => {
                device = Some(reader.read()?);
                process = caller.as_ref().and_then(|caller| caller.read().ok());
            }
            Storage::SharedDevice(reader) => process = Some(reader.read()?),
            Storage::None => {}
        }
        let processor = self.processor.as_ref().and_then(|reader| reader.read().ok());
        let throttle = self.throttle.read().unwrap_or_default();
        let processor = processor.unwrap_or_default();
        Ok(Reading { device, process, processor, throttle })
    }
}

/// Counters of the disk that a directory is on; `None` if its file system is not on a single disk,
/// like btrfs and tmpfs.
fn disk_of(directory: &Path) -> Option<DeviceCounterReader> {
    let device = fs::metadata(directory).ok()?.dev();
    DeviceCounterReader::open(rustix::fs::major(device), rustix::fs::minor(device)).ok()
}

/// The counter of what this process requests. `None` if a separate process reads on behalf of the
/// file system, as with FUSE: then the kernel does not say for whom a read was.
fn caller_of(target: &Target) -> Option<ProcessCounterReader> {
    let known = FileSystem::named(&target.facts().file_system);
    let is_told = known.is_none_or(|known| known.storage != file_system::Storage::Process);
    is_told.then(|| ProcessCounterReader::open().ok()).flatten()
}

impl Reading {
    /// What happened between `earlier` and this reading.
    pub(crate) fn since(&self, earlier: &Self) -> CounterDeltas {
        let device = self.device.zip(earlier.device).map(|(now, then)| now - then);
        let process = self.process.zip(earlier.process).map(|(now, then)| now - then);
        let asked_bytes = process.map(|process| process.read_bytes);
        let device_read_bytes = device.map(|device| device.read_bytes).or(asked_bytes);
        CounterDeltas {
            device_reads: device.map(|device| device.reads),
            device_read_bytes,
            // The process counter includes reads elsewhere, such as paging in our own binary.
            // Whatever exceeds the device's count was not read from this device.
            caller_read_bytes: device_read_bytes
                .zip(asked_bytes)
                .map(|(all, asked)| all.min(asked)),
            device_written_bytes: device.map(|device| device.written_bytes),
            device_writes: device.map(|device| device.writes),
            device_flushes: device.and_then(|device| device.flushes),
            steal_ns: (self.processor - earlier.processor).steal_ns,
            throttled_periods: (self.throttle - earlier.throttle).throttled,
        }
    }
}
