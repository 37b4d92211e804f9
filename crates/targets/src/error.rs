//! What can go wrong in a target's life.

use std::io;
use std::path::PathBuf;

use densefs_process::ArenaError;
use file_system::FileSystem;
use rustix::io::Errno;

use crate::availability::Unavailable;
use crate::device_failure::DeviceFailure;
use crate::filtered::ADVICE;
use crate::scratch::device::DeviceError;
use crate::scratch::mkfs::MkfsFailed;

/// What to do if something that every target needs cannot be set up.
fn how_to_prepare(source: &io::Error) -> &'static str {
    match Errno::from_io_error(source) {
        Some(Errno::MFILE | Errno::NFILE) => "raise the limit on open files (`ulimit -n`)",
        Some(Errno::AGAIN) => "raise the limit on processes (`ulimit -u`)",
        Some(Errno::PERM | Errno::NOSYS) => ADVICE,
        _ => "check that /proc and /run are usable, and the limits (`ulimit -n`, `ulimit -u`)",
    }
}

/// What to do if mkfs failed: it is not about the image if mkfs could not even start.
fn how_to_format(message: &str) -> &'static str {
    if message.contains("Too many open files") {
        "raise the limit on open files (`ulimit -n`)"
    } else {
        "change mkfs= or size="
    }
}

