//! Processes that use an arena are killed at random moments. Completed calls have taken effect,
//! calls in progress have or have not, the arena is consistent, and the surviving processes
//! continue.
//!
//! `FSPRISM_STORM_SECONDS` sets how long this takes.

mod patience;

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use densefs_process::{Base, DenseFs, Errno, NewArena, flags, make};

const PROCESSES: usize = 8;
const BETWEEN_KILLS: Duration = Duration::from_millis(5);
/// How many files each worker keeps.
const KEPT: u32 = 20;
const DIRECTORIES: u32 = 3;

/// What a worker gets by its environment.
const ARENA: &str = "DENSEFS_STORM_ARENA";
const LOG: &str = "DENSEFS_STORM_LOG";

fn path_of(worker: &str, number: u32) -> String {
    format!("/{}/{worker}-{number}", number % DIRECTORIES)
}

fn content_of(number: u32) -> Vec<u8> {
    vec![u8::try_from(number % 251).expect("it fits"); (number as usize * 131) % 9_000]
}

/// Creates files, renames them and removes them until it is killed. It logs a line before and after
/// each change.
#[test]
#[ignore = "a process of the storm, which starts it"]
fn worker() {
    let (Some(arena), Some(log)) = (std::env::var_os(ARENA), std::env::var_os(LOG)) else { return };
    let files = DenseFs::attach(arena).expect("it is there");
    std::thread::scope(|scope| {
        for thread in ["a", "b"] {
            let log = Path::new(&log).with_extension(thread);
            scope.spawn(|| work(&files, log));
        }
    });
}

/// One of its threads.
fn work(files: &DenseFs, log: PathBuf) {
    let worker = log.file_name().and_then(|name| name.to_str()).expect("it is text").to_owned();
    let mut log = OpenOptions::new().create(true).append(true).open(log).expect("it can be made");
    let mut say = |line: String| log.write_all(line.as_bytes()).expect("there is room");
    for number in 0.. {
        let path = path_of(&worker, number);
        let began = Instant::now();
        say(format!("make {number}\n"));
        make_file(files, &path, number).expect("there is room");
        say(format!("made {number}\n"));
        if let Some(old) = number.checked_sub(KEPT) {
            say(format!("remove {old}\n"));
            files.remove(path_of(&worker, old)).expect("it is there");
            say(format!("removed {old}\n"));
        }
        let worst = began.elapsed();
        if worst > Duration::from_millis(100) {
            say(format!("slow {}\n", worst.as_millis()));
        }
    }
}

/// Creates a file by another name, fills it, and renames it.
fn make_file(files: &DenseFs, path: &str, number: u32) -> Result<(), Errno> {
    let other = format!("{path}.part");
    let file = files.open(&other, flags::WRITE | flags::CREATE | flags::TRUNCATE, 0o600)?;
    let content = content_of(number);
    assert_eq!(file.write(&content)?, content.len());
    files.rename(&other, path)
}

fn start(arena: &Path, log: &Path) -> Child {
    let program = std::env::current_exe().expect("it runs");
    let mut command = Command::new(program);
    command.args(["worker", "--exact", "--ignored", "--nocapture"]);
    command.env(ARENA, arena).env(LOG, log).stdout(Stdio::null()).stderr(Stdio::inherit());
    command.spawn().expect("it can be started")
}

/// For each number in a log, whether the file exists, or none if that is not known. The last line
/// may be incomplete: a write that crosses pages may end after the first one.
fn read_log(text: &str) -> BTreeMap<u32, Option<bool>> {
    let mut known = BTreeMap::new();
    let (whole, _) = text.rsplit_once('\n').unwrap_or_default();
    for line in whole.lines() {
        let Some((what, number)) = line.split_once(' ') else { continue };
        let number = number.parse().expect("it is a number");
        match what {
            "make" | "remove" => known.insert(number, None),
            "made" => known.insert(number, Some(true)),
            "removed" => known.insert(number, Some(false)),
            _ => continue,
        };
    }
    known
}

#[test]
fn a_line_that_ends_early_says_nothing() {
    let known = |text| read_log(text).into_iter().collect::<Vec<_>>();
    assert_eq!(known("make 1\nmade 1\nmake 12\nmade 1"), [(1, Some(true)), (12, None)]);
    assert_eq!(known("make 1\nmade 1\nremove "), [(1, Some(true))]);
    assert_eq!(known("mak"), []);
}

