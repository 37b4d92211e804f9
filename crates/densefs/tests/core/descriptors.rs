//! Paths and descriptors: what they find and share, and what a dead process leaves.

use densefs::modes::{Caller, DIRECTORY, FILE};
use densefs::{Errno, Follow, Member, Remove, Start, Stat, Whence, flags};

use crate::world::{NOBODY_DIES, World, assert_whole, formatted};

const ROOT: &Caller<'_> = &Caller::ROOT;
const READ_WRITE: u32 = flags::READ_WRITE;
const CREATE: u32 = flags::READ_WRITE | flags::CREATE;

type One<'a, 'w> = Member<'a, &'w World>;

fn open(member: &One<'_, '_>, path: &[u8], how: u32) -> Result<u32, Errno> {
    member.retry(|| member.open(ROOT, member.working_directory()?, path, how, 0o644))
}

fn walk(member: &One<'_, '_>, path: &[u8], follow: Follow) -> Result<u64, Errno> {
    let found = member.walk(ROOT, member.working_directory()?, path, follow)?;
    Ok(member.ino(found))
}

/// Creates `a/b/file` with some text, and symbolic links: `a/up` to the root's `a`, `there` to the
/// file, `nowhere`, and `round` to itself.
fn plant(member: &One<'_, '_>) -> Result<(), Errno> {
    let root = member.root()?;
    member.make_at(ROOT, root, b"a", DIRECTORY | 0o755)?;
    let a = member.walk(ROOT, root, b"a", Follow::No)?;
    member.make_at(ROOT, a, b"b", DIRECTORY | 0o755)?;
    let a = member.walk(ROOT, root, b"a", Follow::No)?;
    member.symlink_at(ROOT, a, b"up", b"../a/")?;
    member.symlink_at(ROOT, root, b"there", b"/a/up/b//file")?;
    member.symlink_at(ROOT, root, b"nowhere", b"a/b/new")?;
    member.symlink_at(ROOT, root, b"round", b"./round")?;
    let file = open(member, b"/a/b/file", CREATE)?;
    member.write_on(file, b"some text")?;
    member.close(file)
}

#[test]
fn paths_lead_where_the_system_s_do() {
    let (mut memory, world) = formatted(2048);
    let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
    plant(&member).expect("there is room");
    let file = walk(&member, b"a/b/file", Follow::No).expect("it is there");
    for path in
        [&b"/a/b/file"[..], b"there", b"a/up/b/file", b"a/./b/../up/up/b/file", b"//a//b//file"]
    {
        assert_eq!(walk(&member, path, Follow::Yes), Ok(file), "{path:?}");
    }
    assert_ne!(walk(&member, b"there", Follow::No), Ok(file));
    let a = walk(&member, b"a", Follow::No);
    assert_eq!(walk(&member, b"a/up/", Follow::No), a);
    assert_eq!(walk(&member, b"/..//../a/", Follow::Yes), a);
    let fails = [
        (&b""[..], Errno::NOENT),
        (b"a/nothing", Errno::NOENT),
        (b"a/nothing/b", Errno::NOENT),
        (b"a/b/file/", Errno::NOTDIR),
        (b"a/b/file/.", Errno::NOTDIR),
        (b"there/", Errno::NOTDIR),
        (b"there/x", Errno::NOTDIR),
        (b"round", Errno::LOOP),
        (b"round/x", Errno::LOOP),
        (b"nowhere", Errno::NOENT),
        (&[b'n'; 256], Errno::NAMETOOLONG),
        (&[b'/'; 4096], Errno::NAMETOOLONG),
    ];
    for (path, why) in fails {
        assert_eq!(
            walk(&member, path, Follow::Yes),
            Err(why),
            "{:?}",
            String::from_utf8_lossy(path)
        );
    }
}

