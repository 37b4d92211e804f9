//! How it is known that a cell has not changed, by those who do not take its lock.

use crate::arena::Line;
use crate::layout::{WORD, cell};
use crate::member::{OWNER, STEP};

/// What tells one state of a cell from all others: the version of its lock, and, as that comes
/// round after 32,768 changes, the time of its last change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
