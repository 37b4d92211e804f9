//! Workers that are processes. Forking them requires a single-threaded process, which this program
//! is because it has no test harness.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;

use densefs_process::{DenseFs, NewArena, make};
use measure::MonotonicClock;
use workload::{
    DataFiles, DirectorySet, EngineError, FileSet, FileSetSpec, Operation, Outcome, ReachedBy,
    Role, Sharing, SourceTree, Verification, Workers, Workload, prepare,
};

/// A case's name, and what it runs on a new file set.
type Case = (&'static str, fn(&FileSet));

const CASES: &[Case] = &[
    ("processes_do_what_threads_do", processes_do_what_threads_do),
    ("work_is_done_and_checked_in_the_others", work_is_done_and_checked_in_the_others),
    ("trouble_of_one_ends_all_and_is_told", trouble_of_one_ends_all_and_is_told),
    ("one_that_dies_frees_those_that_wait", one_that_dies_frees_those_that_wait),
    ("a_process_of_several_threads_refuses", a_process_of_several_threads_refuses),
];

/// How many of the cases, from the first on, are also run with library calls.
const CASES_BY_LIBRARY: usize = 2;

fn main() {
    // Test runners also ask for a list of tests.
    if std::env::args().any(|argument| argument == "--list") {
        return;
    }
    for (name, case) in &CASES[..CASES_BY_LIBRARY] {
        let path = PathBuf::from(format!("fsprism-processes-test-{}.arena", std::process::id()));
        let removed = Removed(path.clone());
        case(&in_arena(&path));
        drop(removed);
        println!("test {name} by library call ... ok");
    }
    for parent in [Path::new("."), Path::new("/dev/shm")].into_iter().filter(|one| one.is_dir()) {
        for (name, case) in CASES {
            let root = parent.join(format!("fsprism-processes-test-{}", std::process::id()));
            std::fs::create_dir(&root).expect("the test's parent directory is writable");
            let removed = Removed(root.clone());
            case(&FileSet::create(&root, &SPEC, 99, &never()).expect("there is room for it"));
            drop(removed);
            println!("test {name} on {} ... ok", parent.display());
        }
    }
}

/// A file set in a new arena.
fn in_arena(path: &Path) -> FileSet {
    let request = NewArena::new(64 << 20, DenseFs::new_root(0o700));
    make(path, &request).expect("there is room for it");
    let reached = ReachedBy::ByLibrary(DenseFs::attach(path).expect("it was just made"));
    let root = path.join("set");
    reached.make_directory(&root).expect("there is room for it");
    FileSet::create_by(&reached, &root, &SPEC, 99, &never()).expect("there is room for it")
}

/// A directory with everything in it, or a file, removed on drop.
struct Removed(PathBuf);

impl Drop for Removed {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
        drop(std::fs::remove_file(&self.0));
    }
}

const SPEC: FileSetSpec = FileSetSpec {
    read_files: DataFiles { count: 3, size_bytes: 1 << 20 },
    write_files: DataFiles { count: 3, size_bytes: 1 << 20 },
    directories: DirectorySet {
        count: 3,
        entries: 20,
        entry_bytes: 4096,
        depth: 1,
        name_bytes: 12,
    },
    sources: SourceTree { files: 0 },
};

fn never() -> AtomicBool {
    AtomicBool::new(false)
}

fn of_processes(operation: Operation, workers: usize, sharing: Sharing) -> Workload {
    Workload {
        threads: workers,
        workers: Workers::Processes,
        sharing,
        operations_per_thread: 200,
        ..Workload::new(operation)
    }
}

fn outcome(workload: &Workload, file_set: &FileSet) -> Result<Outcome, EngineError> {
    let mut session = prepare(workload, file_set, 99)?;
    let outcome = session.run_with(&MonotonicClock, &never())?;
    session.restore()?;
    Ok(outcome)
}

/// A path of a file set in an arena, as the library sees it.
fn inside(files: &DenseFs, path: &Path) -> PathBuf {
    Path::new("/").join(path.strip_prefix(files.path()).expect("it is in the arena"))
}

/// The whole content of a data file.
fn bytes(file_set: &FileSet, role: Role, number: usize) -> Vec<u8> {
    let path = file_set.data_file(role, number);
    match file_set.reached() {
        ReachedBy::BySystemCalls => std::fs::read(path).expect("it can be read"),
        ReachedBy::ByLibrary(files) => {
            let mut bytes = vec![0; 1 << 20];
            let file = files.open(inside(files, &path), 0, 0).expect("it is there");
            let length = file.read(&mut bytes).expect("it can be read");
            bytes.truncate(length);
            bytes
        }
    }
}

