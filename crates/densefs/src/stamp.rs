//! How it is known that a cell has not changed, by those who do not take its lock.

use crate::arena::Line;
use crate::layout::lock::{OWNER, STEP};
use crate::layout::{WORD, cell};

/// Longer than the clock may show the same time: the kernel's coarse ones tick 100 times a second
/// at least.
const TICK_NS: u64 = 20_000_000;

/// What tells one state of a cell from all others: the version of its lock, and, as that comes
/// round after 32,768 changes, the time of its last change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stamp(u64);

impl Stamp {
    /// That of a cell now, which somebody may be changing.
    #[inline(always)]
    pub(crate) fn of(line: Line<'_>) -> Self {
        Self::made_of(line.load(WORD), line)
    }

    /// That of a cell that nobody holds; none if somebody does.
    #[inline(always)]
    pub(crate) fn of_free(line: Line<'_>) -> Option<Self> {
        let word = line.load(WORD);
        (word & OWNER == 0).then(|| Self::made_of(word, line))
    }

    /// That of a cell before the caller took its lock, which it has not changed since.
    #[inline(always)]
    pub(crate) fn before_lock(line: Line<'_>) -> Self {
        Self::made_of(line.load(WORD).wrapping_sub(STEP), line)
    }

    #[inline(always)]
    fn made_of(word: u32, line: Line<'_>) -> Self {
        Self(u64::from(word / STEP) | line.load(cell::CTIME) << 16)
    }
}

/// The time of a change of what is or was in this cell.
#[inline(always)]
pub(crate) fn later(cell: Line<'_>, now: u64) -> u64 {
    let last = cell.load(cell::CTIME);
    if last.wrapping_sub(now) < TICK_NS { last + 1 } else { now }
}