#[test]
fn opening_makes_follows_and_refuses_as_the_system_does() {
    let (mut memory, world) = formatted(2048);
    let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
    plant(&member).expect("there is room");
    let fails = [
        (&b"a"[..], READ_WRITE, Errno::ISDIR),
        (b"a", CREATE, Errno::ISDIR),
        (b"a/new/", CREATE, Errno::ISDIR),
        (b"/", CREATE | flags::EXCLUSIVE, Errno::EXIST),
        (b"there", CREATE | flags::EXCLUSIVE, Errno::EXIST),
        (b"there", flags::NO_FOLLOW, Errno::LOOP),
        (b"there", CREATE | flags::NO_FOLLOW, Errno::LOOP),
        (b"round", CREATE, Errno::LOOP),
        (b"a/b/file", flags::DIRECTORY, Errno::NOTDIR),
        (b"nowhere", 0, Errno::NOENT),
    ];
    for (path, how, why) in fails {
        assert_eq!(open(&member, path, how), Err(why), "{:?}", String::from_utf8_lossy(path));
    }
    // A file that does not exist is created where the link points.
    let made = open(&member, b"nowhere", CREATE).expect("there is room");
    let ino = member.ino(member.node(made).expect("it is open"));
    assert_eq!(walk(&member, b"a/b/new", Follow::No), Ok(ino));
    let file = open(&member, b"there", flags::WRITE | flags::TRUNCATE).expect("it is there");
    assert_eq!(member.stat(member.node(file).expect("it is open")).map(|stat| stat.size), Ok(0));
    assert_eq!(member.read_on(file, &mut [0]), Err(Errno::BADF));
    let nameless = open(&member, b"a", READ_WRITE | flags::DIRECTORY | flags::TEMPORARY);
    let nameless = nameless.expect("there is room");
    assert_eq!(member.write_on(nameless, b"gone soon"), Ok(9));
    let before = assert_whole(&member);
    member.close(nameless).expect("it is open");
    let after = assert_whole(&member);
    assert_eq!(before.lines_used - after.lines_used, 3, "cell, description and content");
}

#[test]
fn descriptors_are_the_lowest_and_share_what_they_refer_to() {
    let (mut memory, world) = formatted(2048);
    let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
    plant(&member).expect("there is room");
    for descriptor in 0..100 {
        assert_eq!(open(&member, b"a/b/file", READ_WRITE), Ok(descriptor));
    }
    for descriptor in [17, 5, 60] {
        member.close(descriptor).expect("it is open");
    }
    assert_eq!(member.close(5), Err(Errno::BADF));
    assert_eq!(member.duplicate(4, 20, 0), Ok(60));
    assert_eq!(member.duplicate(4, 0, 0), Ok(5));
    assert_eq!(member.duplicate(4, 1000, 0), Ok(1000));
    assert_eq!(open(&member, b"a/b/file", READ_WRITE | flags::APPEND), Ok(17));
    // They share one offset; the other description has its own.
    let mut four = [0; 4];
    assert_eq!(member.read_on(4, &mut four), Ok(4));
    assert_eq!(member.read_on(1000, &mut four), Ok(4));
    assert_eq!(&four, b" tex");
    assert_eq!(member.write_on(17, b"ure"), Ok(3));
    assert_eq!(member.seek(17, 0, Whence::Current), Ok(12));
    assert_eq!(member.seek(60, -4, Whence::End), Ok(8));
    assert_eq!(member.read_on(5, &mut four), Ok(4));
    assert_eq!(&four, b"ture");
    assert_eq!(member.seek(5, -100, Whence::Current), Err(Errno::INVAL));
    member.duplicate_to(17, 5, 0).expect("there is room");
    assert_eq!(member.write_to(5, 0, b"!"), Ok(1), "goes behind the end");
    assert_eq!(member.seek(5, 0, Whence::Current), Ok(12));
    assert_eq!(assert_whole(&member).descriptions, 98);
    // A child gets all of them, and still shares the offset.
    let child = Member::new(*member.arena(), &world, 2, 2).expect("there are slots");
    child.begin_process(2).expect("it is a record");
    member.copy_descriptors(2).expect("there is room");
    assert_eq!(child.seek(4, 1, Whence::Start), Ok(1));
    assert_eq!(member.seek(60, 0, Whence::Current), Ok(1));
    member.reap(1).expect("it is a record");
    assert_eq!(child.read_on(1000, &mut four), Ok(4));
    assert_eq!(&four, b"ome ");
    assert_eq!(assert_whole(&child).descriptions, 98);
    child.reap(2).expect("it is a record");
    assert_eq!(assert_whole(&child).descriptions, 0);
}

