//! What an inode has besides its content: extended attributes, and file locks.

use std::ops::Range;

use densefs::modes::{Caller, DIRECTORY, FILE};
use densefs::{Errno, FileLock, LockOwner, Member, Node, RangeHolder, Remove, SetAttribute, flags};

use crate::world::{World, assert_whole, formatted, hold};

fn set_up_table(member: &Member<'_, &World>) {
    let root = member.root().expect("it is there");
    let open = member.open_node(&Caller::ROOT, root, flags::PATH).expect("there is room");
    member.close(open).expect("it is open");
}

fn set(member: &Member<'_, &World>, at: Node, name: &str, value: &[u8]) -> Result<(), Errno> {
    member.set_attribute(&Caller::ROOT, at, name.as_bytes(), value, SetAttribute::Any)
}

fn get(member: &Member<'_, &World>, at: Node, name: &str) -> Result<Vec<u8>, Errno> {
    let mut value = vec![0; 70_000];
    let length = member.attribute(&Caller::ROOT, at, name.as_bytes(), &mut value)?;
    value.truncate(length);
    Ok(value)
}

fn names(member: &Member<'_, &World>, at: Node) -> Vec<String> {
    let mut list = vec![0; 10_000];
    let length = member.attribute_names(&Caller::ROOT, at, &mut list).expect("there is room");
    let list = String::from_utf8(list[..length].to_vec()).expect("they are text");
    list.split_terminator('\0').map(str::to_owned).collect()
}

#[test]
fn attributes_are_kept_with_what_the_inode_holds() {
    let (mut memory, world) = formatted(256);
    let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
    let root = member.root().expect("it is there");
    // Makes sure that there is a table of descriptors.
    set_up_table(&member);
    let before = assert_whole(&member);
    for (name, mode) in [("file", FILE | 0o600), ("directory", DIRECTORY | 0o700)] {
        member.make_at(&Caller::ROOT, root, name.as_bytes(), mode).expect("there is room");
        let open = hold(&member, root, name.as_bytes()).expect("it is there");
        let (node, long) = (open.node, vec![7; 65_536]);
        assert_eq!(get(&member, node, "user.a"), Err(Errno::NODATA));
        assert_eq!(set(&member, node, "user.a", b"one"), Ok(()));
        assert_eq!(set(&member, node, "trusted.long", &long), Ok(()));
        assert_eq!(set(&member, node, "user.a", b"another"), Ok(()));
        assert_eq!(set(&member, node, "user.empty", b""), Ok(()));
        assert_eq!(set(&member, node, "user.more", &[0; 65_537]), Err(Errno::TOOBIG));
        assert_eq!(set(&member, node, "system.posix_acl_access", b""), Err(Errno::OPNOTSUPP));
        assert_eq!(get(&member, node, "user.a"), Ok(b"another".to_vec()));
        assert_eq!(get(&member, node, "trusted.long"), Ok(long));
        assert_eq!(names(&member, node), ["trusted.long", "user.a", "user.empty"]);
        assert_whole(&member);
        // From now on, its content is found through the annex.
        if name == "file" {
            for (offset, length) in [(0, 100), (3_000, 3_000), (50_000, 100)] {
                assert_eq!(member.write_at(node, offset, &vec![3; length]), Ok(length));
                assert_whole(&member);
            }
            member.truncate(node, 10).expect("there is room");
        } else {
            let inside = |number: u32| number.to_string().into_bytes();
            for number in 0..30 {
                let made = member.make_at(&Caller::ROOT, node, &inside(number), FILE | 0o600);
                made.expect("there is room");
                assert_whole(&member);
            }
            for number in 0..30 {
                let name = inside(number);
                let gone = member.remove_at(&Caller::ROOT, node, &name, Remove::Name);
                gone.expect("it is there");
                assert_whole(&member);
            }
        }
        let gone = member.remove_attribute(&Caller::ROOT, node, b"trusted.long");
        gone.expect("it is there");
        let gone = member.remove_attribute(&Caller::ROOT, node, b"trusted.long");
        assert_eq!(gone, Err(Errno::NODATA));
        assert_eq!(names(&member, node), ["user.a", "user.empty"]);
        assert_whole(&member);
        member.close(open.descriptor).expect("it is open");
        let what = if name == "file" { Remove::Name } else { Remove::Directory };
        member.remove_at(&Caller::ROOT, root, name.as_bytes(), what).expect("it is there");
        let record = assert_whole(&member);
        assert_eq!(record.others + record.directories, before.others + before.directories);
    }
    assert_eq!(assert_whole(&member).lines_used, before.lines_used);
}

