//! An arena that this process has attached: its file, the process' record, the slots of its
//! threads, and which other processes are alive.

use std::fs::File;
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use densefs::arena::Line;
use densefs::format::Shape;
use densefs::modes::Caller;
use densefs::{Arena, Errno, Life, Seams};
use rustix::thread::futex;
use rustix::time::Timespec;

use crate::claims::Claims;
use crate::credentials::Credentials;
use crate::edge::{self, ByteLock, Mapping, ReplaceableFile, lock_bytes};
use crate::file::{self, OpenedArena, RECORDS_AT};
use crate::numbers::PassingNumber;
use crate::supply::{release, supply};
use crate::users::{Role, Users};

/// How long to sleep while waiting for a lock, before checking again whether its owner is alive.
const SLEEP_NS: i64 = 5_000_000;
/// No record: for a child whose parent could not get one for it.
const NO_RECORD: u32 = u32::MAX;

/// An arena that this process has attached. What every call reads comes first, in one cache line.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Attachment {
    /// The record of this process; a fork changes it in the child.
    record: AtomicU32,
    /// Whether a dead process was found, which may have left more behind.
    is_sweep_due: AtomicBool,
    pub(crate) credentials: Credentials,
    /// The ID of this process; a fork changes it in the child.
    pid: AtomicU32,
    path: PathBuf,
    /// The open file description that the locks of records belong to.
    file: ReplaceableFile,
    /// Identifies that file.
    identity: Option<file::FileIdentity>,
    /// The same file without locks, for memory that programs map.
    to_map: OnceLock<File>,
    /// The one of a child that is being forked.
    pub(crate) child_number: PassingNumber,
    /// The one of a program that is about to be executed.
    pub(crate) handed_number: PassingNumber,
    mapping: Mapping,
    shape: Shape,
    /// For each record, whether a thread of ours is reclaiming what a dead process left.
    claimed: Box<[AtomicBool]>,
}

impl Attachment {
    /// An attachment that has no record yet.
    pub(crate) fn without_record(path: &Path, opened: OpenedArena) -> Arc<Self> {
        let OpenedArena { file, mapping, shape } = opened;
        Arc::new(Self {
            path: path.to_owned(),
            identity: file::FileIdentity::from_file(file.as_fd()),
            file: ReplaceableFile::new(file),
            to_map: OnceLock::new(),
            child_number: PassingNumber::none(),
            handed_number: PassingNumber::none(),
            mapping,
            shape,
            record: AtomicU32::new(NO_RECORD),
            pid: AtomicU32::new(std::process::id()),
            claimed: (0..shape.processes()).map(|_| AtomicBool::new(false)).collect(),
            is_sweep_due: AtomicBool::new(true),
            credentials: Credentials::of_process(),
        })
    }

    pub(crate) fn shape(&self) -> Shape {
        self.shape
    }

    /// How many threads may use the arena at the same time, and how many do.
    pub(crate) fn threads(&self) -> (u32, u32) {
        let is_used =
            |&slot: &u32| self.owner_of(slot).is_ok_and(|line| line.load(Shape::OWNER) != 0);
        let used = self.slots_ever_taken().filter(is_used).count();
        (self.shape.slots(), u32::try_from(used).unwrap_or(u32::MAX))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// The record of this process.
    #[inline]
    pub(crate) fn record(&self) -> u32 {
        self.record.load(Ordering::Relaxed)
    }

    /// The arena's file, opened again, so that who maps it does not keep the locks.
    pub(crate) fn file_to_map(&self) -> Result<BorrowedFd<'_>, Errno> {
        if self.to_map.get().is_none() {
            self.to_map.set(self.open_again()?).ok();
        }
        self.to_map.get().map(AsFd::as_fd).ok_or(Errno::NFILE)
    }

    /// Calls `each` with the numbers of the system's descriptors that belong to it.
    pub(crate) fn each_number(&self, each: &mut dyn FnMut(i32)) {
        each(self.file().as_raw_fd());
        self.to_map.get().map(AsRawFd::as_raw_fd).into_iter().for_each(&mut *each);
        self.child_number.get().into_iter().for_each(&mut *each);
        self.handed_number.get().into_iter().for_each(each);
    }

    /// Opens the arena's file again.
    pub(crate) fn open_again(&self) -> Result<File, Errno> {
        let file = file::open_again(self.file())?;
        if self.is_arena_file(file.as_fd()) { Ok(file) } else { Err(Errno::BADF) }
    }

    /// Whether this is the arena's file.
    pub(crate) fn is_arena_file(&self, file: BorrowedFd<'_>) -> bool {
        self.identity.is_some() && self.identity == file::FileIdentity::from_file(file)
    }

    /// The ID of this process, which the system would take a call to tell.
    #[inline]
    pub(crate) fn pid(&self) -> u32 {
        self.pid.load(Ordering::Relaxed)
    }

