//! What can go wrong when describing a device, a mount or a counter.

use std::io;
use std::path::PathBuf;

use record::machine::DeviceNumber;

/// Why a device, a mount or a counter could not be described.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DescribeError {
    /// A kernel file, or the path that was asked about, could not be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A kernel file does not have the expected format.
    #[error("cannot parse {}: it has no {expected}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What was looked for in it.
        expected: &'static str,
    },
    /// There is no such block device.
    #[error("the kernel has no block device {device}; `lsblk` lists those that exist")]
    NoSuchDevice {
        /// Its number.
        device: DeviceNumber,
    },
    /// The path is not on any mount that this process can see.
    #[error("no mount in /proc/self/mountinfo contains {}; name a path visible in this mount \
             namespace", path.display())]
    NoMount {
        /// The path.
        path: PathBuf,
    },
}
