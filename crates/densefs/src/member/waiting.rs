//! Waiting for a lock that another thread holds, and repairing what a dead one has left.

use core::sync::atomic::{Ordering, compiler_fence};

use crate::arena::{Line, Ref};
use crate::errno::Errno;
use crate::layout::lock::{OWNER, WAITERS};
use crate::layout::{WORD, slot};
use crate::member::log::Log;
use crate::member::{Member, Node};
use crate::seams::{Life, Seams};

/// How often to look at a held lock before sleeping.
const SPINS: u32 = if cfg!(test) { 1 } else { 100 };

impl<'a, S: Seams> Member<'a, S> {
    /// Abandons an operation in progress, as if the thread had died: what it has committed is
    /// applied, the rest is discarded, and its locks are released.
    ///
    /// # Errors
    /// As [`Self::repair`].
    pub fn abandon(&self) -> Result<(), Errno> {
        self.log.clear();
        self.held.set(0);
        let repaired = self.repair(self.number);
        self.look_at_stock();
        repaired
    }

    /// Waits briefly for a lock that another thread holds, and repairs what a dead owner left. The
    /// caller must look again, as the line may have become something else.
    ///
    /// # Errors
    /// [`Errno::INTR`] if a signal asked to give up; [`Errno::CORRUPT`] if the owner is invalid.
    #[inline(always)]
    pub(crate) fn await_release(&self, at: Ref, line: Line<'a>) -> Result<(), Errno> {
        self.await_release_of(at, line, None)
    }

    /// Like [`Self::await_release`]. What is wanted may become something else, which its owner may
    /// lock before what this thread holds; in that case, this does not sleep.
    #[cold]
    #[inline(never)]
    pub(super) fn await_release_of(
        &self,
        at: Ref,
        line: Line<'a>,
        wanted: Option<&Node>,
    ) -> Result<(), Errno> {
        for _ in 0..SPINS {
            if line.load(WORD) & OWNER == 0 {
                return Ok(());
            }
            core::hint::spin_loop();
        }
        let seen = line.load(WORD);
        let owner = seen & OWNER;
        if owner == 0 {
            return Ok(());
        }
        let number = owner - 1;
        if number == self.number || number >= self.slots() {
            return Err(Errno::CORRUPT);
        }
        if let Some(node) = wanted.filter(|_| self.holds_any()) {
            self.check_unchanged(node)?;
        }
        match self.seams.life(number) {
            Life::Alive => {}
            Life::Ours => {
                let done = self.repair(number);
                self.seams.after_repair(number);
                return done;
            }
            Life::Nobody if line.load(WORD) == seen => return Err(Errno::CORRUPT),
            Life::Nobody => return Ok(()),
        }
        // A thread notes a lock before it takes it, and removes the note after releasing it.
        if S::THREADS_DIE && !self.is_noted(number, at)? && line.load(WORD) == seen {
            return Err(Errno::CORRUPT);
        }
        let slept_at = seen | WAITERS;
        if seen != slept_at {
            if !line.exchange(WORD, seen, slept_at) {
                return Ok(());
            }
            // The owner may have looked for the mark just before, when its store that releases the
            // lock was not visible yet. It is by the time that these loads have been made.
            for _ in 0..SPINS {
                if line.load(WORD) != slept_at {
                    return Ok(());
                }
                core::hint::spin_loop();
            }
        }
        if self.seams.wait(line.atomic(WORD), slept_at) { Ok(()) } else { Err(Errno::INTR) }
    }

    /// Whether this thread holds any lock.
    pub(crate) fn holds_any(&self) -> bool {
        self.held.get() > 0
    }

    /// Whether this thread holds the lock in this line.
    pub(crate) fn holds(&self, line: Line<'_>) -> bool {
        S::IS_SHARED && line.load(WORD) & OWNER == self.number + 1
    }

    /// Whether a slot notes that its thread holds this lock, or is about to.
    fn is_noted(&self, number: u32, at: Ref) -> Result<bool, Errno> {
        let state = self.arena.line(slot::line_of(number).plus(slot::STATE))?;
        Ok((0..slot::HELD_MAX).any(|held| state.load(slot::HELD.element(held)) == at.0))
    }

    /// How many slots there are.
    fn slots(&self) -> u32 {
        self.geometry.slots()
    }

    /// Applies what the dead thread of a slot had committed, and releases its locks. Its stock
    /// stays with the slot. Only one thread may do this at a time.
    ///
    /// # Errors
    /// [`Errno::CORRUPT`] if there is no such slot.
    pub fn repair(&self, number: u32) -> Result<(), Errno> {
        let state = self.arena.line(slot::line_of(number).plus(slot::STATE))?;
        self.redo(&Log::of_slot(&self.arena, number)?, state.load(slot::COMMITTED));
        compiler_fence(Ordering::SeqCst);
        self.fill(state, slot::COMMITTED, 0);
        for held in 0..slot::HELD_MAX {
            let field = slot::HELD.element(held);
            let at = Ref(state.load(field));
            if !at.is_some() {
                continue;
            }
            if let Ok(line) = self.arena.line(at)
                && line.load(WORD) & OWNER == number + 1
            {
                self.release(line);
            }
            compiler_fence(Ordering::SeqCst);
            self.fill(state, field, 0);
        }
        Ok(())
    }
}
