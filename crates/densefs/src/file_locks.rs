//! File locks as programs take them: flock(2), and fcntl(2) with both kinds of owners.
//!
//! They are advisory: no operation of the core checks them. A file's locks are stored in a run that
//! its annex refers to; any change rewrites them all. A thread that waits for one sleeps on a word
//! of the annex that is incremented whenever one is released.

use core::ops::Range;

use crate::annex::{Inode, InodeCell, lines_for};
use crate::arena::{Line, Ref};
use crate::errno::Errno;
use crate::layout::{annex, cell, file_lock};
use crate::member::{Member, Node};
use crate::seams::Seams;

/// Most locks of a file, of all owners together.
pub(crate) const LOCKS_MAX: usize = 512;

/// The owner of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockOwner {
    /// The open description; its locks cover the whole file: flock(2).
    Whole {
        /// The description.
        description: u32,
    },
    /// The process, until it closes any of its descriptors for the file: fcntl(2).
    Process {
        /// The record of the process.
        record: u32,
    },
    /// The open description: fcntl(2) with `F_OFD_SETLK`.
    Description {
        /// The description.
        description: u32,
    },
}

impl LockOwner {
    fn words(self) -> (u32, u32) {
        match self {
            Self::Whole { description } => (0, description),
            Self::Process { record } => (1, record),
            Self::Description { description } => (2, description),
        }
    }

    fn from_words(class: u32, number: u32) -> Self {
        match class {
            0 => Self::Whole { description: number },
            1 => Self::Process { record: number },
            _ => Self::Description { description: number },
        }
    }

    /// Whether its locks can conflict with those of the other.
    fn may_conflict_with(self, other: Self) -> bool {
        self != other && matches!(self, Self::Whole { .. }) == matches!(other, Self::Whole { .. })
    }
}

/// A lock of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileLock {
    /// Its owner.
    pub owner: LockOwner,
    /// Whether it excludes even locks for reading.
    pub is_exclusive: bool,
    /// Its first byte.
    pub start: u64,
    /// The byte after its last one; the maximum if it extends to the end of any file.
    pub end: u64,
    /// The process that took it. Of locks of open descriptions, the one that they were taken for
    /// by another process, or else 0 (flock) or the maximum (fcntl).
    pub pid: u32,
}

impl FileLock {
    /// Whether a process has taken it for another one, as those do that serve a mount.
    #[must_use]
    pub fn is_for_another(&self) -> bool {
        match self.owner {
            LockOwner::Whole { .. } => self.pid != 0,
            LockOwner::Process { .. } => false,
            LockOwner::Description { .. } => self.pid != u32::MAX,
        }
    }

    fn overlaps(&self, other: &Self) -> bool {
        self.start < other.end && other.start < self.end
    }

    fn conflicts_with(&self, other: &Self) -> bool {
        self.owner.may_conflict_with(other.owner)
            && self.overlaps(other)
            && (self.is_exclusive || other.is_exclusive)
    }
}

/// A change of a file's locks.
#[derive(Clone)]
struct LockChange<'t> {
    /// Whose locks it changes.
    is_theirs: &'t dyn Fn(LockOwner) -> bool,
    /// Where they lose what they have locked.
    range: Range<u64>,
    /// What is locked there instead.
    new: Option<FileLock>,
}

/// What a change comes to.
#[derive(Default)]
struct Changed {
    /// How many locks the file had, and how many it has then.
    before: u32,
    after: u32,
    has_released: bool,
}

impl<'a, S: Seams> Member<'a, S> {
    /// Locks bytes of a file, replacing what the owner has locked there.
    ///
    /// # Errors
    /// [`Errno::AGAIN`] if another owner's lock conflicts; [`Errno::NOLCK`] if the file has too
    /// many.
    pub fn lock_file(&self, node: Node, lock: FileLock) -> Result<(), Errno> {
        self.change_locks(node, lock.owner, lock.start..lock.end, Some(lock))
    }

    /// Releases what an owner has locked in a range.
    ///
    /// # Errors
    /// [`Errno::NOLCK`] if that would leave the file with too many locks.
    pub fn unlock_file(
        &self,
        node: Node,
        owner: LockOwner,
        range: Range<u64>,
    ) -> Result<(), Errno> {
        self.change_locks(node, owner, range, None)
    }

    /// A lock that conflicts with this one.
    ///
    /// # Errors
    /// [`Errno::STALE`] if the node must be looked up again.
    pub fn conflicting_lock(&self, node: Node, lock: &FileLock) -> Result<Option<FileLock>, Errno> {
        self.read_node(node, |line| {
            let mut found = None;
            self.each_lock(line, |one| {
                if found.is_none() && one.conflicts_with(lock) {
                    found = Some(one);
                }
                Ok(())
            })?;
            Ok(found)
        })
    }

