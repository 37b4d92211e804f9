//! What the host asks the guests to do, and their answers.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::content::{Content, FileSet};
use crate::counters::Counters;
use crate::culling::CullLimits;
use crate::task::{Task, TaskResult};

/// A request to a guest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Question {
    /// The server makes its file system on its first disk, and fills it.
    Fill(Content),
    /// The server adds a set of files, with this seed.
    AddSet(FileSet, u64),
    /// The server starts serving.
    Serve,
    /// The server performs this task on its own files, once to have them in memory, and then again.
    DoLocally(Task),
    /// The server overwrites the beginning of the large file with bytes that depend on this number.
    Change(u64),
    /// Reports the guest's counters.
    Count,
    /// The client makes a new cache in this place.
    MakeCache(CachePlace),
    /// The client starts the cache in this place.
    StartCache(CachePlace),
    /// The client mounts the export.
    Mount {
        /// The protocol version.
        version: Version,
        /// The server's address.
        server: String,
        /// The client's own address.
        client: String,
    },
    /// The client performs this task on the mount.
    Do(Task),
    /// The client runs a local program with these arguments, the first of which is the program.
    Run(Vec<String>),
    /// The client unmounts, which commits what it has cached, and stops the cache.
    Settle,
}

/// Where a cache is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CachePlace {
    /// The file system it is on.
    pub file_system: String,
    /// Which of the client's disks, from 0.
    pub disk: u8,
    /// Additional mkfs options.
    pub mkfs: Vec<String>,
    /// When it is culled.
    pub limits: CullLimits,
    /// Whether the time that it takes on its file system is measured.
    pub is_timed: bool,
}

/// A guest's answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Answer {
    /// Done, with nothing to report.
    Done,
    /// What was done, and the counters before and after.
    Measured(Box<TaskMeasurement>),
    /// The counters.
    Counted(Box<Counters>),
    /// The contents of the cache.
    Settled(Box<Settled>),
    /// The exit status and output of a command.
    Ran(CommandResult),
}

/// A command that was run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandResult {
    /// Its exit status; `None` if it was killed by a signal.
    pub status: Option<i32>,
    /// Its standard output.
    pub printed: String,
    /// Its standard error.
    pub said: String,
}

/// A completed task, and the counters before and after.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskMeasurement {
    /// What was done.
    pub did: TaskResult,
    /// The time that it took on the guest's clock.
    pub elapsed_ns: u64,
    /// The counters before ...
    pub before: Counters,
    /// ... and after.
    pub after: Counters,
    /// The number of pages of the files, and how many were in memory at the start; only for tasks
    /// performed on the server.
    pub resident: Option<(u64, u64)>,
}

/// A cache that has been stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settled {
    /// The number of objects in it.
    pub objects: u64,
    /// The size of their blocks in bytes.
    pub bytes: u64,
    /// The counters after everything was written.
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

/// There is no such version.
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
