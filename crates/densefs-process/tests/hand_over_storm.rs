//! Processes that execute themselves again and again, while their other threads work, are killed at
//! random moments. Each program finds what the one before has left, nothing is lost in between, and
//! the arena is consistent.
//!
//! `FSPRISM_STORM_SECONDS` sets how long this takes.

#[path = "../../densefs/src/random.rs"]
mod random;

use std::env;
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use densefs_process::{Base, DenseFs, Errno, LockHolder, LockRange, NewArena, Whence, flags, make};

use random::Random;

const PROCESSES: u64 = 4;
const ARENA: &str = "DENSEFS_EXEC_STORM_ARENA";
const NAME: &str = "DENSEFS_EXEC_STORM_NAME";
const GIVEN: &str = "DENSEFS_EXEC_STORM_GIVEN";

const CREATE: u32 = flags::READ_WRITE | flags::CREATE;
const RANGE: LockRange = LockRange { start: 0, end: 1, holder: LockHolder::Process };

/// A generation of programs in one process.
#[test]
#[ignore = "a process of the storm, which starts it"]
fn worker() {
    let (Some(arena), Ok(name)) = (env::var_os(ARENA), env::var(NAME)) else { return };
    let files = match env::var(GIVEN) {
        Ok(given) => adopted(Path::new(&arena), &given, &name),
        Err(_) => begun(Path::new(&arena), &name),
    };
    std::thread::scope(|scope| {
        for thread in ["a", "b"] {
            let name = format!("{name}{thread}");
            let files = &files;
            scope.spawn(move || work(files, &name));
        }
        let generation = files.seek(0, 0, Whence::Current).expect("it is open");
        let mut random = Random(u64::from(std::process::id()) << 20 | generation | 1);
        // The first numbers of similar seeds are similar.
        let rounds = [(); 8].map(|()| random.below(4_000))[7];
        for _ in 0..rounds {
            files.stat("/").expect("it is there");
        }
        loop {
            // Other processes may have all slots for a moment.
            let Ok(hand_over) = files.hand_over() else { continue };
            let mut command = Command::new(env::current_exe().expect("it runs"));
            command.args(["worker", "--exact", "--ignored", "--nocapture"]);
            command.env(GIVEN, format!("{} {}", hand_over.number(), hand_over.record()));
            hand_over.let_through().expect("it is open");
            panic!("{}", command.exec());
        }
    });
}

/// The first program of a process: descriptor 0 counts, 1 is locked.
fn begun(arena: &Path, name: &str) -> DenseFs {
    let files = DenseFs::attach(arena).expect("it is there");
    for (descriptor, kind) in ["count", "lock"].into_iter().enumerate() {
        let path = format!("/{name}-{kind}");
        let opened = files.open_descriptor(Base::Working, Path::new(&path), CREATE, 0o600);
        assert_eq!(opened.map(u64::from), Ok(descriptor as u64));
    }
    files.lock_range(1, RANGE, Some(true), false).expect("nobody has it");
    files.lock(1, Some(true), false).expect("nobody has it");
    files.make_directory(format!("/{name}"), 0o700).expect("there is room");
    files.change_directory(format!("/{name}")).expect("it was made");
    files.make_link("locked", format!("/{name}-is-locked")).expect("there is room");
    files
}

/// A later one: it finds what the one before has left.
#[expect(unsafe_code, reason = "only the number of a descriptor is handed over")]
fn adopted(arena: &Path, given: &str, name: &str) -> DenseFs {
    let (file, record) = given.split_once(' ').expect("two numbers");
    // SAFETY: nobody else in this program knows of it.
    let file = unsafe { OwnedFd::from_raw_fd(file.parse().expect("a number")) };
    let files = DenseFs::adopt(arena, file, record.parse().expect("a number"));
    let files = files.unwrap_or_else(|why| panic!("{why}"));
    let count = files.seek(0, 0, Whence::Current).expect("it is open");
    assert_eq!(files.stat_descriptor(0).map(|stat| stat.size), Ok(count));
    assert_eq!(files.write(0, b"."), Ok(1));
    assert_eq!(files.directory().expect("it is there"), Path::new(&format!("/{name}")));
    files.lock_range(1, RANGE, Some(true), false).expect("it is ours");
    files
}

