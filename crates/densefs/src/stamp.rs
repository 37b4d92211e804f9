//! Stamps: how a thread that does not take a cell's lock knows that the cell has not changed.

use crate::arena::Line;
use crate::layout::lock::{OWNER, STEP};
use crate::layout::{WORD, cell};

/// Longer than the clock can show the same time: the kernel's coarse clock ticks at least 100 times
/// a second.
const TICK_NS: u64 = 20_000_000;

/// Distinguishes the states of a cell: the version of its lock and, since that wraps around after
/// 32,768 changes, the time of the last change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stamp(u64);

impl Stamp {
    /// The current stamp of a cell, which may be changing.
    #[inline(always)]
    pub(crate) fn current(line: Line<'_>) -> Self {
        Self::from_word(line.load(WORD), line)
    }

    /// The stamp of a cell whose lock is free; none if it is held.
    #[inline(always)]
    pub(crate) fn current_if_free(line: Line<'_>) -> Option<Self> {
        let word = line.load(WORD);
        (word & OWNER == 0).then(|| Self::from_word(word, line))
    }

    /// The stamp of a cell before the caller took its lock, if the caller has not changed it yet.
    #[inline(always)]
    pub(crate) fn before_lock(line: Line<'_>) -> Self {
        Self::from_word(line.load(WORD).wrapping_sub(STEP), line)
    }

    #[inline(always)]
    fn from_word(word: u32, line: Line<'_>) -> Self {
        Self(u64::from(word / STEP) | line.load(cell::CTIME) << 16)
    }
}

/// The time for a change of what is or was in this cell: the current time, or just after the last
/// change if the clock has not ticked since.
#[inline(always)]
pub(crate) fn later(cell: Line<'_>, now: u64) -> u64 {
    let last = cell.load(cell::CTIME);
    if last.wrapping_sub(now) < TICK_NS { last + 1 } else { now }
}
