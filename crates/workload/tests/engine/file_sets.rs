//! File sets are made, checked and removed.

use std::sync::atomic::AtomicBool;

use workload::{
    DataFiles, EngineError, FileSet, FileSetSpec, Operation, Role, Sharing, Workload,
    WorkloadError, create_empty_files,
};

use crate::common::{
    FILE_BYTES, SEED, SPEC, Scratch, file_set, listing, never, outcome, verify_file,
};

#[test]
fn a_file_set_is_what_its_specification_says() {
    for scratch in Scratch::everywhere() {
        let file_set = file_set(&scratch);
        for role in [Role::Read, Role::Write] {
            for number in 0..3 {
                assert_eq!(verify_file(&file_set, role, number).expect("as made"), FILE_BYTES);
            }
        }
        for number in 0..3 {
            let names = listing(&file_set.directory(number));
            assert_eq!((names.len(), names[0].as_str()), (20, "e00000000000"));
            assert_eq!(names[19], "e00000000013");
        }
        file_set.remove().expect("it is ours");
        assert_eq!(listing(scratch.path()), [""; 0]);
    }
}

#[test]
fn a_file_set_of_odd_sizes_and_of_nothing_can_be_made() {
    for scratch in Scratch::everywhere() {
        for size_bytes in [0, 1, 7, 4097, (1 << 20) + 3] {
            let read_files = DataFiles { count: 1, size_bytes };
            let spec = FileSetSpec { read_files, ..FileSetSpec::default() };
            let file_set = FileSet::create(scratch.path(), &spec, 1, &never()).expect("room");
            assert_eq!(verify_file(&file_set, Role::Read, 0).expect("as made"), size_bytes);
            file_set.remove().expect("it is ours");
        }
    }
}

#[test]
fn making_stops_at_once_when_told_to() {
    let stop = AtomicBool::new(true);
    for scratch in Scratch::everywhere() {
        let error = create_empty_files(scratch.path(), 0..1_000_000, &stop).expect_err("stopped");
        assert!(matches!(error, EngineError::Stopped));
        assert_eq!(listing(scratch.path()).len(), 0);
        let error = FileSet::create(scratch.path(), &SPEC, SEED, &stop).expect_err("stopped");
        assert!(matches!(error, EngineError::Stopped));
        assert_eq!(std::fs::metadata(scratch.path().join("read/0")).expect("begun").len(), 0);
    }
}

#[test]
fn making_it_twice_or_nowhere_is_refused_with_the_path() {
    let scratch = Scratch::within(std::path::Path::new("."));
    let made = file_set(&scratch);
    let twice = FileSet::create(scratch.path(), &SPEC, SEED, &never()).expect_err("it is there");
    assert!(twice.to_string().contains("File exists"), "{twice}");
    let nowhere = FileSet::create(&made.root().join("nowhere"), &SPEC, SEED, &never());
    let nowhere = nowhere.expect_err("it is not there");
    assert!(nowhere.to_string().contains("nowhere"), "{nowhere}");
}

#[test]
fn a_workload_that_the_file_set_cannot_serve_is_refused_before_anything_is_opened() {
    let scratch = Scratch::within(std::path::Path::new("."));
    let file_set = file_set(&scratch);
    for operation in [Operation::Read, Operation::Write, Operation::Create] {
        let workload = Workload { threads: 4, ..Workload::new(operation) };
        let error = outcome(&workload, &file_set).expect_err("there are three of each");
        assert!(
            matches!(
                error,
                EngineError::Workload(WorkloadError::FileSetLacks { needed: 4, present: 3, .. })
            ),
            "{error}"
        );
        let shared = Workload { sharing: Sharing::Same, ..workload };
        outcome(&shared, &file_set).expect("one is enough to share");
    }
    let crowd =
        Workload { threads: 21, sharing: Sharing::Same, ..Workload::new(Operation::Rename) };
    outcome(&crowd, &file_set).expect_err("there are 20 entries to rename");
    let huge = Workload { request_bytes: 2 << 20, ..Workload::new(Operation::Read) };
    let error = outcome(&huge, &file_set).expect_err("files are half as large");
    assert!(
        matches!(error, EngineError::Workload(WorkloadError::RequestTooLarge { .. })),
        "{error}"
    );
}
