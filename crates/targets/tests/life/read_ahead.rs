//! How far the kernel reads ahead: as set, and as before once the target is gone.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal, getpid, kill_process, pidfd_open};
use targets::cache::cache_state;
use targets::cache::residency::residency_in;
use targets::{Surroundings, Target, Workshop};

use super::support::{Disk, make_or_skip, spec, surroundings, wait_for_end, workshop};

/// Pages read one by one, starting with the first.
const READ_PAGES: u64 = 256;
/// A value that no kernel sets on its own.
const THEIRS_KIB: &str = "1236";

/// How often to read again if the kernel has evicted pages meanwhile.
const TRIES: u32 = 5;

/// Pages that read-ahead brought in while the beginning of a file was read. If the kernel is short
/// of memory and has evicted some of the pages just read, the result means nothing.
fn pages_ahead(target: &Target) -> u64 {
    let ahead = (0..TRIES).find_map(|_| pages_there(target).checked_sub(READ_PAGES));
    ahead.expect("of five times, the kernel lets what was read stay once")
}

/// Pages that are there after the beginning of a file has been read.
fn pages_there(target: &Target) -> u64 {
    let page_bytes = rustix::param::page_size() as u64;
    let path = target.root().join("file");
    fs::write(&path, vec![1; 16 << 20]).expect("there is room");
    let left = cache_state::evict_all(target.root(), [&path], Duration::from_secs(60));
    assert!(left.expect("a plain file").is_none());
    let file = File::open(&path).expect("it was written");
    for page in 0..READ_PAGES {
        file.read_exact_at(&mut [0], page * page_bytes).expect("it is there");
    }
    residency_in(&file, 0..u64::MAX).expect("Linux 6.5").resident_pages
}

fn make_target(workshop: &Workshop, text: &str, bytes: u64) -> Option<Target> {
    let target = make_or_skip(workshop, &format!("{text},read_ahead={bytes}"))?;
    assert_eq!(target.facts().read_ahead_bytes, Some(bytes));
    assert_eq!(target.facts().conditions.limits.read_ahead_bytes, Some(bytes));
    Some(target)
}

pub(crate) fn is_as_told(text: &str) {
    let page_bytes = rustix::param::page_size() as u64;
    let workshop = workshop();
    let Some(mut none) = make_target(&workshop, text, 0) else { return };
    assert_eq!(pages_ahead(&none), 0);
    none.remount().expect("nothing is open");
    assert_eq!(pages_ahead(&none), 0, "mounted again");
    none.remake().expect("nothing is open");
    assert_eq!(pages_ahead(&none), 0, "made anew");
    drop(none);
    // The window is fetched while the one before it is read.
    for bytes in [64 << 10, 1 << 20] {
        let target = make_target(&workshop, text, bytes).expect("as before");
        let (ahead, window) = (pages_ahead(&target), bytes / page_bytes);
        assert!(ahead >= window / 2 && ahead <= 2 * window, "{ahead} pages, of {window}");
    }
    let as_it_is = make_or_skip(&workshop, text).expect("as before");
    assert!(as_it_is.facts().read_ahead_bytes > Some(0), "{:?}", as_it_is.facts());
    assert_eq!(as_it_is.facts().conditions.limits.read_ahead_bytes, None);
    assert!(
        make_or_skip(&workshop, "tmpfs:size=64m")
            .is_some_and(|tmpfs| { tmpfs.facts().read_ahead_bytes.is_none() })
    );
}

/// The setting of a disk, which outlives what is mounted on it.
fn setting(disk: &Disk) -> PathBuf {
    let name = Path::new(&disk.device).file_name().expect("a device").to_owned();
    Path::new("/sys/class/block").join(name).join("bdi/read_ahead_kb")
}

fn theirs(disk: &Disk) -> PathBuf {
    let setting = setting(disk);
    fs::write(&setting, THEIRS_KIB).expect("root");
    setting
}

fn value(setting: &Path) -> String {
    fs::read_to_string(setting).expect("it is there").trim().to_owned()
}

fn workshop_on(device: &str) -> Workshop {
    let destroy = vec![PathBuf::from(device)];
    Workshop::open(Surroundings { destroy, ..surroundings() }).expect("root, one thread")
}

pub(crate) fn is_put_back() {
    let disk = Disk::new("disk", &[]);
    let setting = theirs(&disk);
    let workshop = workshop_on(&disk.device);
    let text = format!("ext4:device={},read_ahead=64k", disk.device);
    let mut target = workshop.make(&spec(&text)).expect("it is named");
    assert_eq!(value(&setting), "64");
    target.remount().expect("nothing is open");
    assert_eq!(value(&setting), "64");
    target.close().expect("nothing is open");
    assert_eq!(value(&setting), THEIRS_KIB);
    drop(target);
    workshop.close().expect("nothing is left");
    assert_eq!(value(&setting), THEIRS_KIB);
}

pub(crate) fn is_put_back_after_death() {
    let disk = Disk::new("disk", &[]);
    let setting = theirs(&disk);
    let guardian = die("--die-with-read-ahead", &disk);
    // It may already have ended.
    if let Ok(guardian) = pidfd_open(guardian, PidfdFlags::empty()) {
        wait_for_end(&guardian);
    }
    assert_eq!(value(&setting), THEIRS_KIB);
}

/// If a process and its guardian are both killed, the next process restores what they left changed.
pub(crate) fn is_put_back_by_the_next() {
    let disk = Disk::new("disk", &[]);
    let setting = theirs(&disk);
    // If another test's workshop comes before ours, that one does it.
    die("--die-unguarded", &disk);
    let workshop = workshop_on(&disk.device);
    assert_eq!(value(&setting), THEIRS_KIB);
    fs::write(&setting, "256").expect("root");
    workshop.close().expect("nothing is left");
    workshop_on(&disk.device).close().expect("nothing is left");
    assert_eq!(value(&setting), "256", "it is put back once");
}

/// Makes a process set the disk's read-ahead and die. Returns its guardian.
fn die(how: &str, disk: &Disk) -> Pid {
    let mut child = Command::new(std::env::current_exe().expect("it has a file"));
    child.args([how, &disk.device]).stdout(Stdio::piped());
    let output = child.spawn().expect("ok").wait_with_output().expect("it is ours");
    let text = String::from_utf8(output.stdout).expect("plain text");
    let mut lines = text.lines();
    assert_eq!(lines.next_back(), Some("64"), "it came so far: {text}");
    lines.next().and_then(|line| Pid::from_raw(line.parse().ok()?)).expect("a number")
}

pub(crate) fn die_with_it(device: &str, is_unguarded: bool) {
    let workshop = workshop_on(device);
    println!("{}", workshop.guardian().as_raw_nonzero());
    let target = workshop.make(&spec(&format!("ext4:device={device},read_ahead=64k")));
    let bytes = target.as_ref().expect("it is named").facts().read_ahead_bytes;
    println!("{}", bytes.expect("a disk has it") / 1024);
    if is_unguarded {
        kill_process(workshop.guardian(), Signal::KILL).expect("it is ours");
    }
    kill_process(getpid(), Signal::KILL).expect("it is ours");
}
