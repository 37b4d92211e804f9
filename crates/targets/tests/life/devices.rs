//! Block devices named by the user. Loop devices with named images stand in for disks.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;

use machine::describe::extents;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use rustix::process::{Pid, Signal, kill_process_group};
use targets::{
    DeviceContent, DeviceError, OpenDeviceError, Surroundings, TargetError, Unavailable, Workshop,
};

use super::support::{Disk, make_or_skip, refusal, run, scratch, spec, surroundings, workshop};

#[expect(clippy::wildcard_enum_match_arm, reason = "a test looks for one of them")]
fn device_error(error: TargetError) -> DeviceError {
    match error {
        TargetError::Unavailable(Unavailable::Device(error)) => error,
        other => panic!("not for the device's sake: {other}"),
    }
}

fn workshop_that_may_destroy(disk: &Disk) -> Workshop {
    let destroy = vec![PathBuf::from(&disk.device)];
    Workshop::open(Surroundings { destroy, ..surroundings() }).expect("root, one thread")
}

#[expect(clippy::wildcard_enum_match_arm, reason = "a test looks for one of them")]
pub(crate) fn with_data_are_left_alone() {
    let workshop = workshop();
    let formatted = Disk::new("formatted", &[]);
    run("mkfs.ext4", &["-q", "-L", "holiday", &formatted.device]);
    let partitioned = Disk::new("partitioned", &partition_table());
    let odd = Disk::new("odd", &[&[0; 5000][..], b"somebody's data"].concat());
    let blank = Disk::new("blank", &[]);
    for (disk, expected) in [
        (&formatted, "LABEL=holiday"),
        (&partitioned, "PTTYPE=dos"),
        (&odd, "unknown kind"),
        (&blank, "looks blank"),
    ] {
        let before = disk.content();
        let error = refusal(&workshop, &format!("ext4:device={}", disk.device)).to_string();
        assert!(error.contains(expected), "{error}");
        assert!(error.contains(&format!("--destroy-data {}", disk.device)), "{error}");
        assert!(disk.content() == before, "not a byte may change");
    }
    let error = refusal(&workshop, "ext4:device=/dev/null");
    assert!(matches!(device_error(error), DeviceError::NotABlockDevice { .. }));
    let error = refusal(&workshop, "ext4:device=/dev/nonesuch");
    assert!(matches!(device_error(error), DeviceError::Unreadable { .. }));
    let error = refusal(&workshop, &format!("ext4:device={}", blank.device));
    let content = match device_error(error) {
        DeviceError::NotToBeDestroyed { content, .. } => content,
        other => panic!("{other}"),
    };
    assert_eq!(content, DeviceContent::Blank);
}

/// One partition of type 0x83, as MS-DOS wrote it: entry at 446, signature at 510.
fn partition_table() -> [u8; 512] {
    let mut sector = [0; 512];
    sector[446..462].copy_from_slice(&[0, 0, 2, 0, 0x83, 1, 1, 1, 0, 8, 0, 0, 0, 16, 0, 0]);
    sector[510..].copy_from_slice(&[0x55, 0xaa]);
    sector
}

pub(crate) fn named_is_formatted() {
    let disk = Disk::new("disk", b"old data");
    let workshop = workshop_that_may_destroy(&disk);
    let other = Disk::new("other", b"old data");
    let error = refusal(&workshop, &format!("ext4:device={}", other.device));
    assert!(matches!(device_error(error), DeviceError::NotToBeDestroyed { .. }));

    let mut target =
        workshop.make(&spec(&format!("ext4:device={}", disk.device))).expect("it is named");
    assert_eq!(target.facts().size_bytes, 128 << 20);
    assert_eq!(target.facts().source, disk.device);
    fs::write(target.root().join("file"), "x").expect("there is room");
    target.remount().expect("nothing is open");
    assert!(target.root().join("file").exists());
    target.remake().expect("nothing is open");
    assert!(!target.root().join("file").exists());
    target.close().expect("nothing is open");
    drop(target);
    workshop.close().expect("nothing is left");
}

