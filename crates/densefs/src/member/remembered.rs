//! What a thread caches of the arena, so that most calls need not look it up: modes, and the
//! working directory.

use core::cell::Cell;

use crate::arena::Ref;
use crate::layout::process;
use crate::member::Member;
use crate::seams::Seams;

/// How many modes a thread caches. The meaning of an index never changes.
pub(crate) const MODES_CACHED: usize = 8;

/// A cached mode; empty at first.
#[derive(Debug)]
pub(crate) struct CachedMode {
    pub(crate) index: Cell<u32>,
    pub(crate) uid: Cell<u32>,
    pub(crate) gid: Cell<u32>,
    pub(crate) mode: Cell<u32>,
}

impl CachedMode {
    /// An empty entry.
    pub(crate) const fn new() -> Self {
        const fn zero() -> Cell<u32> {
            Cell::new(0)
        }
        Self { index: Cell::new(u32::MAX), uid: zero(), gid: zero(), mode: zero() }
    }
}

/// A working directory as it was last seen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WorkingDirectory {
    pub(crate) at: Ref,
    /// How often the process had changed it by then.
    pub(crate) changes: u64,
}

impl<S: Seams> Member<'_, S> {
    /// Whether the working directory is still the cached one.
    #[inline(always)]
    pub(crate) fn is_still_working(&self) -> bool {
        let changes = self.record().load(process::CHANGES);
        self.working.get().is_some_and(|working| working.changes == changes)
    }
}
