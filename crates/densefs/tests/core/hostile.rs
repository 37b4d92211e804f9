//! Another process writes garbage to the arena, before and during operations. No call panics, loops
//! forever, or accesses memory outside of the arena.

use std::cell::{Cell, RefCell};
use std::sync::atomic::AtomicU32;

use densefs::arena::Ref;
use densefs::modes::{Caller, DIRECTORY, FILE};
use densefs::{Arena, Errno, Follow, Life, Member, Remove, Rename, Seams, flags};

use crate::world::{Memory, World, entry, formatted};

const ROOT: &Caller<'_> = &Caller::ROOT;
/// How often a call may wait or read the clock. Bounded loops stay far below this.
const PATIENCE: u32 = 20_000;

/// An environment in which another process writes to the arena at the moments when stores are
/// counted.
struct Hostile<'a> {
    arena: Arena<'a>,
    random: Cell<u64>,
    /// One write per this many stores, on average; 0 for none.
    every: Cell<u64>,
    patience: Cell<u32>,
    /// All writes so far, for debugging a failure.
    written: RefCell<Vec<(u32, usize, u32)>>,
}

impl Hostile<'_> {
    fn random(&self) -> u64 {
        // Marsaglia's xorshift, "Xorshift RNGs", Journal of Statistical Software 8(14), 2003.
        let mut x = self.random.get();
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        self.random.set(x);
        x
    }

    /// Writes 4 bytes somewhere: random ones, or plausible ones.
    fn write(&self) {
        let random = self.random();
        let lines = self.arena.lines();
        // Most of what is in use is in the first pages of the zone, and in the slots.
        let line = match random % 4 {
            0 => random >> 8 & 15,
            1 => 64 + (random >> 8) % 896,
            2 => (random >> 8) % u64::from(lines),
            _ => 384 + 9 * 64 + (random >> 8) % 256,
        };
        let line = u32::try_from(line).unwrap_or(0).min(lines - 1);
        let offset = usize::try_from(random >> 40 & 15).unwrap_or(0) * 4;
        let small = u32::try_from(self.random() & 0xff).unwrap_or(0);
        let value = match self.random() % 4 {
            0 => u32::try_from(self.random() & 0xffff_ffff).unwrap_or(0),
            1 => u32::MAX - small,
            2 => u32::try_from(self.random() % u64::from(lines)).unwrap_or(0),
            _ => small,
        };
        self.written.borrow_mut().push((line, offset, value));
        self.arena.copy_in(Ref(line), offset, &value.to_le_bytes()).expect("it lies within");
    }

    fn tire(&self) {
        let left = self.patience.get();
        assert!(left > 0, "it goes on and on: {:?}", self.written.borrow());
        self.patience.set(left - 1);
    }
}

impl Seams for &Hostile<'_> {
    fn now_ns(&self) -> u64 {
        self.tire();
        self.random.get() >> 1
    }

    fn supply(&self, _first_page: u32, _pages: u32) -> bool {
        true
    }

    fn life(&self, _slot: u32) -> Life {
        self.tire();
        Life::Alive
    }

    fn after_repair(&self, _slot: u32) {}

    fn wait(&self, _word: &AtomicU32, _value: u32) -> bool {
        self.tire();
        // After half of that, waiting is interrupted, as by an impatient user.
        self.patience.get() > PATIENCE / 2
    }

    fn wake(&self, _word: &AtomicU32) {}

    fn after_store(&self) {
        let every = self.every.get();
        if every > 0 && self.random().is_multiple_of(every) {
            self.write();
        }
    }
}

/// An operation of a process that continues whatever it gets.
type Act = fn(&Member<'_, &Hostile<'_>>) -> Result<(), Errno>;