/// It makes no difference if a link leads elsewhere by the next block, or if the named node is
/// replaced by another: what was checked is what is formatted.
pub(crate) fn what_was_checked_is_formatted_whatever_is_at_its_path() {
    let disk = Disk::new("disk", &[]);
    let other = Disk::new("other", b"precious");
    let path = super::support::scratch().join("by-name");
    let link_to = |disk: &Disk| {
        let _first = fs::remove_file(&path);
        symlink(&disk.device, &path).expect("the place can be written");
    };
    link_to(&disk);
    let destroy = vec![PathBuf::from(&disk.device)];
    let surroundings = Surroundings { destroy, ..surroundings() };
    let workshop = Workshop::open(surroundings).expect("root, one thread");
    let text = format!("ext4:device={}", path.display());
    let mut target = workshop.make(&spec(&text)).expect("it is named");
    link_to(&other);
    target.remount().expect("it is the same device");
    target.remake().expect("it is the same device");
    target.close().expect("nothing is open");
    drop(target);
    let error = refusal(&workshop, &text);
    assert!(matches!(device_error(error), DeviceError::NotToBeDestroyed { .. }));
    fs::remove_file(&path).expect("ours");

    let node = path.to_str().expect("plain").to_owned();
    let make_node = |disk: &Disk| {
        let minor = disk.device.trim_start_matches("/dev/loop");
        run("mknod", &[&node, "b", "7", minor]);
    };
    make_node(&disk);
    let mut target = workshop.make(&spec(&text)).expect("it is the same device");
    fs::remove_file(&path).expect("ours");
    make_node(&other);
    target.remount().expect("the kernel's node of the same device");
    target.remake().expect("the kernel's node of the same device");
    target.close().expect("nothing is open");
    drop(target);
    fs::remove_file(&path).expect("ours");
    assert!(other.content().starts_with(b"precious\0"), "not a byte may change");
    workshop.close().expect("nothing is left");
}

/// While a link flips between two devices, only the one that may be destroyed is ever written.
pub(crate) fn a_link_that_flips_destroys_nothing() {
    let disk = Disk::new("disk", &[]);
    let other = Disk::new("other", b"precious");
    let path = super::support::scratch().join("flips");
    symlink(&disk.device, &path).expect("the place can be written");
    let workshop = workshop_that_may_destroy(&disk);
    // In a process of its own: a workshop must be alone in this one.
    let script = "while :; do ln -sfn \"$1\" \"$3\"; ln -sfn \"$2\" \"$3\"; done";
    let mut flipping = std::process::Command::new("sh")
        .args(["-c", script, "flip", &disk.device, &other.device])
        .arg(&path)
        .process_group(0)
        .spawn()
        .expect("sh");
    let spec = spec(&format!("ext4:device={}", path.display()));
    let made = (0..20).filter(|_| workshop.make(&spec).is_ok()).count();
    // Together with the command that it is running.
    kill_process_group(Pid::from_child(&flipping), Signal::KILL).expect("it flips");
    flipping.wait().expect("it was killed");
    fs::remove_file(&path).expect("ours");
    assert!(made > 0, "the link led to what may be destroyed now and then");
    assert!(other.content().starts_with(b"precious\0"), "not a byte may change");
    workshop.close().expect("nothing is left");
}

/// A name without a slash would stand for a device if fsprism had been started in its directory.
pub(crate) fn a_name_in_mkfs_is_no_device() {
    let disk = Disk::new("disk", b"precious");
    let workshop = workshop();
    symlink(&disk.device, super::support::scratch().join("stick")).expect("it can be written");
    std::env::set_current_dir(super::support::scratch()).expect("it is there");
    let error = refusal(&workshop, "btrfs:mkfs=-d raid0 -m raid0 -K stick");
    assert!(matches!(error, TargetError::Mkfs { .. }), "{error}");
    assert!(disk.content().starts_with(b"precious\0"), "not a byte may change");
    fs::remove_file("stick").expect("ours");
    // A file that mkfs makes goes with the directory that it runs in, which has little room.
    if let Err(error) = workshop.make(&spec("ext4:mkfs=-z undo")) {
        assert!(matches!(error, TargetError::Mkfs { .. }), "{error}");
    }
    for elsewhere in ["undo", "/undo"] {
        assert!(!PathBuf::from(elsewhere).exists(), "{elsewhere} was left behind");
    }
    std::env::set_current_dir("/").expect("it is there");
    workshop.close().expect("nothing is left");
}

