//! An arena runs out of space at each point where an operation asks for some: the operation fails
//! with ENOSPC, has no visible effect and loses nothing, and operations that need no space still
//! work.

use densefs::modes::{Caller, FILE};
use densefs::{Errno, FileLock, LockOwner, Member, Remove, SetAttribute, flags};

use crate::kill::{Act, CASES, before, seen};
use crate::world::{Memory, World, assert_whole, formatted, hold};

/// Gives a thread's process a table of descriptors, which it keeps.
fn begin_table(member: &Member<'_, &World>) {
    let root = member.root().expect("it is there");
    let opened = member.open_node(&Caller::ROOT, root, 0).expect("there is room");
    member.close(opened).expect("it is open");
    member.retire().expect("it is whole");
}

#[test]
fn names_are_made_whole_or_not_at_all() {
    let mut refused = 0;
    for case in &CASES {
        let world = World::default();
        let memory = before(case, &world);
        for takes in 0.. {
            let mut memory = memory.copy();
            let arena = memory.arena();
            let member = Member::new(arena, &world, 1, 1).expect("there are slots");
            let other = Member::new(arena, &world, 2, 2).expect("there are slots");
            let root = other.root().expect("it is there");
            let was = seen(case, &other);
            begin_table(&member);
            let before = assert_whole(&other);
            let (done, was_full) = world.full_after(takes, || (case.act)(&member, root));
            let after = assert_whole(&other);
            if !was_full {
                assert_eq!(done, Ok(()), "{}: {takes}", case.what);
                break;
            }
            refused += 1;
            if let Err(why) = done {
                assert_eq!(why, Errno::NOSPC, "{}: {takes}", case.what);
                assert_eq!(seen(case, &other), was, "{}: {takes}", case.what);
                if case.steps == 1 {
                    assert_eq!(after.lines_used, before.lines_used, "{}: {takes}", case.what);
                }
                assert_eq!((case.act)(&member, root), Ok(()), "{}: {takes}", case.what);
            }
            other.remove_at(&Caller::ROOT, root, b"sub", Remove::Directory).ok();
            assert_whole(&member);
        }
    }
    assert!(refused >= CASES.len(), "only {refused} were refused");
}

/// What a user sees of the file: its content, its size and its attribute.
fn look(member: &Member<'_, &World>) -> (Vec<u8>, Option<usize>, bool) {
    let root = member.root().expect("it is there");
    let open = hold(member, root, b"file").expect("it is there");
    let mut bytes = vec![0xff; 200_000];
    let length = member.read_at(open.node, 0, &mut bytes).expect("it is a file");
    bytes.truncate(length);
    let value = member.attribute(&Caller::ROOT, open.node, b"user.a", &mut []).ok();
    let lock = FileLock { owner: LockOwner::Process { record: 99 }, ..LOCK };
    let is_locked = member.conflicting_lock(open.node, &lock).expect("it is whole").is_some();
    member.close(open.descriptor).expect("it is open");
    (bytes, value, is_locked)
}

const LOCK: FileLock = FileLock {
    owner: LockOwner::Process { record: 1 },
    is_exclusive: true,
    start: 0,
    end: 10,
    pid: 1,
};

/// Operations on a file that one call does entirely or not at all.
const ACTS: [(&str, Act); 7] = [
    ("an attribute", |member, file| {
        let long = [3; 5_000];
        member.set_attribute(&Caller::ROOT, file, b"user.a", &long, SetAttribute::Any)
    }),
    ("a lock", |member, file| member.lock_file(file, LOCK)),
    ("a first line", |member, file| member.write_at(file, 0, &[1; 64]).map(drop)),
    ("a page", |member, file| member.write_at(file, 0, &[2; 4_096]).map(drop)),
    ("a map", |member, file| member.write_at(file, 5_000, &[3; 10]).map(drop)),
    ("a hole in the middle", |member, file| member.punch(file, 0, 4_096)),
    ("an open file", |member, file| {
        let opened = member.open_node(&Caller::ROOT, file, flags::READ_WRITE)?;
        member.duplicate(opened, 200, 0).map(drop)
    }),
];

