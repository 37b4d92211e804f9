//! What the device and the processors did while a replicate ran.

use machine::describe::{
    CpuTimes, CpuTimesReader, DescribeError, DeviceCounterReader, DeviceCounters,
    ProcessCounterReader, ProcessCounters, ThrottleCounters, ThrottleReader,
};
use machine::target::Target;

/// Reads everything that may disturb or refute a replicate.
#[derive(Debug)]
pub(crate) struct Counters {
    storage: Storage,
    processor: Option<CpuTimesReader>,
    throttle: ThrottleReader,
}

/// Where reads of the target's device are counted.
#[derive(Debug)]
enum Storage {
    /// A device that nobody else uses: all that it does counts.
    OwnDevice(DeviceCounterReader),
    /// A device shared with others: what this process caused counts.
    SharedDevice(ProcessCounterReader),
    /// No device: the pages are the only copy.
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
pub(crate) struct Happened {
    /// Requests that the device read for; of a device of its own only.
    pub(crate) device_reads: Option<u64>,
    pub(crate) device_read_bytes: Option<u64>,
    pub(crate) device_written_bytes: Option<u64>,
    pub(crate) device_writes: Option<u64>,
    /// Flushes of the device's write cache; of a device of its own only, since Linux 5.5.
    pub(crate) device_flushes: Option<u64>,
    pub(crate) steal_ns: u64,
    pub(crate) throttled_periods: u64,
}

impl Counters {
    /// The counters that belong to `target`.
    pub(crate) fn of(target: &Target, scratch: bool) -> Result<Self, DescribeError> {
        let storage = match target.device_numbers() {
            _ if !target.supports_cold() => Storage::None,
            Some(numbers) if scratch => {
                Storage::OwnDevice(DeviceCounterReader::open(numbers.major, numbers.minor)?)
            }
            _ => Storage::SharedDevice(ProcessCounterReader::open()?),
        };
        // Without /proc/stat, stolen time is simply not known.
        Ok(Self {
            storage,
            processor: CpuTimesReader::open().ok(),
            throttle: ThrottleReader::open(),
        })
    }

    /// Requests that the target's own device has not completed; none where it has no such device.
    pub(crate) fn in_flight(&self) -> Result<Option<u64>, DescribeError> {
        match &self.storage {
            Storage::OwnDevice(reader) => reader.in_flight().map(Some),
            Storage::SharedDevice(_) | Storage::None => Ok(None),
        }
    }

    pub(crate) fn read(&self) -> Result<Reading, DescribeError> {
        let (mut device, mut process) = (None, None);
        match &self.storage {
            Storage::OwnDevice(reader) => device = Some(reader.read()?),
            Storage::SharedDevice(reader) => process = Some(reader.read()?),
            Storage::None => {}
        }
        let processor = self.processor.as_ref().and_then(|reader| reader.read().ok());
        let throttle = self.throttle.read().unwrap_or_default();
        Ok(Reading { device, process, processor: processor.unwrap_or_default(), throttle })
    }
}

impl Reading {
    /// What happened between `earlier` and this reading.
    pub(crate) fn since(&self, earlier: &Self) -> Happened {
        let device = self.device.zip(earlier.device).map(|(now, then)| now - then);
        let process = self.process.zip(earlier.process).map(|(now, then)| now - then);
        Happened {
            device_reads: device.map(|device| device.reads),
            device_read_bytes: device
                .map(|device| device.read_bytes)
                .or_else(|| process.map(|process| process.read_bytes)),
            device_written_bytes: device.map(|device| device.written_bytes),
            device_writes: device.map(|device| device.writes),
            device_flushes: device.and_then(|device| device.flushes),
            steal_ns: (self.processor - earlier.processor).steal_ns,
            throttled_periods: (self.throttle - earlier.throttle).throttled,
        }
    }
}
