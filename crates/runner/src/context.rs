//! What the caller provides to a run: time, an observer, a way to stop it, and a policy for busy
//! machines.

use std::sync::atomic::AtomicBool;

use crate::observer::Observer;
use crate::plan::Stopwatch;

/// What the caller provides to a run.
pub struct RunContext<'a> {
    /// Time since this part of the run began.
    pub stopwatch: &'a dyn Stopwatch,
    /// Receives events.
    pub observer: &'a mut dyn Observer,
    /// Set by the caller to stop the run.
    pub stop: &'a AtomicBool,
    /// What to do when other programs keep the machine busy.
    pub on_busy: OnBusy,
}

/// What to do when other programs keep the machine busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnBusy {
    /// Wait until it is quiet, for a quarter of the budget at most; then measure anyway, and mark
    /// the affected replicates.
    Wait,
    /// Measure anyway, and mark the affected replicates.
    Measure,
    /// End the run.
    Refuse,
}