    /// Sleeps until a lock of the file may have been released since one conflicted with `lock`, or
    /// for some milliseconds.
    ///
    /// # Errors
    /// [`Errno::INTR`] if a signal asks to give up.
    pub fn await_lock(&self, node: Node, lock: &FileLock) -> Result<(), Errno> {
        let line = self.lock_node(&node)?;
        let seen = self.say_that_one_waits(node, line, lock);
        self.unlock();
        let Some((body, releases)) = seen? else { return Ok(()) };
        if self.seams().wait(body.atomic(annex::RELEASES), releases) {
            Ok(())
        } else {
            Err(Errno::INTR)
        }
    }

    /// Notes in a file, which must be locked, that somebody waits until a lock does not conflict
    /// with this one. Returns the annex, and how often locks have been released; none if there is
    /// nothing to wait for.
    fn say_that_one_waits(
        &self,
        node: Node,
        line: Line<'a>,
        lock: &FileLock,
    ) -> Result<Option<(Line<'a>, u32)>, Errno> {
        let mut conflicts = false;
        self.each_lock(line, |one| {
            conflicts |= one.conflicts_with(lock);
            Ok(())
        })?;
        if !conflicts {
            return Ok(None);
        }
        // A file with locks has an annex.
        let body = self.inode(node.at, line)?.body;
        self.fill(body, annex::WAITERS, 1);
        Ok(Some((body, body.load(annex::RELEASES))))
    }

    #[cold]
    fn change_locks(
        &self,
        node: Node,
        owner: LockOwner,
        range: Range<u64>,
        new: Option<FileLock>,
    ) -> Result<(), Errno> {
        let change = LockChange { is_theirs: &|its: LockOwner| its == owner, range, new };
        let line = self.lock_node(&node)?;
        let done = self.inode(node.at, line).and_then(|inode| self.replace_locks(inode, &change));
        self.forget();
        self.unlock();
        done
    }

    /// Releases all locks that some owners have on a file, which must be locked.
    pub(crate) fn drop_locks(
        &self,
        inode: InodeCell<'a>,
        is_theirs: &dyn Fn(LockOwner) -> bool,
    ) -> Result<(), Errno> {
        let change = LockChange { is_theirs, range: 0..u64::MAX, new: None };
        self.replace_locks(self.inode(inode.at, inode.line)?, &change)
    }

    /// Whether some owners have a lock of a file, which must be locked.
    pub(crate) fn has_lock(
        &self,
        line: Line<'a>,
        is_theirs: &dyn Fn(LockOwner) -> bool,
    ) -> Result<bool, Errno> {
        let mut has_any = false;
        self.each_lock(line, |one| {
            has_any |= is_theirs(one.owner);
            Ok(())
        })?;
        Ok(has_any)
    }

    /// Makes the locks that one process has on a file, which must be locked, those of another.
    pub(crate) fn pass_locks_to(
        &self,
        inode: InodeCell<'a>,
        from: Ref,
        to: Ref,
    ) -> Result<(), Errno> {
        /// How many are logged at a time.
        const LOGGED_MAX: u32 = 32;
        let run = Ref(self.body(inode.line)?.load(annex::LOCKS));
        let (mut number, mut logged) = (0, 0);
        self.each_lock(inode.line, |one| {
            if one.owner == (LockOwner::Process { record: from.0 }) {
                let place = (number % file_lock::PER_LINE) as usize;
                let line = run.plus(number / file_lock::PER_LINE);
                self.put(line, file_lock::OWNER.element(8 * place), to.0);
                logged += 1;
                if logged % LOGGED_MAX == 0 {
                    self.commit();
                }
            }
            number += 1;
            Ok(())
        })?;
        self.commit();
        Ok(())
    }