pub(crate) fn in_use_is_refused() {
    let disk = Disk::new("disk", &[]);
    run("mkfs.ext4", &["-q", &disk.device]);
    let workshop = workshop_that_may_destroy(&disk);
    let mount_point = super::support::scratch().join("mounted");
    fs::create_dir(&mount_point).expect("the place can be written");
    mount(disk.device.as_str(), &mount_point, "ext4", MountFlags::empty(), None).expect("root");
    fs::write(mount_point.join("precious"), "kept").expect("there is room");
    let error = refusal(&workshop, &format!("ext4:device={}", disk.device));
    assert!(matches!(device_error(error), DeviceError::InUse { .. }), "naming it does not help");
    assert_eq!(fs::read_to_string(mount_point.join("precious")).expect("mounted"), "kept");
    unmount(&mount_point, UnmountFlags::empty()).expect("nothing is open");
    fs::remove_dir(&mount_point).expect("it is ours");
    // A loop device does not claim what it is on exclusively.
    let upper = run("losetup", &["-f", "--show", &disk.device]);
    let error = refusal(&workshop, &format!("ext4:device={}", disk.device));
    run("losetup", &["-d", &upper]);
    assert!(matches!(device_error(error), DeviceError::InUse { .. }), "another lies on it");
    // Nor does a second one on the same image.
    let image = disk.image.to_str().expect("plain");
    let twin = run("losetup", &["-f", "--show", "-o", "1048576", image]);
    let error = refusal(&workshop, &format!("ext4:device={}", disk.device));
    run("losetup", &["-d", &twin]);
    assert!(matches!(device_error(error), DeviceError::InUse { .. }), "both show its bytes");
    drop(workshop.make(&spec(&format!("ext4:device={}", disk.device))).expect("it is free now"));
}

/// A loop device can be opened exclusively, whatever it shows.
pub(crate) fn one_that_shows_another_in_use_is_refused() {
    let disk = Disk::new("disk", &[]);
    run("mkfs.ext4", &["-q", &disk.device]);
    let mount_point = super::support::scratch().join("mounted");
    fs::create_dir(&mount_point).expect("the place can be written");
    mount(disk.device.as_str(), &mount_point, "ext4", MountFlags::empty(), None).expect("root");
    fs::write(mount_point.join("precious"), "kept").expect("there is room");
    let second = run("losetup", &["-f", "--show", &disk.device]);
    let third = run("losetup", &["-f", "--show", &second]);
    let destroy = vec![PathBuf::from(&second), PathBuf::from(&third)];
    let workshop =
        Workshop::open(Surroundings { destroy, ..surroundings() }).expect("root, one thread");
    let error = refusal(&workshop, &format!("ext4:device={third}"));
    assert!(matches!(device_error(error), DeviceError::InUse { .. }), "it shows the other");
    run("losetup", &["-d", &third]);
    let error = refusal(&workshop, &format!("ext4:device={second}"));
    assert!(matches!(device_error(error), DeviceError::InUse { .. }), "it shows what is mounted");
    assert_eq!(fs::read_to_string(mount_point.join("precious")).expect("mounted"), "kept");
    unmount(&mount_point, UnmountFlags::empty()).expect("nothing is open");
    fs::remove_dir(&mount_point).expect("it is ours");
    drop(workshop.make(&spec(&format!("ext4:device={second}"))).expect("it is free now"));
    workshop.close().expect("nothing is left");
    run("losetup", &["-d", &second]);
}

/// A buffer aligned to 4096 bytes, as direct reads require.
#[repr(align(4096))]
struct Block([u8; 4096]);

