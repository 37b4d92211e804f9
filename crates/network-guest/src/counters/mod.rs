//! The kernel's counters for network file systems and their caches.

mod checks;
mod device;
mod fscache;
mod mountstats;
mod netfs;
mod spent;
mod text;
pub(crate) mod tracing;

use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

pub use checks::CheckCounters;
pub use device::{DiskCounters, NetworkCounters, ProcessorTime};
pub use fscache::CacheCounters;
pub use mountstats::{MountCounters, OperationCounters};
pub use netfs::NetfsCounters;
pub use spent::SpentTime;
pub use text::Unreadable;

/// Where the kernel reports the activity of FS-Cache.
const FSCACHE: &str = "/proc/fs/fscache/stats";
/// Where the kernel reports the activity of its library for network file systems.
const NETFS: &str = "/proc/fs/netfs/stats";
/// Where the kernel reports the activity of network file systems.
const MOUNTSTATS: &str = "/proc/self/mountstats";

/// All counters at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Of a mount; `None` if it does not exist.
    pub mount: Option<MountCounters>,
    /// Of all caches; `None` if the kernel does not have FS-Cache, or has not loaded it.
    pub cache: Option<CacheCounters>,
    /// Of the library for network file systems; `None` if the kernel does not count for it, or has
    /// not loaded it.
    pub netfs: Option<NetfsCounters>,
    /// Of the files in the cache that were looked at; `None` outside of guests, or if the kernel
    /// does not have histograms of tracepoints.
    pub checks: Option<CheckCounters>,
    /// The time that the caches took on their file system; `None` where it is not measured.
    pub spent: Option<SpentTime>,
    /// Of a disk; `None` if it does not exist.
    pub disk: Option<DiskCounters>,
    /// Of all network interfaces except loopback.
    pub network: NetworkCounters,
    /// Of all processors.
    pub processors: ProcessorTime,
}

impl Counters {
    /// Reads the counters now, for the mount at this directory, and for the disk with this name.
    ///
    /// # Errors
    /// If one of the kernel's files cannot be read, or does not have the known format.
    pub fn now(mount: Option<&Path>, disk: Option<&str>) -> Result<Self, Unreadable> {
        let mount = match mount {
            Some(mount) => MountCounters::parse(&read(MOUNTSTATS)?, &mount.display().to_string())?,
            None => None,
        };
        let cache = read_if_there(FSCACHE)?.map(|text| CacheCounters::parse(&text)).transpose()?;
        let (checks, spent) = (CheckCounters::now()?, SpentTime::now()?);
        let disk = match disk {
            Some(disk) => DiskCounters::parse(&read("/proc/diskstats")?, disk)?,
            None => None,
        };
        let network = NetworkCounters::parse(&read("/proc/net/dev")?)?;
        let processors = ProcessorTime::parse(&read("/proc/stat")?)?;
        Ok(Self { mount, cache, netfs: netfs()?, checks, spent, disk, network, processors })
    }
}

/// What the kernel's library for network file systems has done; `None` if the kernel does not count
/// it, or has not loaded it.
///
/// # Errors
/// If the kernel's file cannot be read, or does not have the known format.
pub fn netfs() -> Result<Option<NetfsCounters>, Unreadable> {
    read_if_there(NETFS)?.map(|text| NetfsCounters::parse(&text)).transpose()
}

fn read_if_there(path: &'static str) -> Result<Option<String>, Unreadable> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Unreadable::io(path, error)),
    }
}

fn read(path: &'static str) -> Result<String, Unreadable> {
    fs::read_to_string(path).map_err(|error| Unreadable::io(path, error))
}
