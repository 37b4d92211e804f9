//! The environment of a test: a clock that counts, space that runs out, and threads that die on
//! command.

use std::boxed::Box;
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::vec;

use densefs::arena::{LINES_PER_PAGE, Ref};
use densefs::format::{FormatRequest, make};
use densefs::modes::{Caller, Mode};
use densefs::{Arena, EntryName, Errno, Life, Member, Node, Seams, Trust, check, flags};

pub(crate) use crate::memory::Memory;
use crate::memory::TRUST;

/// Whether nobody can be killed after a store.
pub(crate) const NOBODY_DIES: bool = !crate::IS_SHARED;

/// The environment of an arena in a test.
#[derive(Debug, Default)]
pub(crate) struct World {
    now_ns: Cell<u64>,
    /// How many pages can still be supplied; none for no limit.
    pub(crate) pages_left: Cell<Option<u32>>,
    /// How many stores the current thread can still make before it dies; none if it does not.
    stores_left: Cell<Option<u64>>,
    /// How often lines can still be taken from a zone; none for no limit.
    takes_left: Cell<Option<u32>>,
    /// Whether more were asked for after that.
    asked_in_vain: Cell<bool>,
    dead: RefCell<BTreeSet<u32>>,
    /// Whether somebody may wait, for no time.
    pub(crate) may_wait: Cell<bool>,
    /// How often somebody was woken.
    pub(crate) wakes: Cell<u32>,
    /// The pages that were returned to the system and not supplied again.
    pub(crate) released: RefCell<BTreeSet<u32>>,
    /// The arena, if pages lose what they contain when they are returned or supplied.
    pub(crate) wiped: Cell<Option<Arena<'static>>>,
}

/// The payload with which a killed thread unwinds.
struct Killed;

impl Seams for &World {
    const THREADS_DIE: bool = crate::IS_SHARED;
    const IS_SHARED: bool = crate::IS_SHARED;
    const TRUST: Option<Trust> = TRUST;

    fn now_ns(&self) -> u64 {
        self.now_ns.set(self.now_ns.get() + 1);
        self.now_ns.get()
    }

    fn supply(&self, first_page: u32, pages: u32) -> bool {
        self.wipe(first_page, pages);
        if let Some(left) = self.pages_left.get() {
            self.pages_left.set(Some(left.saturating_sub(pages)));
            if left < pages {
                return false;
            }
        }
        self.released.borrow_mut().retain(|page| !(first_page..first_page + pages).contains(page));
        true
    }

    fn release(&self, first_page: u32, pages: u32) {
        self.released.borrow_mut().extend(first_page..first_page + pages);
        self.wipe(first_page, pages);
    }

    fn life(&self, slot: u32) -> Life {
        if self.dead.borrow().contains(&slot) { Life::Ours } else { Life::Alive }
    }

    fn after_repair(&self, slot: u32) {
        self.dead.borrow_mut().remove(&slot);
    }

    fn wait(&self, word: &AtomicU32, value: u32) -> bool {
        assert!(self.may_wait.get(), "nobody who lives holds a lock");
        assert_eq!(word.load(Ordering::Relaxed), value);
        true
    }

    fn wake(&self, _word: &AtomicU32) {
        self.wakes.set(self.wakes.get() + 1);
    }

    fn may_take(&self) -> bool {
        let left = self.takes_left.get();
        self.takes_left.set(left.map(|left| left.saturating_sub(1)));
        let is_full = left == Some(0);
        self.asked_in_vain.set(self.asked_in_vain.get() || is_full);
        !is_full
    }

    fn after_store(&self) {
        match self.stores_left.get() {
            Some(0) => resume_unwind(Box::new(Killed)),
            Some(left) => self.stores_left.set(Some(left - 1)),
            None => {}
        }
    }
}

impl World {
    fn wipe(&self, first_page: u32, pages: u32) {
        if let Some(arena) = self.wiped.get() {
            let first = Ref(first_page * LINES_PER_PAGE);
            arena.zero(first, 0, pages as usize * 4_096).expect("they are in the arena");
        }
        // A thread can die here as well.
        self.after_store();
    }

