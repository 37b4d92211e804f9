//! Limits that the kernel enforces and reports.

use std::fs::{self, File};
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::time::Duration;

use machine::describe::WritebackReader;
use rustix::fs::{Advice, fadvise};
use targets::ConditionCaveat;
use targets::cache::cache_state;

use super::support::{scratch, spec, workshop};

fn own_groups() -> String {
    fs::read_to_string("/proc/self/cgroup").expect("/proc is mounted")
}

/// This process's group in a version 1 hierarchy, if the machine has one.
fn version_one_group(controller: &str) -> Option<PathBuf> {
    let groups = own_groups();
    let line = groups.lines().find_map(|line| line.split_once(&format!(":{controller}:")))?;
    Some(Path::new("/sys/fs/cgroup").join(controller).join(line.1.trim_start_matches('/')))
}

pub(crate) fn memory_is_limited() {
    const LIMIT: u64 = 64 << 20;
    let workshop = workshop();
    let mut target = workshop.make(&spec("ext4:memory=64m")).expect("root");
    assert_eq!(target.facts().conditions.limits.memory_bytes, Some(LIMIT));
    let path = target.root().join("file");
    fs::write(&path, vec![1; 128 << 20]).expect("there is room");
    let all = cache_state::read_in_all([&path]).expect("a plain file");
    assert!(all.is_full(), "outside there is memory enough: {all:?}");
    assert!(
        cache_state::evict_all(target.root(), [&path], Duration::ZERO)
            .expect("a plain file")
            .is_none()
    );

    let before = own_groups();
    let entered = target.enter().expect("root");
    assert_ne!(own_groups(), before);
    let limited = cache_state::read_in_all([&path]).expect("a plain file");
    let page_bytes = rustix::param::page_size() as u64;
    assert!(limited.resident_pages * page_bytes <= LIMIT, "{limited:?}");
    assert!(limited.resident_pages * page_bytes > LIMIT / 2, "{limited:?}");
    entered.leave().expect("home is still there");
    assert_eq!(own_groups(), before);
    drop(target.enter().expect("again"));
    assert_eq!(own_groups(), before);
    target.close().expect("a group that was used can be removed");
    drop(target);
    workshop.close().expect("nothing is left");
}

pub(crate) fn dirty_pages_of_a_group_are_counted() {
    const WRITTEN: usize = 16 << 20;
    let workshop = workshop();
    let target = workshop.make(&spec("ext4:memory=256m")).expect("root");
    let entered = target.enter().expect("root");
    let reader = WritebackReader::open().expect("/proc is mounted");
    let group = || reader.read().expect("Linux tells").group.expect("this is a group");
    let before = group();
    fs::write(target.root().join("file"), vec![1; WRITTEN]).expect("there is room");
    let after = group();
    // Some of it may still be on its way or already written, and the kernel's sums lag behind.
    let came = after.active_file_bytes + after.inactive_file_bytes;
    assert!(came >= WRITTEN as u64 / 2, "{before:?} {after:?}");
    target.sync().expect("the device is sound");
    let left = group().dirty_bytes;
    assert!(left < WRITTEN as u64 / 4, "{left} of {after:?}");
    entered.leave().expect("home is still there");
}

pub(crate) fn device_rates_are_limited() {
    let workshop = workshop();
    let text = "ext4:read_bps=50m,write_bps=40m,read_iops=3000,write_iops=2000,memory=256m";
    let target = workshop.make(&spec(text)).expect("root");
    let in_force = &target.facts().conditions;
    assert_eq!(in_force.limits, target.spec().conditions, "as the kernel reads them back");
    let path = target.root().join("file");
    fs::write(&path, vec![1; 1 << 20]).expect("there is room");
    assert!(
        cache_state::evict_all(target.root(), [&path], Duration::ZERO)
            .expect("a plain file")
            .is_none()
    );
    let entered = target.enter().expect("root");
    assert!(cache_state::read_in_all([&path]).expect("a plain file").is_full());
    if let Some(group) = version_one_group("blkio") {
        assert!(in_force.caveats.contains(&ConditionCaveat::BufferedWritesNotThrottled));
        let device = target.device_numbers().expect("a loop device");
        let charged = fs::read_to_string(group.join("blkio.throttle.io_service_bytes"));
        let charged = charged.expect("we are in it");
        let read = charged.lines().find_map(|line| line.strip_prefix(&format!("{device} Read ")));
        let read: u64 = read.expect("the device is listed").parse().expect("a number");
        assert!(read >= 1 << 20, "the reads were charged to the group: {charged}");
    }
    entered.leave().expect("home is still there");
}

pub(crate) fn a_directory_takes_conditions() {
    let workshop = workshop();
    let directory = scratch();
    let text = format!("disk={}:memory=64m,read_iops=100000", directory.display());
    let target = match workshop.make(&spec(&text)) {
        Ok(target) => target,
        Err(error) => {
            eprintln!("skipped: a_directory_takes_conditions: /var/tmp lies on no disk: {error}");
            return;
        }
    };
    assert_eq!(target.facts().conditions.limits, target.spec().conditions);
    let before = own_groups();
    let entered = target.enter().expect("root");
    assert_ne!(own_groups(), before);
    drop(entered);
    assert_eq!(own_groups(), before);
}

/// Pages that a slow device still has to deliver cannot be evicted until they have arrived.
pub(crate) fn pages_on_their_way_are_evicted() {
    let workshop = workshop();
    let target = workshop.make(&spec("ext4:size=256m,read_bps=1m")).expect("root");
    let path = target.root().join("file");
    fs::write(&path, vec![1; 1 << 20]).expect("there is room");
    let evict = |patience| cache_state::evict_all(target.root(), [&path], patience);
    assert!(evict(Duration::ZERO).expect("a plain file").is_none());
    let file = File::open(&path).expect("it was written");
    let entered = target.enter().expect("root");
    let bytes = Some(NonZeroU64::new(1 << 20).expect("not 0"));
    fadvise(&file, 0, bytes, Advice::WillNeed).expect("a plain file");
    entered.leave().expect("home is still there");
    let at_once = evict(Duration::ZERO).expect("a plain file");
    assert!(!at_once.is_none(), "the device delivers for a second: {at_once:?}");
    assert!(evict(Duration::from_secs(60)).expect("a plain file").is_none());
}