#[test]
fn files_are_changed_whole_or_not_at_all() {
    let (mut memory, world) = formatted(256);
    {
        let member = Member::new(memory.arena(), &world, 0, 0).expect("there are slots");
        let root = member.root().expect("it is there");
        member.make_at(&Caller::ROOT, root, b"file", FILE | 0o600).expect("there is room");
    }
    for (what, act) in ACTS {
        let apply = |member: &Member<'_, &World>, takes| {
            let open = hold(member, member.root()?, b"file")?;
            let done = world.full_after(takes, || act(member, open.node));
            member.close(open.descriptor)?;
            Ok::<_, Errno>(done)
        };
        for takes in 0.. {
            let mut memory = memory.copy();
            let arena = memory.arena();
            let member = Member::new(arena, &world, 1, 1).expect("there are slots");
            let other = Member::new(arena, &world, 2, 2).expect("there are slots");
            let was = look(&other);
            begin_table(&member);
            let before = assert_whole(&other);
            let (done, was_full) = apply(&member, takes).expect("it is there");
            let after = assert_whole(&other);
            if !was_full {
                assert_eq!(done, Ok(()), "{what}: {takes}");
                break;
            }
            if done.is_err() {
                assert_eq!(done, Err(Errno::NOSPC), "{what}: {takes}");
                assert!(look(&other) == was, "{what}: {takes}");
                assert_eq!(after.lines_used, before.lines_used, "{what}: {takes}");
                assert_eq!(apply(&member, u32::MAX), Ok((Ok(()), false)), "{what}: {takes}");
                assert_whole(&other);
            }
        }
        let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
        assert_eq!(apply(&member, u32::MAX), Ok((Ok(()), false)), "{what}");
    }
}

/// A write that only partly fits writes that part.
#[test]
fn a_long_write_ends_where_the_room_does() {
    let (mut memory, world) = formatted(256);
    let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
    let root = member.root().expect("it is there");
    member.make_at(&Caller::ROOT, root, b"file", FILE | 0o600).expect("there is room");
    let open = hold(&member, root, b"file").expect("it is there");
    let bytes = vec![5; 4 << 20];
    let written = member.write_at(open.node, 0, &bytes).expect("there is room for some");
    assert!(written > 0 && written < bytes.len(), "{written}");
    assert_eq!(member.write_at(open.node, written as u64, &bytes), Err(Errno::NOSPC));
    assert_eq!(look(&member).0, bytes[..200_000]);
    assert_eq!(member.stat(open.node).map(|stat| stat.size), Ok(written as u64));
    assert_whole(&member);
    member.truncate(open.node, 0).expect("it needs no room");
    assert_eq!(member.write_at(open.node, 0, &[1; 100_000]), Ok(100_000));
    assert_whole(&member);
}

/// An allocation that fails, wherever it does, leaves a file with the space that it had.
#[test]
fn an_allocation_that_fails_keeps_nothing() {
    let ranges =
        [(0, 1 << 33), (0, 200_000), (5_000, 30_000), (170_000, 300_000), (1 << 31, 90_000)];
    let mut refused = refused_allocations(&with_a_file(), &ranges);
    let mut fragmented = with_a_file();
    fill_but_single_pages(&mut fragmented);
    refused += refused_allocations(&fragmented, &ranges);
    assert!(refused > 200, "only {refused} were refused");
}

/// An arena with a file that has holes, the last page in part, and a size far behind it.
fn with_a_file() -> Memory {
    let (mut memory, world) = formatted(512);
    {
        let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
        let root = member.root().expect("it is there");
        member.make_at(&Caller::ROOT, root, b"file", FILE | 0o600).expect("there is room");
        let file = hold(&member, root, b"file").expect("it is there");
        for page in [0_u64, 3, 4, 9, 30] {
            member.write_at(file.node, page * 4_096, &[9; 4_096]).expect("there is room");
        }
        member.write_at(file.node, 40 * 4_096, &[8; 100]).expect("there is room");
        member.truncate(file.node, 1 << 30).expect("it needs no room");
        member.close(file.descriptor).expect("it is open");
    }
    memory
}

/// Leaves every other page of a file free, and nothing else.
fn fill_but_single_pages(memory: &mut Memory) {
    let world = World::default();
    let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
    let root = member.root().expect("it is there");
    member.make_at(&Caller::ROOT, root, b"other", FILE | 0o600).expect("there is room");
    let other = hold(&member, root, b"other").expect("it is there");
    let mut pages = 0;
    while member.write_at(other.node, pages * 4_096, &[7; 4_096]).is_ok() {
        pages += 1;
    }
    for page in (0..pages).step_by(2) {
        member.punch(other.node, page * 4_096, 4_096).expect("it has room for the map");
    }
    member.close(other.descriptor).expect("it is open");
    member.retire().expect("it is whole");
}

