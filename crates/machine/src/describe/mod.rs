//! What this computer is, as the kernel and the tools report it.
//!
//! [`describe`] gathers everything a run should record about its machine, as a [`Machine`];
//! [`block_device`] describes one device, and [`extents`] and [`chunks`] say where a file is
//! stored. The readers provide the counters that are read around every replicate. Nothing here
//! changes the machine, and nothing here panics on what it finds in a file.
//!
//! Every fact comes from files under `/proc`, `/sys` and `/etc`, so that tests can describe a
//! machine from a copy of those files.

mod block;
mod caches;
pub mod cgroup;
mod chunks;
mod counters;
mod error;
mod extents;
mod file_systems;
#[cfg(test)]
mod fixture;
mod memory;
pub mod mounts;
mod parse;
mod permissions;
mod probes;
mod processes;
mod processor;
mod processor_time;
mod readers;
mod sources;
mod system;
mod waits;
mod writeback;

use std::path::Path;

use record::machine::{BlockDevice, DeviceNumber, DirtyLimits, Machine, Mount, Storage};

pub use chunks::{Chunk, chunks};
pub use counters::{CpuTimes, DeviceCounters, PressureCounters, ProcessCounters, ThrottleCounters};
pub use error::DescribeError;
pub use extents::{Extent, ExtentFlags, Extents, ExtentsError, extents};
pub use processes::{ProcessTimes, ProcessTimesReader};
pub use processor_time::{ProcessorTimeReader, ProcessorTimeSource};
pub use readers::{
    CpuTimesReader, DeviceCounterReader, PressureReader, ProcessCounterReader, ThrottleReader,
};
pub use sources::Sources;
pub use waits::{WaitingThreads, waiting_threads};
pub use writeback::{GroupPages, WritebackCounters, WritebackReader, device_dirty_limit};

use sources::Reader;

/// Describes the machine that this process runs on. Installed formatting tools are executed to get
/// their versions; no other process is started.
#[must_use]
pub fn describe() -> Machine {
    describe_sources(&Sources::default())
}

/// Describes the machine that `sources` points to.
#[must_use]
pub(crate) fn describe_sources(sources: &Sources) -> Machine {
    let reader = Reader::new(sources);
    let kernel = system::kernel(&reader);
    let processor = processor::processor(&reader);
    let kernel_file_systems = file_systems::registered(&reader);
    Machine {
        storage: Vec::new(),
        os_release: system::os_release(&reader),
        caches: caches::caches(&reader, &processor.online),
        memory: memory::memory(&reader),
        cgroup: cgroup::cgroup(&reader),
        clock_source: system::clock_source(&reader),
        mitigations: system::mitigations(&reader),
        hypervisor: system::hypervisor(&reader),
        boot_time_unix_s: system::boot_time_unix_s(&reader),
        dirty_limits: system::dirty_limits(&reader),
        vfs_cache_pressure: reader.value("/proc/sys/vm/vfs_cache_pressure"),
        swappiness: reader.value("/proc/sys/vm/swappiness"),
        permissions: permissions::permissions(&reader, &kernel),
        file_systems: file_systems::file_systems(&reader, &kernel, &kernel_file_systems),
        kernel_file_systems,
        kernel,
        processor,
        unread: reader.into_unread(),
    }
}

/// The block device with this number.
///
/// # Errors
/// [`DescribeError::NoSuchDevice`].
pub fn block_device(major: u32, minor: u32) -> Result<BlockDevice, DescribeError> {
    block::block_device(&Sources::default(), DeviceNumber { major, minor })
}

/// The block device that holds `path`, or that `path` names if it is a device node; `None` for
/// memory, for a network, and for the overlay of a container whose upper directory is not visible.
/// For a file system on several devices it is the one that the mount names.
///
/// # Errors
/// If `path` does not exist or cannot be inspected, or its device or mount cannot be found.
pub(crate) fn device_below(path: impl AsRef<Path>) -> Result<Option<BlockDevice>, DescribeError> {
    block::device_below(&Sources::default(), path.as_ref())
}

/// How many more bytes of memory the control groups of this process let it use: the minimum over
/// all levels, in either version; `None` without a limit. Reclaimable page cache counts as
/// available.
#[must_use]
pub fn memory_left_in_groups() -> Option<u64> {
    cgroup::memory_left_bytes(&Reader::new(&Sources::default()))
}

/// What `paths` are stored on; whatever cannot be determined is left out.
#[must_use]
pub fn storage<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Vec<Storage> {
    let below = |path: P| Storage {
        path: path.as_ref().display().to_string(),
        mount: mount_of(&path).ok(),
        device: device_below(&path).ok().flatten(),
    };
    paths.into_iter().map(below).collect()
}

/// The mount that holds `path`.
///
/// # Errors
/// If `path` does not exist or cannot be inspected, or this process cannot see the mount.
pub(crate) fn mount_of(path: impl AsRef<Path>) -> Result<Mount, DescribeError> {
    mounts::mount_of(&Sources::default(), path.as_ref())
}

/// How much dirty data the kernel keeps, and for how long, as currently configured.
#[must_use]
pub fn dirty_limits() -> DirtyLimits {
    system::dirty_limits(&Reader::new(&Sources::default()))
}

#[cfg(test)]
mod tests;
