//! Maps of several levels, of nodes that unit tests make small: compared with a list of pages,
//! killed after every store, refused space, and damaged.

use std::vec;
use std::vec::Vec;

use proptest::prelude::*;

use super::map::Map;
use super::{PAGE_BYTES, PAGE_LENGTH, SeekTarget};
use crate::arena::Ref;
use crate::check::Report;
use crate::errno::Errno;
use crate::layout::content;
use crate::member::{Member, Node};
use crate::memory::Memory;
use crate::modes::{Caller, FILE};
use crate::tree::Remove;
use crate::world::{Hold, World, assert_whole, formatted, hold};

type One<'a, 'w> = Member<'a, &'w World>;

/// One operation on whole pages of a file.
#[derive(Clone, Copy, Debug)]
enum Act {
    /// Writes `count` pages, `stride` apart, the first one last if `is_backwards` is set.
    Write {
        page: usize,
        count: usize,
        stride: usize,
        is_backwards: bool,
        byte: u8,
    },
    Punch {
        page: usize,
        count: usize,
    },
    Allocate {
        page: usize,
        count: usize,
    },
    Truncate {
        page: usize,
    },
}

fn act() -> impl Strategy<Value = Act> {
    let page = 0..150_usize;
    prop_oneof![
        4 => (page.clone(), 1..40_usize, 1..4_usize, any::<bool>(), 1..255_u8).prop_map(
            |(page, count, stride, is_backwards, byte)| {
                Act::Write { page, count, stride, is_backwards, byte }
            }
        ),
        2 => (page.clone(), 1..50_usize).prop_map(|(page, count)| Act::Punch { page, count }),
        1 => (page.clone(), 1..20_usize).prop_map(|(page, count)| Act::Allocate { page, count }),
        1 => page.prop_map(|page| Act::Truncate { page }),
    ]
}

fn at(page: usize) -> u64 {
    page as u64 * PAGE_BYTES
}

fn apply(member: &One<'_, '_>, file: Node, act: Act) -> Result<(), Errno> {
    match act {
        Act::Write { page, count, stride, is_backwards, byte } => {
            for number in 0..count {
                let number = if is_backwards { count - 1 - number } else { number };
                let offset = at(page + number * stride);
                let written = member.write_at(file, offset, &[byte; PAGE_LENGTH])?;
                assert_eq!(written, PAGE_LENGTH);
            }
            Ok(())
        }
        Act::Punch { page, count } => member.punch(file, at(page), at(count)),
        Act::Allocate { page, count } => member.allocate(file, at(page), at(count), false),
        Act::Truncate { page } => member.truncate(file, at(page)),
    }
}

/// The same with a byte for each page.
fn expect(model: &mut Vec<u8>, act: Act) {
    let mut grow = |end: usize| model.resize(model.len().max(end), 0);
    match act {
        Act::Write { page, count, stride, byte, .. } => {
            grow(page + (count - 1) * stride + 1);
            (0..count).for_each(|number| model[page + number * stride] = byte);
        }
        Act::Punch { page, count } => {
            let end = model.len();
            model[page.min(end)..(page + count).min(end)].fill(0);
        }
        Act::Allocate { page, count } => grow(page + count),
        Act::Truncate { page } => model.resize(page, 0),
    }
}

/// A byte for each page, all of whose bytes must be the same.
fn pages_of(member: &One<'_, '_>, file: Node) -> Vec<u8> {
    let size = member.stat(file).expect("it is open").size;
    let mut bytes = vec![0xff; usize::try_from(size).expect("it is small")];
    assert_eq!(member.read_at(file, 0, &mut bytes), Ok(bytes.len()));
    let page = |page: &[u8]| {
        assert!(page.iter().all(|&byte| byte == page[0]));
        page[0]
    };
    bytes.chunks(PAGE_LENGTH).map(page).collect()
}

/// A new file, which is open.
fn begun(member: &One<'_, '_>) -> Hold {
    let root = member.root().expect("it is there");
    member.make_at(&Caller::ROOT, root, b"file", FILE | 0o600).expect("there is room");
    reopened(member)
}

