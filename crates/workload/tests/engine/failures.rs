//! Targets that fail: full, read-only, out of descriptors. They are mounted in a private mount
//! namespace, which needs a separate process: the test reruns itself under `unshare`.

use std::path::Path;
use std::process::Command;

use rustix::mount::{MountFlags, mount, mount_remount};
use workload::{
    DataFiles, DirectorySet, EngineError, FileSet, FileSetSpec, Operation, Workload, WorkloadError,
    prepare,
};

use crate::common::{INSIDE, Scratch, inside_private_mounts, names, never, outcome};

pub(crate) fn mount_tmpfs(path: &Path, options: &std::ffi::CStr) {
    mount("none", path, "tmpfs", MountFlags::empty(), Some(options)).expect("root may mount");
}

pub(crate) fn small_spec() -> FileSetSpec {
    FileSetSpec {
        read_files: DataFiles { count: 1, size_bytes: 64 << 10 },
        write_files: DataFiles { count: 1, size_bytes: 64 << 10 },
        directories: DirectorySet { count: 1, entries: 10, ..DirectorySet::default() },
        ..FileSetSpec::default()
    }
}

#[test]
fn a_full_file_system_is_reported_as_such_and_left_clean() {
    if !inside_private_mounts("failures::a_full_file_system_is_reported_as_such_and_left_clean") {
        return;
    }
    let scratch = Scratch::within(Path::new("/tmp"));
    mount_tmpfs(scratch.path(), c"size=1m,nr_inodes=200");
    let too_large = DataFiles { count: 1, size_bytes: 2 << 20 };
    let spec = FileSetSpec { read_files: too_large, ..FileSetSpec::default() };
    let error = FileSet::create(scratch.path(), &spec, 1, &never()).expect_err("twice its size");
    assert!(matches!(&error, EngineError::NoSpace { operation: "pwrite", .. }), "{error}");
    for part in ["read", "write", "growing", "entries"] {
        std::fs::remove_dir_all(scratch.path().join(part)).expect("it was begun");
    }

    let file_set = FileSet::create(scratch.path(), &small_spec(), 1, &never()).expect("it fits");
    let untouched = names(&file_set);
    for operation in [
        Operation::Append,
        Operation::Fsync,
        Operation::AppendFsync,
        Operation::Create,
        Operation::NewFile,
        Operation::Mkdir,
        Operation::Symlink,
        Operation::Unlink,
        Operation::Rmdir,
    ] {
        let workload = Workload { operations_per_thread: 1000, ..Workload::new(operation) };
        let error = outcome(&workload, &file_set).expect_err("there is no room for 1000");
        assert!(matches!(error, EngineError::NoSpace { .. }), "{operation:?}: {error}");
        assert_eq!(names(&file_set), untouched, "{operation:?}");
    }
    // One thread's failure ends the other's run, which would otherwise take very long.
    let two =
        Workload { threads: 2, operations_per_thread: 1 << 32, ..Workload::new(Operation::Append) };
    let error = outcome(&two, &file_set).expect_err("there is no room");
    assert!(matches!(error, EngineError::NoSpace { .. }), "{error}");
}

#[test]
fn a_read_only_file_system_is_reported_as_such() {
    if !inside_private_mounts("failures::a_read_only_file_system_is_reported_as_such") {
        return;
    }
    let scratch = Scratch::within(Path::new("/tmp"));
    mount_tmpfs(scratch.path(), c"size=1m");
    let file_set = FileSet::create(scratch.path(), &small_spec(), 1, &never()).expect("it fits");
    mount_remount(scratch.path(), MountFlags::RDONLY, "").expect("nothing is open for writing");
    for operation in [Operation::Write, Operation::Create, Operation::Append, Operation::Unlink] {
        let error = outcome(&Workload::new(operation), &file_set).expect_err("read-only");
        assert!(matches!(error, EngineError::ReadOnly { .. }), "{operation:?}: {error}");
    }
    for operation in [Operation::Read, Operation::StatPresent, Operation::Readdir] {
        outcome(&Workload::new(operation), &file_set).expect("reading is allowed");
    }
}

