//! A process that is stopped while it holds a lock keeps the lock. Others wait until it continues,
//! or is killed.

mod patience;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use densefs_process::{DenseFs, Errno, NewArena, flags, make};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

const ARENA: &str = "DENSEFS_STOPPED_ARENA";
/// After this time, a thread is assumed to wait for the stopped process.
const A_WHILE: Duration = Duration::from_millis(300);
/// Far longer than it takes to continue.
const PATIENCE: Duration = Duration::from_secs(15 * 60);
/// How often it may be stopped until it happens to hold the lock.
const TRIES_MAX: u32 = 2_000;

/// Renames a file back and forth, so that it holds the directory's lock most of the time.
#[test]
#[ignore = "the process that is stopped, which another test starts"]
fn renamer() {
    let Some(arena) = std::env::var_os(ARENA) else { return };
    let files = DenseFs::attach(arena).expect("it is there");
    loop {
        files.rename("one", "two").expect("it is there");
        files.rename("two", "one").expect("it is there");
    }
}

/// The process to be stopped. It does not outlive the test.
struct Renamer(Child);

impl Renamer {
    fn start(arena: &Path) -> Self {
        let mut command = Command::new(std::env::current_exe().expect("it runs"));
        command.args(["renamer", "--exact", "--ignored", "--nocapture"]).env(ARENA, arena);
        let started = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        Self(started.expect("it can be started"))
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.0)
    }

    fn kill(&mut self) {
        self.0.kill().expect("it is ours");
        self.0.wait().expect("it is ours");
    }
}

impl Drop for Renamer {
    fn drop(&mut self) {
        // It may have been killed already.
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

struct Stopped {
    files: DenseFs,
    child: Renamer,
    /// Receives the result of the thread that waits.
    waiting: Receiver<Result<(), Errno>>,
    /// Kept until the end.
    _place: tempfile::TempDir,
}

/// Creates a file in another thread, which may have to wait.
fn make_beside(files: &DenseFs, name: String) -> Receiver<Result<(), Errno>> {
    let (tell, told) = channel();
    let files = files.clone();
    std::thread::spawn(move || {
        let made = files.open(&name, flags::WRITE | flags::CREATE, 0o600).map(drop);
        // The receiver may be gone.
        tell.send(made).ok();
    });
    told
}

/// Waits until the file has been renamed again, and a little longer.
fn await_rename(files: &DenseFs) {
    let changed_ns = || {
        let found = files.stat("one").or_else(|_| files.stat("two"));
        found.map(|stat| stat.ctime_ns).ok()
    };
    patience::with_patience("a process that was to go on", || {
        let before = changed_ns();
        while changed_ns() == before {
            std::thread::yield_now();
        }
    });
}

/// A process stopped while it holds the root's lock, and a thread that waits for the lock.
fn stopped() -> Stopped {
    let place = tempfile::tempdir_in("/dev/shm").expect("there is room");
    let arena: PathBuf = place.path().join("arena");
    let root = DenseFs::new_root(0o755);
    make(&arena, &NewArena::new(32 << 20, root)).expect("there is room");
    let files = DenseFs::attach(&arena).expect("it was made");
    files.open("one", flags::WRITE | flags::CREATE, 0o600).expect("there is room");
    let child = Renamer::start(&arena);
    for number in 0..TRIES_MAX {
        kill_process(child.pid(), Signal::STOP).expect("it is ours");
        waitpid(Some(child.pid()), WaitOptions::UNTRACED).expect("it is ours");
        let waiting = make_beside(&files, number.to_string());
        // A thread that does not answer at once may just be slow; one that waits for the lock never
        // answers.
        let answer = waiting.recv_timeout(A_WHILE).or_else(|_| waiting.recv_timeout(20 * A_WHILE));
        match answer {
            Ok(made) => made.expect("there is room"),
            Err(RecvTimeoutError::Timeout) => {
                return Stopped { files, child, waiting, _place: place };
            }
            Err(RecvTimeoutError::Disconnected) => panic!("it ended without a word"),
        }
        kill_process(child.pid(), Signal::CONT).expect("it is ours");
        // Makes sure that it is at another point when it is stopped again, even on a busy machine.
        await_rename(&files);
    }
    panic!("it never held the lock in {TRIES_MAX} tries");
}

#[test]
fn others_go_on_when_it_goes_on() {
    let mut stopped = stopped();
    assert_eq!(stopped.waiting.recv_timeout(A_WHILE), Err(RecvTimeoutError::Timeout));
    kill_process(stopped.child.pid(), Signal::CONT).expect("it is ours");
    assert_eq!(stopped.waiting.recv_timeout(PATIENCE), Ok(Ok(())));
    stopped.child.kill();
    check(&stopped.files);
}

#[test]
fn others_go_on_when_it_is_killed() {
    let mut stopped = stopped();
    assert_eq!(stopped.waiting.recv_timeout(A_WHILE), Err(RecvTimeoutError::Timeout));
    stopped.child.kill();
    assert_eq!(stopped.waiting.recv_timeout(PATIENCE), Ok(Ok(())));
    check(&stopped.files);
}

fn check(files: &DenseFs) {
    let report = files.check().unwrap_or_else(|why| panic!("{why}"));
    report.unwrap_or_else(|why| panic!("{why}"));
    let names = ["one", "two"].iter().filter(|name| files.stat(name).is_ok()).count();
    assert_eq!(names, 1, "it has one of its names");
}