/// Creates files and removes them, until the program ends by executing another, or is killed.
fn work(files: &DenseFs, name: &str) {
    for number in 0_u64.. {
        let path = format!("{name}-{}", number % 8);
        // What the thread of an earlier program has left is replaced.
        let how = flags::WRITE | flags::CREATE | flags::TRUNCATE | flags::CLOSE_ON_EXEC;
        let Ok(file) = files.open(&path, how, 0o600) else { continue };
        file.write(&[7; 3_000]).expect("there is room");
        files.rename(&path, format!("{path}-renamed")).expect("it is there");
    }
}

struct Worker {
    child: Child,
    name: String,
    /// Whether it has locked its file.
    is_locked: bool,
}

impl Worker {
    fn start(arena: &Path, number: u64) -> Self {
        let name = format!("w{number}");
        let mut command = Command::new(env::current_exe().expect("it runs"));
        command.args(["worker", "--exact", "--ignored", "--nocapture"]);
        command.env(ARENA, arena).env(NAME, &name).stdout(Stdio::null());
        Self { child: command.spawn().expect("it can be started"), name, is_locked: false }
    }

    /// Kills it, and removes what its threads have created.
    fn end(&mut self, files: &DenseFs) {
        self.child.kill().expect("it is ours");
        self.child.wait().expect("it is ours");
        let Ok(left) = files.read_directory(format!("/{}", self.name)) else { return };
        for entry in left {
            let name = String::from_utf8(entry.name).expect("it is text");
            files.remove(format!("/{}/{name}", self.name)).expect("it is there");
        }
    }

    /// Checks that its locks are there, whichever of its programs has them.
    fn look(&mut self, files: &DenseFs) {
        self.is_locked =
            self.is_locked || files.read_link(format!("/{}-is-locked", self.name)).is_ok();
        if !self.is_locked {
            return;
        }
        let file = files.open(format!("/{}-lock", self.name), CREATE, 0).expect("it is there");
        let lock = files.conflicting_lock_of_range(file.descriptor(), RANGE, true);
        assert_eq!(lock.map(|lock| lock.map(|lock| lock.pid)), Ok(Some(self.child.id())));
        assert_eq!(files.lock(file.descriptor(), Some(false), false), Err(Errno::AGAIN));
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It does not outlive a test that fails.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

#[test]
fn processes_that_execute_themselves_die() {
    let seconds = env::var("FSPRISM_STORM_SECONDS").ok();
    let seconds = seconds.map_or(3, |text| text.parse().expect("it is a number of seconds"));
    let place = tempfile::tempdir_in("/dev/shm").expect("there is room");
    let arena = place.path().join("arena");
    // Not many more records than are used at a time.
    let request =
        NewArena { threads: Some(64), ..NewArena::new(64 << 20, DenseFs::new_root(0o755)) };
    make(&arena, &request).expect("there is room");
    let files = DenseFs::attach(&arena).expect("it was made");
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut workers: Vec<_> = (0..PROCESSES).map(|number| Worker::start(&arena, number)).collect();
    let (began, mut kills, mut looks) = (Instant::now(), 0, 0_u64);
    while began.elapsed() < Duration::from_secs(seconds) {
        let until = Instant::now() + Duration::from_micros(random.below(60_000));
        while Instant::now() < until {
            for worker in &mut workers {
                assert!(worker.child.try_wait().expect("it is ours").is_none(), "it has ended");
                worker.look(&files);
                looks += u64::from(worker.is_locked);
            }
        }
        let number = usize::try_from(random.below(PROCESSES)).expect("it is small");
        let worker = &mut workers[number];
        worker.end(&files);
        kills += 1;
        *worker = Worker::start(&arena, PROCESSES + kills);
    }
    for worker in &mut workers {
        worker.end(&files);
    }
    let report = files.check().unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(report.unwrap_or_else(|why| panic!("{why}")).descriptions, 0);
    let mut programs = 0;
    for number in 0..PROCESSES + kills {
        programs += files.stat(format!("/w{number}-count")).map_or(0, |stat| stat.size);
    }
    println!("{kills} kills, {programs} programs executed, locks found {looks} times");
    assert!(kills > 0 && programs > kills && looks > 0);
}