#[test]
fn a_working_directory_stays_when_its_name_goes() {
    let (mut memory, world) = formatted(2048);
    let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
    plant(&member).expect("there is room");
    let to = |path: &[u8]| {
        let found = member.walk(ROOT, member.working_directory()?, path, Follow::Yes)?;
        member.set_working_directory(ROOT, found)
    };
    assert_eq!(to(b"a/b/file"), Err(Errno::NOTDIR));
    to(b"a").expect("it is there");
    to(b"b").expect("it is there");
    assert!(walk(&member, b"file", Follow::No).is_ok());
    let (root, here) = (member.root().expect("it is"), member.working_directory().expect("it is"));
    let a = member.walk(ROOT, root, b"a", Follow::No).expect("it is there");
    member.remove_at(ROOT, here, b"file", Remove::Name).expect("it is there");
    member.remove_at(ROOT, a, b"b", Remove::Directory).expect("it is there");
    assert_eq!(walk(&member, b"file", Follow::No), Err(Errno::NOENT));
    assert_eq!(walk(&member, b"..", Follow::No), Err(Errno::NOENT));
    assert_eq!(open(&member, b"new", CREATE), Err(Errno::NOENT));
    assert_eq!(assert_whole(&member).descriptions, 1);
    to(b"/").expect("it is there");
    assert_eq!(assert_whole(&member).descriptions, 1);
}

#[test]
fn a_glance_is_enough_from_any_working_directory() {
    let (mut memory, world) = formatted(2048);
    let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
    plant(&member).expect("there is room");
    let glance = |path: &[u8]| {
        let tell = &mut |_: &Stat| {};
        member.stat_at_a_glance(ROOT, Start::Working, path, Follow::Yes, tell).ok()
    };
    let here = member.working_directory().expect("it is the root");
    assert_eq!(glance(b"a/b"), Some(Ok(())));
    assert_eq!(glance(b"b"), Some(Err(Errno::NOENT)));
    let a = member.walk(ROOT, here, b"a", Follow::No).expect("it is there");
    member.set_working_directory(ROOT, a).expect("there is room");
    member.working_directory().expect("it is there");
    assert_eq!(glance(b"b"), Some(Ok(())));
    assert_eq!(glance(b"a"), Some(Err(Errno::NOENT)));
}

/// What a victim does with descriptors; it may have some already.
type Act = fn(&One<'_, '_>) -> Result<(), Errno>;

const ACTS: [(&str, u32, Act); 9] = [
    ("opens the first", 0, |one| open(one, b"a/b/file", READ_WRITE).map(drop)),
    ("opens a new one", 3, |one| open(one, b"a/b/new", CREATE).map(drop)),
    ("opens the one for which the table grows", 6, |one| open(one, b"there", 0).map(drop)),
    ("opens one without a name", 1, |one| {
        open(one, b"a", READ_WRITE | flags::DIRECTORY | flags::TEMPORARY).map(drop)
    }),
    ("closes one", 3, |one| one.close(1)),
    ("closes so many that others are given back", 20, |one| {
        (0..20).try_for_each(|descriptor| one.close(descriptor))
    }),
    ("closes one whose file has no name", 2, |one| {
        let at = one.walk(ROOT, one.root()?, b"a/b", Follow::No)?;
        one.remove_at(ROOT, at, b"file", Remove::Name)?;
        one.close(0)?;
        one.close(1)
    }),
    ("makes others of it", 2, |one| {
        one.duplicate(0, 5, 0)?;
        one.duplicate_to(1, 0, 0)
    }),
    ("changes its working directory", 1, |one| {
        for path in [&b"a"[..], b"b"] {
            let found = one.walk(ROOT, one.working_directory()?, path, Follow::Yes)?;
            one.set_working_directory(ROOT, found)?;
        }
        Ok(())
    }),
];