    /// Runs `act`, and kills it after this many stores; none if it was killed. Where nobody dies,
    /// it is not.
    pub(crate) fn kill_after<T>(&self, stores: u64, act: impl FnOnce() -> T) -> Option<T> {
        if NOBODY_DIES {
            return Some(act());
        }
        self.stores_left.set(Some(stores));
        let done = catch_unwind(AssertUnwindSafe(act));
        self.stores_left.set(None);
        match done {
            Ok(done) => Some(done),
            Err(why) if why.is::<Killed>() => None,
            Err(why) => resume_unwind(why),
        }
    }

    /// Runs `act` while lines can be taken from zones this often; returns also whether more were
    /// asked for.
    pub(crate) fn full_after<T>(&self, takes: u32, act: impl FnOnce() -> T) -> (T, bool) {
        self.takes_left.set(Some(takes));
        let done = act();
        let was_full = self.asked_in_vain.take();
        self.takes_left.set(None);
        (done, was_full)
    }

    /// Finishes and closes what process 1 has left, by heirs that die themselves: after no store,
    /// after `step` stores, and so on until one lives.
    pub(crate) fn reap_the_dead(&self, arena: Arena<'_>, step: usize) {
        for dies_at in (0..).step_by(step) {
            let heir = Member::new(arena, self, 2, 2).expect("there are slots");
            let reaped = self.kill_after(dies_at, || {
                heir.repair(1).expect("it is a slot");
                heir.reap(1).expect("it is a record");
            });
            let third = Member::new(arena, self, 3, 3).expect("there are slots");
            third.repair(2).expect("it is a slot");
            if reaped.is_some() {
                break;
            }
        }
    }

    pub(crate) fn bury(&self, slot: u32) {
        self.dead.borrow_mut().insert(slot);
    }

    pub(crate) fn is_buried(&self, slot: u32) -> bool {
        !self.dead.borrow().contains(&slot)
    }
}

/// Makes a new file system in this memory.
pub(crate) fn format(memory: &mut Memory, world: &World) -> Result<(), Errno> {
    let root = Mode { uid: 0, gid: 0, mode: 0o755 };
    let (secret, ino_secret) = (0x5eed_5eed_5eed_5eed, 0x0123_4567_89ab_cdef);
    make(memory.arena(), world, &FormatRequest { secret, ino_secret, root, threads: None })
}

/// A new file system in memory of its own.
pub(crate) fn formatted(pages: usize) -> (Memory, World) {
    let (mut memory, world) = (Memory::of_pages(pages), World::default());
    format(&mut memory, &world).expect("there is room");
    (memory, world)
}

/// Checks the arena, which must be consistent.
#[track_caller]
pub(crate) fn assert_whole(member: &Member<'_, &World>) -> check::Report {
    let mut seen = vec![0; usize::try_from(member.arena().lines()).expect("it fits")];
    member.check(&mut seen).unwrap_or_else(|problem| panic!("{problem}"))
}

/// Something held open, so that it stays whatever happens to its name.
#[derive(Clone, Copy)]
pub(crate) struct Hold {
    pub(crate) descriptor: u32,
    pub(crate) node: Node,
}

/// Opens what has this name, to hold it.
pub(crate) fn hold<S: Seams>(
    member: &Member<'_, S>,
    directory: Node,
    name: &[u8],
) -> Result<Hold, Errno> {
    let descriptor = member.retry(|| {
        let found = member.step(&Caller::ROOT, directory, name)?;
        member.open_node(&Caller::ROOT, found, flags::PATH | flags::NO_FOLLOW)
    })?;
    Ok(Hold { descriptor, node: member.node(descriptor)? })
}

pub(crate) fn entry<'n>(directory: &'n Node, name: &'n [u8]) -> EntryName<'n> {
    EntryName { directory, name }
}
