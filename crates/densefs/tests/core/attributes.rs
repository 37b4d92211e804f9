//! Owners, permissions, times and symbolic links.

use densefs::modes::{BLOCKS, CHARACTERS, Caller, DIRECTORY, FILE, SYMLINK, TYPE};
use densefs::{Errno, Member, NewTime, NewTimes, Node, Owner, Remove, flags};

use crate::world::{World, assert_whole, formatted, hold};

const GROUPS: &[u32] = &[11];
const ALICE: Caller<'_> =
    Caller { uid: 1, gid: 10, groups: &GROUPS, umask: 0o027, is_checked: false, ..Caller::ROOT };
const BOB: Caller<'_> = Caller { uid: 2, gid: 20, umask: 0, is_checked: false, ..Caller::ROOT };

fn with_member(act: impl FnOnce(&Member<'_, &World>, Node)) {
    let (mut memory, world) = formatted(256);
    let member = Member::new(memory.arena(), &world, 1, 1).expect("there are slots");
    let root = member.root().expect("it is there");
    let made =
        member.make_at(&Caller { umask: 0, ..Caller::ROOT }, root, b"all", DIRECTORY | 0o1777);
    made.expect("there is room");
    let all = hold(&member, root, b"all").expect("it is there").node;
    act(&member, all);
    assert_whole(&member);
}

#[test]
fn who_owns_it_may_change_it_and_nobody_else() {
    with_member(|member, all| {
        let made = member.make_at(&ALICE, all, b"file", FILE | 0o6777).expect("she may");
        assert_eq!((made.mode.uid, made.mode.gid, made.mode.mode), (1, 10, FILE | 0o6750));
        let file = hold(member, all, b"file").expect("it is there").node;
        assert_eq!(member.set_mode(&BOB, file, 0o777), Err(Errno::PERM));
        let to = |uid, gid| Owner { uid, gid };
        assert_eq!(member.set_owner(&ALICE, file, to(Some(2), None)), Err(Errno::PERM));
        assert_eq!(member.set_owner(&ALICE, file, to(None, Some(20))), Err(Errno::PERM));
        member.set_owner(&ALICE, file, to(None, Some(11))).expect("she is in it");
        let mode = member.stat(file).expect("it is open").mode;
        assert_eq!((mode.gid, mode.mode), (11, FILE | 0o750), "it runs as nobody");
        member.set_owner(&Caller::ROOT, file, to(Some(2), Some(20))).expect("root may");
        assert_eq!(member.set_mode(&ALICE, file, 0o600), Err(Errno::PERM));
        member.set_mode(&BOB, file, 0o2640).expect("it is his");
        assert_eq!(member.stat(file).expect("it is open").mode.mode, FILE | 0o2640);
        let mode_changed_ns = member.stat(file).expect("it is open").ctime_ns;
        member.set_mtime(file, 7_000).expect("it is open");
        let stat = member.stat(file).expect("it is open");
        assert!(stat.mtime_ns == 7_000 && stat.ctime_ns > mode_changed_ns);
    });
}

#[test]
fn in_a_sticky_directory_only_owners_remove() {
    with_member(|member, all| {
        member.make_at(&ALICE, all, b"file", FILE | 0o666).expect("she may");
        assert_eq!(member.remove_at(&BOB, all, b"file", Remove::Name), Err(Errno::PERM));
        member.remove_at(&ALICE, all, b"file", Remove::Name).expect("it is hers");
    });
}

#[test]
fn a_symbolic_link_holds_its_target() {
    with_member(|member, all| {
        for length in [1, 64, 65, 255, 4_095] {
            let (target, name) = (vec![b't'; length], vec![b'n'; length.min(255)]);
            let made = member.symlink_at(&ALICE, all, &name, &target).expect("she may");
            assert_eq!(made.mode.mode, SYMLINK | 0o777);
            let link = hold(member, all, &name).expect("it is there");
            let mut read = vec![0; 5_000];
            let bytes = member.read_at(link.node, 0, &mut read).expect("it is there");
            assert!(read[..bytes] == target[..]);
            assert_eq!(member.truncate(link.node, 0), Err(Errno::INVAL));
            member.remove_at(&ALICE, all, &name, Remove::Name).expect("it is hers");
            member.close(link.descriptor).expect("it is open");
        }
        assert_eq!(member.symlink_at(&ALICE, all, b"name", b""), Err(Errno::NOENT));
        let long = member.symlink_at(&ALICE, all, b"name", &[b't'; 4_096]);
        assert_eq!(long, Err(Errno::NAMETOOLONG));
    });
}

#[test]
fn what_is_made_in_a_setgid_directory_has_its_group() {
    with_member(|member, all| {
        member.make_at(&ALICE, all, b"shared", DIRECTORY | 0o777).expect("she may");
        let shared = hold(member, all, b"shared").expect("it is there").node;
        member.set_mode(&ALICE, shared, 0o2777).expect("it is hers");
        let file = member.make_at(&BOB, shared, b"file", FILE | 0o600).expect("he may");
        assert_eq!((file.mode.uid, file.mode.gid), (2, 10));
        let below = member.make_at(&BOB, shared, b"below", DIRECTORY | 0o700).expect("he may");
        assert_eq!((below.mode.gid, below.mode.mode & !TYPE), (10, 0o2700));
    });
}

#[test]
fn a_time_of_access_that_is_set_stays() {
    with_member(|member, all| {
        let to = |accessed, changed| NewTimes { accessed, changed };
        for (name, mode) in [("file", FILE | 0o600), ("directory", DIRECTORY | 0o700)] {
            member.make_at(&ALICE, all, name.as_bytes(), mode).expect("she may");
            let node = hold(member, all, name.as_bytes()).expect("it is there").node;
            let touch = |times| member.touch_node(&ALICE, node, times).expect("it is hers");
            let times = || {
                let stat = member.stat(node).expect("it is open");
                (stat.atime_ns, stat.mtime_ns)
            };
            touch(to(NewTime::At(7), NewTime::At(7)));
            touch(to(NewTime::Same, NewTime::At(8)));
            assert_eq!(times(), (8, 8), "nobody has set another");
            touch(to(NewTime::At(0), NewTime::Same));
            assert_eq!(times(), (0, 8));
            touch(to(NewTime::Same, NewTime::At(9)));
            assert_eq!(times(), (0, 9));
            touch(to(NewTime::At(-1), NewTime::At(-2)));
            assert_eq!(times(), (-1, -2));
            touch(to(NewTime::At(i64::MIN), NewTime::At(-1)));
            assert_eq!(times(), (i64::MIN, -1));
            touch(to(NewTime::At(i64::MAX - 1), NewTime::Now));
            assert!(times().0 == i64::MAX - 1 && times().1 > 0);
            touch(to(NewTime::Now, NewTime::Now));
            assert_eq!(times().0, times().1);
            let before = member.stat(node).expect("it is open");
            touch(to(NewTime::Same, NewTime::Same));
            assert_eq!(member.stat(node), Ok(before));
        }
        let alice = Caller { umask: 0, ..ALICE };
        let made = member.make_at(&alice, all, b"shared", FILE | 0o606).expect("she may");
        let node = hold(member, all, b"shared").expect("it is there").node;
        let his = |times| member.touch_node(&BOB, node, times);
        assert_eq!(his(to(NewTime::Now, NewTime::Same)), Err(Errno::PERM));
        assert_eq!(his(to(NewTime::At(5), NewTime::Now)), Err(Errno::PERM));
        assert_eq!(his(to(NewTime::Now, NewTime::Now)), Ok(()), "he may write");
        assert!(member.stat(node).expect("it is open").mtime_ns > made.mtime_ns);
    });
}

#[test]
fn a_device_keeps_its_number() {
    with_member(|member, all| {
        for (kind, device) in [(CHARACTERS, 0x0103), (BLOCKS, u32::MAX)] {
            let (name, mode) = (b"device", kind | 0o640);
            assert_eq!(member.make_device_at(&ALICE, all, name, mode, device), Err(Errno::PERM));
            let no = member.make_device_at(&Caller::ROOT, all, name, FILE | 0o640, device);
            assert_eq!(no, Err(Errno::INVAL));
            let made = member.make_device_at(&Caller::ROOT, all, name, mode, device);
            let made = made.expect("root may");
            assert_eq!((made.device, made.size, made.blocks), (device, 0, 0));
            assert_eq!(made.mode.mode, mode);
            let open = hold(member, all, name).expect("it is there");
            assert_eq!(member.open_node(&Caller::ROOT, open.node, 0), Err(Errno::NXIO));
            assert_eq!(member.truncate(open.node, 0), Err(Errno::INVAL));
            // With an annex, the device number is stored there.
            let times = NewTimes { accessed: NewTime::At(1), changed: NewTime::Same };
            member.touch_node(&Caller::ROOT, open.node, times).expect("there is room");
            assert_eq!(member.stat(open.node).expect("it is open").device, device);
            assert_whole(member);
            member.remove_at(&Caller::ROOT, all, name, Remove::Name).expect("it is there");
            member.close(open.descriptor).expect("it is open");
            assert_whole(member);
            let open = member.open(&ALICE, all, b"file", flags::CREATE | flags::READ_WRITE, 0o600);
            let open = open.expect("there is room");
            let stat = member.stat(member.node(open).expect("it is open")).expect("it is open");
            assert_eq!((stat.device, stat.size), (0, 0), "nothing of it stays");
            member.close(open).expect("it is open");
            member.remove_at(&ALICE, all, b"file", Remove::Name).expect("it is hers");
        }
    });
}
