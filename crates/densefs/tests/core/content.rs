//! The content of files, compared with a vector of bytes.

use densefs::modes::{Caller, FILE};
use densefs::{Errno, Member, Node, Remove, SeekTarget};
use proptest::prelude::*;

use crate::world::{Hold, Memory, World, assert_whole, formatted, hold};

/// One operation on a file.
#[derive(Clone, Copy, Debug)]
enum Step {
    Write { offset: usize, length: usize, byte: u8 },
    Truncate { size: usize },
    Allocate { offset: usize, length: usize, keeps_size: bool },
    Punch { offset: usize, length: usize },
}

/// Sizes and offsets close to where the form of a file changes.
fn amount() -> impl Strategy<Value = usize> {
    prop_oneof![0..200_usize, 3_900..4_300_usize, 8_000..8_400_usize, 0..300_000_usize]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (amount(), 0..9_000_usize, 1..255_u8)
            .prop_map(|(offset, length, byte)| Step::Write { offset, length, byte }),
        1 => amount().prop_map(|size| Step::Truncate { size }),
        1 => (amount(), 1..9_000_usize, any::<bool>()).prop_map(|(offset, length, keeps_size)| {
            Step::Allocate { offset, length, keeps_size }
        }),
        2 => (amount(), 1..20_000_usize)
            .prop_map(|(offset, length)| Step::Punch { offset, length }),
    ]
}

/// Creates a file in a new arena, and opens it.
fn open(member: &Member<'_, &World>) -> Hold {
    let (root, caller) = (member.root().expect("it is there"), Caller::ROOT);
    member.make_at(&caller, root, b"file", FILE | 0o600).expect("there is room");
    hold(member, root, b"file").expect("it is there")
}

fn apply(member: &Member<'_, &World>, file: Node, step: Step) -> Result<(), Errno> {
    match step {
        Step::Write { offset, length, byte } => {
            let written = member.write_at(file, offset as u64, &vec![byte; length])?;
            assert_eq!(written, length);
            Ok(())
        }
        Step::Truncate { size } => member.truncate(file, size as u64),
        Step::Allocate { offset, length, keeps_size } => {
            member.allocate(file, offset as u64, length as u64, keeps_size)
        }
        Step::Punch { offset, length } => member.punch(file, offset as u64, length as u64),
    }
}

fn expect(model: &mut Vec<u8>, step: Step) {
    match step {
        Step::Write { length: 0, .. } => {}
        Step::Write { offset, length, byte } => {
            model.resize(model.len().max(offset + length), 0);
            model[offset..offset + length].fill(byte);
        }
        Step::Truncate { size } => model.resize(size, 0),
        Step::Allocate { keeps_size: true, .. } => {}
        Step::Allocate { offset, length, .. } => {
            model.resize(model.len().max(offset + length), 0);
        }
        Step::Punch { offset, length } => {
            let end = model.len();
            model[offset.min(end)..(offset + length).min(end)].fill(0);
        }
    }
}

fn content(member: &Member<'_, &World>, file: Node) -> Vec<u8> {
    let size = member.stat(file).expect("it is open").size;
    let mut bytes = vec![0xff; usize::try_from(size).expect("it is small") + 100];
    let read = member.read_at(file, 0, &mut bytes).expect("it is a file");
    assert_eq!(read as u64, size);
    bytes.truncate(read);
    bytes
}

