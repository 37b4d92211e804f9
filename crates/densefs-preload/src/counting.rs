//! Counting what becomes of calls, for commands that are reported on.
//!
//! Then all calls come by their sites, so that there is one place to count, and one name for each.
//! The short way of [`crate::symbols`] only looks whether it is open.
#![expect(unsafe_code, reason = "a descriptor that has been handed on")]

use std::ffi::c_int;
use std::os::fd::BorrowedFd;
use std::sync::OnceLock;

use densefs_calls::{Counts, Outcome};

use crate::decision::Decision;
use crate::{numbers, prefix};

/// The counts, and the descriptor by which the next program finds them.
static COUNTS: OnceLock<(&Counts, c_int)> = OnceLock::new();

/// Counts from now on, where this descriptor leads to; if it leads to something else, does not.
pub(crate) fn start(number: c_int) {
    // SAFETY: it is open, or the kernel says that it is not. Nobody else runs yet.
    let Ok(counts) = densefs_calls::map(unsafe { BorrowedFd::borrow_raw(number) }) else { return };
    if COUNTS.set((counts, number)).is_ok() {
        counts.note_program();
        numbers::close_the_short_way();
        prefix::close_the_short_way();
    }
}

/// The descriptor of the counts, which is ours; -1 if calls are not counted.
pub(crate) fn number() -> c_int {
    COUNTS.get().map_or(-1, |&(_, number)| number)
}

/// Counts a call, if calls are counted.
#[inline(always)]
pub(crate) fn note(number: usize, decision: Decision) {
    if numbers::take_the_long_way() {
        note_now(number, decision);
    }
}

#[cold]
#[inline(never)]
fn note_now(number: usize, decision: Decision) {
    let outcome = match decision {
        Decision::Done(_) => Outcome::Served,
        Decision::Pass | Decision::Executed(_) => Outcome::Passed,
        Decision::Refused(_) => Outcome::Refused,
    };
    if let Some((counts, _)) = COUNTS.get() {
        counts.note(number, outcome);
    }
}
