//! What a guest is asked to do, and what it says it did.

use serde::{Deserialize, Serialize};

use crate::Operation;

/// What to do in one boot of a guest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// The file system to make.
    pub target: Target,
    /// What to do on it, in this order.
    pub operations: Vec<Operation>,
    /// How often each operation is executed before it is traced.
    pub warm_up: u32,
    /// How often each is executed and traced, from 1.
    pub repetitions: u32,
    /// What the kernel's caches hold before each of them.
    pub state: State,
}

/// What the kernel's own caches (pages, dentries, inodes) hold before an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// What the operations before left there.
    #[default]
    Warm,
    /// Nothing that can be dropped: after `sync` and `drop_caches`.
    Cold,
}

/// A file system to make in a guest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// What the run calls it.
    pub label: String,
    /// Its type, as `mount` takes it.
    pub file_system: String,
    /// Bytes of its device, or of a tmpfs.
    pub size_bytes: u64,
    /// The command that makes it, the device apart; none for one that lives in memory.
    pub mkfs: Option<Vec<String>>,
    /// Options for mount, separated by commas.
    pub mount: String,
}

/// What was done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// The file system, unless it could not be made.
    pub made: Option<Made>,
    /// What failed, each with why; what is not named succeeded each time.
    pub failed: Vec<Failed>,
}

/// A file system as it was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Made {
    /// Release of the kernel, as `uname -r` says.
    pub kernel: String,
    /// The command that made it; none for one that lives in memory.
    pub mkfs: Option<String>,
    /// Mount options as the kernel reports them.
    pub mount_options: String,
    /// Bytes that it offers.
    pub size_bytes: u64,
}

/// Something that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failed {
    /// The operation; none where the file system could not be made.
    pub operation: Option<Operation>,
    /// Why.
    pub why: String,
}