/// Why a target could not be made, changed or removed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TargetError {
    /// It cannot be made here; nothing was tried.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// The named device must not be written to any longer.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The workshop was opened too late.
    #[error("targets must be prepared while the process has a single thread; it has {threads}")]
    SeveralThreads {
        /// How many there are.
        threads: usize,
    },
    /// Something that every target needs could not be set up.
    #[error("targets cannot be prepared: {doing}: {source}; {}", how_to_prepare(source))]
    Workshop {
        /// What was tried.
        doing: &'static str,
        /// The kernel's error.
        source: io::Error,
    },
    /// The image or its loop device could not be made.
    #[error("cannot make an image in {directory}: {source}; name another directory with --scratch",
        directory = directory.display())]
    Image {
        /// The scratch directory.
        directory: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// The device could not be slowed down.
    #[error("the device of {label} cannot be slowed down ({source}); leave delay= out")]
    SlowDevice {
        /// The target's label.
        label: String,
        /// The kernel's error.
        source: io::Error,
    },
    /// The process that slows the device down has ended in mid-run.
    #[error("{failure}: {}", failure.advice("run again"))]
    ServerEnded {
        /// In words.
        failure: DeviceFailure,
    },
    /// The kernel has a loop device that `/dev` does not show.
    #[error(
        "the kernel's next free loop device is number {number}, but there is no /dev/loop{number}, \
        as in a container with a /dev of its own; make it with `mknod /dev/loop{number} b 7 \
        {number}`, or give a directory on a mounted file system instead"
    )]
    NoLoopNode {
        /// The device's number.
        number: u32,
    },
    /// An image cannot stay allocated in place if the host writes every block to a new place.
    #[error("image=allocated has no effect in {directory}, because {why}; name another directory \
        with --scratch, or leave image=allocated out",
        directory = directory.display())]
    NeverInPlace {
        /// The scratch directory.
        directory: PathBuf,
        /// Which file system is below, and what it does.
        why: String,
    },
    /// Something other than capabilities keeps this process from mounting.
    #[error(
        "this process has CAP_SYS_ADMIN but may not mount ({source}), as in containers whose \
        security profile forbids it; start the container with --security-opt apparmor=unconfined \
        or --privileged, or give a directory on a mounted file system instead"
    )]
    MountsRefused {
        /// The kernel's error.
        source: io::Error,
    },
    /// An arena could not be made.
    #[error(transparent)]
    Arena(#[from] ArenaError),
    /// mkfs failed.
    #[error("`{command}` failed: {message}; {}", how_to_format(message))]
    Mkfs {
        /// The command line.
        command: String,
        /// What it wrote to its standard error.
        message: String,
    },
    /// The kernel did not mount it.
    #[error("{file_system} could not be mounted{}: {source}; change mount= or mkfs=",
        with_options(.options))]
    Mount {
        /// The file system.
        file_system: FileSystem,
        /// The options given.
        options: String,
        /// The kernel's error.
        source: io::Error,
    },
    /// The target was still in use when it was unmounted, so it was detached.
    #[error(
        "the target {label} could not be unmounted cleanly: {source}; \
        close what is open in it"
    )]
    Unmount {
        /// The target's label.
        label: String,
        /// The kernel's error.
        source: io::Error,
    },
    /// The conditions could not be made or entered.
    #[error(
        "the conditions (memory=, read_bps=, ...) cannot be set: {source}; run as root, or leave \
        them out"
    )]
    Conditions {
        /// The kernel's error.
        source: io::Error,
    },
    /// The work directory inside a directory target could not be made or remade.
    #[error("{path}: {source}; give a directory that can be written", path = path.display())]
    WorkDirectory {
        /// The work directory.
        path: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// The target cannot be mounted again.
    #[error(
        "the target {label} cannot be remounted: {reason}; use a scratch target such as ext4, \
        which can"
    )]
    NotRemountable {
        /// The target's label.
        label: String,
        /// Why.
        reason: &'static str,
    },
    /// We may not change its size.
    #[error(
        "the volume of {label} cannot have another size, since fsprism made no image for it; use \
        a scratch target such as ext4"
    )]
    NotResizable {
        /// The target's label.
        label: String,
    },
    /// The target could not be filled.
    #[error(
        "the target {label} could not be filled: {source}; give it another filled= or size=, or \
        leave filled= out"
    )]
    Filling {
        /// The target's label.
        label: String,
        /// The kernel's error.
        source: io::Error,
    },
    /// The stop flag was raised while the target was being filled.
    #[error("the target {label} was being filled when the run was stopped")]
    FillingStopped {
        /// The target's label.
        label: String,
    },
    /// The target could not be aged.
    #[error(
        "the target {label} could not be aged: {source}; give it a lower fill= or a larger size="
    )]
    Ageing {
        /// The target's label.
        label: String,
        /// The kernel's error.
        source: io::Error,
    },
    /// The stop flag was raised while the target was being aged.
    #[error("the target {label} was being aged when the run was stopped")]
    AgeingStopped {
        /// The target's label.
        label: String,
    },
    /// The target's facts could not be read, or it could not be synced.
    #[error("the target {label} does not respond: {source}; {}", what_to_look_at(source))]
    Io {
        /// The target's label.
        label: String,
        /// The kernel's error.
        source: io::Error,
    },
    /// Something that we made is still there.
    #[error(
        "not everything could be removed: {source}; look for fsprism- in /run, in \
        /sys/fs/cgroup and in the targets"
    )]
    LeftBehind {
        /// The error of the kernel or of the guardian.
        source: io::Error,
    },
}

impl TargetError {
    /// Whether the user's choice is at fault: another target or option might have worked.
    #[must_use]
    pub fn is_of_input(&self) -> bool {
        matches!(
            self,
            Self::Unavailable(_)
                | Self::MountsRefused { .. }
                | Self::Image { .. }
                | Self::SlowDevice { .. }
                | Self::Mkfs { .. }
                | Self::Mount { .. }
                | Self::Conditions { .. }
                | Self::WorkDirectory { .. }
                | Self::Filling { .. }
        )
    }
}

impl From<MkfsFailed> for TargetError {
    fn from(MkfsFailed { command, message }: MkfsFailed) -> Self {
        Self::Mkfs { command, message }
    }
}

fn with_options(options: &str) -> String {
    if options.is_empty() { String::new() } else { format!(" with the options `{options}`") }
}

/// Where to look for the cause of an error that a target returns.
fn what_to_look_at(source: &io::Error) -> &'static str {
    if source.kind() == io::ErrorKind::NotFound {
        return "was its directory moved, removed or unmounted meanwhile?";
    }
    "see the kernel log"
}
