//! Files that processes have mapped: their pages stay where they are until nobody maps them.

use std::vec;
use std::vec::Vec;

use densefs::modes::{Caller, FILE};
use densefs::{Errno, MapAccess, MappedFile, Member, Remove, flags};

use crate::world::{NOBODY_DIES, World, assert_whole, formatted};

const ROOT: &Caller<'_> = &Caller::ROOT;
const CREATE: u32 = flags::READ_WRITE | flags::CREATE;
const SHARED: MapAccess = MapAccess { writes: true, is_shared: true };
const PRIVATE: MapAccess = MapAccess { writes: true, is_shared: false };
const PAGE: u64 = 4096;

type One<'a, 'w> = Member<'a, &'w World>;

fn open(member: &One<'_, '_>, how: u32) -> Result<u32, Errno> {
    member.retry(|| member.open(ROOT, member.root()?, b"file", how, 0o644))
}

/// A file with these bytes.
fn plant(member: &One<'_, '_>, bytes: &[u8]) -> u32 {
    let file = open(member, CREATE).expect("there is room");
    assert_eq!(member.write_to(file, 0, bytes), Ok(bytes.len()));
    file
}

fn unlink(member: &One<'_, '_>) {
    let root = member.root().expect("it is there");
    member.remove_at(ROOT, root, b"file", Remove::Name).expect("it is there");
}

/// Where each page is, of those that the file has.
fn pages(member: &One<'_, '_>, file: MappedFile) -> Vec<Option<u32>> {
    let mut found = Vec::new();
    member
        .each_mapped_run(file, 0, 1000, &mut |run| {
            assert_eq!(run.page as usize, found.len());
            found.extend((0..run.pages).map(|page| run.at.map(|at| at + page)));
        })
        .expect("it is mapped");
    found
}

fn content(member: &One<'_, '_>, descriptor: u32) -> Vec<u8> {
    let mut bytes = vec![0xff; 200_000];
    let length = member.read_from(descriptor, 0, &mut bytes).expect("it is a file");
    bytes.truncate(length);
    bytes
}

/// What a program stores by its mapping.
fn store(member: &One<'_, '_>, page: u32, byte: u8) {
    let at = densefs::arena::Ref(page * 64);
    member.arena().copy_in(at, 0, &[byte; 4096]).expect("it is in the arena");
}

#[test]
fn pages_are_where_the_bytes_are() {
    for length in [1, 64, 4095, 4096, 4097, 10_000, 100_000] {
        let (mut memory, world) = formatted(512);
        let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
        let bytes: Vec<u8> = (1..=251).cycle().take(length).collect();
        let descriptor = plant(&member, &bytes);
        let file = member.map_open(descriptor, 0, 1 << 30, SHARED).expect("it is open");
        let pages = pages(&member, file);
        assert_eq!(pages.len(), bytes.len().div_ceil(4096));
        for (page, chunk) in pages.iter().zip(bytes.chunks(4096)) {
            let at = densefs::arena::Ref(page.expect("it has no holes") * 64);
            let mut there = vec![0xff; 4096];
            member.arena().copy_out(at, 0, &mut there).expect("it is in the arena");
            assert_eq!(there[..chunk.len()], *chunk);
            assert!(there[chunk.len()..].iter().all(|&byte| byte == 0), "{length}");
        }
        assert_whole(&member);
        member.unmap(file).expect("it is mapped");
        assert_eq!(content(&member, descriptor), bytes);
        assert_eq!(member.unmap(file), Err(Errno::BADF));
        assert_whole(&member);
    }
}

/// Whatever happens to the file meanwhile.
#[test]
fn pages_stay_until_nobody_maps_them() {
    let (mut memory, world) = formatted(512);
    let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
    let other = Member::new(member_arena(&member), &world, 2, 2).expect("there are slots");
    let empty = assert_whole(&member).lines_used;
    let descriptor = plant(&member, &[7; 50_000]);
    let file = member.map_open(descriptor, 0, 50_000, SHARED).expect("it is open");
    let theirs = open(&other, flags::READ_WRITE).expect("it is there");
    assert_eq!(other.map_open(theirs, 0, 50_000, SHARED), Ok(file));
    let mapped = pages(&member, file);
    let in_use = assert_whole(&member).lines_used;

    member.punch_open(descriptor, PAGE, 3 * PAGE + 5).expect("it is open");
    assert_eq!(pages(&member, file), mapped);
    let mut expected = vec![7; 50_000];
    expected[4096..4096 + 3 * 4096 + 5].fill(0);
    assert_eq!(content(&member, descriptor), expected);

    member.truncate_open(descriptor, 10_000).expect("it is open");
    assert_eq!(pages(&member, file), mapped[..3]);
    assert_eq!(assert_whole(&member).lines_used, in_use);
    // The program still has the pages, and writes to them. Nobody sees that in the file.
    store(&member, mapped[9].expect("it is no hole"), 9);
    member.truncate_open(descriptor, 45_000).expect("it is open");
    assert_eq!(pages(&member, file), mapped[..11]);
    expected.truncate(45_000);
    expected[10_000..].fill(0);
    assert_eq!(content(&member, descriptor), expected);

    member.truncate_open(descriptor, 0).expect("it is open");
    store(&member, mapped[2].expect("it is no hole"), 9);
    assert_eq!(member.write_to(descriptor, 3 * PAGE, b"new"), Ok(3));
    expected = [&[0; 3 * 4096][..], b"new"].concat();
    assert_eq!(content(&member, descriptor), expected);
    assert_eq!(pages(&member, file), mapped[..4]);

    unlink(&member);
    member.close(descriptor).expect("it is open");
    other.close(theirs).expect("it is open");
    assert_eq!(pages(&other, file), mapped[..4]);
    member.unmap(file).expect("it is mapped");
    assert_eq!(assert_whole(&member).lines_used, in_use - 3);
    other.unmap(file).expect("it is mapped");
    // Two tables of descriptors stay.
    assert_eq!(assert_whole(&member).lines_used, empty + 2);
}