    pub(crate) fn set_record(&self, record: Option<u32>) {
        self.record.store(record.unwrap_or(NO_RECORD), Ordering::Relaxed);
    }

    /// Makes this the attachment of a forked child, in which only the thread that forked continues.
    /// The child takes over nothing of what its parent's other threads were doing, and its locks
    /// and its mapping are on an open file of its own. Returns whether it can use the arena.
    pub(crate) fn become_child(&self, own: Option<(File, u32)>) -> bool {
        for claimed in &self.claimed {
            claimed.store(false, Ordering::Relaxed);
        }
        let taken = own.and_then(|(file, record)| {
            // The old mapping would keep the parent's locks alive after its death.
            self.mapping.map_anew(file.as_fd()).ok()?;
            self.file.replace(file);
            Some(record)
        });
        self.set_record(taken);
        self.pid.store(std::process::id(), Ordering::Relaxed);
        taken.is_some()
    }

    pub(crate) fn arena(&self) -> Arena<'static> {
        self.mapping.arena()
    }

    /// The line of a slot that shows whose it is.
    pub(crate) fn owner_of(&self, slot: u32) -> Result<Line<'static>, Errno> {
        self.arena().line(self.shape.slot(slot))
    }

    /// The slots that may have an owner: in a large arena, most of them never had one, and each
    /// look at one may be a page fault.
    pub(crate) fn slots_ever_taken(&self) -> Range<u32> {
        let taken = self.arena().line(Shape::COMMON).map(|line| line.load(Shape::SLOTS_TAKEN));
        0..taken.unwrap_or(u32::MAX).min(self.shape.slots())
    }

    /// Takes a free slot for a thread of the process with this record.
    pub(crate) fn take_slot(&self, record: u32) -> Result<Option<u32>, Errno> {
        if record >= self.shape.processes() {
            // A child for which no record could be had.
            return Err(Errno::NXIO);
        }
        let taken = self.arena().line(Shape::COMMON)?.atomic(Shape::SLOTS_TAKEN);
        for slot in 0..self.shape.slots() {
            let owner = self.owner_of(slot)?.atomic(Shape::OWNER);
            let is_free = owner.load(Ordering::Relaxed) == 0;
            if is_free && taken.load(Ordering::Relaxed) <= slot {
                // Before it has an owner, so that nobody overlooks it.
                taken.fetch_max(slot + 1, Ordering::SeqCst);
            }
            let (was, is) = (Ordering::Acquire, Ordering::Relaxed);
            if is_free && owner.compare_exchange(0, record + 1, was, is).is_ok() {
                return Ok(Some(slot));
            }
        }
        Ok(None)
    }

    /// Releases a slot, which its thread no longer uses.
    pub(crate) fn give_slot(&self, slot: u32) {
        if let Ok(line) = self.owner_of(slot) {
            line.atomic(Shape::OWNER).store(0, Ordering::Release);
        }
    }

    /// The process that owns a slot.
    pub(crate) fn record_of(&self, slot: u32) -> Option<u32> {
        self.owner_of(slot).ok()?.load(Shape::OWNER).checked_sub(1)
    }

    /// The slots of a process.
    pub(crate) fn slots_of(&self, record: u32) -> impl Iterator<Item = u32> {
        let belongs = move |&slot: &u32| {
            let owner = self.owner_of(slot).map(|line| line.load(Shape::OWNER));
            owner == Ok(record + 1)
        };
        self.slots_ever_taken().filter(belongs)
    }

    /// Whether a lock shows that a process has a record, other than one of this description.
    pub(crate) fn is_record_locked(&self, file: BorrowedFd<'_>, record: u32) -> bool {
        edge::is_locked(file, RECORDS_AT + i64::from(record)).unwrap_or(false)
    }

    /// Takes or releases the lock that shows that a process has a record.
    pub(crate) fn lock_record(&self, file: BorrowedFd<'_>, record: u32, what: ByteLock) -> bool {
        lock_bytes(file, RECORDS_AT + i64::from(record), 1, what).unwrap_or(false)
    }

    /// Claims the record of a process that may be dead; false if it is alive, or if another thread
    /// or process has claimed it.
    pub(crate) fn claim(&self, record: u32) -> bool {
        let Some(claimed) = self.claimed.get(record as usize) else { return false };
        if claimed.swap(true, Ordering::Acquire) {
            return false;
        }
        let is_dead = self.lock_record(self.file(), record, ByteLock::Take);
        // A program that closes descriptors it does not know may have opened something else there,
        // whose locks prove nothing.
        if is_dead && !self.is_arena_file(self.file()) {
            self.lock_record(self.file(), record, ByteLock::GiveBack);
            return false;
        }
        if !is_dead {
            claimed.store(false, Ordering::Release);
        }
        is_dead
    }

    pub(crate) fn unclaim(&self, record: u32) {
        self.lock_record(self.file(), record, ByteLock::GiveBack);
        if let Some(claimed) = self.claimed.get(record as usize) {
            claimed.store(false, Ordering::Release);
        }
    }

    /// Which other live processes have the arena attached.
    pub(crate) fn others(&self) -> Users {
        let others = (0..self.shape.processes()).filter(|&record| record != self.record());
        let alive = others.filter(|&record| self.is_alive(record));
        alive.map(|record| Role::from_record(&self.arena(), self.shape, record)).collect()
    }

    /// Whether another live process serves a mount.
    pub(crate) fn is_served_by_others(&self) -> bool {
        let others = (0..self.shape.processes()).filter(|&record| record != self.record());
        let role = |record| Role::from_record(&self.arena(), self.shape, record);
        others.filter(|&record| role(record) == Role::Server).any(|record| self.is_alive(record))
    }

    /// Notes in a record what its process is.
    pub(crate) fn set_role(&self, record: u32, role: Role) {
        if let Ok(line) = self.shape.record(record).and_then(|at| self.arena().line(at)) {
            line.atomic(Shape::ROLE).store(role as u32, Ordering::Relaxed);
        }
    }

    /// What a record says of who may take it over.
    pub(crate) fn claims_of(&self, record: u32) -> Claims {
        Claims::from_record(&self.arena(), self.shape, record)
    }

    /// Notes in a record who may take it over.
    pub(crate) fn set_claims(&self, record: u32, claims: Claims) {
        claims.note(&self.arena(), self.shape, record);
    }

    /// Whether a process has this record.
    pub(crate) fn is_alive(&self, record: u32) -> bool {
        if record == self.record() {
            // The kernel cannot tell our own lock from none.
            return true;
        }
        let is_dead = self.claim(record);
        if is_dead {
            self.unclaim(record);
        }
        !is_dead
    }

    /// Gives the record of this process back, so that others see that it no longer uses the arena.
    /// No further call works. Does nothing as long as a thread has a slot.
    pub(crate) fn give_record_back(&self) {
        let record = self.record();
        if record != NO_RECORD && self.slots_of(record).next().is_none() {
            self.set_record(None);
            self.lock_record(self.file(), record, ByteLock::GiveBack);
        }
    }

    /// Whether the next call off the fast path will sweep.
    #[inline]
    pub(crate) fn is_swept_later(&self) -> bool {
        self.is_sweep_due.load(Ordering::Relaxed)
    }

    /// Whether a dead process was found since the last call of this.
    #[inline]
    pub(crate) fn is_sweep_due(&self) -> bool {
        self.is_swept_later() && self.is_sweep_due.swap(false, Ordering::Relaxed)
    }
}

