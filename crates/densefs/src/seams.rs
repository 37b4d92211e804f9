//! What the core needs from around it: the time, more memory, and word of who is dead.

use core::sync::atomic::AtomicU32;

/// Whether the thread of a slot still lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// As far as anybody knows.
    Alive,
    /// Nobody has the slot: it holds nothing.
    Nobody,
    /// It is dead, and the caller is the one that repairs what it left; if the caller dies
    /// meanwhile, another will be.
    Ours,
}

/// What surrounds the core.
pub trait Seams {
    /// Nanoseconds since 1970.
    fn now_ns(&self) -> u64;

    /// Makes these pages of the arena ready to be touched, zeroed if they never were before; false
    /// if there is no space for them.
    fn supply(&self, first_page: u32, pages: u32) -> bool;

    /// Whether the thread of that slot lives. No passing of time proves a death.
    fn life(&self, slot: u32) -> Life;

    /// The slot that [`Self::life`] gave to this caller has been repaired, and is free. Perhaps it
    /// could not be, as the arena holds what cannot be.
    fn after_repair(&self, slot: u32);

    /// Sleeps until `word` no longer holds `value`, or for some milliseconds; false if a signal
    /// asks the caller to give up.
    fn wait(&self, word: &AtomicU32, value: u32) -> bool;

    /// Wakes whoever sleeps at `word`.
    fn wake(&self, word: &AtomicU32);

    /// Whether lines may be taken from a zone: asked before each time, by tests that say no.
    #[inline(always)]
    fn may_take(&self) -> bool {
        true
    }

    /// Called after every single store to the arena, for tests that kill there.
    #[inline(always)]
    fn after_store(&self) {}
}
