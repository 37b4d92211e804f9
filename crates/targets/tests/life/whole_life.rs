//! The whole life of a target of each kind, making its cache cold and warm on the way.

use std::fs::{self, File};
use std::path::Path;
use std::time::Duration;

use machine::describe::{Extent, extents};
use targets::cache::cache_state;
use targets::{Step, Surroundings, Target, TargetError, Unavailable, Workshop};

use super::support::{loop_devices, make_or_skip, scratch, spec, surroundings, workshop};

const FILE_BYTES: usize = 8 << 20;

fn content() -> Vec<u8> {
    (0..FILE_BYTES).map(|at| u8::try_from(at / 4096 % 251).expect("below 251")).collect()
}

/// Writes a file and checks that all of it is in memory, and then that it is written.
fn write(target: &Target) -> File {
    let path = target.root().join("file");
    fs::write(&path, content()).expect("there is room");
    target.sync().expect("the device is sound");
    let file = File::open(path).expect("just written");
    let residency = cache_state::residency(&file).expect("a plain file");
    assert!(residency.is_full(), "{residency:?}");
    assert_eq!(residency.total_pages, (FILE_BYTES / rustix::param::page_size()) as u64);
    file
}

fn close(mut target: Target, workshop: Workshop) {
    let root = target.root().to_owned();
    target.close().expect("nothing is open in it");
    target.close().expect("a second time does nothing");
    assert!(!root.exists());
    assert!(matches!(target.remount(), Err(TargetError::NotRemountable { .. })));
    assert_eq!(loop_devices(&scratch()), [""; 0]);
    drop(target);
    workshop.close().expect("nothing is left");
}

pub(crate) fn in_memory(text: &str) {
    let workshop = workshop();
    let mut target = workshop.make(&spec(text)).expect(text);
    assert!(!target.supports_cold());
    assert_eq!(target.facts().mkfs, None);
    let space = target.space().expect("it says");
    assert!(space.free_bytes > FILE_BYTES as u64, "{space:?}");
    if text.starts_with("tmpfs") {
        assert_eq!(space.total_bytes, 64 << 20);
    }
    let file = write(&target);
    drop(file);
    let left = cache_state::evict_all(target.root(), [target.root().join("file")], Duration::ZERO);
    assert!(!left.expect("a plain file").is_none(), "the only copy stays");
    assert!(matches!(target.remount(), Err(TargetError::NotRemountable { .. })));
    assert!(target.root().join("file").exists());
    target.remake().expect("nothing is open");
    assert!(!target.root().join("file").exists());
    close(target, workshop);
}

pub(crate) fn on_a_loop_device(text: &str) {
    let workshop = workshop();
    let Some(mut target) = make_or_skip(&workshop, text) else { return };
    check_facts(&target, text);
    // Whether ext4's driver serves ext2 depends on the kernel.
    if !text.starts_with("ext2") {
        assert_eq!(target.facts().lacks_journal, text.contains("has_journal"), "{text}");
    }
    let file = write(&target);
    assert!(target.supports_cold());
    drop(file);
    cache_cycle(&target);

    let before = (target.root().to_owned(), loop_devices(&scratch()));
    target.remount().expect("nothing is open");
    assert_eq!((target.root().to_owned(), loop_devices(&scratch())), before, "it stays bound");
    let file = File::open(target.root().join("file")).expect("it survives");
    assert!(cache_state::residency(&file).expect("a plain file").is_none());
    assert!(fs::read(target.root().join("file")).expect("it survives") == content());
    drop(file);

    target.remake().expect("nothing is open");
    assert!(!target.root().join("file").exists(), "it is a fresh file system");
    write(&target);
    close(target, workshop);
}

fn cache_cycle(target: &Target) {
    let root = target.root();
    let file = root.join("file");
    let cold = cache_state::evict_all(root, [&file], Duration::ZERO).expect("a plain file");
    assert!(cold.is_none(), "{cold:?}");
    let warm = read_in(&[&file]);
    assert!(warm.is_full() && warm.dirty_pages == Some(0), "{warm:?}");
    let paths: Vec<_> = (0..20).map(|number| root.join(format!("small-{number}"))).collect();
    for path in &paths {
        fs::write(path, [1; 5000]).expect("there is room");
    }
    let all = cache_state::residency_of(&paths).expect("plain files");
    assert!(all.is_full() && all.dirty_pages > Some(0), "{all:?}");
    assert!(cache_state::evict_all(root, &paths, Duration::ZERO).expect("plain files").is_none());
    assert!(read_in(&paths).is_full());
}