const ACTS: [Act; 12] = [
    |one| one.stat_at(ROOT, one.root()?, b"file").map(drop),
    |one| one.make_at(ROOT, one.root()?, b"new", FILE | 0o600).map(drop),
    |one| one.make_at(ROOT, one.root()?, &[b'l'; 200], DIRECTORY | 0o700).map(drop),
    |one| one.remove_at(ROOT, one.root()?, b"new", Remove::Name),
    |one| {
        let at = one.walk(ROOT, one.root()?, b"sub", Follow::Yes)?;
        one.rename_at(ROOT, entry(&one.root()?, b"3"), entry(&at, b"moved"), Rename::Replace)
    },
    |one| one.list_each(ROOT, one.root()?, 0, |_| true),
    |one| {
        let file =
            one.open(ROOT, one.root()?, b"large", flags::READ_WRITE | flags::CREATE, 0o600)?;
        let written = one.write_to(file, 70_000, &[1; 10_000]);
        one.close(file)?;
        written.map(drop)
    },
    |one| {
        let file = one.open(ROOT, one.root()?, b"large", 0, 0)?;
        let read = one.read_from(file, 4_000, &mut [0; 9_000]);
        one.close(file)?;
        read.map(drop)
    },
    |one| one.truncate(one.walk(ROOT, one.root()?, b"large", Follow::Yes)?, 5_000),
    |one| one.walk(ROOT, one.root()?, b"sub/../link/4", Follow::Yes).map(drop),
    |one| one.duplicate(0, 40, 0).map(drop),
    |one| one.reap(3),
];

fn plant(member: &Member<'_, &World>) -> Result<(), Errno> {
    let root = member.root()?;
    for number in 0..20 {
        member.make_at(ROOT, root, number.to_string().as_bytes(), FILE | 0o644)?;
    }
    member.make_at(ROOT, root, b"sub", DIRECTORY | 0o755)?;
    member.symlink_at(ROOT, root, b"link", b"sub/..")?;
    let file = member.open(ROOT, root, b"large", flags::READ_WRITE | flags::CREATE, 0o600)?;
    member.write_to(file, 0, &[7; 20_000])?;
    member.write_to(file, 50_000, &[7; 20_000])?;
    Ok(())
}

/// An arena that contains a bit of everything.
pub(crate) fn planted() -> Memory {
    let (mut memory, world) = formatted(160);
    let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
    plant(&member).expect("there is room");
    memory
}

/// What the other process does.
pub(crate) struct Attack {
    pub(crate) random: u64,
    /// The number of writes before all operations.
    pub(crate) writes: u64,
    /// One write per this many stores during the operations, on average; 0 for none.
    pub(crate) every: u64,
    /// The first operation of the user.
    pub(crate) first: u64,
}

/// Uses an arena under attack, and checks it.
pub(crate) fn withstand(arena: Arena<'_>, attack: &Attack) {
    let hostile = Hostile {
        arena,
        random: Cell::new(attack.random.max(1)),
        every: Cell::new(attack.every),
        patience: Cell::new(PATIENCE),
        written: RefCell::default(),
    };
    (0..attack.writes).for_each(|_| hostile.write());
    // An arena that is inconsistent when it is attached may be refused.
    let Ok(member) = Member::new(arena, &hostile, 1, 1) else { return };
    for number in 0..24 {
        hostile.patience.set(PATIENCE);
        let act = ACTS[usize::try_from((attack.first + number) % 12).expect("it is small")];
        act(&member).ok();
    }
    hostile.every.set(0);
    let mut seen = vec![0; usize::try_from(arena.lines()).expect("it is small")];
    member.check(&mut seen).ok();
}

#[test]
fn nonsense_in_the_arena_is_an_error_and_no_more() {
    let rounds = std::env::var("FSPRISM_HOSTILE_ROUNDS").ok();
    let rounds: u64 = rounds.map_or(3_000, |text| text.parse().expect("it is a number"));
    let whole = planted();
    let mut spoilt = whole.copy();
    for round in 1..=rounds {
        spoilt.become_like(&whole);
        let random = round.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let every = if round % 3 == 0 { 0 } else { 1 << (round % 7) };
        withstand(spoilt.arena(), &Attack { random, writes: round % 5, every, first: round });
    }
}
