//! Descriptions that keep an inode's number, but not its content.

use densefs::modes::{Caller, DIRECTORY, FILE};
use densefs::{Errno, Member, Node, Remove, Rename, SetAttribute, flags};

use crate::world::{Memory, NOBODY_DIES, World, assert_whole, entry, formatted};

const ROOT: &Caller<'_> = &Caller::ROOT;

type One<'a, 'w> = Member<'a, &'w World>;

fn open(member: &One<'_, '_>, name: &[u8], how: u32) -> Result<u32, Errno> {
    member.retry(|| member.open(ROOT, member.root()?, name, how, 0o644))
}

fn remove(member: &One<'_, '_>, name: &[u8]) -> Result<(), Errno> {
    member.remove_at(ROOT, member.root()?, name, Remove::Name)
}

/// Writes to the file with this descriptor.
type Fill = fn(&One<'_, '_>, u32) -> Result<(), Errno>;

/// What a file contains, in each of the ways in which an arena stores it.
const CONTENTS: [(&str, Fill); 5] = [
    ("nothing", |_, _| Ok(())),
    ("a run", |one, file| one.write_to(file, 0, &[1; 1_000]).map(drop)),
    ("a page", |one, file| one.write_to(file, 0, &[2; 4_096]).map(drop)),
    ("a map", |one, file| one.write_to(file, 50_000, &[3; 100_000]).map(drop)),
    ("an attribute as well", |one, file| {
        one.write_to(file, 0, &[4; 10_000])?;
        one.set_attribute(ROOT, one.node(file)?, b"user.a", &[5; 100], SetAttribute::Any)
    }),
];

/// Creates the file, and opens it so that only its number is kept.
fn known(member: &One<'_, '_>, fill: Fill) -> Result<u32, Errno> {
    let file = open(member, b"file", flags::READ_WRITE | flags::CREATE)?;
    fill(member, file)?;
    let number = member.open_node(ROOT, member.node(file)?, flags::NUMBER_ONLY)?;
    member.close(file)?;
    Ok(number)
}

#[test]
fn content_goes_with_the_last_name_and_the_number_stays() {
    for (what, fill) in CONTENTS {
        let (mut memory, world) = formatted(2048);
        let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
        for other in [b"1", b"2"] {
            open(&member, other, flags::CREATE).expect("there is room");
        }
        let before = assert_whole(&member).lines_used;
        let number = known(&member, fill).expect("there is room");
        let node = member.node(number).expect("it is open");
        let was = member.stat(node).expect("it is open");
        remove(&member, b"file").expect("it is there");
        let has = assert_whole(&member).lines_used - before;
        let is_annexed = what == "an attribute as well";
        assert_eq!(has, if is_annexed { 5 } else { 2 }, "{what}: cell, description and annex");
        // What it was is still known, but it cannot be opened any more.
        let stat = member.stat(node).expect("its number is kept");
        assert_eq!((stat.links, stat.size, stat.ino), (0, was.size, was.ino), "{what}");
        let value = member.attribute(ROOT, node, b"user.a", &mut []);
        assert_eq!(value, if is_annexed { Ok(100) } else { Err(Errno::NODATA) }, "{what}");
        for how in [0, flags::READ_WRITE, flags::WRITE | flags::TRUNCATE] {
            assert_eq!(member.open_node(ROOT, node, how), Err(Errno::NOENT), "{what}");
        }
        // No other inode gets its number.
        for name in 0..200_u32 {
            let root = member.root().expect("it is there");
            let made = member.make_at(ROOT, root, format!("new-{name}").as_bytes(), FILE | 0o600);
            assert_ne!(made.expect("there is room").ino, was.ino, "{what}");
        }
        let before = assert_whole(&member).lines_used;
        member.close(number).expect("it is open");
        assert_eq!(before - assert_whole(&member).lines_used, has, "{what}");
    }
}

#[test]
fn what_is_open_in_another_way_keeps_its_content() {
    for (what, fill) in CONTENTS {
        let (mut memory, world) = formatted(2048);
        let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
        let number = known(&member, fill).expect("there is room");
        let file = open(&member, b"file", 0).expect("it is there");
        let read = || {
            let mut bytes = vec![0; 200_000];
            let length = member.read_from(file, 0, &mut bytes).expect("it is open");
            bytes.truncate(length);
            bytes
        };
        let was = read();
        remove(&member, b"file").expect("it is there");
        assert!(read() == was, "{what}");
        let node = member.node(number).expect("it is open");
        let again = member.open_node(ROOT, node, 0).expect("it has its content");
        member.close(file).expect("it is open");
        assert_whole(&member);
        let mut first = [0];
        assert_eq!(member.read_from(again, 0, &mut first), Ok(was.len().min(1)), "{what}");
        let blocks = member.stat(node).expect("it is open").blocks;
        member.close(again).expect("it is open");
        assert!(blocks == 0 || member.stat(node).expect("it is open").blocks == 0, "{what}");
        assert_eq!(member.open_node(ROOT, node, 0), Err(Errno::NOENT), "{what}");
        assert_eq!(assert_whole(&member).descriptions, 1);
        member.reap(1).expect("it is a record");
        assert_eq!(assert_whole(&member).descriptions, 0);
    }
}

