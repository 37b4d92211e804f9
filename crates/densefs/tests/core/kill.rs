//! A thread dies after every single store of every operation. What had been committed is found,
//! what had not is not, nothing is lost, and other threads can continue.

use densefs::modes::{Caller, DIRECTORY, FILE};
use densefs::{EntryName, Errno, Member, Node, Remove, Rename};

use crate::world::{Memory, NOBODY_DIES, World, assert_whole, entry, format, hold};

const VICTIM: u32 = 1;
const SURVIVOR: u32 = 2;

pub(crate) type Act = fn(&Member<'_, &World>, Node) -> Result<(), Errno>;

/// An operation, and the number of names that exist before it. There is also a directory `sub` with
/// two names.
pub(crate) struct Case {
    pub(crate) what: &'static str,
    entries: u32,
    /// How many separate steps of it a user can see.
    pub(crate) steps: usize,
    pub(crate) act: Act,
}

const LONG: &[u8] = &[b'l'; 255];
const WHITEOUT: Rename = Rename::Whiteout;

pub(crate) const CASES: [Case; 22] = [
    Case { what: "the second name, which takes a table", entries: 0, steps: 1, act: make },
    Case { what: "a table grows", entries: 11, steps: 1, act: make },
    Case { what: "a table of several pages grows", entries: 9 * 128 - 1, steps: 1, act: make },
    Case { what: "a directory", entries: 5, steps: 1, act: make_directory },
    Case { what: "a long name", entries: 5, steps: 1, act: make_long },
    Case { what: "a long name, for which a table grows", entries: 11, steps: 1, act: make_long },
    Case { what: "a long name as long as the table", entries: 17, steps: 1, act: make_long },
    Case {
        what: "a long rename, for which a table grows",
        entries: 11,
        steps: 1,
        act: |one, at| rename(one, entry(&at, b"3"), entry(&at, LONG)),
    },
    Case { what: "another name", entries: 5, steps: 1, act: link },
    Case { what: "a name goes", entries: 20, steps: 1, act: remove },
    Case { what: "the last names of a directory go", entries: 4, steps: 3, act: remove_all },
    Case {
        what: "a rename",
        entries: 5,
        steps: 1,
        act: |one, at| rename(one, entry(&at, b"3"), entry(&at, b"new")),
    },
    Case {
        what: "a rename over",
        entries: 5,
        steps: 1,
        act: |one, at| rename(one, entry(&at, b"3"), entry(&at, b"4")),
    },
    Case {
        what: "a long rename",
        entries: 5,
        steps: 1,
        act: |one, at| rename(one, entry(&at, b"3"), entry(&at, LONG)),
    },
    Case { what: "a rename across", entries: 5, steps: 1, act: across },
    Case { what: "a directory moves", entries: 5, steps: 1, act: directory_across },
    Case { what: "a rename across, over", entries: 5, steps: 1, act: across_over },
    Case { what: "an exchange across", entries: 5, steps: 1, act: exchange },
    Case {
        what: "a rename that leaves a whiteout",
        entries: 5,
        steps: 1,
        act: |one, at| one.rename_at(&Caller::ROOT, entry(&at, b"3"), entry(&at, LONG), WHITEOUT),
    },
    Case {
        what: "a whiteout, for which a table grows",
        entries: 11,
        steps: 1,
        act: |one, at| one.rename_at(&Caller::ROOT, entry(&at, b"3"), entry(&at, b"new"), WHITEOUT),
    },
    Case { what: "a whiteout as the only name", entries: 5, steps: 2, act: lonely_whiteout },
    Case { what: "a whiteout across, over", entries: 5, steps: 1, act: whiteout_across },
];

fn make(member: &Member<'_, &World>, at: Node) -> Result<(), Errno> {
    member.make_at(&Caller::ROOT, at, b"new", FILE | 0o600).map(drop)
}

fn make_directory(member: &Member<'_, &World>, at: Node) -> Result<(), Errno> {
    member.make_at(&Caller::ROOT, at, b"new", DIRECTORY | 0o700).map(drop)
}

fn link(member: &Member<'_, &World>, at: Node) -> Result<(), Errno> {
    let open = hold(member, at, b"3")?;
    let linked = member.link_at(&Caller::ROOT, open.node, at, b"new");
    member.close(open.descriptor)?;
    linked
}

fn make_long(member: &Member<'_, &World>, at: Node) -> Result<(), Errno> {
    member.make_at(&Caller::ROOT, at, LONG, FILE | 0o600).map(drop)
}

fn remove(member: &Member<'_, &World>, at: Node) -> Result<(), Errno> {
    member.remove_at(&Caller::ROOT, at, b"3", Remove::Name)
}

fn remove_all(member: &Member<'_, &World>, at: Node) -> Result<(), Errno> {
    in_sub(member, at, |sub| {
        member.remove_at(&Caller::ROOT, sub, b"0", Remove::Name)?;
        member.remove_at(&Caller::ROOT, sub, b"1", Remove::Directory)
    })?;
    member.remove_at(&Caller::ROOT, at, b"sub", Remove::Directory)
}

fn rename(
    member: &Member<'_, &World>,
    old: EntryName<'_>,
    new: EntryName<'_>,
) -> Result<(), Errno> {
    member.rename_at(&Caller::ROOT, old, new, Rename::Replace)
}

fn across(member: &Member<'_, &World>, at: Node) -> Result<(), Errno> {
    in_sub(member, at, |sub| rename(member, entry(&sub, b"0"), entry(&at, b"new")))
}

fn directory_across(member: &Member<'_, &World>, at: Node) -> Result<(), Errno> {
    in_sub(member, at, |sub| rename(member, entry(&sub, b"1"), entry(&at, b"new")))
}

fn across_over(member: &Member<'_, &World>, at: Node) -> Result<(), Errno> {
    in_sub(member, at, |sub| rename(member, entry(&at, b"3"), entry(&sub, b"0")))
}

fn exchange(member: &Member<'_, &World>, at: Node) -> Result<(), Errno> {
    in_sub(member, at, |sub| {
        member.rename_at(&Caller::ROOT, entry(&at, b"3"), entry(&sub, b"1"), Rename::Exchange)
    })
}

/// The directory has one name, which is not in a table, and a whiteout takes its place.
fn lonely_whiteout(member: &Member<'_, &World>, at: Node) -> Result<(), Errno> {
    in_sub(member, at, |sub| {
        member.remove_at(&Caller::ROOT, sub, b"1", Remove::Directory)?;
        member.rename_at(&Caller::ROOT, entry(&sub, b"0"), entry(&at, b"new"), WHITEOUT)
    })
}

fn whiteout_across(member: &Member<'_, &World>, at: Node) -> Result<(), Errno> {
    in_sub(member, at, |sub| {
        member.rename_at(&Caller::ROOT, entry(&at, b"3"), entry(&sub, b"0"), WHITEOUT)
    })
}

fn in_sub(
    member: &Member<'_, &World>,
    at: Node,
    act: impl FnOnce(Node) -> Result<(), Errno>,
) -> Result<(), Errno> {
    let sub = hold(member, at, b"sub")?;
    let done = act(sub.node);
    member.close(sub.descriptor)?;
    done
}

fn name(number: u32) -> Vec<u8> {
    number.to_string().into_bytes()
}

/// The arena before the operation.
pub(crate) fn before(case: &Case, world: &World) -> Memory {
    let mut memory = Memory::of_pages(256);
    format(&mut memory, world).expect("there is room");
    let member = Member::new(memory.arena(), world, 0, 0).expect("there are slots");
    let root = member.root().expect("it is there");
    let make = |at, name: &[u8], mode| {
        member.make_at(&Caller::ROOT, at, name, mode | 0o700).expect("there is room");
    };
    make(root, b"sub", DIRECTORY);
    (0..case.entries).for_each(|number| make(root, &name(number), FILE));
    in_sub(&member, root, |sub| {
        make(sub, b"0", FILE);
        make(sub, b"1", DIRECTORY);
        Ok(())
    })
    .expect("it is there");
    memory
}

pub(crate) type Seen = Vec<Option<(u64, u32)>>;

/// Everything a user sees: each name that may exist, and the inode it refers to.
pub(crate) fn seen(case: &Case, member: &Member<'_, &World>) -> Seen {
    let root = member.root().expect("it is there");
    let look = |at: Node, name: &[u8]| match member.stat_at(&Caller::ROOT, at, name) {
        Ok(stat) => Some((stat.ino, stat.links)),
        Err(Errno::NOENT) => None,
        Err(why) => panic!("{why}"),
    };
    let names =
        (0..case.entries).map(name).chain([b"sub".to_vec(), b"new".to_vec(), LONG.to_vec()]);
    let mut seen: Vec<_> = names.map(|name| look(root, &name)).collect();
    if let Ok(sub) = hold(member, root, b"sub") {
        seen.extend((0..2).map(|number| look(sub.node, &name(number))));
        member.close(sub.descriptor).expect("it is open");
    }
    seen
}

/// What a user sees after the operation was killed after this many stores, and whether it had
/// finished before.
fn after(case: &Case, memory: &Memory, world: &World, stores: u64) -> (Seen, bool) {
    let mut memory = memory.copy();
    let arena = memory.arena();
    let victim = Member::new(arena, world, VICTIM, VICTIM).expect("there are slots");
    let survivor = Member::new(arena, world, SURVIVOR, SURVIVOR).expect("there are slots");
    let root = survivor.root().expect("it is there");
    if let Some(done) = world.kill_after(stores, || (case.act)(&victim, root)) {
        done.unwrap_or_else(|why| panic!("{}: {why}", case.what));
        assert_whole(&survivor);
        return (seen(case, &survivor), true);
    }
    world.bury(VICTIM);
    // A thread that comes to a lock of the dead thread repairs what it left.
    let after = seen(case, &survivor);
    if !world.is_buried(VICTIM) {
        survivor.repair(VICTIM).expect("it is a slot");
    }
    assert_eq!(seen(case, &survivor), after, "{}: {stores}", case.what);
    assert_whole(&survivor);
    survivor.make_at(&Caller::ROOT, root, b"later", FILE | 0o600).expect("there is room");
    survivor.remove_at(&Caller::ROOT, root, b"later", Remove::Name).expect("it is there");
    assert_whole(&survivor);
    (after, false)
}

#[test]
fn whoever_dies_after_any_store_leaves_all_or_nothing() {
    for case in &CASES {
        let world = World::default();
        let memory = before(case, &world);
        let mut states: Vec<Seen> = Vec::new();
        for stores in 0.. {
            let (seen, is_over) = after(case, &memory, &world, stores);
            if states.last() != Some(&seen) {
                states.push(seen);
            }
            if is_over {
                assert!(stores > 10 || NOBODY_DIES, "{}: {stores} stores", case.what);
                break;
            }
        }
        // Only the states before and after each step, in this order: a step that was done stays
        // done.
        let expected = if NOBODY_DIES { 1 } else { case.steps + 1 };
        assert_eq!(states.len(), expected, "{}: {states:?}", case.what);
    }
}

/// The thread that repairs may also die, after any store, and the next one finishes.
#[test]
fn whoever_repairs_may_die_too() {
    let case = &CASES[1];
    let world = World::default();
    let memory = before(case, &world);
    for stores in (0..200).step_by(7) {
        for repairs in 0.. {
            let mut memory = memory.copy();
            let arena = memory.arena();
            let victim = Member::new(arena, &world, VICTIM, VICTIM).expect("there are slots");
            let survivor = Member::new(arena, &world, SURVIVOR, SURVIVOR).expect("there are slots");
            let third = Member::new(arena, &world, 3, 3).expect("there are slots");
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
