//! What can be wrong with a rig.

use std::io;
use std::time::Duration;

use crate::error::BootError;

/// A rig that does not come to do what it is asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RigError {
    /// A role that the description does not have.
    #[error("the rig has no role {0}")]
    NoRole(String),
    /// A link that the description does not have.
    #[error("the rig has no link {0}")]
    NoLink(usize),
    /// More links than addresses.
    #[error("the rig has {links} links, but can have at most {most}")]
    Links {
        /// Links.
        links: usize,
        /// The most.
        most: usize,
    },
    /// QEMU is missing, too old, or failed to start.
    #[error(transparent)]
    Boot(#[from] BootError),
    /// A file or a socket of the rig cannot be made.
    #[error("cannot run the rig: {0}")]
    Io(#[from] io::Error),
    /// A guest ended while it was needed.
    #[error("the {role} stopped early; its console ends:\n{console}")]
    Gone {
        /// Its role.
        role: String,
        /// The console's last lines.
        console: String,
    },
    /// A guest did not answer in time, and was ended.
    #[error(
        "the {role} did not answer within {limit:?} and was stopped; its console ends:\n\
        {console}"
    )]
    Late {
        /// Its role.
        role: String,
        /// How long it had.
        limit: Duration,
        /// The console's last lines.
        console: String,
    },
    /// A guest that is not running was asked something.
    #[error("the {0} is not running")]
    NotRunning(String),
    /// A guest could not do what it was asked.
    #[error("the {role} failed: {why}")]
    Failed {
        /// Its role.
        role: String,
        /// The guest's sentence.
        why: String,
    },
    /// A guest answered something that is no answer.
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
    /// Whether it ends what was asked and not the rig: a guest that is gone can be booted anew.
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

    /// The role whose guest is gone, if that is what happened.
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
