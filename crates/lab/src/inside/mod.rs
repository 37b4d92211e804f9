//! What a guest does around its job: mounts, modules, handing back, power off.
//!
//! The first process of a guest may never end, so what goes wrong is handed back as a sentence,
//! and the guest is powered off.

mod modules;
mod port;
pub mod rig;

use std::ffi::CStr;
use std::io;

use rustix::mount::{MountFlags, mount};
use rustix::system::{RebootCommand, reboot};

pub use modules::load_modules_for;
pub use port::hand_back;

/// What a guest cannot do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InsideError {
    /// A file system of the kernel's cannot be mounted.
    #[error("{what} cannot be mounted on {at}: {source}")]
    Mount {
        /// Its name.
        what: String,
        /// Where.
        at: String,
        /// What the kernel says.
        source: io::Error,
    },
    /// The kernel has neither a module nor a built-in part of this name.
    #[error("this kernel has no {0}: use one of the full flavour")]
    Unknown(String),
    /// A module was refused.
    #[error("module {module} cannot be loaded: {source}")]
    Module {
        /// Its file.
        module: String,
        /// What the kernel says.
        source: io::Error,
    },
    /// A file of the guest cannot be read.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// What the kernel says.
        source: io::Error,
    },
    /// There is no port of this name.
    #[error("there is no port named {0}")]
    NoPort(&'static str),
    /// A network interface cannot be set up.
    #[error("the link {address} cannot be set up: {why}")]
    Link {
        /// The address it was to have.
        address: String,
        /// Why.
        why: String,
    },
}

/// What is mounted first: file system, directory.
const MOUNTS: [(&str, &str); 5] = [
    ("proc", "/proc"),
    ("sysfs", "/sys"),
    ("devtmpfs", "/dev"),
    ("tmpfs", "/tmp"),
    ("tmpfs", "/run"),
];

/// Mounts proc, sysfs, devtmpfs, /tmp and /run. What the port needs is loaded when it is opened, so
/// that no device whose answers come from the host runs beside a job.
///
/// # Errors
/// The kernel refuses one of these.
pub fn start() -> Result<(), InsideError> {
    for (what, at) in MOUNTS {
        mount(what, at, what, MountFlags::empty(), None::<&CStr>).map_err(|error| {
            let (what, at) = (what.to_owned(), at.to_owned());
            InsideError::Mount { what, at, source: error.into() }
        })?;
    }
    Ok(())
}

/// Whether this process is the first of a guest, started as `/init` by its kernel.
#[must_use]
pub fn is_first_process() -> bool {
    std::process::id() == 1 && std::env::args_os().next().is_some_and(|name| name == "/init")
}

/// Powers the guest off. A guest that the kernel does not let go is ended by its time limit.
pub fn power_off() -> ! {
    rustix::fs::sync();
    loop {
        let _does_not_return = reboot(RebootCommand::PowerOff);
    }
}
