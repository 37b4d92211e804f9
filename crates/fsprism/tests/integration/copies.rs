//! `fsprism densefs import` and `export`: what a tree has comes back, what cannot is said, and
//! neither holes nor damage take for ever.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::process::Command;

use densefs_process::DenseFs;
use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, XattrFlags, lgetxattr, lsetxattr, utimensat};

use crate::place::{Place, say_skipped};
use crate::process::Outcome;

/// Sets an attribute; false if the file system there has none of its kind.
fn set(path: &Path, name: &str, value: &[u8]) -> bool {
    lsetxattr(path, name, value, XattrFlags::empty()).is_ok()
}

fn get(path: &Path, name: &str) -> Vec<u8> {
    let mut value = vec![0; 1_000];
    let length = lgetxattr(path, name, value.as_mut_slice()).expect("it was copied");
    value.truncate(length);
    value
}

fn set_mtime(path: &Path, tv_sec: i64, tv_nsec: i64) {
    let time = Timespec { tv_sec, tv_nsec };
    let times = Timestamps { last_access: time, last_modification: time };
    utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW).expect("it is ours");
}

#[test]
fn attributes_times_links_and_holes_come_back() {
    let Some(place) = Place::as_root("attributes_times_links_and_holes_come_back") else { return };
    let run = |arguments: &str| place.finish(place.fsprism(arguments));
    run("densefs mkfs arena --size 32m").assert_code(0);
    let tree = place.make("tree");
    fs::create_dir(tree.join("sub")).expect("the place is ours");
    fs::write(tree.join("file"), "it rains").expect("there is room");
    fs::hard_link(tree.join("file"), tree.join("sub/again")).expect("there is room");
    std::os::unix::fs::symlink("file", tree.join("link")).expect("there is room");
    // One page of data in 1 TiB: whoever reads the holes is not done today.
    let sparse = File::create(tree.join("sparse")).expect("there is room");
    sparse.set_len(1 << 40).expect("it takes no room");
    sparse.write_all_at(&[7; 4_096], 1 << 39).expect("there is room");
    let kept = [
        ("file", "user.colour", &b"red"[..]),
        ("file", "trusted.note", b"\x00\x01"),
        ("sub", "user.empty", b""),
        ("link", "trusted.leads", b"on"),
    ];
    for (path, name, value) in kept {
        if !set(&tree.join(path), name, value) {
            return say_skipped(
                "attributes_times_links_and_holes_come_back",
                "the file system here keeps no attributes",
            );
        }
    }
    fs::set_permissions(tree.join("file"), std::os::unix::fs::PermissionsExt::from_mode(0o444))
        .expect("it is ours");
    set_mtime(&tree.join("file"), 1_000_000_000, 123_456_789);
    set_mtime(&tree.join("link"), 1_000_000_001, 1);
    let imported = run("densefs import tree arena");
    imported.assert_code(0);
    assert_eq!(imported.stdout.lines().count(), 1, "nothing is missing: {imported:?}");
    assert_eq!(imported.stderr, "", "nothing is drawn where there is no terminal");
    run("densefs check arena").assert_code(0);
    let usage = run("densefs stat arena --format json").document();
    let used = usage["bytes"].as_u64().zip(usage["free_bytes"].as_u64()).expect("numbers");
    assert!(used.0 - used.1 < 1 << 20, "holes take nothing: {used:?}");
    let exported = run("densefs export copy arena");
    exported.assert_code(0);
    assert_eq!((exported.stdout.lines().count(), exported.stderr.as_str()), (1, ""));
    let copy = place.path("copy");
    for (path, name, value) in kept {
        assert_eq!(get(&copy.join(path), name), value, "{name} of {path}");
    }
    for (path, time) in [("file", (1_000_000_000, 123_456_789)), ("link", (1_000_000_001, 1))] {
        let there = fs::symlink_metadata(copy.join(path)).expect("it was copied");
        assert_eq!((there.mtime(), there.mtime_nsec()), time, "{path}");
    }
    let ino = |path: &str| fs::metadata(copy.join(path)).expect("it was copied").ino();
    assert_eq!(ino("file"), ino("sub/again"));
    let sparse = File::open(copy.join("sparse")).expect("it was copied");
    let metadata = sparse.metadata().expect("it is open");
    assert_eq!(metadata.len(), 1 << 40);
    assert!(metadata.blocks() < 100, "{} blocks", metadata.blocks());
    let mut page = [0; 4_096];
    sparse.read_exact_at(&mut page, 1 << 39).expect("it is there");
    assert!(page == [7; 4_096]);
}

