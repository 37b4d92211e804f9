//! The kernel's counters for network file systems and their caches.

mod device;
mod fscache;
mod mountstats;
mod text;

use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

pub use device::{DiskCounters, NetworkCounters, ProcessorTime};
pub use fscache::CacheCounters;
pub use mountstats::{MountCounters, OperationCounters};
pub use text::Unreadable;

/// Where the kernel reports the activity of FS-Cache.
const FSCACHE: &str = "/proc/fs/fscache/stats";
/// Where the kernel reports the activity of network file systems.
const MOUNTSTATS: &str = "/proc/self/mountstats";

/// All counters at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Of a mount; `None` if it does not exist.
    pub mount: Option<MountCounters>,
    /// Of all caches; `None` if the kernel does not have FS-Cache, or has not loaded it.
    pub cache: Option<CacheCounters>,
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
        let cache = match fs::read_to_string(FSCACHE) {
            Ok(text) => Some(CacheCounters::parse(&text)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(Unreadable::io(FSCACHE, error)),
        };
        let disk = match disk {
            Some(disk) => DiskCounters::parse(&read("/proc/diskstats")?, disk)?,
            None => None,
        };
        let network = NetworkCounters::parse(&read("/proc/net/dev")?)?;
        let processors = ProcessorTime::parse(&read("/proc/stat")?)?;
        Ok(Self { mount, cache, disk, network, processors })
    }
}

fn read(path: &'static str) -> Result<String, Unreadable> {
    fs::read_to_string(path).map_err(|error| Unreadable::io(path, error))
}