fn member_arena<'a>(member: &One<'a, '_>) -> densefs::Arena<'a> {
    *member.arena()
}

#[test]
fn pages_past_the_end_are_freed_with_the_last_mapping() {
    let (mut memory, world) = formatted(512);
    let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
    let descriptor = plant(&member, &[7; 50_000]);
    let file = member.map_open(descriptor, 0, 50_000, SHARED).expect("it is open");
    let before = assert_whole(&member).lines_used;
    member.truncate_open(descriptor, 5000).expect("it is open");
    assert_eq!(assert_whole(&member).lines_used, before);
    member.unmap(file).expect("it is mapped");
    assert!(assert_whole(&member).lines_used <= before - 11 * 64);
    assert_eq!(content(&member, descriptor), [7; 5000]);
}

#[test]
fn holes_of_shared_mappings_are_filled() {
    let (mut memory, world) = formatted(512);
    let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
    let descriptor = plant(&member, b"begins");
    assert_eq!(member.write_to(descriptor, 20 * PAGE, b"ends"), Ok(4));
    let file = member.map_open(descriptor, 0, 1 << 40, PRIVATE).expect("it is open");
    let holes = |pages: &[Option<u32>]| pages.iter().filter(|at| at.is_none()).count();
    assert_eq!(holes(&pages(&member, file)), 19);
    assert_eq!(member.map_open(descriptor, 2 * PAGE, 2 * PAGE, SHARED), Ok(file));
    assert_eq!(holes(&pages(&member, file)), 17);
    assert_eq!(member.map_open(descriptor, 0, 1 << 40, SHARED), Ok(file));
    assert_eq!(holes(&pages(&member, file)), 0);
    member.unmap(file).expect("it is mapped");
    assert_whole(&member);
}

#[test]
fn what_cannot_be_mapped_is_refused_as_by_the_system() {
    let (mut memory, world) = formatted(512);
    let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
    plant(&member, b"text");
    let try_to = |how, access| {
        let descriptor = open(&member, how).expect("it is there");
        let done = member.map_open(descriptor, 0, 100, access).map(|file| member.unmap(file));
        member.close(descriptor).expect("it is open");
        done.map(drop)
    };
    let reads = MapAccess { writes: false, is_shared: true };
    for (how, access, expected) in [
        (0, reads, Ok(())),
        (0, PRIVATE, Ok(())),
        (0, SHARED, Err(Errno::ACCES)),
        (flags::WRITE, reads, Err(Errno::ACCES)),
        (flags::WRITE, SHARED, Err(Errno::ACCES)),
        (flags::READ_WRITE, SHARED, Ok(())),
        (flags::PATH, reads, Err(Errno::BADF)),
    ] {
        assert_eq!(try_to(how, access), expected, "{how:o} {access:?}");
    }
    let root = member.open(ROOT, member.root().expect("it is there"), b"/", 0, 0);
    let root = root.expect("it is there");
    assert_eq!(member.map_open(root, 0, 1, reads), Err(Errno::NODEV));
    assert_eq!(member.map_open(99, 0, 1, reads), Err(Errno::BADF));
    let report = assert_whole(&member);
    assert_eq!(report.descriptions, 2);
}

#[test]
fn a_child_maps_what_its_parent_did() {
    let (mut memory, world) = formatted(512);
    let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
    let child = Member::new(member_arena(&member), &world, 2, 2).expect("there are slots");
    member.begin_process(1).expect("it is a record");
    child.begin_process(2).expect("it is a record");
    let before = assert_whole(&member).lines_used;
    let descriptor = plant(&member, &[7; 10_000]);
    let file = member.map_open(descriptor, 0, 10_000, SHARED).expect("it is open");
    member.copy_mappings(2).expect("there is room");
    member.copy_mappings(2).expect("it is the same again");
    unlink(&member);
    member.reap(1).expect("it is a record");
    assert_eq!(pages(&child, file).len(), 3);
    assert_eq!(assert_whole(&child).descriptions, 1);
    let heir = Member::new(member_arena(&member), &world, 3, 3).expect("there are slots");
    heir.reap(2).expect("it is a record");
    let report = assert_whole(&heir);
    assert_eq!((report.descriptions, report.lines_used), (0, before));
}

