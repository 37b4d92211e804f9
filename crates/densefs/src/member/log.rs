//! The redo log of a slot: stores that are made together, or not at all.
//!
//! An entry is two words: a position with its width, and the value to store there. Values are
//! absolute, so applying a log again after it was applied in part does no harm.

use core::cell::Cell;
use core::sync::atomic::{Ordering, compiler_fence};

use crate::arena::{Arena, Field, LINE_BYTES, Line, Ref, Word, Words};
use crate::errno::Errno;
use crate::layout::{cell, slot};
use crate::member::Member;
use crate::seams::Seams;
use crate::stamp::later;

/// Words in a log.
const WORDS: usize = 2 * slot::LOG_MAX as usize;

/// A slot's log.
#[derive(Debug)]
pub(crate) struct Log<'a> {
    words: Words<'a, WORDS>,
    /// How many entries have been logged and not committed.
    logged: Cell<usize>,
    /// How many stores were made in place since the last commit; only counted in debug builds.
    in_place: Cell<usize>,
}

impl<'a> Log<'a> {
    /// The log of this slot.
    ///
    /// # Errors
    /// [`Errno::CORRUPT`] if there is no such slot.
    pub(crate) fn of_slot(arena: &Arena<'a>, number: u32) -> Result<Self, Errno> {
        let words = arena.words(slot::line_of(number).plus(slot::LOG))?;
        Ok(Self { words, logged: Cell::new(0), in_place: Cell::new(0) })
    }

    /// Discards what is not committed; returns whether there was anything.
    #[inline(always)]
    pub(crate) fn clear(&self) -> bool {
        self.logged.replace(0) > 0
    }
}

/// An operation has logged more changes than fit, which is a bug.
#[cold]
#[inline(never)]
fn is_full() -> ! {
    panic!("an operation's changes fit into the log")
}

impl<S: Seams> Member<'_, S> {
    /// Whether stores are made at once instead of being logged: nobody dies, and nobody looks
    /// meanwhile. Then nothing can be discarded, so operations must fail before the first store.
    pub(crate) const IN_PLACE: bool = !S::THREADS_DIE && !S::IS_SHARED;

    /// Logs a store, or makes it at once.
    #[inline(always)]
    pub(crate) fn put<W: Word>(&self, at: Ref, field: Field<W>, value: W) {
        if !Self::IN_PLACE {
            self.put_later(at, field, value);
        } else if let Ok(line) = self.line(at) {
            self.fill(line, field, value);
            if cfg!(debug_assertions) {
                self.log.in_place.set(self.log.in_place.get() + 1);
            }
        }
    }

    /// Logs a store in any case: where one depends on what is there before another.
    #[inline(always)]
    pub(crate) fn put_later<W: Word>(&self, at: Ref, field: Field<W>, value: W) {
        let byte = at.0 as usize * LINE_BYTES + field.byte();
        self.put_word((byte << 2) as u64 | u64::from(W::WIDTH), value.bits());
    }

    /// Logs a store at a position encoded as in the log. Not generic, since every operation logs
    /// fields of several widths.
    #[inline(never)]
    fn put_word(&self, place: u64, value: u64) {
        let entry = self.log.logged.get();
        if entry >= WORDS / 2 {
            is_full();
        }
        self.log.words.store(2 * entry, place);
        self.seams().after_store();
        self.log.words.store(2 * entry + 1, value);
        self.seams().after_store();
        self.log.logged.set(entry + 1);
    }

    /// Logs a change of an inode's ctime, to a time later than the last one even if the clock has
    /// not ticked since.
    #[inline(always)]
    pub(crate) fn put_changed(&self, at: Ref, line: Line<'_>, now: u64) {
        self.put(at, cell::CTIME, later(line, now));
    }

    /// Logs that a file's content changes. Anyone who caches the content, as the kernel does for a
    /// mounted file, detects by the mtime that the cache is stale, so each change gets an mtime of
    /// its own.
    #[inline(always)]
    pub(crate) fn put_written(&self, at: Ref, line: Line<'_>, now: u64) {
        let time = later(line, now);
        self.put(at, cell::MTIME, time);
        self.put(at, cell::CTIME, time);
    }

    /// Applies what is in the log. If this thread dies, another applies the rest.
    #[inline]
    pub(crate) fn commit(&self) {
        let entries = self.log.logged.replace(0);
        if Self::IN_PLACE {
            if cfg!(debug_assertions) {
                self.log.in_place.set(0);
            }
            if entries == 0 {
                return;
            }
        }
        compiler_fence(Ordering::SeqCst);
        self.set_committed(u32::from_bits(entries as u64));
        compiler_fence(Ordering::SeqCst);
        self.redo(&self.log, u32::from_bits(entries as u64));
        compiler_fence(Ordering::SeqCst);
        self.set_committed(0);
    }

    /// Discards what is in the log and not committed.
    #[inline]
    pub(crate) fn forget(&self) {
        debug_assert!(self.log.in_place.get() == 0, "what is done cannot be discarded");
        if self.log.clear() {
            self.look_at_stock();
        }
    }

    /// Ends an operation that holds one lock and has committed what it wants.
    #[inline(always)]
    pub(crate) fn finish(&self) {
        self.forget();
        self.unlock();
        self.settle_if_possible();
    }

    /// Ends an operation: commits what is in the log if it is done, otherwise discards it, and
    /// releases all locks. Not inline: this way, all operations end in the same cache lines.
    #[inline(never)]
    pub(crate) fn conclude(&self, is_done: bool) {
        if is_done {
            self.commit();
        } else {
            self.forget();
        }
        self.unlock_all();
        self.settle_if_possible();
    }

    /// Applies the first `entries` entries of a log.
    #[inline(never)]
    pub(crate) fn redo(&self, log: &Log<'_>, entries: u32) {
        let (arena, words) = (*self.arena(), log.words);
        for entry in 0..entries.min(slot::LOG_MAX) as usize {
            let (what, value) = (words.load(2 * entry), words.load(2 * entry + 1));
            // A position that does not fit into a `usize` is outside the arena.
            let byte = usize::try_from(what >> 2).unwrap_or(usize::MAX);
            arena.store_at(byte, u32::from_bits(what & 3), value);
            self.seams().after_store();
        }
    }
}
