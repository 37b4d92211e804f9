//! What a guest is asked to do, and what it says it did.

use serde::{Deserialize, Serialize};
use targets::TargetFacts;

use crate::TracedCall;

/// What to do in one boot of a guest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// The target, as the command line would have it: a scratch target on the guest's memory, or
    /// on the device that the guest has.
    pub target: String,
    /// What to do on it, in this order.
    pub operations: Vec<TracedCall>,
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

/// What was done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobOutcome {
    /// Release of the guest's kernel, as `uname -r` says.
    pub kernel: String,
    /// The target, unless it could not be made.
    pub target: Option<TargetFacts>,
    /// What failed, each with why; what is not named succeeded each time.
    pub failed: Vec<Failed>,
}

/// Something that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failed {
    /// The operation; none where the target could not be made.
    pub operation: Option<TracedCall>,
    /// Why.
    pub why: String,
}
