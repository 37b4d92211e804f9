//! The same operations with calls to a library, in an arena of DenseFS.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use densefs_process::{DenseFs, Errno, NewArena, flags, make};
use measure::MonotonicClock;
use workload::{
    Access, EngineError, FileSet, IoPath, Operation, ReachedBy, Role, Sharing, Verification,
    Workload, WorkloadError, prepare,
};

use crate::common::{
    ENTRIES, FILE_BYTES, FILE_LENGTH, SEED, SPEC, Scratch, assert_ended_together, never, outcome,
};

/// A temporary arena with a file set in it.
struct Arena {
    files: DenseFs,
    file_set: FileSet,
    _scratch: Scratch,
}

impl Arena {
    fn new() -> Self {
        let scratch = Scratch::within(Path::new("."));
        let path = scratch.path().join("arena");
        let root = DenseFs::new_root(0o700);
        let request = NewArena::new(64 << 20, root);
        make(&path, &request).expect("there is room for it");
        let files = DenseFs::attach(&path).expect("it was just made");
        let reached = ReachedBy::ByLibrary(files.clone());
        let root = path.join("set");
        reached.make_directory(&root).expect("there is room for it");
        let file_set = FileSet::create_by(&reached, &root, &SPEC, SEED, &never());
        Self { files, file_set: file_set.expect("there is room for it"), _scratch: scratch }
    }

    /// A path of the file set as the library sees it.
    fn inside(&self, path: &Path) -> PathBuf {
        Path::new("/").join(path.strip_prefix(self.files.path()).expect("it is in the arena"))
    }

    fn listing(&self, path: &Path) -> Vec<String> {
        let entries = self.files.read_directory(self.inside(path)).expect("it is there");
        let name = |bytes: &[u8]| OsStr::from_bytes(bytes).to_string_lossy().into_owned();
        let mut names: Vec<String> = entries.iter().map(|entry| name(&entry.name)).collect();
        names.sort();
        names
    }

    fn names(&self) -> Vec<Vec<String>> {
        let of = |number| self.listing(&self.file_set.directory(number));
        let growing = self.listing(&self.file_set.root().join("growing"));
        (0..SPEC.directories.count).map(of).chain([growing]).collect()
    }

    fn bytes(&self, role: Role, number: usize) -> Vec<u8> {
        let path = self.inside(&self.file_set.data_file(role, number));
        let file = self.files.open(path, 0, 0).expect("it is there");
        let mut bytes = vec![0; FILE_LENGTH + 1];
        let length = file.read(&mut bytes).expect("it can be read");
        bytes.truncate(length);
        bytes
    }
}

#[test]
fn a_file_set_is_in_the_arena_and_nowhere_else() {
    let arena = Arena::new();
    let file_set = &arena.file_set;
    assert!(!file_set.root().exists(), "the kernel finds nothing below the arena's file");
    for role in [Role::Read, Role::Write] {
        for number in 0..3 {
            let bytes = arena.bytes(role, number);
            assert_eq!(bytes.len() as u64, FILE_BYTES);
            file_set.content(role, number).check(&bytes, 0).expect("it is as it should be");
        }
    }
    assert!(arena.names()[..3].iter().all(|names| names.len() as u64 == ENTRIES));
    file_set.clone().remove().expect("nothing stands in the way");
    assert_eq!(arena.listing(file_set.root()), [""; 0]);
}

#[test]
fn every_operation_executes_counts_right_and_leaves_everything_as_it_was() {
    let arena = Arena::new();
    let untouched = arena.names();
    for operation in Operation::ALL {
        for (threads, sharing, batch) in
            [(1, Sharing::Own, 1), (2, Sharing::Own, 4), (3, Sharing::Same, 1)]
        {
            let batch = if operation.can_batch() { batch } else { 1 };
            let workload = Workload {
                threads,
                sharing,
                batch,
                operations_per_thread: 50,
                ..Workload::new(operation)
            };
            let outcome = outcome(&workload, &arena.file_set)
                .unwrap_or_else(|error| panic!("{workload:?}: {error}"));
            assert_ended_together(&outcome, &workload);
            assert_eq!(arena.names(), untouched, "{workload:?}");
        }
    }
    // A session closes everything it opens: all descriptors are free except those in use.
    let root = arena.files.open("/", flags::DIRECTORY, 0).expect("it is there");
    assert_eq!(root.descriptor(), 0);
}

#[test]
fn operations_do_what_their_name_says() {
    let arena = Arena::new();
    for (operation, letter, before, after) in [
        (Operation::Create, "f", 0, 7),
        (Operation::NewFile, "f", 0, 7),
        (Operation::Link, "l", 0, 7),
        (Operation::Symlink, "s", 0, 7),
        (Operation::Mkdir, "d", 0, 7),
        (Operation::Unlink, "f", 7, 0),
        (Operation::Rmdir, "d", 7, 0),
        (Operation::Rename, "r", 0, 7),
        (Operation::StatPresent, "e", 20, 20),
    ] {
        let workload = Workload {
            access: Access::Sequential,
            sharing: Sharing::Same,
            operations_per_thread: 7,
            ..Workload::new(operation)
        };
        let directory = arena.file_set.directory(0);
        let count = || arena.listing(&directory).iter().filter(|n| n.starts_with(letter)).count();
        let mut session = prepare(&workload, &arena.file_set, 1).expect("it can be executed");
        assert_eq!(count(), before, "{operation:?}");
        session.run_with(&MonotonicClock, &never()).expect("nothing stands in the way");
        assert_eq!(count(), after, "{operation:?}");
        session.restore().expect("nothing stands in the way");
    }
}

#[test]
fn bytes_are_read_and_written_over_and_appended() {
    let arena = Arena::new();
    let verified = |operation| Workload {
        verification: Verification::On,
        operations_per_thread: 100,
        ..Workload::new(operation)
    };
    let read = outcome(&verified(Operation::Read), &arena.file_set).expect("it is all there");
    assert_eq!((read.bytes, read.checked_bytes), (409_600, 409_600));
    let original = arena.bytes(Role::Write, 0);
    let unverified = Workload { verification: Verification::Off, ..verified(Operation::Write) };
    outcome(&unverified, &arena.file_set).expect("there is room");
    assert_ne!(arena.bytes(Role::Write, 0), original);
    let all = Workload {
        access: Access::Sequential,
        operations_per_thread: 3 * FILE_BYTES / 4096,
        ..verified(Operation::Write)
    };
    outcome(&all, &arena.file_set).expect("there is room");
    assert_eq!(arena.bytes(Role::Write, 0), original);

    let append = Workload { operations_per_thread: 9, ..Workload::new(Operation::Append) };
    let mut session = prepare(&append, &arena.file_set, 1).expect("it can be executed");
    session.run_with(&MonotonicClock, &never()).expect("there is room");
    let grown = arena.inside(&session.touched()[0]);
    assert_eq!(arena.files.stat(&grown).expect("it is there").size, 9 * 4096);
    session.restore().expect("nothing stands in the way");
    assert_eq!(arena.files.stat(&grown), Err(Errno::NOENT));
}

#[test]
fn what_is_not_a_call_of_the_library_is_refused() {
    let arena = Arena::new();
    let mix = Workload::new(Operation::Mixed { read_percent: 50 });
    let direct = Workload { io_path: IoPath::PsyncDirect, ..Workload::new(Operation::Read) };
    for workload in [mix, direct] {
        let refused = prepare(&workload, &arena.file_set, 1).expect_err("it is the kernel's");
        let EngineError::Workload(WorkloadError::NotByLibrary(_)) = refused else {
            panic!("{refused}")
        };
    }
}