/// Holes read as zeros, and stretches of data and holes alternate up to the end.
fn assert_holes_are_empty(member: &Member<'_, &World>, file: Node, model: &[u8]) {
    let mut at = 0;
    while at < model.len() {
        let data = match member.look_for(file, at as u64, SeekTarget::Data) {
            Ok(data) => usize::try_from(data).expect("it is small"),
            Err(why) => {
                assert_eq!(why, Errno::NXIO);
                model.len()
            }
        };
        assert!(model[at..data].iter().all(|&byte| byte == 0), "{at} to {data}");
        if data == model.len() {
            return;
        }
        let hole = member.look_for(file, data as u64, SeekTarget::Hole).expect("there is an end");
        let hole = usize::try_from(hole).expect("it is small");
        assert!(data < hole && hole <= model.len(), "{data} to {hole}");
        at = hole;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn files_hold_what_was_written(steps in proptest::collection::vec(step(), 1..60)) {
        let (mut memory, world) = formatted(1024);
        let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
        let file = open(&member).node;
        let before = assert_whole(&member);
        let mut model = Vec::new();
        for step in steps {
            prop_assert_eq!(apply(&member, file, step), Ok(()));
            expect(&mut model, step);
            prop_assert!(content(&member, file) == model, "{:?}", step);
        }
        assert_holes_are_empty(&member, file, &model);
        for offset in [1, 63, 4_095, 4_096, 100_000] {
            let mut some = [0; 5_000];
            let read = member.read_at(file, offset, &mut some).expect("it is a file");
            let start = usize::try_from(offset).expect("it is small").min(model.len());
            let end = (start + some.len()).min(model.len());
            prop_assert!(some[..read] == model[start..end]);
        }
        assert_whole(&member);
        prop_assert_eq!(member.truncate(file, 0), Ok(()));
        prop_assert_eq!(assert_whole(&member).lines_used, before.lines_used);
    }
}

/// When a file of a page shrinks to a line, the page is freed.
#[test]
fn a_page_is_given_back_whole() {
    let (mut memory, world) = formatted(1024);
    let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
    let file = open(&member).node;
    let before = assert_whole(&member);
    assert_eq!(member.write_at(file, 100, &[1; 3_996]), Ok(3_996));
    assert_eq!(member.truncate(file, 64), Ok(()));
    assert_eq!(assert_whole(&member).lines_used, before.lines_used + 1);
    assert_eq!(content(&member, file), [0; 64]);
}

/// A thread that dies while it writes, truncates or removes a file leaves it consistent: each byte
/// is either the old or the new one.
#[test]
fn whoever_dies_in_a_file_leaves_it_whole() {
    let steps = [
        Step::Write { offset: 0, length: 100, byte: 1 },
        Step::Write { offset: 150, length: 100, byte: 2 },
        Step::Write { offset: 4_000, length: 200, byte: 3 },
        Step::Write { offset: 40_000, length: 6_000, byte: 4 },
        Step::Write { offset: 9_000, length: 5_000, byte: 5 },
        Step::Truncate { size: 41_000 },
        Step::Write { offset: 45_000, length: 10, byte: 6 },
        Step::Write { offset: 45_005, length: 300, byte: 7 },
        Step::Punch { offset: 41_000, length: 10_000 },
        Step::Allocate { offset: 20_000, length: 30_000, keeps_size: false },
        Step::Write { offset: 50_000, length: 700, byte: 8 },
        Step::Punch { offset: 100, length: 12_000 },
        Step::Truncate { size: 4_100 },
        Step::Truncate { size: 10 },
    ];
    let (mut memory, world) = formatted(256);
    let mut model = Vec::new();
    for step in steps {
        let before = model.clone();
        expect(&mut model, step);
        for stores in 0.. {
            let mut memory = memory.copy();
            let arena = memory.arena();
            let victim = Member::new(arena, &world, 1, 1).expect("there are slots");
            let survivor = Member::new(arena, &world, 2, 2).expect("there are slots");
            let file = if before.is_empty() { open(&survivor) } else { reopen(&survivor) };
            let file = file.node;
            let done = world.kill_after(stores, || apply(&victim, file, step));
            survivor.repair(1).expect("it is a slot");
            assert_whole(&survivor);
            let found = content(&survivor, file);
            assert!(is_between(&before, &found, &model), "{step:?}: {stores}");
            // Old bytes past the end never come back.
            survivor.truncate(file, 60_000).expect("there is room");
            let longer = content(&survivor, file);
            assert!(longer[found.len()..].iter().all(|&byte| byte == 0), "{step:?}: {stores}");
            if done.is_some() {
                break;
            }
        }
        let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
        let file = if before.is_empty() { open(&member) } else { reopen(&member) };
        apply(&member, file.node, step).expect("there is room");
        member.close(file.descriptor).expect("it is open");
    }
    remove_and_die(&memory, &world);
}

fn reopen(member: &Member<'_, &World>) -> Hold {
    let root = member.root().expect("it is there");
    hold(member, root, b"file").expect("it is there")
}

fn is_between(before: &[u8], found: &[u8], after: &[u8]) -> bool {
    let (least, most) = (before.len().min(after.len()), before.len().max(after.len()));
    let at = |bytes: &[u8], place: usize| bytes.get(place).copied().unwrap_or(0);
    (least..=most).contains(&found.len())
        && (0..found.len()).all(|place| {
            let byte = found[place];
            byte == at(before, place) || byte == at(after, place)
        })
}

/// Removes a file of many extents, and dies on the way.
fn remove_and_die(memory: &Memory, world: &World) {
    let mut memory = memory.copy();
    {
        let member = Member::new(memory.arena(), world, 1, 1).expect("there are slots");
        let file = reopen(&member);
        for page in 0..12 {
            member.write_at(file.node, page * 8192, b"every other page").expect("there is room");
        }
        member.close(file.descriptor).expect("it is open");
    }
    for stores in 0.. {
        let mut memory = memory.copy();
        let arena = memory.arena();
        let victim = Member::new(arena, world, 1, 1).expect("there are slots");
        let survivor = Member::new(arena, world, 2, 2).expect("there are slots");
        let root = survivor.root().expect("it is there");
        let remove =
            || victim.remove_at(&Caller::ROOT, root, b"file", Remove::Name).expect("it is there");
        let done = world.kill_after(stores, remove);
        survivor.repair(1).expect("it is a slot");
        assert_whole(&survivor);
        // The next thread with this slot finishes the removal.
        let heir = Member::new(arena, world, 1, 1).expect("there are slots");
        heir.make_at(&Caller::ROOT, root, b"another", FILE | 0o600).expect("there is room");
        assert_whole(&survivor);
        if done.is_some() {
            break;
        }
    }
}

/// A file that takes all the space is removed, and all of the space is free again.
#[test]
fn a_full_arena_is_emptied() {
    let (mut memory, world) = formatted(4096);
    let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
    let file = open(&member);
    let before = member.pages().expect("it is whole");
    let (bytes, mut written) = (vec![7; 1 << 20], 0);
    while let Ok(length) = member.write_at(file.node, written, &bytes) {
        written += length as u64;
    }
    assert!(member.pages().expect("it is whole").1 < before.1 / 100);
    member.close(file.descriptor).expect("it is open");
    let root = member.root().expect("it is there");
    member.remove_at(&Caller::ROOT, root, b"file", Remove::Name).expect("it is there");
    assert_whole(&member);
    let after = member.pages().expect("it is whole");
    assert!(after.1 > before.1 * 9 / 10, "{after:?} of {before:?}");
}

/// Holes longer than any run of lines, whose number of lines has no room in 32 bits.
#[test]
fn a_hole_of_256_gib_is_written_into() {
    let (mut memory, world) = formatted(1024);
    let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
    let file = open(&member).node;
    for (offset, byte) in [(1 << 39, 1), (1 << 38, 2), (3 << 37, 3), ((1 << 38) - 1, 4)] {
        assert_eq!(member.write_at(file, offset, &[byte; 100]), Ok(100), "{offset}");
        assert_whole(&member);
        let mut found = [0; 102];
        assert_eq!(
            member.read_at(file, offset - 1, &mut found),
            Ok(if byte == 1 { 101 } else { 102 })
        );
        assert_eq!((found[0], found[1], found[100]), (0, byte, byte), "{offset}");
    }
    assert_eq!(member.allocate(file, 1 << 40, 5_000, false), Ok(()));
    assert_eq!(member.punch(file, 0, 1 << 41), Ok(()));
    assert_eq!(member.truncate(file, 1 << 38), Ok(()));
    assert_whole(&member);
}

/// Pages written in any order are found again, and the map takes little space beside them.
#[test]
fn pages_are_written_in_any_order() {
    let (mut memory, world) = formatted(8192);
    let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
    let file = open(&member).node;
    let before = assert_whole(&member);
    let pages = 6_000_u64;
    // Backwards, and in steps that have no factor in common with the number of pages.
    let orders = [|page| 5_999 - page, |page: u64| page * 2_401 % 6_000];
    for order in orders {
        for number in 0..pages {
            let (page, bytes) = (order(number), (order(number) + 1).to_le_bytes());
            let written = member.write_at(file, page * 4_096 + 2_000, &bytes);
            assert_eq!(written, Ok(bytes.len()), "{page}");
        }
        assert_whole(&member);
        let blocks = member.stat(file).expect("it is open").blocks;
        let nodes = blocks.checked_sub(8 * pages).expect("it has all pages");
        assert!(nodes < 8 * pages / 50, "{nodes} blocks for nodes");
        for page in 0..pages {
            let mut bytes = [0; 8];
            assert_eq!(member.read_at(file, page * 4_096 + 2_000, &mut bytes), Ok(8));
            assert_eq!(u64::from_le_bytes(bytes), page + 1);
        }
        assert_eq!(member.punch(file, 4_096, 5_000 * 4_096), Ok(()));
        let nodes = member.stat(file).expect("it is open").blocks - 8 * (pages - 5_000);
        assert!(nodes < 8 * pages / 100, "{nodes} blocks for nodes of fewer pages");
        assert_eq!(member.truncate(file, 0), Ok(()));
        assert_eq!(assert_whole(&member).lines_used, before.lines_used);
    }
}