fn reopened(member: &One<'_, '_>) -> Hold {
    hold(member, member.root().expect("it is there"), b"file").expect("it is there")
}

fn map(member: &One<'_, '_>, file: Node) -> Map {
    let body = member.body(member.line(file.at).expect("it is there")).expect("it is there");
    member.map_of(body).expect("it is whole").expect("it has a map")
}

/// The nodes of a map, and the number of its extents that are not holes.
fn shape(member: &One<'_, '_>, file: Node) -> (Vec<Ref>, usize) {
    let (mut nodes, mut extents) = (Vec::new(), 0);
    let body = member.body(member.line(file.at).expect("it is there")).expect("it is there");
    let add = |at, lines| {
        if lines < super::PAGE { nodes.push(at) } else { extents += 1 }
    };
    member.each_run(body, add).expect("it is whole");
    (nodes, extents)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn a_map_of_many_nodes_is_what_a_list_of_pages_says(
        acts in proptest::collection::vec(act(), 1..40)
    ) {
        let (mut memory, world) = formatted(2048);
        let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
        let file = begun(&member).node;
        let before = assert_whole(&member);
        let mut model = Vec::new();
        for act in acts {
            prop_assert_eq!(apply(&member, file, act), Ok(()));
            expect(&mut model, act);
            prop_assert!(pages_of(&member, file) == model, "{:?}", act);
            assert_whole(&member);
        }
        let mut data = 0;
        while let Ok(next) = member.look_for(file, data, SeekTarget::Data) {
            prop_assert!(model[usize::try_from(data / PAGE_BYTES).expect("it is small")..]
                .iter().take(usize::try_from((next - data) / PAGE_BYTES).expect("it is small"))
                .all(|&byte| byte == 0));
            data = member.look_for(file, next, SeekTarget::Hole).expect("there is an end");
        }
        prop_assert_eq!(member.truncate(file, 0), Ok(()));
        prop_assert_eq!(assert_whole(&member).lines_used, before.lines_used);
    }
}

/// Writes every other page, the last one first, up to this number of pages.
fn write_backwards(member: &One<'_, '_>, file: Node, pages: usize) {
    let write = Act::Write { page: 1, count: pages, stride: 2, is_backwards: true, byte: 1 };
    assert_eq!(apply(member, file, write), Ok(()));
}

/// Nodes are joined when they have few entries, and levels go when they have one node.
#[test]
fn a_map_shrinks_as_it_has_grown() {
    let (mut memory, world) = formatted(2048);
    let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
    let file = begun(&member).node;
    write_backwards(&member, file, 200);
    assert_eq!(map(&member, file).root.level, content::LEVEL_MAX);
    let (nodes, extents) = shape(&member, file);
    assert!(extents == 200 && nodes.len() < 200, "{} nodes", nodes.len());
    for page in (1..399).step_by(2) {
        assert_eq!(member.punch(file, at(page), at(1)), Ok(()));
        assert_whole(&member);
    }
    let (nodes, extents) = shape(&member, file);
    assert!(extents == 1 && nodes.len() <= 2, "{} nodes", nodes.len());
}

/// Pages that become contiguous in the file and in the arena are one extent.
#[test]
fn a_hole_is_filled_with_one_extent() {
    let (mut memory, world) = formatted(2048);
    let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
    let file = begun(&member).node;
    assert_eq!(member.write_at(file, at(300), &[1; PAGE_LENGTH]), Ok(PAGE_LENGTH));
    let fill = Act::Write { page: 100, count: 100, stride: 1, is_backwards: false, byte: 2 };
    assert_eq!(apply(&member, file, fill), Ok(()));
    assert_eq!(shape(&member, file).1, 2);
    assert_whole(&member);
}