/// A process dies after each store of an operation on descriptors, and the thread that closes what
/// it had dies after every seventh store. In the end, nothing is open and nothing is lost.
#[test]
fn what_a_process_had_open_is_closed_wherever_it_died() {
    for (what, have, act) in ACTS {
        let (mut memory, world) = formatted(128);
        {
            let victim = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
            plant(&victim).expect("there is room");
            victim.begin_process(1).expect("it is a record");
            for _ in 0..have {
                open(&victim, b"a/b/file", READ_WRITE).expect("it is there");
            }
        }
        for stores in 0.. {
            let mut memory = memory.copy();
            let arena = memory.arena();
            let victim = Member::new(arena, &world, 1, 1).expect("there are slots");
            let done = world.kill_after(stores, || act(&victim).expect("it can"));
            world.reap_the_dead(arena, 7);
            let survivor = Member::new(arena, &world, 3, 3).expect("there are slots");
            let report = assert_whole(&survivor);
            assert_eq!(report.descriptions, 0, "{what}: {stores}");
            assert!(!survivor.is_in_use(1).expect("it is a record"));
            if done.is_some() {
                assert!(stores > 10 || NOBODY_DIES, "{what}: only {stores} stores");
                break;
            }
        }
    }
}

/// An inode that is open but has no name exists until the last process that has it open is gone.
#[test]
fn files_stay_files_for_those_who_have_them_open() {
    if NOBODY_DIES {
        // Nobody keeps what was found from one call to the next.
        return;
    }
    let (mut memory, world) = formatted(2048);
    let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
    plant(&member).expect("there is room");
    let file = open(&member, b"a/b/file", READ_WRITE).expect("it is there");
    let node = member.node(file).expect("it is open");
    let at = member.walk(ROOT, node, b"/a/b", Follow::No).expect("it is there");
    let found = member.step(ROOT, at, b"file").expect("it is there");
    member.remove_at(ROOT, at, b"file", Remove::Name).expect("it is there");
    member.close(file).expect("it is open");
    // A node or descriptor is not mistaken for what is in its place now.
    assert_eq!(member.stat(found), Err(Errno::STALE));
    assert_eq!(member.stat(node), Err(Errno::STALE));
    let at = member.walk(ROOT, at, b"/a/b", Follow::No).expect("it is there");
    member.make_at(ROOT, at, b"other", FILE | 0o644).expect("there is room");
    assert_eq!(member.stat(found), Err(Errno::STALE));
    assert_eq!(member.write_at(found, 0, b"x"), Err(Errno::STALE));
    assert_eq!(member.truncate(node, 5), Err(Errno::STALE));
}

#[test]
fn flags_of_descriptors_and_of_what_they_refer_to_can_be_changed() {
    let (mut memory, world) = formatted(2048);
    let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
    plant(&member).expect("there is room");
    let file = open(&member, b"a/b/file", READ_WRITE).expect("it is there");
    let other = member.duplicate(file, 0, 0).expect("it is open");
    assert_eq!(member.set_closes_on_exec(file, true), Ok(()));
    assert_eq!((member.closes_on_exec(file), member.closes_on_exec(other)), (Ok(true), Ok(false)));
    assert_eq!(member.set_closes_on_exec(file, false), Ok(()));
    assert_eq!(member.closes_on_exec(file), Ok(false));
    // The description is shared, and with it what writes do.
    let size = || member.stat(member.node(file).expect("it is open")).map(|stat| stat.size);
    let before = size().expect("it is there");
    assert_eq!(member.set_flags(other, flags::APPEND | flags::TRUNCATE), Ok(()));
    assert_eq!(member.flags(file), Ok(READ_WRITE | flags::APPEND));
    assert_eq!(member.write_to(file, 0, b"end"), Ok(3));
    assert_eq!(size(), Ok(before + 3));
    assert_eq!(member.write_placed(file, Some(0), false, b"start"), Ok(5));
    assert_eq!(size(), Ok(before + 3));
    assert_eq!(member.set_flags(file, 0), Ok(()));
    assert_eq!(member.write_placed(file, Some(0), true, b"end"), Ok(3));
    assert_eq!(size(), Ok(before + 6));
    let only_named = open(&member, b"a", flags::PATH).expect("it is there");
    assert_eq!(member.set_flags(only_named, flags::APPEND), Err(Errno::BADF));
    assert_eq!(member.closes_on_exec(99), Err(Errno::BADF));
    assert_whole(&member);
}
