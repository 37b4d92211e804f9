//! What a guest is asked to do, and what it reports.

use serde::{Deserialize, Serialize};
use targets::TargetFacts;

use crate::TracedCall;

/// What to do in one boot of a guest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// The target, as on the command line: a scratch target in the guest's memory, or on the
    /// guest's block device.
    pub target: String,
    /// Which operations to execute on it, in this order.
    pub operations: Vec<TracedCall>,
    /// How many times each operation is executed before it is traced.
    pub warm_up: u32,
    /// How many times each is executed and traced, at least 1.
    pub repetitions: u32,
    /// The state of the kernel's caches before each of them.
    pub state: KernelCacheState,
}

/// The state of the kernel's caches (pages, dentries, inodes) before an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KernelCacheState {
    /// As the previous operations left them.
    #[default]
    Warm,
    /// Without anything that can be dropped: after `sync` and `drop_caches`.
    Cold,
}

/// What was done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobOutcome {
    /// Release of the guest's kernel, as `uname -r` prints it.
    pub kernel: String,
    /// The target, unless it could not be made.
    pub target: Option<TargetFacts>,
    /// What failed, and why; operations not listed succeeded every time.
    pub failed: Vec<Failed>,
}

/// Something that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failed {
    /// The operation; `None` if the target could not be made.
    pub operation: Option<TracedCall>,
    /// Why.
    pub why: String,
}