pub(crate) fn the_one_below_is_read() {
    let workshop = workshop();
    for text in ["ext2:size=128m", "xfs:size=512m", "btrfs:size=512m"] {
        let Some(target) = make_or_skip(&workshop, text) else { continue };
        fs::write(target.root().join("file"), vec![7; 1 << 20]).expect("there is room");
        let file = File::open(target.root().join("file")).expect("it was written");
        let extents = extents(&file).expect("it lies on a device");
        let device = target.open_device().expect("root");
        assert_eq!(device.path().to_str(), Some(target.facts().source.as_str()));
        assert_eq!(device.size_bytes(), target.facts().size_bytes);
        assert_eq!(device.logical_block_bytes(), 512);
        assert!(device.physical_block_bytes() >= 512);
        let mut block = Box::new(Block([0; 4096]));
        if target.facts().file_system != "btrfs" {
            let first = extents.list()[0];
            let at = first.physical_bytes / 4096 * 4096;
            device.file().read_exact_at(&mut block.0, at).expect("it lies inside");
            let skipped = usize::try_from(first.physical_bytes - at).expect("below 4096");
            let length = usize::try_from(first.length_bytes.min(1024)).expect("a block");
            assert!(block.0[skipped..skipped + length].iter().all(|&byte| byte == 7));
        }
        device.file().read_exact_at(&mut block.0[..100], 0).expect_err("it bypasses the cache");
        device.file().write_all_at(&block.0, 0).expect_err("it is for reading only");
        let writable = target.open_device_for_writes().expect("its file system is ours");
        let last = writable.size_bytes() / 4096 * 4096 - 4096;
        writable.file().read_exact_at(&mut block.0, last).expect("it lies inside");
        writable.file().write_all_at(&block.0, last).expect("it can be written");
    }
    workshop.close().expect("nothing is left");
}

pub(crate) fn memory_has_none() {
    let workshop = workshop();
    let target = make_or_skip(&workshop, "tmpfs:size=64m").expect("root");
    let error = target.open_device().expect_err("it lies in memory");
    assert!(matches!(error, OpenDeviceError::NoDevice { .. }), "{error}");
    let error = target.open_device_for_writes().expect_err("it lies in memory");
    assert!(matches!(error, OpenDeviceError::NoDevice { .. }), "{error}");
}

/// What is below a user's directory is not ours, whoever we are.
pub(crate) fn below_a_directory_is_not_written() {
    let workshop = workshop();
    let directory = super::support::scratch().join("somebodys");
    fs::create_dir(&directory).expect("the place can be written");
    let target = workshop.make(&spec(directory.to_str().expect("ASCII"))).expect("it is there");
    let error = target.open_device_for_writes().expect_err("it is not ours");
    assert!(matches!(error, OpenDeviceError::NotOurs { .. }), "{error}");
    drop(target);
    workshop.close().expect("nothing is left");
    fs::remove_dir(&directory).expect("it is empty again");
}

pub(crate) fn several_are_not_one() {
    let workshop = workshop();
    let disks = [Disk::new("one", &[]), Disk::new("other", &[])];
    let devices = [&*disks[0].device, &*disks[1].device];
    run("mkfs.btrfs", &[&["-q", "-f", "-d", "single", "-m", "single"], &devices[..]].concat());
    let mount_point = scratch().join("mounted");
    fs::create_dir(&mount_point).expect("the place can be written");
    mount(devices[0], &mount_point, "btrfs", MountFlags::empty(), None).expect("root");
    let target = workshop.make(&spec(mount_point.to_str().expect("plain"))).expect("a directory");
    let error = target.open_device().expect_err("half of it is no device");
    assert!(matches!(error, OpenDeviceError::SeveralDevices { .. }), "{error}");
    assert!(target.facts().read_ahead_bytes > Some(0), "{:?}", target.facts());
    drop(target);
    unmount(&mount_point, UnmountFlags::empty()).expect("nothing is open");
    fs::remove_dir(&mount_point).expect("it is ours");
}
