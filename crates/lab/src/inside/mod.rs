//! What a guest does around its job: mounting, loading modules, handing back, powering off.
//!
//! The init process of a guest must never exit, so errors are handed back as a sentence, and the
//! guest is powered off.

mod modules;
mod port;
pub mod rig;

use std::ffi::CStr;
use std::io;

use rustix::mount::{MountFlags, mount};
use rustix::system::{RebootCommand, reboot};

pub use modules::load_modules_for;
pub use port::hand_back;

/// Errors in a guest.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InsideError {
    /// A kernel file system, such as proc, cannot be mounted.
    #[error("{what} cannot be mounted on {at}: {source}")]
    Mount {
        /// Its name.
        what: String,
        /// The mount point.
        at: String,
        /// The kernel's error.
        source: io::Error,
    },
    /// The kernel has nothing of this name, neither as a module nor built in.
    #[error("this kernel has no {0}: use one of the full flavour")]
    Unknown(String),
    /// The kernel refused a module.
    #[error("module {module} cannot be loaded: {source}")]
    Module {
        /// Its file.
        module: String,
        /// The kernel's error.
        source: io::Error,
    },
    /// A file in the guest cannot be read.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// The kernel's error.
        source: io::Error,
    },
    /// There is no port of this name.
    #[error("there is no port named {0}")]
    NoPort(&'static str),
    /// A network interface cannot be set up.
    #[error("the link {address} cannot be set up: {why}")]
    Link {
        /// The address that it was to get.
        address: String,
        /// Why.
        why: String,
    },
}

/// What is mounted first: file system, mount point.
const MOUNTS: [(&str, &str); 5] = [
    ("proc", "/proc"),
    ("sysfs", "/sys"),
    ("devtmpfs", "/dev"),
    ("tmpfs", "/tmp"),
    ("tmpfs", "/run"),
];

/// Mounts proc, sysfs, devtmpfs, /tmp and /run. The port's modules are loaded only when it is
/// opened, so that while a job runs there is no device whose behaviour depends on the host.
///
/// # Errors
/// If the kernel refuses one of these mounts.
pub fn start() -> Result<(), InsideError> {
    for (what, at) in MOUNTS {
        mount(what, at, what, MountFlags::empty(), None::<&CStr>).map_err(|error| {
            let (what, at) = (what.to_owned(), at.to_owned());
            InsideError::Mount { what, at, source: error.into() }
        })?;
    }
    Ok(())
}

/// Whether this process is the init process of a guest, started by its kernel as `/init`.
#[must_use]
pub fn is_first_process() -> bool {
    std::process::id() == 1 && std::env::args_os().next().is_some_and(|name| name == "/init")
}

/// Powers the guest off. If the kernel does not do so, the guest runs into its time limit.
pub fn power_off() -> ! {
    rustix::fs::sync();
    loop {
        let _does_not_return = reboot(RebootCommand::PowerOff);
    }
}
