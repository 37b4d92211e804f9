//! What the core needs from its environment: the time, memory, and knowledge of which threads are
//! dead.

use core::sync::atomic::AtomicU32;

use crate::arena::Trust;
use crate::modes::Caller;

/// Whether the thread of a slot still lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// It lives, as far as anybody knows.
    Alive,
    /// The slot is free, so it holds no locks.
    Nobody,
    /// It is dead, and the caller is the one who must repair what it left. If the caller dies
    /// meanwhile, another will.
    Ours,
}

/// The environment of the core.
///
/// What an environment does not need is left out when the core is compiled for it: the constants
/// say what that is. The defaults are for processes that share an arena.
pub trait Seams {
    /// Whether a thread may die between any two stores. If not, threads note nothing for others to
    /// repair.
    const THREADS_DIE: bool = true;

    /// Whether several threads may be in the core at the same time. If not, because the environment
    /// lets in one at a time, no locks are taken, and what was found stays as it was found: a
    /// [`crate::Node`] is then only good for the call for which it was found.
    const IS_SHARED: bool = true;

    /// That nobody but the core writes to the arena. Without it, every reference is checked where
    /// it is used.
    const TRUST: Option<Trust> = None;

    /// Nanoseconds since 1970.
    fn now_ns(&self) -> u64;

    /// Makes these pages of the arena accessible, in which there is nothing; false if there is no
    /// space for them. They are zero if they never were accessible before. Whatever they contain
    /// may be lost, also in vain.
    fn supply(&self, first_page: u32, pages: u32) -> bool;

    /// Lets the system have the memory of these pages, whose content is not needed any more. They
    /// are supplied again before they are used. Need not do anything.
    fn release(&self, _first_page: u32, _pages: u32) {}

    /// Whether the thread of this slot is alive. A timeout is no proof of death.
    fn life(&self, slot: u32) -> Life;

    /// Called after the slot for which [`Self::life`] returned [`Life::Ours`] has been repaired. It
    /// is free now. The repair may have failed, if the arena is corrupt.
    fn after_repair(&self, slot: u32);

    /// Sleeps until `word` no longer contains `value`, or for some milliseconds; false if a signal
    /// asks the caller to give up.
    fn wait(&self, word: &AtomicU32, value: u32) -> bool;

    /// Wakes all threads that sleep on `word`.
    fn wake(&self, word: &AtomicU32);

    /// On whose behalf files are changed by calls that do not say so. Unless that is root, a file
    /// that is written to loses its set-ID bits.
    #[inline(always)]
    fn user(&self) -> Caller<'_> {
        Caller::ROOT
    }

    /// Called before lines are taken from a zone; tests return false to simulate a lack of space.
    #[inline(always)]
    fn may_take(&self) -> bool {
        true
    }

    /// Called after every single store to the arena, for tests that kill the thread there.
    #[inline(always)]
    fn after_store(&self) {}
}