    /// Rewrites all locks of a file.
    #[cold]
    #[inline(never)]
    fn replace_locks(&self, inode: Inode<'a>, change: &LockChange<'_>) -> Result<(), Errno> {
        let changed = self.each_lock_after(inode.line, change, |_, _| Ok(()))?;
        if change.new.is_none() && !changed.has_released {
            return Ok(());
        }
        if changed.after as usize > LOCKS_MAX {
            return Err(Errno::NOLCK);
        }
        self.ready_to_give()?;
        let bytes = changed.after * file_lock::BYTES;
        let run = if bytes > 0 { Some(self.obtain_run(lines_for(bytes))?) } else { None };
        let inode = self.with_annex(inode, run.unwrap_or_default())?;
        if let Some(run) = run {
            self.each_lock_after(inode.line, change, |number, lock| {
                self.write_lock(run, number, &lock)
            })?;
        }
        self.replace_run(&inode, annex::LOCKS, changed.before * file_lock::BYTES, run)?;
        self.put(inode.body_at, annex::LOCK_COUNT, changed.after);
        if changed.has_released {
            let next = inode.body.load(annex::RELEASES).wrapping_add(1);
            self.put(inode.body_at, annex::RELEASES, next);
        }
        self.commit();
        if changed.has_released && inode.body.load(annex::WAITERS) != 0 {
            self.fill(inode.body, annex::WAITERS, 0);
            self.seams().wake(inode.body.atomic(annex::RELEASES));
        }
        Ok(())
    }

    /// Calls `visit` with the number of each lock that a file, which must be locked, has after a
    /// change: those of other owners, what these owners keep outside of the range, and the new one.
    fn each_lock_after(
        &self,
        line: Line<'a>,
        change: &LockChange<'_>,
        mut visit: impl FnMut(u32, FileLock) -> Result<(), Errno>,
    ) -> Result<Changed, Errno> {
        let (mut changed, mut new) = (Changed::default(), change.new);
        let range = &change.range;
        let mut keep = |lock, changed: &mut Changed| {
            changed.after += 1;
            visit(changed.after - 1, lock)
        };
        self.each_lock(line, |one| {
            changed.before += 1;
            if !(change.is_theirs)(one.owner) {
                let conflicts = new.is_some_and(|new| one.conflicts_with(&new));
                return if conflicts { Err(Errno::AGAIN) } else { keep(one, &mut changed) };
            }
            if let Some(new) = &mut new
                && one.is_exclusive == new.is_exclusive
                && one.start <= new.end
                && new.start <= one.end
            {
                // Adjacent or overlapping locks of the same kind are merged.
                (new.start, new.end) = (new.start.min(one.start), new.end.max(one.end));
                return Ok(());
            }
            if one.start >= range.end || one.end <= range.start {
                return keep(one, &mut changed);
            }
            changed.has_released = true;
            if one.start < range.start {
                keep(FileLock { end: range.start, ..one }, &mut changed)?;
            }
            if one.end > range.end {
                keep(FileLock { start: range.end, ..one }, &mut changed)?;
            }
            Ok(())
        })?;
        if let Some(new) = new {
            keep(new, &mut changed)?;
        }
        Ok(changed)
    }

    fn write_lock(&self, run: Ref, number: u32, lock: &FileLock) -> Result<(), Errno> {
        let line = self.line(run.plus(number / file_lock::PER_LINE))?;
        let place = (number % file_lock::PER_LINE) as usize;
        let (class, owner) = lock.owner.words();
        let how = class << 1 | u32::from(lock.is_exclusive);
        self.fill(line, file_lock::HOW.element(8 * place), how);
        self.fill(line, file_lock::OWNER.element(8 * place), owner);
        self.fill(line, file_lock::PID.element(8 * place), lock.pid);
        self.fill(line, file_lock::START.element(4 * place), lock.start);
        self.fill(line, file_lock::END.element(4 * place), lock.end);
        Ok(())
    }

    /// Calls `visit` with each lock of a file.
    fn each_lock(
        &self,
        line: Line<'a>,
        mut visit: impl FnMut(FileLock) -> Result<(), Errno>,
    ) -> Result<(), Errno> {
        if line.load(cell::FORM) != cell::ANNEX {
            return Ok(());
        }
        let body = self.body(line)?;
        let (run, count) = (Ref(body.load(annex::LOCKS)), body.load(annex::LOCK_COUNT));
        if count as usize > LOCKS_MAX {
            return Err(Errno::CORRUPT);
        }
        for number in 0..count {
            let line = self.line(run.plus(number / file_lock::PER_LINE))?;
            let place = (number % file_lock::PER_LINE) as usize;
            let how = line.load(file_lock::HOW.element(8 * place));
            let owner = line.load(file_lock::OWNER.element(8 * place));
            visit(FileLock {
                owner: LockOwner::from_words(how >> 1, owner),
                is_exclusive: how & 1 != 0,
                start: line.load(file_lock::START.element(4 * place)),
                end: line.load(file_lock::END.element(4 * place)),
                pid: line.load(file_lock::PID.element(8 * place)),
            })?;
        }
        Ok(())
    }
}
