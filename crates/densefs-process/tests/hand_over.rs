//! A process executes another program, which takes over what is open and locked.
//!
//! `FSPRISM_EXEC_TIMES` sets how often a process does that in a row.

use std::io::{BufRead, BufReader, Lines, Write};
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs};

use densefs_process::{
    ArenaError, Base, DenseFs, Errno, HandOver, LockHolder, LockRange, NewArena, Whence, flags,
    make,
};

/// What the programs get by their environment.
const ARENA: &str = "DENSEFS_HAND_OVER_ARENA";
const GIVEN: &str = "DENSEFS_HAND_OVER_GIVEN";
const TIMES: &str = "DENSEFS_HAND_OVER_TIMES";

const CREATE: u32 = flags::READ_WRITE | flags::CREATE;
const LOCKED: LockRange = LockRange { start: 10, end: 20, holder: LockHolder::Process };
const LOCKED_BY_DESCRIPTION: LockRange =
    LockRange { start: 30, end: 40, holder: LockHolder::Description };
const LINE: &str = "it says: ";
/// How long to wait for what only takes moments.
const PATIENCE: Duration = Duration::from_secs(30);

fn new_arena(place: &Path, bytes: u64) -> PathBuf {
    let arena = place.join("arena");
    make(&arena, &NewArena::new(bytes, DenseFs::new_root(0o755))).expect("there is room");
    arena
}

/// This program, to do what the ignored test of this name does.
fn program(name: &str, arena: &Path) -> Command {
    let mut command = Command::new(env::current_exe().expect("it runs"));
    command.args([name, "--exact", "--ignored", "--nocapture"]).env(ARENA, arena);
    command
}

/// Executes it in this process.
fn execute(mut command: Command, hand_over: &HandOver) -> ! {
    command.env(GIVEN, format!("{} {}", hand_over.number(), hand_over.record()));
    hand_over.let_through().expect("it is open");
    panic!("{}", command.exec());
}

/// The file system that was handed over to this program; none if it is the first one.
#[expect(unsafe_code, reason = "only the number of a descriptor is handed over")]
fn handed_over() -> Option<DenseFs> {
    let given = env::var(GIVEN).ok()?;
    let (file, record) = given.split_once(' ').expect("two numbers");
    // SAFETY: nobody else in this program knows of it.
    let file = unsafe { OwnedFd::from_raw_fd(file.parse().expect("a number")) };
    let record = record.parse().expect("a number");
    let arena = env::var_os(ARENA).expect("it is set");
    Some(DenseFs::adopt(arena, file, record).unwrap_or_else(|why| panic!("{why}")))
}

/// Another descriptor of an open file description.
#[expect(unsafe_code, reason = "only the number of a descriptor is known")]
fn duplicate(number: i32) -> OwnedFd {
    // SAFETY: it is open as long as this is used.
    let file = unsafe { std::os::fd::BorrowedFd::borrow_raw(number) };
    file.try_clone_to_owned().expect("there is room")
}

fn open(files: &DenseFs, path: &str, how: u32) -> u32 {
    files.open_descriptor(Base::Working, Path::new(path), how, 0o600).expect("there is room")
}

fn lock(
    files: &DenseFs,
    file: u32,
    range: LockRange,
    exclusive: Option<bool>,
) -> Result<(), Errno> {
    files.lock_range(file, range, exclusive, false)
}

/// Tells the test something, and waits until it lets this go on.
fn say(what: &str) {
    println!("{LINE}{what}");
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).expect("the test lives");
    assert_eq!(line, "go on\n");
}

#[test]
#[ignore = "a program that a test starts, and that executes itself"]
fn taken_over() {
    let Some(arena) = env::var_os(ARENA) else { return };
    if env::var_os(GIVEN).is_none() {
        let files = DenseFs::attach(&arena).expect("it was made");
        prepare(&files);
        say("prepared");
        let hand_over = files.hand_over().expect("there is room");
        execute(program("taken_over", Path::new(&arena)), &hand_over);
    }
    say("executed");
    let files = handed_over().expect("it was");
    assert_as_prepared(&files);
    say("adopted");
    lock(&files, 0, LOCKED, None).expect("it is open");
    say("unlocked");
    files.close(2).expect("it is open");
    say("closed");
}