#[test]
fn what_an_arena_cannot_keep_is_said_once() {
    let place = Place::new();
    let run = |arguments: &str| place.finish(place.fsprism(arguments));
    run("densefs mkfs arena --size 8m").assert_code(0);
    let tree = place.make("tree");
    for name in ["one", "two"] {
        fs::write(tree.join(name), "it rains").expect("there is room");
        // After the last second that an arena can have.
        set_mtime(&tree.join(name), 10_000_000_000, 500_000_000);
        // That user 1 may read it: version 2, and entries of a tag, permissions and a number.
        let entry =
            |tag: u16, id: u32| [&tag.to_le_bytes()[..], &[4, 0], &id.to_le_bytes()].concat();
        let none = u32::MAX;
        let entries =
            [entry(1, none), entry(2, 1), entry(4, none), entry(0x10, none), entry(0x20, none)];
        let list = [&2_u32.to_le_bytes()[..], &entries.concat()].concat();
        if !set(&tree.join(name), "system.posix_acl_access", &list) {
            return say_skipped(
                "what_an_arena_cannot_keep_is_said_once",
                "the file system here keeps no access lists",
            );
        }
        set_mtime(&tree.join(name), 10_000_000_000, 500_000_000);
    }
    fs::write(tree.join("old"), "").expect("there is room");
    set_mtime(&tree.join("old"), -300_000_000, 500_000_000);
    let said = run("densefs import tree arena").assert_code(0).stdout.clone();
    let lines: Vec<_> = said.lines().collect();
    let [_, attributes, times] = lines[..] else { panic!("{said}") };
    let begins = "2 extended attributes not kept: the first is system.posix_acl_access of tree/";
    assert!(attributes.starts_with(begins), "{attributes}");
    let begins =
        "2 times changed to the nearest that a DenseFS can store, 1677 to 2262: the first is tree/";
    assert!(times.starts_with(begins), "{times}");
    run("densefs export copy arena").assert_code(0);
    for name in ["one", "two"] {
        let there = fs::metadata(place.path("copy").join(name)).expect("it was copied");
        assert_eq!((there.mtime(), there.mtime_nsec()), (9_223_372_036, 0), "{name}");
    }
    let there = fs::metadata(place.path("copy/old")).expect("it was copied");
    assert_eq!((there.mtime(), there.mtime_nsec()), (-300_000_000, 500_000_000));
}

/// A limit of the process, as a file system has one.
#[test]
fn a_file_that_is_too_large_is_named_and_the_others_are_copied() {
    let place = Place::new();
    let run = |arguments: &str| place.finish(place.fsprism(arguments));
    run("densefs mkfs arena --size 8m").assert_code(0);
    let tree = place.make("tree");
    let large = File::create(tree.join("large")).expect("there is room");
    large.set_len(1 << 40).expect("it takes no room");
    fs::write(tree.join("small"), "it rains").expect("there is room");
    run("densefs import tree arena").assert_code(0);
    let script = "trap '' XFSZ; ulimit -f 65536; exec \"$0\" densefs export copy arena";
    let mut command = place.here(Command::new("sh"), "-c");
    command.args([script, env!("CARGO_BIN_EXE_fsprism")]);
    let outcome = place.finish(command);
    outcome.assert_code(1);
    let why = "copy/large: its 1099511627776 bytes are more than a file can have there";
    assert!(outcome.stdout.contains(why), "{outcome:?}");
    assert_eq!(fs::read(place.path("copy/small")).expect("it was copied"), b"it rains");
    assert!(!place.path("copy/large").exists());
}

#[test]
fn a_damaged_arena_is_called_so_and_the_rest_is_exported() {
    let place = Place::new();
    let run = |arguments: &str| place.finish(place.fsprism(arguments));
    run("densefs mkfs arena --size 8m").assert_code(0);
    let tree = place.make("tree");
    for name in ["damaged", "whole"] {
        fs::write(tree.join(name), "it rains").expect("there is room");
    }
    run("densefs import tree arena").assert_code(0);
    let files = DenseFs::attach(place.path("arena")).expect("it is one");
    let ino = files.stat("damaged").expect("it was copied").ino;
    files.leave();
    drop(files);
    let arena = File::options().read(true).write(true).open(place.path("arena"));
    let arena = arena.expect("it is ours");
    let mut secret = [0; 8];
    arena.read_exact_at(&mut secret, 32).expect("it is there");
    // The size of the file, as SPEC.md says.
    let size = (ino ^ u64::from_le_bytes(secret)) + 8;
    arena.write_all_at(&(1_u64 << 60).to_le_bytes(), size).expect("it is ours");
    let checked = run("densefs check arena");
    checked.assert_code(1);
    assert!(checked.stdout.contains("a file is larger than any can be"), "{checked:?}");
    let exported = run("densefs export copy arena");
    exported.assert_code(1);
    let why = "not copied, or only in part: in the DenseFS, /damaged: it is larger than";
    assert!(exported.stdout.contains(why), "{exported:?}");
    assert_eq!(fs::read(place.path("copy/whole")).expect("it was copied"), b"it rains");
}

#[test]
fn who_may_not_mount_is_told_why() {
    let test = "who_may_not_mount_is_told_why";
    let Some(place) = Place::as_root(test) else { return };
    if !Path::new("/dev/fuse").exists() {
        return say_skipped(test, "there is no /dev/fuse");
    }
    place.install(Path::new(env!("CARGO_BIN_EXE_fsprism")), "program");
    place.make("point");
    // A device of its own in a mount namespace of its own, which only root may open, or anybody.
    // The program that mounts for others is not in the path.
    let script = "chmod 777 . point && mount --bind fuse /dev/fuse \
                  && exec setpriv --reuid 65534 --regid 65534 --clear-groups sh -c \
                  './program densefs mkfs arena --size 4m --overwrite \
                  && PATH=/none exec ./program densefs mount arena point'";
    for (mode, words) in [
        ("600", ["cannot open /dev/fuse: Permission denied", "mount it as root"]),
        ("666", ["only root can mount without the program fusermount3", "mount it as root"]),
    ] {
        let device = format!("rm -f fuse && mknod -m {mode} fuse c 10 229 && {script}");
        let mut command = place.here(Command::new("unshare"), "--mount sh -c");
        command.arg(device);
        let outcome = Outcome::from_output(command.output().expect("util-linux is installed"));
        outcome.assert_refused(&words);
    }
}