/// What is in memory after reading files in: the first of several tries in which all of them are. A
/// kernel that reclaims early (DAMON) may evict some meanwhile, and those are read again.
fn read_in<P: AsRef<Path>>(paths: &[P]) -> cache_state::Residency {
    const TRIES: u32 = 5;
    let read = || cache_state::read_in_all(paths).expect("plain files");
    let mut tries = (1..TRIES).map(|_| read());
    tries.find(cache_state::Residency::is_full).unwrap_or_else(read)
}

/// The overlay's own inodes have no pages, so those of the files below must be counted.
pub(crate) fn an_overlay_is_counted() {
    let workshop = workshop();
    let mut target = workshop.make(&spec("ext4:size=128m")).expect("ext4 is everywhere");
    let [lower, upper, work, merged] = ["lower", "upper", "work", "merged"].map(|name| {
        let path = target.root().join(name);
        fs::create_dir(&path).expect("there is room");
        path
    });
    fs::write(lower.join("file"), content()).expect("there is room");
    let (lower, upper, work) = (lower.display(), upper.display(), work.display());
    let options = format!("lowerdir={lower},upperdir={upper},workdir={work}");
    let options = std::ffi::CString::new(options).expect("plain");
    let flags = rustix::mount::MountFlags::empty();
    let mounted = rustix::mount::mount("overlay", &merged, "overlay", flags, Some(&*options));
    if let Err(error) = mounted {
        eprintln!("skipped: an_overlay_is_counted: an overlay mount: {error}");
        return;
    }
    fs::write(merged.join("new"), content()).expect("there is room");
    for paths in [[merged.join("file")], [merged.join("new")]] {
        assert!(read_in(&paths).is_full());
        assert!(
            cache_state::evict_all(&merged, &paths, Duration::ZERO).expect("plain files").is_none()
        );
        assert!(read_in(&paths).is_full());
    }
    rustix::mount::unmount(&merged, rustix::mount::UnmountFlags::empty()).expect("nothing is open");
    target.close().expect("nothing is open");
    drop(target);
    workshop.close().expect("nothing is left");
}

fn check_facts(target: &Target, text: &str) {
    let facts = target.facts();
    let name = text.split(':').next().expect("a name");
    assert_eq!(facts.file_system, name);
    assert_eq!(facts.loop_direct_io, Some(true));
    assert!(facts.source.starts_with("/dev/loop"), "{facts:?}");
    assert_eq!(facts.device.map(|device| device.major), Some(7));
    let mkfs = facts.mkfs.as_ref().expect("it was formatted");
    assert!(mkfs.starts_with(&format!("mkfs.{name}")) && mkfs.ends_with(&facts.source), "{mkfs}");
    let version = facts.mkfs_version.as_ref().expect("every mkfs tells");
    assert!(version.contains('.'), "{version}");
    assert_eq!(facts.mount_options.contains("noatime"), text.contains("noatime"));
    let size = text.split("size=").nth(1).expect("a size").split([',', 'm']).next();
    assert_eq!(facts.size_bytes, size.expect("digits").parse::<u64>().expect("digits") << 20);
    assert!(!scratch().read_dir().expect("there").any(|_| true), "the image has no name");
}