/// What the program has before: descriptor 0 of `kept`, which is locked, 1 of `both`, 2 of
/// `flocked`, which is locked by the description, and 3 with an offset of its own at the end of it.
fn prepare(files: &DenseFs) {
    files.make_directory("/one", 0o755).expect("there is room");
    files.make_directory("/one/two", 0o755).expect("there is room");
    files.change_directory("/one/two").expect("it was made");
    let kept = open(files, "/kept", CREATE);
    let both = open(files, "/both", CREATE);
    let flocked = open(files, "/flocked", CREATE | flags::CLOSE_ON_EXEC);
    let appending = open(files, "/flocked", flags::WRITE | flags::APPEND);
    let both_again = open(files, "/both", CREATE | flags::CLOSE_ON_EXEC);
    let closed = open(files, "/closed", CREATE | flags::CLOSE_ON_EXEC);
    assert_eq!([kept, both, flocked, appending, both_again, closed], [0, 1, 2, 3, 4, 5]);
    // The mark can be taken away again.
    files.set_closes_on_exec(flocked, false).expect("it is open");
    assert_eq!(files.write(kept, b"some text"), Ok(9));
    assert_eq!(files.seek(kept, 5, Whence::Start), Ok(5));
    assert_eq!(files.write(appending, b"more"), Ok(4));
    for file in [kept, both, closed] {
        lock(files, file, LOCKED, Some(true)).expect("nobody has it");
    }
    lock(files, flocked, LOCKED_BY_DESCRIPTION, Some(false)).expect("nobody has it");
    files.lock(flocked, Some(true), false).expect("nobody has it");
}

fn assert_as_prepared(files: &DenseFs) {
    assert_eq!(files.directory().expect("it is there"), Path::new("/one/two"));
    files.stat("../two").expect("it is there");
    let mut text = [0; 10];
    assert_eq!(files.read(0, &mut text), Ok(4));
    assert_eq!(&text[..4], b"text");
    assert_eq!(files.seek(3, 0, Whence::Current), Ok(4));
    assert_eq!(files.flags(3).map(|how| how & flags::APPEND), Ok(flags::APPEND));
    assert_eq!([0, 1, 2, 3].map(|file| files.closes_on_exec(file)), [Ok(false); 4]);
    assert_eq!([4, 5, 6].map(|file| files.flags(file)), [Err(Errno::BADF); 3]);
    // The locks are its own.
    for (file, range) in [(0, LOCKED), (2, LOCKED_BY_DESCRIPTION)] {
        lock(files, file, range, Some(false)).expect("it is ours");
        lock(files, file, range, Some(true)).expect("it is ours");
    }
    files.lock(2, Some(false), false).expect("it is ours");
    // What it opens gets the lowest descriptor.
    assert_eq!(open(files, "/closed", flags::READ_WRITE), 4);
    files.close(4).expect("it is open");
}

/// The program, as the test sees it.
struct Program {
    child: Child,
    to: ChildStdin,
    says: Lines<BufReader<ChildStdout>>,
}