/// The environment of the core in this process.
#[derive(Clone, Debug)]
pub struct ProcessSeams(pub(crate) Arc<Attachment>);

impl Seams for ProcessSeams {
    #[inline]
    fn now_ns(&self) -> u64 {
        edge::now_ns()
    }

    #[cold]
    fn supply(&self, first_page: u32, pages: u32) -> bool {
        // A program that closes descriptors it does not know may have opened something else there.
        let this = &self.0;
        this.is_arena_file(this.file()) && supply(this.file(), &this.mapping, first_page, pages)
    }

    #[cold]
    fn release(&self, first_page: u32, pages: u32) {
        if self.0.is_arena_file(self.0.file()) {
            release(self.0.file(), first_page, pages);
        }
    }

    #[cold]
    fn user(&self) -> Caller<'_> {
        self.0.credentials.caller()
    }

    #[cold]
    fn life(&self, slot: u32) -> Life {
        let this = &self.0;
        let Some(record) = this.record_of(slot) else { return Life::Nobody };
        if record == this.record() || !this.claim(record) {
            return Life::Alive;
        }
        // Another may have repaired it just before.
        if this.record_of(slot) == Some(record) {
            return Life::Ours;
        }
        this.unclaim(record);
        Life::Alive
    }

    #[cold]
    fn after_repair(&self, slot: u32) {
        let this = &self.0;
        let record = this.record_of(slot);
        this.give_slot(slot);
        this.is_sweep_due.store(true, Ordering::Relaxed);
        if let Some(record) = record {
            this.unclaim(record);
        }
    }

    #[cold]
    fn wait(&self, word: &AtomicU32, value: u32) -> bool {
        let sleep = Timespec { tv_sec: 0, tv_nsec: SLEEP_NS };
        let woken = futex::wait(word, futex::Flags::empty(), value, Some(&sleep));
        woken != Err(rustix::io::Errno::INTR)
    }

    #[cold]
    fn wake(&self, word: &AtomicU32) {
        futex::wake(word, futex::Flags::empty(), i32::MAX as u32).ok();
    }
}