#[test]
fn users_have_the_attributes_that_they_may_have() {
    let (mut memory, world) = formatted(256);
    let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
    let root = member.root().expect("it is there");
    let user = Caller { uid: 1, gid: 1, umask: 0, is_checked: false, ..Caller::ROOT };
    member.make_at(&Caller::ROOT, root, b"file", FILE | 0o644).expect("there is room");
    let node = hold(&member, root, b"file").expect("it is there").node;
    set(&member, node, "user.a", b"1").expect("there is room");
    set(&member, node, "trusted.a", b"1").expect("there is room");
    set(&member, node, "security.a", b"1").expect("there is room");
    let mut value = [0; 10];
    let mut read = |name: &[u8]| member.attribute(&user, node, name, &mut value);
    assert_eq!(read(b"user.a"), Ok(1));
    assert_eq!(read(b"security.a"), Ok(1));
    assert_eq!(read(b"trusted.a"), Err(Errno::NODATA));
    let write = |name: &[u8]| member.set_attribute(&user, node, name, b"2", SetAttribute::Any);
    assert_eq!(write(b"user.a"), Err(Errno::ACCES));
    assert_eq!(write(b"security.a"), Err(Errno::PERM));
    assert_eq!(write(b"trusted.a"), Err(Errno::PERM));
    assert_eq!(member.attribute_names(&user, node, &mut []), Ok(b"user.a\0security.a\0".len()));
    assert_eq!(member.attribute_names(&user, node, &mut [0; 3]), Err(Errno::RANGE));
}

fn lock(owner: u32, is_exclusive: bool, range: Range<u64>) -> FileLock {
    let (owner, pid) = (LockOwner::Process { record: owner }, owner);
    FileLock { owner, is_exclusive, start: range.start, end: range.end, pid }
}

#[test]
fn locks_of_bytes_split_and_join() {
    let (mut memory, world) = formatted(256);
    let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
    let root = member.root().expect("it is there");
    member.make_at(&Caller::ROOT, root, b"file", FILE | 0o644).expect("there is room");
    let node = hold(&member, root, b"file").expect("it is there").node;
    assert_eq!(member.lock_file(node, lock(1, false, 0..100)), Ok(()));
    assert_eq!(member.lock_file(node, lock(2, false, 50..150)), Ok(()));
    assert_eq!(member.lock_file(node, lock(2, true, 50..150)), Err(Errno::AGAIN));
    let theirs = member.conflicting_lock(node, &lock(2, true, 99..150));
    assert_eq!(theirs, Ok(Some(lock(1, false, 0..100))));
    // The middle is released, which leaves two locks.
    assert_eq!(member.unlock_file(node, lock(1, false, 0..0).owner, 20..70), Ok(()));
    assert_eq!(member.lock_file(node, lock(2, true, 50..70)), Ok(()));
    assert_eq!(member.lock_file(node, lock(2, true, 20..21)), Ok(()));
    assert_eq!(member.lock_file(node, lock(2, true, 19..21)), Err(Errno::AGAIN));
    assert_eq!(member.lock_file(node, lock(2, true, 70..71)), Err(Errno::AGAIN));
    let whole = LockOwner::Whole { description: 9 };
    let all = FileLock { owner: whole, is_exclusive: true, start: 0, end: u64::MAX, pid: 0 };
    assert_eq!(member.lock_file(node, all), Ok(()), "flock(2) and fcntl(2) do not meet");
    assert_whole(&member);
    for owner in [lock(1, false, 0..0).owner, lock(2, false, 0..0).owner, whole] {
        assert_eq!(member.unlock_file(node, owner, 0..u64::MAX), Ok(()));
    }
    let nothing = member.conflicting_lock(node, &lock(3, true, 0..u64::MAX));
    assert_eq!(nothing, Ok(None));
    // Adjacent locks of the same kind are merged, so there is room for any number.
    for start in 0..2_000 {
        assert_eq!(member.lock_file(node, lock(1, true, start..start + 1)), Ok(()));
    }
    let one = member.conflicting_lock(node, &lock(2, true, 5..6));
    assert_eq!(one, Ok(Some(lock(1, true, 0..2_000))));
    let many =
        (0..2_000).map(|start| member.lock_file(node, lock(1, false, start * 2..start * 2 + 1)));
    assert!(many.into_iter().any(|done| done == Err(Errno::NOLCK)));
    assert_whole(&member);
}

/// Whoever releases a lock wakes those who wait, once, and makes no system call if nobody does.
#[test]
fn who_waits_for_a_lock_is_woken_and_nobody_else() {
    let (mut memory, world) = formatted(256);
    let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
    let root = member.root().expect("it is there");
    member.make_at(&Caller::ROOT, root, b"file", FILE | 0o644).expect("there is room");
    let node = hold(&member, root, b"file").expect("it is there").node;
    let (one, other) = (lock(1, true, 0..10), lock(2, true, 5..6));
    let lock_and_unlock = |waits: bool| {
        member.lock_file(node, one).expect("nobody has it");
        if waits {
            member.await_lock(node, &other).expect("no signal comes");
        }
        member.unlock_file(node, one.owner, 0..10).expect("it is locked");
        world.wakes.get()
    };
    world.may_wait.set(true);
    assert_eq!([false, true, false, true, true].map(lock_and_unlock), [0, 1, 1, 2, 3]);
    world.may_wait.set(false);
    assert_eq!(member.await_lock(node, &other), Ok(()), "there is nothing to wait for");
}

