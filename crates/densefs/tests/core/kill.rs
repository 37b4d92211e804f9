//! A thread dies after every single store of every operation: what had been done is found, what
//! had not is not, nothing is lost, and others go on.

use densefs::modes::{Caller, DIRECTORY, FILE};
use densefs::{Errno, Member, Node, Remove};

use crate::world::{Memory, World, assert_whole, format};

const VICTIM: u32 = 1;
const SURVIVOR: u32 = 2;

type Act = fn(&Member<'_, &World>, Node) -> Result<(), Errno>;

/// An operation, how many names there are before it, and the name of which it changes whether it
/// is there.
struct Case {
    what: &'static str,
    entries: u32,
    name: &'static [u8],
    act: Act,
}

const LONG: &[u8] = &[b'l'; 255];

const CASES: [Case; 9] = [
    Case { what: "the first name", entries: 0, name: b"new", act: make },
    Case { what: "the second, which takes a table", entries: 1, name: b"new", act: make },
    Case { what: "a table grows", entries: 12, name: b"new", act: make },
    Case { what: "a table of several pages grows", entries: 9 * 128, name: b"new", act: make },
    Case { what: "a directory", entries: 5, name: b"new", act: make_directory },
    Case {
        what: "a long name",
        entries: 5,
        name: LONG,
        act: |member, at| member.make_at(&Caller::ROOT, at, LONG, FILE | 0o600).map(drop),
    },
    Case { what: "another name", entries: 5, name: b"new", act: link },
    Case { what: "a name goes", entries: 20, name: b"3", act: remove },
    Case { what: "the last name goes", entries: 4, name: b"3", act: remove },
];

fn make(member: &Member<'_, &World>, at: Node) -> Result<(), Errno> {
    member.make_at(&Caller::ROOT, at, b"new", FILE | 0o600).map(drop)
}

fn make_directory(member: &Member<'_, &World>, at: Node) -> Result<(), Errno> {
    member.make_at(&Caller::ROOT, at, b"new", DIRECTORY | 0o700).map(drop)
}

fn link(member: &Member<'_, &World>, at: Node) -> Result<(), Errno> {
    let open = member.open_at(&Caller::ROOT, at, b"3")?;
    let linked = member.link_at(&Caller::ROOT, open, at, b"new");
    member.close(open)?;
    linked
}

fn remove(member: &Member<'_, &World>, at: Node) -> Result<(), Errno> {
    member.remove_at(&Caller::ROOT, at, b"3", Remove::Name)
}

fn name(number: u32) -> Vec<u8> {
    number.to_string().into_bytes()
}

/// The arena before the operation.
fn before(case: &Case, world: &World) -> Memory {
    let mut memory = Memory::of_pages(256);
    format(&mut memory, world).expect("there is room");
    let member = Member::new(memory.arena(), world, 0).expect("there are slots");
    let root = member.root().expect("it is there");
    for number in 0..case.entries {
        member.make_at(&Caller::ROOT, root, &name(number), FILE | 0o600).expect("there is room");
    }
    memory
}

fn is_there(member: &Member<'_, &World>, root: Node, name: &[u8]) -> bool {
    match member.stat_at(&Caller::ROOT, root, name) {
        Ok(_) => true,
        Err(Errno::NOENT) => false,
        Err(why) => panic!("{why}"),
    }
}

/// Whether the operation was over before so many stores were done.
fn killed_after(case: &Case, memory: &Memory, world: &World, stores: u64) -> bool {
    let mut memory = memory.copy();
    let arena = memory.arena();
    let victim = Member::new(arena, world, VICTIM).expect("there are slots");
    let survivor = Member::new(arena, world, SURVIVOR).expect("there are slots");
    let root = survivor.root().expect("it is there");
    let was_there = is_there(&survivor, root, case.name);
    let done = world.kill_after(stores, || (case.act)(&victim, root));
    if let Some(done) = done {
        done.unwrap_or_else(|why| panic!("{}: {why}", case.what));
        assert_ne!(is_there(&survivor, root, case.name), was_there, "{}", case.what);
        return true;
    }
    world.bury(VICTIM);
    // Whoever comes to a lock of the dead repairs what it left.
    is_there(&survivor, root, case.name);
    if !world.is_buried(VICTIM) {
        survivor.repair(VICTIM).expect("it is a slot");
    }
    let whole = assert_whole(&survivor);
    assert!(whole.directories + whole.others >= u64::from(case.entries), "{}", case.what);
    for number in (0..case.entries).filter(|&number| name(number) != case.name) {
        assert!(is_there(&survivor, root, &name(number)), "{}: {stores}", case.what);
    }
    survivor.make_at(&Caller::ROOT, root, b"later", FILE | 0o600).expect("there is room");
    survivor.remove_at(&Caller::ROOT, root, b"later", Remove::Name).expect("it is there");
    assert_whole(&survivor);
    false
}

#[test]
fn whoever_dies_after_any_store_leaves_all_or_nothing() {
    for case in &CASES {
        let world = World::default();
        let memory = before(case, &world);
        let deaths = (0..).take_while(|&stores| !killed_after(case, &memory, &world, stores));
        let deaths = deaths.count();
        assert!(deaths > 10, "{}: {deaths} stores", case.what);
    }
}

/// The one that repairs may die as well, after any store, and the next one finishes.
#[test]
fn whoever_repairs_may_die_too() {
    let case = &CASES[2];
    let world = World::default();
    let memory = before(case, &world);
    for stores in (0..200).step_by(7) {
        for repairs in 0.. {
            let mut memory = memory.copy();
            let arena = memory.arena();
            let victim = Member::new(arena, &world, VICTIM).expect("there are slots");
            let survivor = Member::new(arena, &world, SURVIVOR).expect("there are slots");
            let third = Member::new(arena, &world, 3).expect("there are slots");
            let root = survivor.root().expect("it is there");
            if world.kill_after(stores, || (case.act)(&victim, root)).is_some() {
                break;
            }
            let repaired = world.kill_after(repairs, || survivor.repair(VICTIM));
            third.repair(VICTIM).expect("it is a slot");
            third.repair(SURVIVOR).expect("it is a slot");
            assert_whole(&third);
            if repaired.is_some() {
                break;
            }
        }
    }
}