#[test]
fn processes_die_and_the_others_go_on() {
    let seconds = std::env::var("FSPRISM_STORM_SECONDS").ok();
    let seconds = seconds.map_or(3, |text| text.parse().expect("it is a number of seconds"));
    let directory = tempfile::tempdir_in("/dev/shm").expect("there is room");
    let arena = directory.path().join("arena");
    let root = DenseFs::new_root(0o755);
    make(&arena, &NewArena::new(1 << 30, root)).expect("there is room");
    let files = DenseFs::attach(&arena).expect("it was made");
    for number in 0..DIRECTORIES {
        files.make_directory(format!("/{number}"), 0o755).expect("there is room");
    }
    let mut logs = Vec::new();
    let begin = |logs: &mut Vec<_>| {
        let log = directory.path().join(format!("log{}", logs.len()));
        logs.push(log.clone());
        start(&arena, &log)
    };
    let mut children: Vec<_> = (0..PROCESSES).map(|_| begin(&mut logs)).collect();
    let (began, mut kills) = (Instant::now(), 0_usize);
    while began.elapsed() < Duration::from_secs(seconds) {
        let until = Instant::now() + BETWEEN_KILLS;
        patience::with_patience("a look at a directory", || {
            while Instant::now() < until {
                files.stat("/0").expect("it is there");
            }
        });
        let child = &mut children[kills % PROCESSES];
        child.kill().expect("it is ours");
        child.wait().expect("it is ours");
        *child = begin(&mut logs);
        kills += 1;
    }
    for child in &mut children {
        child.kill().expect("it is ours");
        child.wait().expect("it is ours");
    }
    let (mut changes, mut slowest) = (0, 0);
    let logs = logs.iter().flat_map(|log| ["a", "b"].map(|thread| log.with_extension(thread)));
    for log in logs {
        let Ok(text) = fs::read_to_string(&log) else { continue };
        let worker = log.file_name().and_then(|name| name.to_str()).expect("it is text");
        for (number, is_there) in read_log(&text) {
            changes += 1;
            let Some(is_there) = is_there else { continue };
            let path = path_of(worker, number);
            assert_eq!(files.stat(&path).is_ok(), is_there, "{path}");
            if is_there {
                let file = files.open(&path, 0, 0).expect("it is there");
                let mut bytes = vec![0; 10_000];
                let length = file.read(&mut bytes).expect("it is a file");
                assert!(bytes[..length] == content_of(number), "{path}");
            }
        }
        let slow = text.lines().filter_map(|line| line.strip_prefix("slow ")?.parse::<u64>().ok());
        slowest = slowest.max(slow.max().unwrap_or(0));
    }
    let report = files.check().expect("there is memory").unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(report.descriptions, 0);
    println!("{kills} kills, {changes} files made or removed, the slowest in {slowest} ms");
    assert!(changes > 0 && kills > 0);
}

/// Freed space can be used again.
#[test]
fn usage_is_told_and_space_comes_back() {
    let directory = tempfile::tempdir_in("/dev/shm").expect("there is room");
    let arena = directory.path().join("arena");
    let root = DenseFs::new_root(0o755);
    make(&arena, &NewArena::new(16 << 20, root)).expect("there is room");
    let files = DenseFs::attach(&arena).expect("it was made");
    let before = files.usage().expect("it is whole");
    let file =
        files.open("large", flags::READ_WRITE | flags::CREATE, 0o600).expect("there is room");
    let bytes = vec![7; 1 << 20];
    let mut written = 0;
    let full = loop {
        match files.write_to(file.descriptor(), written, &bytes) {
            Ok(length) => written += length as u64,
            Err(why) => break why,
        }
    };
    assert_eq!(full, Errno::NOSPC);
    assert!(written > before.free_bytes * 9 / 10, "{written} of {}", before.free_bytes);
    assert!(files.usage().expect("it is whole").free_bytes < before.bytes / 100);
    drop(file);
    files.remove_from(Base::Working, Path::new("large"), false).expect("it is there");
    let after = files.usage().expect("it is whole");
    assert!(after.free_bytes > before.free_bytes * 9 / 10, "{after:?}");
}
