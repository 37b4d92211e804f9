//! What the kernel counts of network file systems and their caches.

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

/// Where the kernel tells what FS-Cache did.
const FSCACHE: &str = "/proc/fs/fscache/stats";
/// Where the kernel tells what network file systems did.
const MOUNTSTATS: &str = "/proc/self/mountstats";

/// What is counted at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Of a mount; none if there is no such mount.
    pub mount: Option<MountCounters>,
    /// Of all caches; none if the kernel has none, or its part is not loaded.
    pub cache: Option<CacheCounters>,
    /// Of a disk; none if there is no such disk.
    pub disk: Option<DiskCounters>,
    /// Of all network interfaces but the local one.
    pub network: NetworkCounters,
    /// Of all processors.
    pub processors: ProcessorTime,
}

impl Counters {
    /// What is counted now, of the mount at a directory, and of a disk by its name.
    ///
    /// # Errors
    /// A file of the kernel's cannot be read, or is not what is known.
    pub fn now(mount: Option<&Path>, disk: Option<&str>) -> Result<Self, Unreadable> {
        let mount = match mount {
            Some(mount) => MountCounters::of(&read(MOUNTSTATS)?, &mount.display().to_string())?,
            None => None,
        };
        let cache = match fs::read_to_string(FSCACHE) {
            Ok(text) => Some(CacheCounters::parse(&text)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(Unreadable::io(FSCACHE, error)),
        };
        let disk = match disk {
            Some(disk) => DiskCounters::of(&read("/proc/diskstats")?, disk)?,
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