#[test]
fn a_file_that_became_shorter_is_never_counted_as_read() {
    for scratch in Scratch::everywhere() {
        let file_set = FileSet::create(scratch.path(), &small_spec(), 1, &never()).expect("room");
        let path = file_set.data_file(workload::Role::Read, 0);
        let file = std::fs::File::options().write(true).open(path).expect("it is ours");
        file.set_len((64 << 10) - 100).expect("it is ours");
        let workload = Workload {
            access: workload::Access::Sequential,
            operations_per_thread: 16,
            ..Workload::new(Operation::Read)
        };
        let error = outcome(&workload, &file_set).expect_err("the last request is short");
        let last = 60 << 10;
        assert!(
            matches!(
                error,
                EngineError::ShortTransfer {
                    offset_bytes, wanted_bytes: 4096, done_bytes: 3996, ..
                } if offset_bytes == last
            ),
            "{error}"
        );
    }
}

#[test]
fn more_descriptors_than_allowed_is_reported_as_such() {
    if std::env::var_os(INSIDE).is_none() {
        let name = "failures::more_descriptors_than_allowed_is_reported_as_such";
        let itself = std::env::current_exe().expect("a running program has a path");
        let command = format!(
            "ulimit -n 40 && exec '{}' --exact {name} --nocapture --test-threads 1",
            itself.display()
        );
        let status = Command::new("sh").args(["-c", &command]).env(INSIDE, "yes").status();
        assert!(status.expect("every system has sh").success());
        return;
    }
    let scratch = Scratch::within(Path::new("."));
    let file_set = FileSet::create(scratch.path(), &small_spec(), 1, &never()).expect("room");
    let workload = Workload { batch: 64, ..Workload::new(Operation::Open) };
    let error = outcome(&workload, &file_set).expect_err("64 at once");
    assert!(matches!(&error, EngineError::TooManyOpenFiles { .. }), "{error}");
    assert!(error.to_string().contains("ulimit -n"), "{error}");
}

#[test]
fn a_description_that_cannot_be_executed_is_refused() {
    let scratch = Scratch::within(Path::new("."));
    let file_set = FileSet::create(scratch.path(), &small_spec(), 1, &never()).expect("room");
    let nobody = Workload { threads: 0, ..Workload::new(Operation::Read) };
    let error = prepare(&nobody, &file_set, 1).expect_err("nobody would do it");
    assert!(matches!(error, EngineError::Workload(WorkloadError::Zero(_))), "{error}");
}

/// Characters that the library still buffers are written after the last operation, and an error is
/// reported if there is no space for them.
#[test]
#[expect(clippy::wildcard_enum_match_arm, reason = "a test looks for one of them")]
fn what_stdio_holds_back_is_written_at_the_end_or_reported() {
    let name = "failures::what_stdio_holds_back_is_written_at_the_end_or_reported";
    if !inside_private_mounts(name) {
        return;
    }
    let scratch = Scratch::within(Path::new("/tmp"));
    mount_tmpfs(scratch.path(), c"size=1m");
    let file_set = FileSet::create(scratch.path(), &small_spec(), 1, &never()).expect("it fits");
    let path = file_set.data_file(workload::Role::Write, 0);
    // A hole, so that its first page needs space.
    std::fs::File::create(&path).and_then(|file| file.set_len(64 << 10)).expect("it is ours");
    let workload = Workload {
        io_path: workload::IoPath::Stdio(workload::StdioLocking::EachCharacter),
        access: workload::Access::Sequential,
        request_bytes: 10,
        operations_per_thread: 20,
        ..Workload::new(Operation::Write)
    };
    let done = outcome(&workload, &file_set).expect("there is room");
    assert_eq!(done.bytes, 200);
    let bytes = std::fs::read(&path).expect("it is ours");
    assert_eq!(bytes[200..].iter().position(|byte| *byte != 0), None);
    assert!(bytes[..200].chunks(10).all(|request| request != [0; 10]));

    std::fs::File::create(&path).and_then(|file| file.set_len(64 << 10)).expect("it is ours");
    let rest = scratch.path().join("rest");
    std::fs::write(rest, vec![1; 1 << 20]).expect_err("it is larger than the file system");
    let error = outcome(&workload, &file_set).expect_err("there is no room");
    match error {
        EngineError::NoSpace { operation: "fflush", path: at, .. } => assert_eq!(at, path),
        other => panic!("{other}"),
    }
}