#[test]
fn locks_end_with_the_descriptors_that_they_belong_to() {
    let (mut memory, world) = formatted(256);
    let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
    let root = member.root().expect("it is there");
    let open = || {
        let how = flags::READ_WRITE | flags::CREATE;
        member.open(&Caller::ROOT, root, b"file", how, 0o600).expect("there is room")
    };
    let (one, two) = (open(), open());
    let whole = |descriptor, exclusive| member.lock_open(descriptor, Some(exclusive), 0);
    assert_eq!(whole(one, true), Ok(()));
    assert_eq!(whole(two, false), Err(Errno::AGAIN));
    let copy = member.duplicate(one, 0, 0).expect("there is room");
    member.close(one).expect("it is open");
    assert_eq!(whole(two, false), Err(Errno::AGAIN), "a descriptor of it is left");
    member.close(copy).expect("it is open");
    assert_eq!(whole(two, false), Ok(()));
    // All locks of a process end when it closes any of its descriptors.
    let (of_process, third) = (lock(0, true, 0..10), open());
    assert_eq!(
        member.lock_range(
            two,
            of_process.start..of_process.end,
            Some(true),
            RangeHolder::Process { pid: 0 }
        ),
        Ok(())
    );
    member.close(third).expect("it is open");
    let node = member.node(two).expect("it is open");
    assert_eq!(member.conflicting_lock(node, &lock(77, true, 0..10)), Ok(None));
    assert_whole(&member);
}

/// A thread that dies while it changes attributes or locks leaves either the old or the new ones.
#[test]
fn whoever_dies_at_an_annex_leaves_all_or_nothing() {
    type Act = fn(&Member<'_, &World>, Node) -> Result<(), Errno>;
    let acts: [(&str, Act); 5] = [
        ("a first attribute", |member, node| set(member, node, "user.new", b"value")),
        ("another", |member, node| set(member, node, "user.old", &[1; 5_000])),
        ("one goes", |member, node| member.remove_attribute(&Caller::ROOT, node, b"user.old")),
        ("a lock", |member, node| member.lock_file(node, lock(1, true, 0..10))),
        ("the file goes", |member, _| {
            member.remove_at(&Caller::ROOT, member.root()?, b"file", Remove::Name)
        }),
    ];
    let (mut memory, world) = formatted(256);
    for (what, act) in acts {
        let seen = |member: &Member<'_, &World>| {
            let open = hold(member, member.root().expect("it is there"), b"file").ok()?;
            let values = ["user.new", "user.old"].map(|name| get(member, open.node, name));
            let locked = member.conflicting_lock(open.node, &lock(2, true, 0..10));
            member.close(open.descriptor).expect("it is open");
            Some((values, locked))
        };
        {
            let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
            let root = member.root().expect("it is there");
            let is_first = what == "a first attribute";
            if is_first {
                member.make_at(&Caller::ROOT, root, b"file", FILE | 0o600).expect("there is room");
            }
        }
        let before = seen(&Member::new(memory.arena(), &world, 2, 2).expect("there are slots"));
        let after = {
            let mut memory = memory.copy();
            let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
            let open = hold(&member, member.root().expect("it is there"), b"file");
            let open = open.expect("it is there");
            act(&member, open.node).expect("there is room");
            member.close(open.descriptor).expect("it is open");
            seen(&member)
        };
        for stores in 0.. {
            let mut memory = memory.copy();
            let arena = memory.arena();
            let victim = Member::new(arena, &world, 1, 1).expect("there are slots");
            let survivor = Member::new(arena, &world, 2, 2).expect("there are slots");
            let root = survivor.root().expect("it is there");
            let open = hold(&survivor, root, b"file").expect("it is there");
            let done = world.kill_after(stores, || act(&victim, open.node));
            survivor.repair(1).expect("it is a slot");
            assert_whole(&survivor);
            survivor.close(open.descriptor).expect("it is open");
            assert_whole(&survivor);
            let found = seen(&survivor);
            assert!(found == before || found == after, "{what}, {stores}: {found:?}");
            if done.is_some() {
                assert!(found == after, "{what}, {stores}: {found:?}");
                break;
            }
        }
        let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
        let open = hold(&member, member.root().expect("it is there"), b"file");
        let open = open.expect("it is there");
        act(&member, open.node).expect("there is room");
        if what == "a first attribute" {
            set(&member, open.node, "user.old", b"old").expect("there is room");
        }
        if what != "a lock" {
            member.close(open.descriptor).expect("it is open");
        }
    }
}
