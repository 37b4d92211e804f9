//! A mounted DenseFS as other programs see it, while a process also uses it by library calls.

mod place;

use std::fs::{self, OpenOptions, Permissions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use densefs_fuse::{Mount, MountError};
use densefs_process::{Errno, Follow, XattrTarget, flags};
use place::mounted;
use rustix::fs::{FallocateFlags, XattrFlags};

#[test]
fn programs_find_a_file_system() {
    mounted("programs_find_a_file_system", |point, _| {
        let mounts = fs::read_to_string("/proc/self/mounts").expect("/proc is mounted");
        let wanted = format!("{} fuse.densefs ", point.display());
        assert!(mounts.contains(&wanted), "{mounts}");
        fs::create_dir_all(point.join("a/b")).expect("there is room");
        let path = point.join("a/b/file");
        fs::write(&path, vec![7; 100_000]).expect("there is room");
        let stat = fs::metadata(&path).expect("it is there");
        assert_eq!((stat.len(), stat.nlink(), stat.blocks() >= 196), (100_000, 1, true));
        assert!(fs::read(&path).expect("it is there") == vec![7; 100_000]);
        symlink("b/file", point.join("a/link")).expect("there is room");
        assert_eq!(fs::read(point.join("a/link")).expect("it is there").len(), 100_000);
        fs::hard_link(&path, point.join("second")).expect("there is room");
        assert_eq!(fs::metadata(&path).expect("it is there").nlink(), 2);
        fs::rename(point.join("second"), point.join("a/third")).expect("there is room");
        assert!(fs::remove_dir(point.join("a")).is_err(), "it is not empty");
        let mut file = OpenOptions::new().append(true).open(&path).expect("it is there");
        file.write_all(b"end").expect("there is room");
        file.set_len(100_001).expect("it can be cut off");
        let mut open = fs::File::open(&path).expect("it is there");
        fs::remove_file(&path).expect("it is there");
        fs::remove_file(point.join("a/third")).expect("it is there");
        open.seek(SeekFrom::Start(99_999)).expect("it is a file");
        let mut rest = Vec::new();
        open.read_to_end(&mut rest).expect("it is open");
        assert_eq!(rest, [7, b'e']);
        for number in 0..2_000 {
            fs::write(point.join(format!("a/b/{number}")), b"").expect("there is room");
        }
        assert_eq!(fs::read_dir(point.join("a/b")).expect("it is there").count(), 2_000);
    });
}

/// Attributes, allocated space and holes are the same as by library calls.
#[test]
fn attributes_and_holes_reach_the_core() {
    mounted("attributes_and_holes_reach_the_core", |point, files| {
        let path = point.join("file");
        fs::write(&path, vec![7; 20_000]).expect("there is room");
        let flags = XattrFlags::CREATE;
        rustix::fs::setxattr(&path, "user.colour", b"blue", flags).expect("there is room");
        let again = rustix::fs::setxattr(&path, "user.colour", b"red", flags);
        assert_eq!(again, Err(rustix::io::Errno::EXIST));
        let mut value = [0; 10];
        let of = XattrTarget::Named(Path::new("file"), Follow::Yes);
        assert_eq!(files.attribute(of, b"user.colour", &mut value), Ok(4));
        assert_eq!(rustix::fs::getxattr(&path, "user.colour", &mut value), Ok(4));
        assert_eq!(&value[..4], b"blue");
        let mut names = [0; 100];
        let length = rustix::fs::listxattr(&path, &mut names).expect("there is room");
        assert_eq!(&names[..length], b"user.colour\0");
        rustix::fs::removexattr(&path, "user.colour").expect("it is there");
        let file = OpenOptions::new().write(true).open(&path).expect("it is there");
        let punch = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        rustix::fs::fallocate(&file, punch, 4_096, 8_192).expect("it can be");
        let hole = rustix::fs::seek(&file, rustix::fs::SeekFrom::Hole(0));
        assert_eq!(hole, Ok(4_096));
        rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, 30_000).expect("there is room");
        let bytes = fs::read(&path).expect("it is there");
        assert!(bytes.len() == 30_000 && bytes[4_096..12_288] == [0; 8_192]);
        assert_eq!((bytes[4_095], bytes[12_288], bytes[20_000]), (7, 7, 0));
    });
}

