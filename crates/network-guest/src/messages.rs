//! What the host asks of the guests, and what they answer.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::content::{Content, FileSet};
use crate::counters::Counters;
use crate::task::{Did, Task};

/// Something that a guest is asked to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Question {
    /// The server makes its file system on its first disk and fills it.
    Fill(Content),
    /// The server makes a set of files more, with this seed.
    AddSet(FileSet, u64),
    /// The server serves it.
    Serve,
    /// The server does this on its own files, once to have them in memory, then again.
    DoLocally(Task),
    /// The server writes other bytes over the beginning of the large file, which depend on this.
    Change(u64),
    /// What the guest counts by itself, without a mount.
    Count,
    /// The client makes a new cache there.
    MakeCache(CachePlace),
    /// The client starts the cache that lies there.
    StartCache(CachePlace),
    /// The client mounts what is served.
    Mount {
        /// The version of the protocol.
        version: Version,
        /// The server's address.
        server: String,
        /// The client's own.
        client: String,
    },
    /// The client does this on the mount.
    Do(Task),
    /// The client runs a program of its own with these words.
    Run(Vec<String>),
    /// The client unmounts, which commits what it has cached, and stops the cache.
    Settle,
}

/// What a cache lies on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CachePlace {
    /// The file system.
    pub file_system: String,
    /// Which of the client's disks, from 0.
    pub disk: u8,
    /// Further options of the program that makes the file system.
    pub mkfs: Vec<String>,
}

/// What a guest answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Answer {
    /// It is done.
    Done,
    /// What was done, and what was counted around it.
    Measured(Box<Measured>),
    /// What was counted.
    Counted(Box<Counters>),
    /// What lies in the cache.
    Settled(Box<Settled>),
    /// How a command ended, and what it printed.
    Ran(Ran),
}

/// A command that was run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ran {
    /// Its exit status; none if a signal ended it.
    pub status: Option<i32>,
    /// What it wrote to standard output.
    pub printed: String,
    /// What it wrote to standard error.
    pub said: String,
}

/// Something that was done, and what was counted around it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// What was done.
    pub did: Did,
    /// The time that it took by the guest's clock.
    pub elapsed_ns: u64,
    /// What was counted when it began ...
    pub before: Counters,
    /// ... and when it had ended.
    pub after: Counters,
    /// Pages of the files, and how many were in memory when it began; only of what is done on the
    /// server.
    pub resident: Option<(u64, u64)>,
}

/// A cache that was stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settled {
    /// Objects that lie in it.
    pub objects: u64,
    /// Bytes of their blocks.
    pub bytes: u64,
    /// What was counted once all was written.
    pub counters: Counters,
}

/// A version of NFS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Version {
    /// Version 3.
    V3,
    /// Version 4.0.
    V40,
    /// Version 4.1.
    V41,
    /// Version 4.2.
    V42,
}

/// A version that there is not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no NFS version {0:?}: choose 3, 4.0, 4.1 or 4.2")]
pub struct WrongVersion(String);

impl FromStr for Version {
    type Err = WrongVersion;

    fn from_str(text: &str) -> Result<Self, WrongVersion> {
        match text {
            "3" => Ok(Self::V3),
            "4.0" => Ok(Self::V40),
            "4.1" => Ok(Self::V41),
            "4" | "4.2" => Ok(Self::V42),
            _ => Err(WrongVersion(text.to_owned())),
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V3 => "3",
            Self::V40 => "4.0",
            Self::V41 => "4.1",
            Self::V42 => "4.2",
        })
    }
}