/// Allocates each range with so little space that it fails; returns how often it did.
fn refused_allocations(memory: &Memory, ranges: &[(u64, u64)]) -> u32 {
    let world = World::default();
    let mut refused = 0;
    for &(offset, length) in ranges {
        for (takes, keeps_size) in (0..40).flat_map(|takes| [(takes, true), (takes, false)]) {
            let mut memory = memory.copy();
            let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
            let root = member.root().expect("it is there");
            let file = hold(&member, root, b"file").expect("it is there");
            let seen = || {
                let stat = member.stat(file.node).expect("it is whole");
                (stat.blocks, (stat.size, look(&member)))
            };
            let (blocks, was) = seen();
            let allocate = || member.allocate(file.node, offset, length, keeps_size);
            let (done, _) = world.full_after(takes, allocate);
            assert_whole(&member);
            if let Err(why) = done {
                refused += 1;
                assert_eq!(why, Errno::NOSPC);
                let (blocks_now, now) = seen();
                // The partial page has become a whole one if not even a line can be had.
                assert!((blocks..=blocks + 8).contains(&blocks_now), "{offset} {length}: {takes}");
                assert!(now == was, "{offset} {length}: {takes}");
            }
            member.truncate(file.node, 0).expect("it needs no room");
            assert_whole(&member);
        }
    }
    refused
}

/// Fills an arena to the last line that files can have, with one file of content, and names.
fn fill(member: &Member<'_, &World>) {
    let root = member.root().expect("it is there");
    member.make_at(&Caller::ROOT, root, b"file", FILE | 0o600).expect("there is room");
    let file = hold(member, root, b"file").expect("there is room");
    let mut size = 0;
    while let Ok(length) = member.write_at(file.node, size, &[7; 4_096]) {
        size += length as u64;
    }
    member.close(file.descriptor).expect("it is open");
    let mut made = 0_u32;
    while member.make_at(&Caller::ROOT, root, made.to_string().as_bytes(), FILE | 0o600).is_ok() {
        made += 1;
    }
}

/// In a full arena, files and directories can be opened, read and closed, again and again, by all
/// threads, and nothing that files could take comes of it.
#[test]
fn a_full_arena_can_be_read() {
    for pages in [128, 1024] {
        let (mut memory, world) = formatted(pages);
        let arena = memory.arena();
        let member = |slot| Member::new(arena, &world, slot, slot).expect("there are slots");
        let members = [member(1), member(2)];
        fill(&members[0]);
        let root = members[0].root().expect("it is there");
        let settled = || {
            for (member, number) in members.iter().zip(1..) {
                member.reap(number).expect("it is whole");
                member.retire().expect("it is whole");
            }
            assert_whole(&members[0])
        };
        let before = settled();
        for round in 0..100 {
            for member in &members {
                let opened: Vec<_> = (0..25)
                    .map(|_| {
                        let open = hold(member, root, b"file").expect("the reserve has room");
                        let mut bytes = [0; 4_096];
                        assert_eq!(member.read_at(open.node, 0, &mut bytes), Ok(4_096));
                        open
                    })
                    .collect();
                let made = member.make_at(&Caller::ROOT, root, b"other", FILE | 0o600);
                assert_eq!(made.map(drop), Err(Errno::NOSPC), "{round}");
                member.set_working_directory(&Caller::ROOT, root).expect("the reserve has room");
                assert_whole(member);
                for open in opened {
                    member.close(open.descriptor).expect("it is open");
                }
                let made = member.make_at(&Caller::ROOT, root, b"other", FILE | 0o600);
                assert_eq!(made.map(drop), Err(Errno::NOSPC), "{round}");
            }
        }
        let after = settled();
        assert_eq!(before, after);
        members[0].remove_at(&Caller::ROOT, root, b"file", Remove::Name).expect("it is there");
        members[0].make_at(&Caller::ROOT, root, b"other", FILE | 0o600).expect("there is room");
        assert_whole(&members[0]);
    }
}

/// A table of descriptors that grows leaves its old lines to the reserve, not to files.
#[test]
fn files_get_nothing_of_the_reserve() {
    const SMALL: u32 = 200;
    let (mut memory, world) = formatted(1024);
    let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
    let root = member.root().expect("it is there");
    let make = |number: u32| {
        let name = format!("small-{number}");
        member.make_at(&Caller::ROOT, root, name.as_bytes(), FILE | 0o600).expect("there is room");
    };
    (0..SMALL).for_each(make);
    let opened = member.open_node(&Caller::ROOT, root, 0).expect("there is room");
    fill(&member);
    // Fills the lines that are left.
    let step = |number: u32| {
        let name = format!("small-{number}");
        member.step(&Caller::ROOT, root, name.as_bytes()).expect("it is there")
    };
    let written =
        (0..SMALL).take_while(|&number| member.write_at(step(number), 0, &[7; 64]).is_ok());
    let next = u32::try_from(written.count()).expect("it is small");
    assert!(next < SMALL, "there are more lines left than files");
    // The table's first lines are not of the reserve, so a file may have them.
    member.duplicate(opened, 8, 0).expect("the reserve has room");
    assert_eq!(member.write_at(step(next), 0, &[7; 64]), Ok(64));
    let next = next + 1;
    for highest in [16, 32, 64, 128] {
        member.duplicate(opened, highest, 0).expect("the reserve has room");
        // As many lines as the table had before.
        let written = member.write_at(step(next), 0, &vec![7; 64 * (highest as usize / 8)]);
        assert_eq!(written, Err(Errno::NOSPC), "{highest}");
        assert_whole(&member);
    }
}