/// Several processes may keep an inode's number. Those that cannot be counted keep its content.
#[test]
fn the_last_one_that_keeps_a_number_frees_it() {
    let (mut memory, world) = formatted(2048);
    let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
    let first = known(&member, CONTENTS[3].1).expect("there is room");
    let node = member.node(first).expect("it is open");
    let more: Vec<_> = (0..4)
        .map(|_| member.open_node(ROOT, node, flags::NUMBER_ONLY).expect("there is room"))
        .collect();
    remove(&member, b"file").expect("it is there");
    assert_ne!(member.stat(node).expect("it is open").blocks, 0);
    for descriptor in more {
        member.close(descriptor).expect("it is open");
        assert_whole(&member);
    }
    let stat = member.stat(node).expect("it is open");
    assert_eq!((stat.blocks, stat.links), (0, 0));
    member.close(first).expect("it is open");
    assert_eq!(assert_whole(&member).descriptions, 0);
}

/// A directory that has been removed stays one, and is not mistaken for the next.
#[test]
fn the_number_of_a_directory_is_kept() {
    let (mut memory, world) = formatted(2048);
    let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
    let root = member.root().expect("it is there");
    let make = || member.make_at(ROOT, root, b"directory", DIRECTORY | 0o755).map(|stat| stat.ino);
    let old = make().expect("there is room");
    let found = member.step(ROOT, root, b"directory").expect("it is there");
    let number = member.open_node(ROOT, found, flags::NUMBER_ONLY).expect("there is room");
    member.remove_at(ROOT, root, b"directory", Remove::Directory).expect("it is there");
    assert_ne!(make().expect("there is room"), old);
    let node = member.node(number).expect("it is open");
    assert_eq!(member.stat(node).map(|stat| (stat.ino, stat.links)), Ok((old, 0)));
    assert_eq!(member.step(ROOT, node, b"x"), Err(Errno::NOENT));
    member.close(number).expect("it is open");
    assert_whole(&member);
}

/// What a victim does with a file, of which somebody else keeps the number.
type Act = fn(&One<'_, '_>, Node) -> Result<(), Errno>;

const ACTS: [(&str, Act); 3] = [
    ("removes it", |one, _| remove(one, b"file")),
    ("replaces it", |one, root| {
        one.make_at(ROOT, root, b"new", FILE | 0o600)?;
        one.rename_at(ROOT, entry(&root, b"new"), entry(&root, b"file"), Rename::Replace)
    }),
    ("removes it while it is open", |one, _| {
        let file = open(one, b"file", 0)?;
        remove(one, b"file")?;
        one.close(file)
    }),
];

/// What happens to the number after the victim has died.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Number {
    Kept,
    GivenUp,
}

/// Kills the victim after this many stores, and lets others continue; whether it was done before.
fn die(memory: &Memory, world: &World, stores: u64, act: Act, number: Number) -> bool {
    let mut memory = memory.copy();
    let arena = memory.arena();
    let one = |slot| Member::new(arena, world, slot, slot).expect("there are slots");
    let (victim, heir, keeper) = (one(1), one(2), one(3));
    let root = heir.root().expect("it is there");
    let ino = heir.stat_at(ROOT, root, b"file").expect("it is there").ino;
    let done = world.kill_after(stores, || act(&victim, root).expect("it is there"));
    heir.repair(1).expect("it is a slot");
    assert_whole(&heir);
    if number == Number::GivenUp {
        heir.reap(3).expect("it is a record");
        assert_whole(&heir);
    }
    // Whoever has the victim's slot next finishes its work.
    one(1).retire().expect("nobody has it");
    heir.reap(1).expect("it is a record");
    heir.retire().expect("it holds nothing");
    let report = assert_whole(&heir);
    if number == Number::GivenUp {
        assert_eq!(report.descriptions, 0, "{stores}");
        return done.is_some();
    }
    let stat = keeper.stat(keeper.node(1).expect("it is open")).expect("its number is kept");
    assert_eq!((stat.ino, report.descriptions), (ino, 1), "{stores}");
    assert!(stat.links != 0 || stat.blocks == 0, "{stores}: {stat:?}");
    done.is_some()
}

/// A thread dies after every store. Whoever continues its work frees the content, also if the
/// number is given up first, and nothing is lost.
#[test]
fn content_goes_wherever_whoever_frees_it_dies() {
    for ((content, fill), (what, act)) in
        CONTENTS.into_iter().flat_map(|content| ACTS.map(|act| (content, act)))
    {
        let (mut memory, world) = formatted(256);
        {
            let keeper = Member::new(memory.arena(), &world, 3, 3).expect("there are slots");
            keeper.begin_process(3).expect("it is a record");
            known(&keeper, fill).expect("there is room");
        }
        for number in [Number::Kept, Number::GivenUp] {
            let stores = (0..).find(|&stores| die(&memory, &world, stores, act, number));
            assert!(stores > Some(10) || NOBODY_DIES, "{what}: {content}: {number:?}: {stores:?}");
        }
    }
}