/// Changes on one side are seen on the other at once.
#[test]
fn calls_and_the_mount_see_the_same() {
    mounted("calls_and_the_mount_see_the_same", |point, files| {
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create_new(true);
        let file = options.open(point.join("shared")).expect("there is room");
        for round in 0..50_u8 {
            let ours = files.open("shared", flags::READ_WRITE, 0).expect("it is there");
            assert_eq!(ours.write(&[round; 10]), Ok(10));
            let mut ten = [0; 10];
            file.read_exact_at(&mut ten, 0).expect("it is as long as that");
            assert_eq!(ten, [round; 10]);
            file.write_all_at(&[round + 1; 5], 5).expect("there is room");
            assert_eq!(files.read_from(ours.descriptor(), 0, &mut ten), Ok(10));
            assert_eq!(ten[4..6], [round, round + 1]);
            let name = format!("{round}");
            files.make_directory(&name, 0o755).expect("there is room");
            assert!(point.join(&name).is_dir());
            fs::remove_dir(point.join(&name)).expect("it is empty");
            assert_eq!(files.stat(&name), Err(Errno::NOENT));
        }
    });
}

/// The kernel checks permissions, including those of groups.
#[test]
fn others_may_what_the_permissions_say() {
    mounted("others_may_what_the_permissions_say", |point, _| {
        let as_nobody = |script: &str| {
            let mut command = Command::new("sh");
            command.arg("-c").arg(script).current_dir(point).uid(65_534).gid(65_534);
            command.output().expect("sh can be started").status.success()
        };
        fs::write(point.join("secret"), "x").expect("there is room");
        fs::set_permissions(point.join("secret"), Permissions::from_mode(0o600)).expect("ours");
        assert!(!as_nobody("cat secret"));
        assert!(as_nobody("echo y > own && chmod 640 own && cat own && ! chown 0 own"));
        let own = fs::metadata(point.join("own")).expect("it is there");
        assert_eq!((own.uid(), own.gid(), own.mode() & 0o777), (65_534, 65_534, 0o640));
        fs::set_permissions(point, Permissions::from_mode(0o1777)).expect("ours");
        assert!(!as_nobody("rm -f secret"), "the directory is sticky");
        assert!(as_nobody("rm own"));
    });
}

#[test]
fn what_cannot_be_mounted_is_refused() {
    mounted("what_cannot_be_mounted_is_refused", |point, files| {
        let busy = Mount::on(point, files.clone()).expect_err("something is mounted there");
        assert!(matches!(busy, MountError::Busy { .. }), "{busy}");
        let file = point.join("file");
        fs::write(&file, "").expect("there is room");
        let why = Mount::on(&file, files.clone()).expect_err("it is no directory");
        assert!(matches!(why, MountError::NoDirectory { .. }), "{why}");
    });
}

/// Times and devices set by programs are visible on both sides.
#[test]
fn times_and_devices_are_kept() {
    mounted("times_and_devices_are_kept", |point, files| {
        use rustix::fs::{AtFlags, CWD, FileType, Mode, Timespec, Timestamps, UTIME_OMIT};
        let path = point.join("file");
        fs::write(&path, "x").expect("there is room");
        let at = |tv_sec, tv_nsec| Timespec { tv_sec, tv_nsec };
        let set = |last_access, last_modification| {
            let times = Timestamps { last_access, last_modification };
            rustix::fs::utimensat(CWD, &path, &times, AtFlags::empty()).expect("it is ours");
        };
        let times = || {
            let of = fs::metadata(&path).expect("it is there");
            (of.atime(), of.atime_nsec(), of.mtime(), of.mtime_nsec())
        };
        let omit = at(0, UTIME_OMIT);
        set(at(1, 2), at(3, 4));
        assert_eq!(times(), (1, 2, 3, 4));
        set(omit, at(5, 6));
        assert_eq!(times(), (1, 2, 5, 6));
        set(at(7, 8), omit);
        assert_eq!(times(), (7, 8, 5, 6));
        assert_eq!(files.stat("file").expect("it is there").atime_ns, 7_000_000_008);
        set(at(-1, 999_999_999), at(-2_000_000_000, 1));
        assert_eq!(times(), (-1, 999_999_999, -2_000_000_000, 1));
        assert_eq!(files.stat("file").expect("it is there").atime_ns, -1);
        set(at(10_000_000_000, 5), omit);
        assert_eq!(times().0, 9_223_372_036, "the last second");
        let device = rustix::fs::makedev(259, 70_000);
        for kind in [FileType::CharacterDevice, FileType::BlockDevice] {
            let mode = Mode::from_raw_mode(0o600);
            let path = point.join("device");
            rustix::fs::mknodat(CWD, &path, kind, mode, device).expect("we are root");
            let stat = rustix::fs::stat(&path).expect("it is there");
            assert_eq!(FileType::from_raw_mode(stat.st_mode), kind);
            assert_eq!((stat.st_rdev, stat.st_size), (device, 0));
            assert!(fs::File::open(&path).is_err(), "the mount has no devices");
            fs::remove_file(&path).expect("it is there");
        }
    });
}