/// The names in a directory of the set, sorted.
fn listing(file_set: &FileSet, number: usize) -> Vec<String> {
    if let ReachedBy::ByLibrary(files) = file_set.reached() {
        let entries = files.read_directory(inside(files, &file_set.directory(number)));
        let name =
            |one: densefs_process::DirectoryEntry| String::from_utf8(one.name).expect("letters");
        let mut names: Vec<String> = entries.expect("it is there").into_iter().map(name).collect();
        names.sort();
        return names;
    }
    let entries = std::fs::read_dir(file_set.directory(number)).expect("it is there");
    let name = |entry: std::io::Result<std::fs::DirEntry>| entry.map(|one| one.file_name());
    let mut names: Vec<String> = entries
        .map(|entry| name(entry).expect("it can be listed").to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

fn names(file_set: &FileSet) -> Vec<Vec<String>> {
    (0..3).map(|number| listing(file_set, number)).collect()
}

fn processes_do_what_threads_do(file_set: &FileSet) {
    let untouched = names(file_set);
    for operation in Operation::ALL {
        for (workers, sharing) in [(1, Sharing::Own), (2, Sharing::Same), (3, Sharing::Own)] {
            let workload = of_processes(operation, workers, sharing);
            let done = outcome(&workload, file_set).expect("nothing stands in the way");
            let each: Vec<u64> = done.threads.iter().map(|thread| thread.operations).collect();
            assert_eq!((each.len(), each.iter().max()), (workers, Some(&200)), "{operation:?}");
            assert_eq!(done.recorder.operations(), each.iter().sum::<u64>(), "{operation:?}");
            assert!(done.recorder.busy_ns() > 0, "{operation:?}");
            assert_eq!(names(file_set), untouched, "{operation:?}");
        }
    }
}

/// What a child does shows up in the file system, and what it checked is added up.
fn work_is_done_and_checked_in_the_others(file_set: &FileSet) {
    let create = of_processes(Operation::Create, 2, Sharing::Own);
    let mut session = prepare(&create, file_set, 1).expect("it can be executed");
    let ran = session.run_with(&MonotonicClock, &never()).expect("nothing stands in the way");
    let made = names(file_set).iter().flatten().filter(|name| name.starts_with('f')).count();
    assert_eq!(made as u64, ran.recorder.operations());
    session.restore().expect("nothing stands in the way");
    for operation in [Operation::Read, Operation::Write] {
        let verification = Verification::On;
        let workload = Workload { verification, ..of_processes(operation, 2, Sharing::Own) };
        let ran = outcome(&workload, file_set).expect("nothing stands in the way");
        let expected = if operation == Operation::Read { ran.bytes } else { 0 };
        assert_eq!(ran.checked_bytes, expected);
        assert_eq!(ran.bytes / 4096, ran.recorder.operations());
    }
    let written = bytes(file_set, Role::Write, 0);
    file_set.content(Role::Write, 0).check(&written, 0).expect("what was written is right");
}

fn trouble_of_one_ends_all_and_is_told(file_set: &FileSet) {
    let workload = Workload {
        operations_per_thread: 100_000_000,
        ..of_processes(Operation::OpenClose, 2, Sharing::Own)
    };
    let mut session = prepare(&workload, file_set, 1).expect("it can be executed");
    // Made by the second process, whose directory is number 1.
    for name in listing(file_set, 1) {
        std::fs::remove_file(file_set.directory(1).join(name)).expect("it is ours");
    }
    let error = session.run_with(&MonotonicClock, &never()).expect_err("there is nothing to open");
    assert!(matches!(error, EngineError::Worker { .. }), "{error}");
    assert!(error.to_string().contains("openat"), "{error}");
}

fn one_that_dies_frees_those_that_wait(file_set: &FileSet) {
    /// Kills the first child other than this shell, and exits when its parent does.
    const KILLER: &str = "while [ -d /proc/$1 ]; do \
         for child in $(cat /proc/$1/task/$1/children); do \
         [ $child != $$ ] && kill -9 $child && exit; done; done";
    let workload = Workload {
        operations_per_thread: 100_000_000,
        ..of_processes(Operation::StatPresent, 2, Sharing::Same)
    };
    let mut killer = Command::new("sh")
        .args(["-c", KILLER, "sh", &std::process::id().to_string()])
        .spawn()
        .expect("there is a shell");
    let mut session = prepare(&workload, file_set, 1).expect("it can be executed");
    let ran = session.run_with(&MonotonicClock, &never());
    drop(killer.kill());
    drop(killer.wait());
    let error = ran.expect_err("one was killed");
    assert!(error.to_string().contains("exited before"), "{error}");
}

fn a_process_of_several_threads_refuses(file_set: &FileSet) {
    let workload = of_processes(Operation::StatPresent, 2, Sharing::Same);
    let error = std::thread::scope(|scope| {
        let (go, wait) = std::sync::mpsc::channel::<()>();
        scope.spawn(move || wait.recv());
        let refused = outcome(&workload, file_set).expect_err("there are two threads");
        drop(go);
        refused
    });
    assert!(error.to_string().contains("must have a single thread"), "{error}");
}
