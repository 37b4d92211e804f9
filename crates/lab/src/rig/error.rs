//! Errors of rigs.

use std::io;
use std::time::Duration;

use crate::error::BootError;

/// Why a rig did not do what it was asked to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RigError {
    /// The description has no such role.
    #[error("the rig has no role {0}")]
    NoRole(String),
    /// The description has no such link.
    #[error("the rig has no link {0}")]
    NoLink(usize),
    /// There are more links than addresses.
    #[error("the rig has {links} links, but can have at most {most}")]
    Links {
        /// The number of links.
        links: usize,
        /// The maximum.
        most: usize,
    },
    /// QEMU is missing, too old, or failed to start.
    #[error(transparent)]
    Boot(#[from] BootError),
    /// A file or a socket of the rig cannot be created.
    #[error("cannot run the rig: {0}")]
    Io(#[from] io::Error),
    /// A guest stopped while it was needed.
    #[error("the {role} stopped early; its console ends:\n{console}")]
    Gone {
        /// Its role.
        role: String,
        /// The last lines of the console.
        console: String,
    },
    /// A guest did not answer in time, and was killed.
    #[error(
        "the {role} did not answer within {limit:?} and was stopped; its console ends:\n\
        {console}"
    )]
    Late {
        /// Its role.
        role: String,
        /// The time limit.
        limit: Duration,
        /// The last lines of the console.
        console: String,
    },
    /// A guest that is not running was asked something.
    #[error("the {0} is not running")]
    NotRunning(String),
    /// A guest could not do what it was asked to.
    #[error("the {role} failed: {why}")]
    Failed {
        /// Its role.
        role: String,
        /// Why, according to the guest.
        why: String,
    },
    /// A guest's answer is malformed.
    #[error("the {role} gave an answer that cannot be read: {why}")]
    Garbled {
        /// Its role.
        role: String,
        /// What is wrong with it.
        why: String,
    },
    /// The caller asked to stop.
    #[error("the rig was stopped")]
    Stopped,
}

impl RigError {
    /// Whether only the request failed and not the rig: a guest that is gone can be booted again.
    #[must_use]
    pub fn is_of_guest(&self) -> bool {
        match self {
            Self::Gone { .. }
            | Self::Late { .. }
            | Self::NotRunning(_)
            | Self::Failed { .. }
            | Self::Garbled { .. } => true,
            Self::NoRole(_)
            | Self::NoLink(_)
            | Self::Links { .. }
            | Self::Boot(_)
            | Self::Io(_)
            | Self::Stopped => false,
        }
    }

    /// The role whose guest is gone, if that is what this error means.
    #[must_use]
    pub fn gone(&self) -> Option<&str> {
        match self {
            Self::Gone { role, .. } | Self::Late { role, .. } => Some(role),
            Self::NotRunning(role) => Some(role),
            Self::NoRole(_)
            | Self::NoLink(_)
            | Self::Links { .. }
            | Self::Boot(_)
            | Self::Io(_)
            | Self::Failed { .. }
            | Self::Garbled { .. }
            | Self::Stopped => None,
        }
    }
}