/// The reserve is used up, and what is closed can be opened again.
#[test]
fn more_files_than_the_reserve_has_room_for_are_refused() {
    let (mut memory, world) = formatted(1024);
    let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
    fill(&member);
    let root = member.root().expect("it is there");
    let opened = || {
        let mut opened = Vec::new();
        loop {
            match member.open_node(&Caller::ROOT, root, 0) {
                Ok(descriptor) => opened.push(descriptor),
                Err(why) => break (why, opened),
            }
        }
    };
    let (why, first) = opened();
    assert_eq!(why, Errno::NFILE);
    assert!(first.len() >= 64, "only {}", first.len());
    assert_whole(&member);
    for descriptor in &first {
        member.close(*descriptor).expect("it is open");
    }
    let (why, second) = opened();
    assert_eq!((why, second.len()), (Errno::NFILE, first.len()));
    member.reap(1).expect("it is whole");
    assert_whole(&member);
}

/// An allocation that takes all there is, and then needs more, leaves everything as it was.
#[test]
fn an_allocation_that_takes_all_keeps_nothing() {
    let mut fragmented = with_a_file();
    fill_but_single_pages(&mut fragmented);
    for memory in [with_a_file(), fragmented] {
        let (mut memory, world) = (memory.copy(), World::default());
        let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
        let root = member.root().expect("it is there");
        let file = hold(&member, root, b"file").expect("it is there");
        for from in [1_u64, 41, 100] {
            member.retire().expect("it is whole");
            let free = u64::from(member.pages().expect("it is whole").1);
            let seen = || {
                let blocks = member.stat(file.node).map(|stat| stat.blocks);
                (blocks, member.pages(), assert_whole(&member).lines_used)
            };
            let was = seen();
            // That is more than there is, but not by so much that it is refused before it begins.
            let done = member.allocate(file.node, from * 4_096, (free + 6) * 4_096, true);
            assert_eq!(done, Err(Errno::NOSPC));
            assert_eq!(seen(), was, "from page {from} on");
        }
    }
}

/// A write that fails, wherever it does, leaves the file and the arena the space that they had.
#[test]
fn a_write_that_fails_keeps_nothing() {
    // What the file has before: an offset and a length.
    let files = [
        &[][..],
        &[(0, 100)],
        &[(0, 4_096)],
        &[(0, 5_000)],
        &[(20_480, 70)],
        &[(0, 4_096), (40_960, 4_096), (20_480, 4_096), (81_920, 1)],
    ];
    let writes = [(0, 5_000), (4_096, 10), (4_200, 20_000), (8_192, 9_000), (65_536, 4_096)];
    let mut refused = 0;
    for before in files {
        for (offset, length) in writes {
            refused += refused_writes(before, offset, length);
        }
    }
    assert!(refused > 50, "only {refused} were refused");
}

/// Writes with so little space that it fails; returns how often it did.
fn refused_writes(before: &[(u64, usize)], offset: u64, length: usize) -> u32 {
    let (mut memory, world) = formatted(256);
    let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
    let root = member.root().expect("it is there");
    let mut refused = 0;
    for takes in 0.. {
        member.make_at(&Caller::ROOT, root, b"file", FILE | 0o600).expect("there is room");
        let file = hold(&member, root, b"file").expect("it is there");
        for &(offset, length) in before {
            let written = member.write_at(file.node, offset, &vec![1; length]);
            assert_eq!(written, Ok(length));
        }
        let seen = || {
            let report = assert_whole(&member);
            let stat = member.stat(file.node).expect("it is whole");
            (stat, report.lines_used, report.lines_in_stock)
        };
        let content = look(&member);
        member.retire().expect("it is whole");
        let was = seen();
        let write = || member.write_at(file.node, offset, &vec![2; length]);
        let (done, was_full) = world.full_after(takes, write);
        if done.is_err() {
            refused += 1;
            assert_eq!(done, Err(Errno::NOSPC));
            assert_eq!(seen(), was, "{before:?} {offset} {length}: {takes}");
            assert!(look(&member) == content, "{before:?} {offset} {length}: {takes}");
        }
        assert_whole(&member);
        member.close(file.descriptor).expect("it is open");
        member.remove_at(&Caller::ROOT, root, b"file", Remove::Name).expect("it is there");
        if !was_full {
            break;
        }
    }
    refused
}