pub(crate) fn in_a_directory() {
    let workshop = workshop();
    let directory = scratch();
    fs::write(directory.join("theirs"), "kept").expect("the place can be written");
    let mut target = workshop.make(&spec(directory.to_str().expect("plain"))).expect("a directory");
    let root = target.root().to_owned();
    let top = root.parent().expect("it is no root").to_owned();
    assert_eq!(top.parent(), directory.canonicalize().ok().as_deref());
    assert_eq!(fs::read_dir(&root).expect("it is there").count(), 0, "as on a new file system");
    drop(write(&target));
    let cold =
        cache_state::evict_all(&root, [root.join("file")], Duration::ZERO).expect("a plain file");
    assert!(!target.supports_cold() || cold.is_none(), "{cold:?}");
    assert!(matches!(target.remount(), Err(TargetError::NotRemountable { .. })));
    target.remake().expect("it is ours");
    assert!(root.exists() && !root.join("file").exists());
    fs::create_dir_all(root.join("a/b/c")).expect("there is room");
    std::os::unix::fs::symlink(&directory, root.join("a/link")).expect("there is room");
    close(target, workshop);
    assert!(!top.exists());
    assert_eq!(fs::read_to_string(directory.join("theirs")).expect("not ours"), "kept");
    fs::remove_file(directory.join("theirs")).expect("the test's own");
}

pub(crate) fn a_mount_inside_keeps_its_content() {
    let workshop = workshop();
    let directory = scratch();
    let theirs = directory.join("theirs");
    fs::create_dir(&theirs).expect("the place can be written");
    fs::write(theirs.join("file"), "kept").expect("the place can be written");
    let mut target = workshop.make(&spec(directory.to_str().expect("plain"))).expect("a directory");
    let inside = target.root().join("mounted");
    fs::create_dir(&inside).expect("there is room");
    // On the same file system, so that its device number does not give it away.
    rustix::mount::mount_bind(&theirs, &inside).expect("root");
    let error = target.close().expect_err("somebody's mount is inside");
    assert!(matches!(error, TargetError::Io { .. }), "{error}");
    assert_eq!(fs::read_to_string(theirs.join("file")).expect("not ours"), "kept");
    rustix::mount::unmount(&inside, rustix::mount::UnmountFlags::empty()).expect("root");
    drop(target);
    workshop.close().expect("the guardian removes what was left");
    fs::remove_dir_all(&theirs).expect("the test's own");
}

pub(crate) fn images_share_room() {
    let workshop = workshop();
    let free = rustix::fs::statvfs(scratch()).expect("there");
    let free = free.f_bavail * free.f_frsize;
    // A volume that is to be aged is filled; others only need room for what will be written.
    let sparse = format!("ext4:size={}m", (free / 5 * 3) >> 20);
    let both = [&sparse, &format!("b={sparse}")].map(|text| workshop.make(&spec(text)));
    drop(both.map(|made| made.expect("neither takes its size")));
    let most = format!("{sparse},aged=1");
    let first = workshop.make(&spec(&most)).expect("it alone fits");
    let second = workshop.make(&spec(&format!("b={most}"))).expect_err("both cannot fill up");
    assert!(
        matches!(second, TargetError::Unavailable(Unavailable::ScratchFull { .. })),
        "{second}"
    );
    assert!(second.to_string().contains("size=") && second.to_string().contains("--scratch"));
    drop(first);
    drop(workshop.make(&spec(&most)).expect("the first gave its room back"));

    let mut shared = Surroundings { image_bytes: u64::MAX, ..surroundings() };
    shared.fit_images(&[spec("ext4"), spec("xfs"), spec("tmpfs")]);
    assert!(shared.room_bytes <= free / 2 && shared.image_bytes > shared.room_bytes, "{shared:?}");
    shared.fit_images(&[spec("ext4:aged=1"), spec("xfs"), spec("tmpfs")]);
    assert_eq!(shared.image_bytes, shared.image_bytes.min(2 << 30), "all are of one size");
    workshop.close().expect("nothing is left");

    // Only its share of the scratch directory can be written, whatever the size of the volume.
    let room_bytes = 4 << 30;
    let workshop = Workshop::open(Surroundings { room_bytes, ..surroundings() }).expect("root");
    let target = workshop.make(&spec("ext4:size=32g")).expect("it is sparse");
    let space = target.space().expect("mounted");
    assert!(space.is_held_by_scratch, "{space:?}");
    assert!(space.free_bytes < room_bytes && space.total_bytes > room_bytes, "{space:?}");
    let small = workshop.make(&spec("ext4:size=256m")).expect("there is room");
    assert!(!small.space().expect("mounted").is_held_by_scratch);
    drop(small);
    close(target, workshop);
}

