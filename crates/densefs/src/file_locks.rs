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
    /// The process that took it.
    pub pid: u32,
}

impl FileLock {
    fn overlaps(&self, other: &Self) -> bool {
        self.start < other.end && other.start < self.end
    }

    fn conflicts_with(&self, other: &Self) -> bool {
        self.owner.may_conflict_with(other.owner)
            && self.overlaps(other)
            && (self.is_exclusive || other.is_exclusive)
    }
}

/// The locks of a file, in no particular order.
struct Locks {
    all: [FileLock; LOCKS_MAX],
    count: usize,
}

impl Locks {
    const NONE: FileLock = FileLock {
        owner: LockOwner::Whole { description: 0 },
        is_exclusive: false,
        start: 0,
        end: 0,
        pid: 0,
    };

    fn new() -> Self {
        Self { all: [Self::NONE; LOCKS_MAX], count: 0 }
    }

    fn add(&mut self, lock: FileLock) -> Result<(), Errno> {
        *self.all.get_mut(self.count).ok_or(Errno::NOLCK)? = lock;
        self.count += 1;
        Ok(())
    }

    fn as_slice(&self) -> &[FileLock] {
        self.all.get(..self.count).unwrap_or_default()
    }
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
        let seen = self.read_node(node, |line| {
            let body = self.body(line)?;
            let has_annex = line.load(cell::FORM) == cell::ANNEX;
            Ok(has_annex.then(|| (body, body.load(annex::RELEASES))))
        })?;
        // If the conflicting lock has been released already, there is nothing to wait for.
        if self.conflicting_lock(node, lock)?.is_none() {
            return Ok(());
        }
        let Some((body, releases)) = seen else { return Ok(()) };
        if self.seams().wait(body.atomic(annex::RELEASES), releases) {
            Ok(())
        } else {
            Err(Errno::INTR)
        }
    }

    #[cold]
    fn change_locks(
        &self,
        node: Node,
        owner: LockOwner,
        range: Range<u64>,
        new: Option<FileLock>,
    ) -> Result<(), Errno> {
        let line = self.lock_node(&node)?;
        let done = self.inode(node.at, line).and_then(|inode| {
            self.replace_locks(inode, &|its: LockOwner| its == owner, range, new)
        });
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
        self.replace_locks(self.inode(inode.at, inode.line)?, is_theirs, 0..u64::MAX, None)
    }

    /// Rewrites all locks: those of other owners, what these owners have outside of the range, and
    /// the new one.
    #[cold]
    #[inline(never)]
    fn replace_locks(
        &self,
        inode: Inode<'a>,
        is_theirs: &dyn Fn(LockOwner) -> bool,
        range: Range<u64>,
        new: Option<FileLock>,
    ) -> Result<(), Errno> {
        let mut locks = Locks::new();
        let (mut old_count, mut has_released) = (0, false);
        let mut new = new;
        self.each_lock(inode.line, |one| {
            old_count += 1;
            if !is_theirs(one.owner) {
                let conflicts = new.is_some_and(|new| one.conflicts_with(&new));
                return if conflicts { Err(Errno::AGAIN) } else { locks.add(one) };
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
                return locks.add(one);
            }
            has_released = true;
            if one.start < range.start {
                locks.add(FileLock { end: range.start, ..one })?;
            }
            if one.end > range.end {
                locks.add(FileLock { start: range.end, ..one })?;
            }
            Ok(())
        })?;
        if let Some(new) = new {
            locks.add(new)?;
        } else if !has_released {
            return Ok(());
        }
        let inode = self.with_annex(inode)?;
        self.ready_to_give()?;
        let bytes = u32::try_from(locks.count).map_err(|_| Errno::NOLCK)? * file_lock::BYTES;
        let run = if bytes > 0 { Some(self.obtain_run(lines_for(bytes))?) } else { None };
        if let Some(run) = run {
            self.write_locks(run, locks.as_slice())?;
        }
        let old_bytes = old_count * file_lock::BYTES;
        self.replace_run(&inode, annex::LOCKS, old_bytes, run)?;
        self.put(inode.body_at, annex::LOCK_COUNT, bytes / file_lock::BYTES);
        let releases = inode.body.atomic(annex::RELEASES);
        if has_released {
            let next = inode.body.load(annex::RELEASES).wrapping_add(1);
            self.put(inode.body_at, annex::RELEASES, next);
        }
        self.commit();
        if has_released {
            self.seams().wake(releases);
        }
        Ok(())
    }

    fn write_locks(&self, run: Ref, locks: &[FileLock]) -> Result<(), Errno> {
        for (number, lock) in (0..).zip(locks) {
            let line = self.line(run.plus(number / file_lock::PER_LINE))?;
            let place = (number % file_lock::PER_LINE) as usize;
            let (class, owner) = lock.owner.words();
            let how = class << 1 | u32::from(lock.is_exclusive);
            self.fill(line, file_lock::HOW.element(8 * place), how);
            self.fill(line, file_lock::OWNER.element(8 * place), owner);
            self.fill(line, file_lock::PID.element(8 * place), lock.pid);
            self.fill(line, file_lock::START.element(4 * place), lock.start);
            self.fill(line, file_lock::END.element(4 * place), lock.end);
        }
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
