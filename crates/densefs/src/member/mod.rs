//! A thread that uses an arena: its slot, the locks it holds, and its redo log.
//!
//! All changes are made in the same way. The thread takes the locks of everything it changes, and
//! notes each in its slot before taking it. What nobody can reach yet is written in place. All
//! other stores go into the slot's log as absolute values; then one store commits the log, the
//! logged stores are made, another store marks the log as done, and the locks are released. So a
//! thread may die at any point: before the commit, nothing has changed; after it, whoever finds a
//! lock of the dead thread applies the log again, which does no harm if it was applied in part.

mod log;
mod node;
mod remembered;
mod waiting;

use core::cell::Cell;
use core::sync::atomic::{Ordering, compiler_fence};

use crate::arena::{Arena, Field, LINE_BYTES, Line, Ref, Word};
use crate::errno::Errno;
use crate::geometry::Geometry;
use crate::layout::lock::{OWNER, STEP, WAITERS, is_held};
use crate::layout::{WORD, slot, superblock};
use crate::seams::Seams;
use crate::stamp::Stamp;
use log::Log;
pub use node::Node;
pub(crate) use node::{Evidence, OpenEvidence};
use remembered::CachedMode;
pub(crate) use remembered::{MODES_CACHED, WorkingDirectory};

/// How often to try an optimistic read before taking the lock. Few in tests, so that they reach the
/// code that does.
const READS: u32 = if cfg!(test) { 3 } else { 1000 };

/// The result of an optimistic read, and the stamp at that moment.
type Looked<T> = (Result<T, Errno>, Stamp);

/// A thread that uses an arena.
///
/// What the fastest calls need comes first, so that it is in few cache lines.
#[derive(Debug)]
#[repr(C)]
pub struct Member<'a, S> {
    arena: Arena<'a>,
    secret: u64,
    ino_secret: u64,
    /// The line of that record.
    record: Line<'a>,
    seams: S,
    /// The working directory as it was last seen.
    pub(crate) working: Cell<Option<WorkingDirectory>>,
    /// Cached modes, by index. The entries for the root and the first files are in the same cache
    /// line as the fields before.
    pub(crate) modes: [CachedMode; MODES_CACHED],
    /// The number of its slot.
    number: u32,
    /// The record of its process.
    process: Ref,
    state: Line<'a>,
    /// How many locks it holds. The slot has them as well, but for others to read.
    held: Cell<usize>,
    log: Log<'a>,
    held_lines: [Cell<Line<'a>>; slot::HELD_MAX],
    /// The index of the mode it last looked up.
    pub(crate) last_mode: Cell<Option<u16>>,
    /// How many lines are in its stock, after the changes that are in the log.
    pub(crate) cells: Cell<u32>,
    /// How many runs are in its stock, likewise.
    pub(crate) runs: Cell<u32>,
    /// Whether the stock may hold something that has to go back to its zone.
    pub(crate) must_settle: Cell<bool>,
    /// The line behind the reserve.
    pub(crate) reserve_end: Ref,
    /// The zone it allocates from.
    pub(crate) zone: Cell<u32>,
    geometry: Geometry,
    /// The runs in its stock.
    pub(crate) run_stock: Cell<[u64; slot::RUNS_MAX as usize]>,
}

impl<'a, S: Seams> Member<'a, S> {
    /// The thread with slot `number`, in the process with record `process`. The seams must have
    /// given the slot to this thread alone.
    ///
    /// # Errors
    /// [`Errno::CORRUPT`] if there is no such slot or record.
    pub fn new(arena: Arena<'a>, seams: S, number: u32, process: u32) -> Result<Self, Errno> {
        let state = arena.line(slot::line_of(number).plus(slot::STATE))?;
        arena.line(slot::line_of(number).plus(slot::LINES))?;
        let fixed = arena.line(superblock::FIXED)?;
        let geometry = Geometry::new(arena.lines(), fixed.load(superblock::SLOTS));
        let geometry = geometry.ok_or(Errno::CORRUPT)?;
        let process = geometry.process(process)?;
        let member = Self {
            arena,
            seams,
            number,
            process,
            record: arena.line(process)?,
            state,
            log: Log::of_slot(&arena, number)?,
            held: Cell::new(0),
            held_lines: core::array::from_fn(|_| Cell::new(state)),
            cells: Cell::new(0),
            run_stock: Cell::new([0; slot::RUNS_MAX as usize]),
            runs: Cell::new(0),
            must_settle: Cell::new(true),
            reserve_end: geometry.reserve_end(),
            geometry,
            secret: fixed.load(superblock::SECRET),
            ino_secret: fixed.load(superblock::INO_SECRET),
            zone: Cell::new(0),
            last_mode: Cell::new(None),
            modes: [const { CachedMode::new() }; MODES_CACHED],
            working: Cell::new(None),
        };
        member.look_at_stock();
        Ok(member)
    }