/// An arena with a file whose next write before the first one divides as many nodes as possible,
/// for several heights of its map: the page to write, and the nodes that are added.
fn about_to_divide() -> Vec<(Memory, usize, usize)> {
    let (mut found, mut memory, mut highest) = (Vec::new(), formatted(700).0, 0);
    let world = World::default();
    {
        let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
        let file = begun(&member);
        member.close(file.descriptor).expect("it is open");
    }
    for page in (1..400).rev().step_by(2) {
        let before = memory.copy();
        let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
        let file = reopened(&member);
        let had = if page < 399 { shape(&member, file.node).0.len() } else { 1 };
        assert_eq!(member.write_at(file.node, at(page), &[1; PAGE_LENGTH]), Ok(PAGE_LENGTH));
        let added = shape(&member, file.node).0.len() - had;
        member.close(file.descriptor).expect("it is open");
        if added > highest {
            highest = added;
            found.push((before, page, added));
        }
    }
    assert_eq!(highest, content::LEVEL_MAX as usize + 1, "of no height is a root divided");
    found
}

/// A thread that dies wherever nodes are divided, joined or freed leaves the file as it was, or as
/// it was to be.
#[test]
fn whoever_dies_in_a_map_leaves_it_whole() {
    for (memory, page, _) in about_to_divide() {
        dies_in(&memory, Act::Write { page, count: 1, stride: 1, is_backwards: false, byte: 2 });
    }
    let (mut memory, world) = formatted(700);
    {
        let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
        let file = begun(&member);
        write_backwards(&member, file.node, 150);
        member.close(file.descriptor).expect("it is open");
    }
    // Punches one page after another, so that all nodes are joined, and dies in some of them.
    for page in (3..299).step_by(2) {
        let punch = Act::Punch { page, count: 1 };
        let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
        let file = reopened(&member);
        let had = shape(&member, file.node).0.len();
        let before = if had < 20 || page % 16 == 3 { Some(memory_of(&member)) } else { None };
        assert_eq!(apply(&member, file.node, punch), Ok(()));
        let has = shape(&member, file.node).0.len();
        member.close(file.descriptor).expect("it is open");
        if let Some(before) = before
            && has < had
        {
            dies_in(&before, punch);
        }
    }
}

/// A copy of an arena that is in use.
fn memory_of(member: &One<'_, '_>) -> Memory {
    let mut copy = Memory::of_pages(member.arena().lines() as usize / super::PAGE as usize);
    let mut bytes = vec![0; PAGE_LENGTH];
    for page in 0..member.arena().lines() / super::PAGE {
        let first = Ref(page * super::PAGE);
        member.arena().copy_out(first, 0, &mut bytes).expect("it lies within");
        copy.arena().copy_in(first, 0, &bytes).expect("it lies within");
    }
    copy
}

fn dies_in(memory: &Memory, act: Act) {
    let world = World::default();
    let mut model = {
        let mut memory = memory.copy();
        let member = Member::new(memory.arena(), &world, 2, 2).expect("there are slots");
        pages_of(&member, reopened(&member).node)
    };
    let before = model.clone();
    expect(&mut model, act);
    for stores in 0.. {
        let mut memory = memory.copy();
        let arena = memory.arena();
        let victim = Member::new(arena, &world, 1, 1).expect("there are slots");
        let survivor = Member::new(arena, &world, 2, 2).expect("there are slots");
        let file = reopened(&survivor).node;
        let done = world.kill_after(stores, || apply(&victim, file, act));
        survivor.repair(1).expect("it is a slot");
        assert_whole(&survivor);
        let found = pages_of(&survivor, file);
        assert!(found == before || found == model, "{act:?}: {stores}");
        if done.is_some() {
            assert!(found == model && stores > 20, "{act:?}: {stores}");
            break;
        }
    }
}

