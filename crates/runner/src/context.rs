//! What a run is given from outside.

use std::sync::atomic::AtomicBool;

use crate::observer::Observer;
use crate::plan::Stopwatch;

/// What a run is given from outside: time, somebody who watches, and a way to stop it.
pub struct RunContext<'a> {
    /// Time since this part of the run began.
    pub stopwatch: &'a dyn Stopwatch,
    /// Somebody who watches.
    pub observer: &'a mut dyn Observer,
    /// Set when the run is to stop.
    pub stop: &'a AtomicBool,
    /// What to do where others keep the machine busy.
    pub on_busy: OnBusy,
}

/// What to do where others keep the machine busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnBusy {
    /// Wait until it is quiet, for a quarter of the budget at most; then measure all the same, and
    /// mark what was measured so.
    Wait,
    /// Measure all the same, and mark it.
    Measure,
    /// End the run.
    Refuse,
}