/// Several files in one list, from which they are taken in any order.
#[test]
fn many_files_can_be_mapped() {
    let (mut memory, world) = formatted(512);
    let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
    let root = member.root().expect("it is there");
    let files: Vec<MappedFile> = (0..20)
        .map(|number| {
            let name = std::format!("{number}");
            let opened = member.open(ROOT, root, name.as_bytes(), CREATE, 0o600);
            let descriptor = opened.expect("there is room");
            member.write_to(descriptor, 0, name.as_bytes()).expect("there is room");
            let file = member.map_open(descriptor, 0, 1, SHARED).expect("it is open");
            member.close(descriptor).expect("it is open");
            file
        })
        .collect();
    for step in 0_u8..20 {
        let number = usize::from(step * 7 % 20);
        assert_eq!(assert_whole(&member).descriptions, u64::from(20 - step));
        member.unmap(files[number]).expect("it is mapped");
    }
    assert_eq!(assert_whole(&member).descriptions, 0);
}

type Act = fn(&One<'_, '_>, u32) -> Result<(), Errno>;

const ACTS: [(&str, Act); 5] = [
    ("a small file is mapped", |member, file| {
        member.truncate_open(file, 100)?;
        member.map_open(file, 0, 100, SHARED).map(drop)
    }),
    ("a file with a hole is mapped", |member, file| {
        member.truncate_open(file, 60_000)?;
        member.map_open(file, 0, 60_000, SHARED).map(drop)
    }),
    ("a mapped file is cut and unmapped", |member, file| {
        let mapped = member.map_open(file, 0, 60_000, SHARED)?;
        member.truncate_open(file, 5000)?;
        member.unmap(mapped)
    }),
    ("a mapped file without a name is unmapped", |member, file| {
        let mapped = member.map_open(file, 0, 60_000, SHARED)?;
        unlink(member);
        member.close(file)?;
        member.unmap(mapped)
    }),
    ("two files are mapped", |member, file| {
        let root = member.root()?;
        let other = member.open(ROOT, root, b"other", CREATE, 0o600)?;
        member.write_to(other, 0, b"text")?;
        let mapped = member.map_open(file, 0, 1, SHARED)?;
        member.map_open(other, 0, 1, SHARED)?;
        member.unmap(mapped)
    }),
];

#[test]
fn a_process_that_dies_leaves_nothing_mapped() {
    for (what, act) in ACTS {
        let (mut memory, world) = formatted(256);
        {
            let victim = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
            victim.begin_process(1).expect("it is a record");
            let descriptor = plant(&victim, &[7; 20_000]);
            assert_eq!(descriptor, 0);
        }
        for stores in 0.. {
            let mut memory = memory.copy();
            let arena = memory.arena();
            let victim = Member::new(arena, &world, 1, 1).expect("there are slots");
            let done = world.kill_after(stores, || act(&victim, 0).expect("there is room"));
            world.reap_the_dead(arena, 11);
            let survivor = Member::new(arena, &world, 3, 3).expect("there are slots");
            assert_eq!(assert_whole(&survivor).descriptions, 0, "{what}: {stores}");
            if done.is_some() {
                assert!(stores > 20 || NOBODY_DIES, "{what}: only {stores} stores");
                break;
            }
        }
    }
}

#[test]
fn what_there_is_no_space_for_is_given_back() {
    let (mut memory, world) = formatted(256);
    {
        let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
        let root = member.root().expect("it is there");
        member.make_at(ROOT, root, b"file", FILE | 0o600).expect("there is room");
        let descriptor = open(&member, flags::READ_WRITE).expect("it is there");
        assert_eq!(member.write_to(descriptor, 100 * PAGE + 10, b"ends"), Ok(4));
        let other = member.map_open(descriptor, 0, 1, PRIVATE).expect("it is open");
        member.unmap(other).expect("it is mapped");
    }
    for takes in 0.. {
        let mut memory = memory.copy();
        let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
        let before = assert_whole(&member);
        let (done, was_full) =
            world.full_after(takes, || member.map_open(0, 0, 200 * PAGE, SHARED).map(drop));
        let after = assert_whole(&member);
        if !was_full {
            assert_eq!(done, Ok(()), "{takes}");
            break;
        }
        if done.is_err() {
            assert_eq!(done, Err(Errno::NOSPC), "{takes}");
            assert_eq!(after.descriptions, before.descriptions);
            assert!(after.lines_used <= before.lines_used, "{takes}: {after:?} {before:?}");
        }
    }
}