/// A thread that dies while it truncates or removes a file of many nodes, and the next one with its
/// slot, which goes on.
#[test]
fn whoever_dies_in_freeing_a_map_leaves_it_whole() {
    let (mut memory, world) = formatted(256);
    let before = {
        let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
        let file = begun(&member);
        write_backwards(&member, file.node, 60);
        assert!(map(&member, file.node).root.level > 1);
        member.close(file.descriptor).expect("it is open");
        assert_whole(&member)
    };
    for truncates in [true, false] {
        for stores in 0.. {
            let mut memory = memory.copy();
            let arena = memory.arena();
            let victim = Member::new(arena, &world, 1, 1).expect("there are slots");
            let survivor = Member::new(arena, &world, 2, 2).expect("there are slots");
            let root = survivor.root().expect("it is there");
            let act = || {
                if truncates {
                    let file = reopened(&victim);
                    victim.truncate(file.node, at(2)).expect("it needs no room");
                    victim.close(file.descriptor).expect("it is open");
                } else {
                    let file = Remove::Name;
                    victim.remove_at(&Caller::ROOT, root, b"file", file).expect("it is there");
                }
            };
            let done = world.kill_after(stores, act);
            survivor.repair(1).expect("it is a slot");
            assert_whole(&survivor);
            let heir = Member::new(arena, &world, 1, 1).expect("there are slots");
            heir.make_at(&Caller::ROOT, root, b"another", FILE | 0o600).expect("there is room");
            let after = assert_whole(&survivor);
            if done.is_some() {
                assert!(after.lines_used < before.lines_used - 50 * 64, "{after:?}");
                break;
            }
        }
    }
}

/// What is not in files.
fn lines_left(report: Report) -> u64 {
    report.lines_free + report.lines_in_stock
}

/// A write that gets no space, at whichever point it asks for some, changes nothing.
#[test]
fn a_write_without_space_divides_nothing() {
    let mut refused = 0;
    for (memory, page, added) in about_to_divide() {
        let world = World::default();
        for takes in 0.. {
            let mut memory = memory.copy();
            let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
            // What is in stock needs no space.
            member.give_runs_back().expect("it is whole");
            let file = reopened(&member).node;
            let seen = || (member.stat(file), lines_left(assert_whole(&member)));
            let before = seen();
            let write = || member.write_at(file, at(page), &[2; PAGE_LENGTH]);
            let (done, was_full) = world.full_after(takes, write);
            if !was_full {
                assert!(done == Ok(PAGE_LENGTH) && takes as usize > added, "{takes}");
                break;
            }
            refused += 1;
            assert_eq!((done, seen()), (Err(Errno::NOSPC), before), "{page}: {takes}");
        }
    }
    assert!(refused > 10, "only {refused} were refused");
}

/// Garbage in the nodes of a map is an error, and no more: no loop without end, no access outside.
#[test]
fn damaged_nodes_are_errors() {
    let (mut memory, world) = formatted(700);
    let nodes = {
        let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
        let file = begun(&member);
        write_backwards(&member, file.node, 150);
        member.close(file.descriptor).expect("it is open");
        shape(&member, file.node).0
    };
    let mut random = crate::random::Random(0x5eed);
    let mut found = 0;
    for _ in 0..2_000 {
        let mut memory = memory.copy();
        let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
        let file = reopened(&member).node;
        for _ in 0..=random.below(3) {
            let node = usize::try_from(random.below(nodes.len() as u64)).expect("it is small");
            let other = usize::try_from(random.below(nodes.len() as u64)).expect("it is small");
            let at = usize::try_from(4 * random.below(16)).expect("it is small");
            let value = match random.below(3) {
                0 => nodes[other].0,
                1 => u32::try_from(random.below(400)).expect("it is small"),
                _ => u32::try_from(random.below(1 << 32)).expect("it is small"),
            };
            member.arena().copy_in(nodes[node], at, &value.to_le_bytes()).expect("it is within");
        }
        let mut seen = vec![0; member.arena().lines() as usize];
        found += u32::from(member.check(&mut seen).is_err());
        let page = usize::try_from(random.below(300)).expect("it is small");
        let mut bytes = vec![0; 100 * PAGE_LENGTH];
        member.read_at(file, at(page), &mut bytes).ok();
        member.look_for(file, at(page), SeekTarget::Hole).ok();
        for act in [
            Act::Write { page, count: 3, stride: 2, is_backwards: true, byte: 3 },
            Act::Punch { page, count: 20 },
            Act::Allocate { page, count: 10 },
            Act::Truncate { page: page / 2 },
        ] {
            apply(&member, file, act).ok();
            member.abandon().ok();
        }
    }
    assert!(found > 1_000, "only {found} were found");
}