pub(crate) fn remounting_forgets_metadata() {
    let workshop = workshop();
    let mut target = workshop.make(&spec("ext4:size=256m")).expect("ext4 is everywhere");
    for number in 0..1000 {
        fs::write(target.root().join(format!("file-{number}")), "x").expect("there is room");
    }
    target.sync().expect("the device is sound");
    let reads = |target: &Target| {
        let device = Path::new(&target.facts().source).file_name().expect("a device").to_owned();
        let stat = Path::new("/sys/block").join(device).join("stat");
        let stat = fs::read_to_string(stat).expect("it is bound");
        stat.split_whitespace().next().expect("a count").parse::<u64>().expect("a count")
    };
    target.remount().expect("nothing is open");
    let before = reads(&target);
    for number in 0..1000 {
        fs::metadata(target.root().join(format!("file-{number}"))).expect("it survives");
    }
    // 1000 inodes of 256 bytes fill 63 blocks; read-ahead fetches 32 of them at a time.
    assert!(reads(&target) > before + 2, "{before} {}", reads(&target));
    close(target, workshop);
}

pub(crate) fn targets_may_outlive_the_workshop() {
    fn steps(_: &targets::TargetSpec, step: Step) {
        eprintln!("step: {step:?}");
    }
    let surroundings = Surroundings { on_step: Some(steps), ..surroundings() };
    let workshop = Workshop::open(surroundings).expect("root, one thread");
    let target = workshop.make(&spec("ext4:memory=64m")).expect("root");
    let error = workshop.close().expect_err("a target lives");
    assert!(matches!(error, TargetError::LeftBehind { .. }), "{error}");
    write(&target);
}

/// Neither mkfs nor the file system gives back blocks of an allocated image, or leaves any that are
/// only reserved; nor does a file system that is remade.
pub(crate) fn an_allocated_image_stays_so(file_system: &str) {
    let workshop = workshop();
    let text = format!("{file_system}:size=320m,image=allocated");
    let Some(mut target) = make_or_skip(&workshop, &text) else { return };
    let held = fs::read_dir("/proc/self/fd").expect("/proc is mounted").flatten();
    let image = held.map(|entry| entry.path()).find(|path| {
        let led_to = fs::read_link(path).unwrap_or_default();
        led_to.starts_with(scratch()) && led_to.to_string_lossy().ends_with("(deleted)")
    });
    let image = File::open(image.expect("it has no name")).expect("it is open");
    let assert_written = || {
        let size_bytes = image.metadata().expect("it is open").len();
        let found = extents(&image).expect("the host tells");
        let is_written = |extent: &&Extent| !extent.flags.is_unwritten();
        let written = found.list().iter().filter(is_written).map(|extent| extent.length_bytes);
        assert_eq!(written.sum::<u64>(), size_bytes, "{text}");
    };
    assert_written();
    drop(write(&target));
    fs::remove_file(target.root().join("file")).expect("just written");
    target.sync().expect("the device is sound");
    target.remount().expect("nothing is open");
    assert_written();
    target.remake().expect("nothing is open");
    assert_written();
    drop(image);
    close(target, workshop);
}

/// A volume can be remade, smaller and larger, on the same device.
pub(crate) fn a_volume_changes_its_size() {
    let workshop = workshop();
    let mut memory = workshop.make(&spec("tmpfs:size=64m")).expect("memory is there");
    let refused = memory.remake_with_size(1 << 30);
    assert!(matches!(refused, Err(TargetError::NotResizable { .. })), "{refused:?}");
    assert_eq!(memory.image_bytes(), None);
    drop(memory);
    let Some(mut target) = make_or_skip(&workshop, "ext4:size=256m") else { return };
    let device = target.device_numbers();
    for size_bytes in [64_u64 << 20, 1 << 30, 256 << 20] {
        drop(write(&target));
        target.remake_with_size(size_bytes).expect("nothing is open");
        assert!(!target.root().join("file").exists());
        let total_bytes = target.space().expect("it says").total_bytes;
        assert!((size_bytes / 2..=size_bytes).contains(&total_bytes), "{total_bytes}");
        assert_eq!((target.image_bytes(), target.device_numbers()), (Some(size_bytes), device));
    }
    close(target, workshop);
}