impl Program {
    fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("it can be started");
        let to = child.stdin.take().expect("it is piped");
        let says = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        Self { child, to, says }
    }

    fn await_line(&mut self, what: &str) {
        let mut lines = self.says.by_ref().map(|line| line.expect("it can be read"));
        // The name of the test is on the same line.
        let line = lines.find_map(|line| Some(line.split_once(LINE)?.1.to_owned()));
        assert_eq!(line.as_deref(), Some(what));
    }

    fn go_on(&mut self) {
        self.to.write_all(b"go on\n").expect("it reads");
    }

    fn ends(mut self) {
        self.go_on();
        assert!(self.says.by_ref().all(|line| line.is_ok()));
        assert!(self.child.wait().expect("it is ours").success());
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It does not outlive a test that fails.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Another process, which looks at the locks.
struct Other {
    files: DenseFs,
    kept: u32,
    both: u32,
    flocked: u32,
    closed: u32,
}

impl Other {
    fn new(files: DenseFs) -> Self {
        let [kept, both, flocked, closed] =
            ["/kept", "/both", "/flocked", "/closed"].map(|name| open(&files, name, CREATE));
        Self { files, kept, both, flocked, closed }
    }

    /// Checks which locks the program with this PID has.
    fn assert_locks(&self, pid: u32, has_kept: bool, has_flocked: bool) {
        let files = &self.files;
        let result = |is_locked| if is_locked { Err(Errno::AGAIN) } else { Ok(()) };
        let found = files.conflicting_lock_of_range(self.kept, LOCKED, false);
        let found = found.expect("it is open").map(|lock| (lock.pid, lock.start, lock.end));
        assert_eq!(found, has_kept.then_some((pid, LOCKED.start, LOCKED.end)));
        let try_range = |file, range| {
            let done = lock(files, file, range, Some(true));
            lock(files, file, range, None).expect("it is open");
            done
        };
        assert_eq!(try_range(self.kept, LOCKED), result(has_kept));
        let of_description = LockRange { holder: LockHolder::Description, ..LOCKED };
        assert_eq!(try_range(self.kept, of_description), result(has_kept));
        assert_eq!(try_range(self.flocked, LOCKED_BY_DESCRIPTION), result(has_flocked));
        assert_eq!(files.lock(self.flocked, Some(true), false), result(has_flocked));
        files.lock(self.flocked, None, false).expect("it is open");
    }

    fn assert_released(&self) {
        for file in [self.both, self.closed] {
            assert_eq!(lock(&self.files, file, LOCKED, Some(true)), Ok(()));
            lock(&self.files, file, LOCKED, None).expect("it is open");
        }
    }
}

/// If `is_reaped`, another process finds the old record before the new program does.
fn executes(is_reaped: bool) {
    let place = tempfile::tempdir_in("/dev/shm").expect("there is room");
    let arena = new_arena(place.path(), 16 << 20);
    let mut program = Program::start(program("taken_over", &arena));
    let pid = program.child.id();
    program.await_line("prepared");
    let other = Other::new(DenseFs::attach(&arena).expect("it was made"));
    other.assert_locks(pid, true, true);
    program.go_on();
    program.await_line("executed");
    if is_reaped {
        other.assert_locks(pid, true, true);
        other.assert_released();
    }
    program.go_on();
    program.await_line("adopted");
    other.assert_locks(pid, true, true);
    other.assert_released();
    program.go_on();
    program.await_line("unlocked");
    other.assert_locks(pid, false, true);
    program.go_on();
    program.await_line("closed");
    other.assert_locks(pid, false, false);
    program.ends();
    assert_whole(&other.files, 4);
}

fn assert_whole(files: &DenseFs, open: u64) {
    let began = Instant::now();
    let report = loop {
        match files.check() {
            // Children that other tests start have what is attached here until they execute their
            // programs.
            Err(ArenaError::InUse { .. }) if began.elapsed() < PATIENCE => {
                std::thread::yield_now();
            }
            checked => break checked.unwrap_or_else(|why| panic!("{why}")),
        }
    };
    assert_eq!(report.unwrap_or_else(|why| panic!("{why}")).descriptions, open);
}

#[test]
fn a_program_takes_over_from_the_one_that_executes_it() {
    executes(false);
}

#[test]
fn nothing_is_lost_if_others_are_faster_than_the_new_program() {
    executes(true);
}

/// If the program is killed before it takes over, nothing is left.
#[test]
fn a_program_that_dies_at_once_leaves_nothing() {
    let place = tempfile::tempdir_in("/dev/shm").expect("there is room");
    let arena = new_arena(place.path(), 16 << 20);
    let mut program = Program::start(program("taken_over", &arena));
    program.await_line("prepared");
    let other = Other::new(DenseFs::attach(&arena).expect("it was made"));
    program.go_on();
    program.await_line("executed");
    program.child.kill().expect("it is ours");
    let pid = program.child.id();
    program.child.wait().expect("it is ours");
    other.assert_locks(pid, false, false);
    other.assert_released();
    assert_whole(&other.files, 4);
}

#[test]
#[ignore = "a program that a test starts, and that executes itself"]
fn repeated() {
    let (Some(arena), Ok(times)) = (env::var_os(ARENA), env::var(TIMES)) else { return };
    let times: u64 = times.parse().expect("a number");
    let files = handed_over().unwrap_or_else(|| {
        let files = DenseFs::attach(&arena).expect("it was made");
        open(&files, "/counted", CREATE);
        files
    });
    assert_eq!(files.write(0, b"."), Ok(1));
    if times > 1 {
        let mut next = program("repeated", Path::new(&arena));
        next.env(TIMES, (times - 1).to_string());
        execute(next, &files.hand_over().expect("no record is lost"));
    }
}

/// There are 64 records and 16 slots.
#[test]
fn no_record_is_lost_however_often_a_process_executes_programs() {
    let times = env::var("FSPRISM_EXEC_TIMES").ok();
    let times: u64 = times.map_or(300, |text| text.parse().expect("it is a number"));
    let place = tempfile::tempdir_in("/dev/shm").expect("there is room");
    let arena = new_arena(place.path(), 1 << 20);
    let mut command = program("repeated", &arena);
    let ran = command.env(TIMES, times.to_string()).output().expect("it can be started");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let files = DenseFs::attach(&arena).expect("it was made");
    assert_eq!(files.stat("/counted").map(|stat| stat.size), Ok(times));
    assert_whole(&files, 0);
}

#[test]
fn a_program_that_cannot_be_executed_takes_nothing() {
    let place = tempfile::tempdir_in("/dev/shm").expect("there is room");
    let files = DenseFs::attach(new_arena(place.path(), 1 << 20)).expect("it was made");
    let file = open(&files, "/file", CREATE);
    lock(&files, file, LOCKED, Some(true)).expect("nobody has it");
    let numbers = || {
        let mut count = 0;
        files.own_numbers(&mut |_| count += 1);
        count
    };
    for _ in 0..1_000 {
        let hand_over = files.hand_over().expect("no record is lost");
        assert_eq!(files.hand_over().map(drop), Err(Errno::BUSY));
        hand_over.let_through().expect("it is open");
        assert_eq!(numbers(), 2);
    }
    assert_eq!(numbers(), 1);
    assert_whole(&files, 1);
    // A child that is made meanwhile does not keep the record. With a user id set, it is created by
    // fork().
    let hand_over = files.hand_over().expect("no record is lost");
    let record = hand_over.record();
    let mut child = Command::new("sleep");
    let mut child = child.arg("1000").uid(rustix::process::getuid().as_raw()).spawn();
    let child = child.as_mut().expect("it can be started");
    let is_open = |name: &Path| {
        let open = fs::read_dir(format!("/proc/{}/fd", child.id())).expect("it lives");
        open.filter_map(Result::ok).any(|one| fs::read_link(one.path()).is_ok_and(|to| to == name))
    };
    assert!(!is_open(files.path()));
    drop(hand_over);
    let again = files.hand_over().expect("no record is lost");
    assert_eq!(again.record(), record);
    drop(again);
    child.kill().expect("it is ours");
    child.wait().expect("it is ours");
    assert_whole(&files, 1);
}

#[test]
fn what_was_not_handed_over_is_not_taken() {
    let place = tempfile::tempdir_in("/dev/shm").expect("there is room");
    let arena = new_arena(place.path(), 1 << 20);
    let files = DenseFs::attach(&arena).expect("it was made");
    let why = |file: OwnedFd, record| match DenseFs::adopt(&arena, file, record) {
        Err(ArenaError::NotHandedOver { why, .. }) => why,
        other => panic!("{other:?}"),
    };
    let fresh = || fs::File::options().read(true).write(true).open(&arena).expect("it is there");
    assert_eq!(why(fresh().into(), 0), "another process has the record");
    assert_eq!(why(fresh().into(), 1), "nobody has the record");
    assert_eq!(why(fresh().into(), 64), "there is no such record");
    let hand_over = files.hand_over().expect("there is room");
    assert_eq!(why(fresh().into(), hand_over.record()), "another process has the record");
    // Its own record: nobody has handed that over.
    let mut own = None;
    files.own_numbers(&mut |number| own = own.or(Some(number)));
    assert_eq!(why(duplicate(own.expect("it has one")), 0), "nobody has handed the record over");
    let null = fs::File::open("/dev/null").expect("it is there");
    let adopted = DenseFs::adopt(&arena, null.into(), 0).map(drop);
    assert!(matches!(adopted, Err(ArenaError::NoDenseFs { .. })), "{adopted:?}");
}
