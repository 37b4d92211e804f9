//! Memory goes back to the system and is taken again: nothing is lost or used without memory,
//! whenever a thread dies.

use densefs::modes::{Caller, FILE};
use densefs::{Member, Remove};

use crate::world::{Memory, World, assert_whole, formatted, hold};

const PAGES: u32 = 2_000;

/// An arena in which files were written and most were removed.
fn with_free_groups() -> (Memory, World) {
    let (mut memory, world) = formatted(PAGES as usize);
    {
        let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
        let root = member.root().expect("it is there");
        for name in *b"abcdefgh" {
            member.make_at(&Caller::ROOT, root, &[name], FILE | 0o600).expect("there is room");
            let file = hold(&member, root, &[name]).expect("it is there");
            member.write_at(file.node, 0, &vec![name; 150 * 4_096]).expect("there is room");
            member.close(file.descriptor).expect("it is open");
        }
        for name in *b"abdefg" {
            member.remove_at(&Caller::ROOT, root, &[name], Remove::Name).expect("it is there");
        }
    }
    (memory, world)
}

/// The content of a file.
fn content(member: &Member<'_, &World>, name: &[u8]) -> Vec<u8> {
    let root = member.root().expect("it is there");
    let file = hold(member, root, name).expect("it is there");
    let mut bytes = vec![0; 2_000 * 4_096];
    let length = member.read_at(file.node, 0, &mut bytes).expect("it is a file");
    member.close(file.descriptor).expect("it is open");
    bytes.truncate(length);
    bytes
}

/// Writes as much as fits to a new file.
fn fill(member: &Member<'_, &World>) -> usize {
    let root = member.root().expect("it is there");
    member.make_at(&Caller::ROOT, root, b"new", FILE | 0o600).expect("there is room");
    let file = hold(member, root, b"new").expect("it is there");
    let mut size = 0;
    while let Ok(length) = member.write_at(file.node, size as u64, &[9; 20_000]) {
        size += length;
    }
    member.close(file.descriptor).expect("it is open");
    size
}

#[test]
fn what_was_returned_is_supplied_before_it_is_used() {
    let (mut memory, world) = with_free_groups();
    world.wiped.set(Some(memory.lasting_arena()));
    let member = Member::new(memory.arena(), &world, 2, 2).expect("there are slots");
    let pages = member.trim().expect("it is whole");
    assert!(pages > 700 && pages.is_multiple_of(64), "{pages}");
    assert_eq!(world.released.borrow().len(), pages as usize);
    let report = assert_whole(&member);
    assert_eq!(member.trim(), Ok(0));
    assert!(fill(&member) > 1_200 * 4_096);
    // All memory is in use again.
    assert_eq!(*world.released.borrow(), [].into());
    assert!(assert_whole(&member).lines_free < report.lines_free / 100);
    assert!(content(&member, b"c") == vec![b'c'; 150 * 4_096]);
}

/// If the system has no memory for what was returned, files can have what was kept.
#[test]
fn what_the_system_has_used_itself_is_missing() {
    let (mut memory, world) = with_free_groups();
    let member = Member::new(memory.arena(), &world, 2, 2).expect("there are slots");
    member.trim().expect("it is whole");
    world.pages_left.set(Some(100));
    let size = fill(&member);
    assert!(size < 400 * 4_096, "{size}");
    assert!(world.released.borrow().len() > 600);
    assert_whole(&member);
    assert!(content(&member, b"new") == vec![9; size]);
    world.pages_left.set(None);
    let root = member.root().expect("it is there");
    member.remove_at(&Caller::ROOT, root, b"new", Remove::Name).expect("it is there");
    assert!(fill(&member) > 1_200 * 4_096);
    assert_whole(&member);
}

#[test]
fn a_thread_that_dies_while_it_returns_memory_loses_none() {
    let (memory, _) = with_free_groups();
    let mut deaths = 0;
    for (stores, is_supplying) in (0..).flat_map(|stores| [(stores, false), (stores, true)]) {
        let (mut memory, world) = (memory.copy(), World::default());
        world.wiped.set(Some(memory.lasting_arena()));
        let arena = memory.arena();
        let victim = Member::new(arena, &world, 1, 1).expect("there are slots");
        let survivor = Member::new(arena, &world, 2, 2).expect("there are slots");
        if is_supplying {
            victim.trim().expect("it is whole");
        }
        let root = survivor.root().expect("it is there");
        let done = world.kill_after(stores, || {
            if is_supplying {
                let file = hold(&victim, root, b"c").expect("it is there");
                victim.write_at(file.node, 150 * 4_096, &vec![b'c'; 70 * 4_096]).expect("room");
            } else {
                victim.trim().expect("it is whole");
            }
        });
        if done.is_some() {
            if !is_supplying {
                break;
            }
            continue;
        }
        deaths += 1;
        world.bury(1);
        survivor.repair(1).expect("it is whole");
        assert_whole(&survivor);
        assert!(content(&survivor, b"h") == vec![b'h'; 150 * 4_096]);
        assert!(content(&survivor, b"c").iter().all(|&byte| byte == b'c'));
        assert!(fill(&survivor) > 1_100 * 4_096);
        // Whoever dies between returning memory and saying so has returned none.
        assert_eq!(*world.released.borrow(), [].into());
        assert_whole(&survivor);
    }
    assert!(deaths > 30, "only {deaths}");
}