    /// The inode that is being taken apart, or 0.
    #[inline(always)]
    pub(crate) fn dying(&self) -> u32 {
        self.state.load(slot::DYING)
    }

    /// The record of its process.
    #[inline(always)]
    pub(crate) fn process(&self) -> Ref {
        self.process
    }

    /// The line of its process' record.
    #[inline(always)]
    pub(crate) fn record(&self) -> Line<'a> {
        self.record
    }

    /// The division of the arena.
    pub(crate) fn geometry(&self) -> Geometry {
        self.geometry
    }

    /// The secret that is mixed into hashes of names.
    #[inline(always)]
    pub(crate) fn secret(&self) -> u64 {
        self.secret
    }

    /// The secret that is mixed into inode numbers.
    #[inline(always)]
    pub(crate) fn ino_secret(&self) -> u64 {
        self.ino_secret
    }

    /// The arena.
    #[inline(always)]
    pub fn arena(&self) -> &Arena<'a> {
        &self.arena
    }

    /// The environment.
    #[inline(always)]
    pub fn seams(&self) -> &S {
        &self.seams
    }

    /// A line of the arena.
    #[inline(always)]
    pub(crate) fn line(&self, at: Ref) -> Result<Line<'a>, Errno> {
        self.arena.referred_line(at, S::TRUST)
    }

    /// A line of its slot.
    #[inline(always)]
    pub(crate) fn slot_line(&self, line: u32) -> Ref {
        slot::line_of(self.number).plus(line)
    }

    /// Stores to memory that nobody else can reach, or to fields that need no log.
    #[inline(always)]
    pub(crate) fn fill<W: Word>(&self, line: Line<'_>, field: Field<W>, value: W) {
        line.store(field, value);
        self.seams.after_store();
    }

    /// Copies bytes to memory that nobody else can reach, or that the caller has locked.
    pub(crate) fn copy_in(&self, at: Ref, offset: usize, from: &[u8]) -> Result<(), Errno> {
        self.arena.copy_in(at, offset, from)?;
        self.seams.after_store();
        Ok(())
    }

    /// Zeroes lines that nobody else can reach.
    pub(crate) fn zero(&self, at: Ref, lines: u32) -> Result<(), Errno> {
        self.arena.zero(at, 0, lines as usize * LINE_BYTES)?;
        self.seams.after_store();
        Ok(())
    }

    /// Zeroes bytes that nobody else can reach, or that the caller has locked.
    pub(crate) fn zero_bytes(&self, at: Ref, offset: usize, length: usize) -> Result<(), Errno> {
        if length > 0 {
            self.arena.zero(at, offset, length)?;
            self.seams.after_store();
        }
        Ok(())
    }

    /// Sets how many entries of the log are to be applied, by whichever thread.
    #[inline(always)]
    pub(crate) fn set_committed(&self, entries: u32) {
        if S::THREADS_DIE {
            self.fill(self.state, slot::COMMITTED, entries);
        }
    }

    /// Reads the state of the stock from the slot again, after the logged changes were discarded.
    #[cold]
    #[inline(never)]
    pub(crate) fn look_at_stock(&self) {
        self.cells.set(self.state.load(slot::CELLS).min(slot::CELLS_MAX));
        self.runs.set(self.state.load(slot::RUNS).min(slot::RUNS_MAX));
        if let Ok(stock) = self.line(self.slot_line(slot::RUN_STOCK)) {
            self.run_stock.set(core::array::from_fn(|place| stock.load(slot::RUN.element(place))));
        }
    }

    /// Takes the lock in this line, whatever the line has become by then.
    ///
    /// # Errors
    /// [`Errno::INTR`] if a signal asked to give up; [`Errno::CORRUPT`] if the word is nonsense.
    #[inline(always)]
    pub(crate) fn lock(&self, at: Ref) -> Result<Line<'a>, Errno> {
        self.lock_of(at, None)
    }

    /// Like [`Self::lock`], but if other locks are held, it only waits as long as the line is still
    /// this node.
    ///
    /// # Errors
    /// [`Errno::STALE`] if it has become something else; otherwise as [`Self::lock`].
    #[inline(always)]
    pub(crate) fn lock_of(&self, at: Ref, wanted: Option<&Node>) -> Result<Line<'a>, Errno> {
        let line = self.line(at)?;
        if !S::IS_SHARED {
            return Ok(line);
        }
        let held = self.held.get();
        // No operation takes more locks than there is room for.
        self.held_lines.get(held).ok_or(Errno::CORRUPT)?.set(line);
        self.note_held(held, at);
        compiler_fence(Ordering::SeqCst);
        loop {
            let seen = line.load(WORD);
            if seen & OWNER == 0 {
                let ours = seen.wrapping_add(STEP) | (self.number + 1);
                if line.exchange(WORD, seen, ours) {
                    self.seams.after_store();
                    self.held.set(held + 1);
                    return Ok(line);
                }
            } else if let Err(why) = self.await_release_of(at, line, wanted) {
                self.note_held(held, Ref::NONE);
                return Err(why);
            }
        }
    }

    /// Notes which lock it is about to take, or that it has released it, for whoever finds it dead.
    #[inline(always)]
    fn note_held(&self, held: usize, at: Ref) {
        if S::THREADS_DIE {
            self.fill(self.state, slot::HELD.element(held), at.0);
        }
    }

    /// Takes a lock if it is free; returns whether it was.
    pub(crate) fn try_lock(&self, at: Ref) -> Result<bool, Errno> {
        let line = self.line(at)?;
        if !S::IS_SHARED {
            return Ok(true);
        }
        let held = self.held.get();
        self.held_lines.get(held).ok_or(Errno::CORRUPT)?.set(line);
        self.note_held(held, at);
        compiler_fence(Ordering::SeqCst);
        let seen = line.load(WORD);
        let ours = (seen & !OWNER).wrapping_add(STEP) | (self.number + 1);
        let is_taken = !is_held(seen) && line.exchange(WORD, seen, ours);
        if is_taken {
            self.seams.after_store();
            self.held.set(held + 1);
        } else {
            self.note_held(held, Ref::NONE);
        }
        Ok(is_taken)
    }

    /// Releases the lock that was taken last.
    #[inline]
    pub(crate) fn unlock(&self) {
        if !S::IS_SHARED {
            return;
        }
        let last = self.held.get().wrapping_sub(1);
        let Some(line) = self.held_lines.get(last) else { return };
        self.release(line.get());
        compiler_fence(Ordering::SeqCst);
        self.note_held(last, Ref::NONE);
        self.held.set(last);
    }

    /// Releases all locks, in reverse order.
    pub(crate) fn unlock_all(&self) {
        while S::IS_SHARED && self.held.get() > 0 {
            self.unlock();
        }
    }

    #[inline]
    fn release(&self, line: Line<'_>) {
        line.clear_low_half(WORD);
        self.seams.after_store();
        if line.high_half(WORD) & WAITERS != 0 {
            self.wake_waiters(line);
        }
    }

    #[cold]
    #[inline(never)]
    fn wake_waiters(&self, line: Line<'_>) {
        line.clear_bits(WORD, WAITERS);
        self.seams.after_store();
        self.seams.wake(line.atomic(WORD));
    }

    /// Optimistic read: returns what the closure finds in this cell while nobody changes it, and
    /// the stamp of the cell at that moment. If the cell changes meanwhile, or the closure returns
    /// [`Errno::AGAIN`], the closure is called again, so it must tolerate inconsistent data.
    ///
    /// # Errors
    /// What the closure returns, if nothing changed; otherwise as [`Self::lock`].
    #[inline(always)]
    pub(crate) fn read<T>(
        &self,
        at: Ref,
        mut look: impl FnMut(Line<'a>) -> Result<T, Errno>,
    ) -> Result<Looked<T>, Errno> {
        let line = self.line(at)?;
        if !S::IS_SHARED {
            return Ok((look(line), Stamp::default()));
        }
        loop {
            for _ in 0..READS {
                let Some(before) = Stamp::current_if_free(line) else {
                    self.await_release(at, line)?;
                    continue;
                };
                compiler_fence(Ordering::SeqCst);
                let found = look(line);
                compiler_fence(Ordering::SeqCst);
                let is_again = matches!(found, Err(Errno::AGAIN));
                if !is_again && before == Stamp::current(line) {
                    return Ok((found, before));
                }
            }
            if let Some(found) = self.read_locked(at, &mut look)? {
                return Ok(found);
            }
        }
    }

    /// Like [`Self::read`], but under the lock, for a cell that changes all the time; none if the
    /// closure returns [`Errno::AGAIN`]. The stamp is the one before the lock was taken, so a later
    /// comparison finds a change.
    #[cold]
    #[inline(never)]
    fn read_locked<T>(
        &self,
        at: Ref,
        look: &mut impl FnMut(Line<'a>) -> Result<T, Errno>,
    ) -> Result<Option<Looked<T>>, Errno> {
        let line = self.lock(at)?;
        let before = Stamp::before_lock(line);
        let found = look(line);
        self.unlock();
        Ok(if matches!(found, Err(Errno::AGAIN)) { None } else { Some((found, before)) })
    }
}
