//! Other name lengths, paths through directories, and changes that are made durable.

use measure::MonotonicClock;
use workload::{
    DirectorySet, DirectorySync, EngineError, FileSet, FileSetSpec, Operation, Sharing, Workload,
    WorkloadError, prepare,
};

use super::common::{ENTRIES, Scratch, listing, names, never, outcome};

fn deep(scratch: &Scratch, depth: usize, name_bytes: usize) -> Result<FileSet, EngineError> {
    let directories =
        DirectorySet { count: 2, entries: ENTRIES, entry_bytes: 4096, depth, name_bytes };
    let spec = FileSetSpec { directories, ..FileSetSpec::default() };
    FileSet::create(scratch.path(), &spec, 7, &never())
}

fn operations_on_names() -> impl Iterator<Item = Operation> {
    let on_names = |operation: &Operation| operation.is_on_names();
    Operation::ALL.into_iter().filter(on_names)
}

#[test]
fn every_operation_works_at_every_depth_with_names_of_every_length() {
    for (depth, name_bytes) in [(1, 12), (1, 5), (4, 64), (16, 255)] {
        for scratch in Scratch::everywhere() {
            let file_set = deep(&scratch, depth, name_bytes).expect("there is room for it");
            let below = file_set.directory(1);
            assert_eq!(
                below.ancestors().position(|one| one.ends_with("entries/1")),
                Some(depth - 1)
            );
            let untouched = names(&file_set);
            assert!(listing(&below).iter().all(|name| name.len() == name_bytes));
            assert_eq!(listing(&below).len() as u64, ENTRIES);
            for operation in operations_on_names() {
                let workload = Workload { operations_per_thread: 9, ..Workload::new(operation) };
                let done = outcome(&workload, &file_set).expect("nothing stands in the way");
                assert_eq!(done.recorder.operations(), 9, "{operation:?}");
                assert_eq!(names(&file_set), untouched, "{operation:?}");
            }
        }
    }
}

#[test]
fn a_new_name_is_as_long_as_the_others_and_a_symlink_leads_to_an_entry() {
    let scratch = Scratch::within(std::path::Path::new("."));
    let file_set = deep(&scratch, 3, 100).expect("there is room for it");
    let workload = Workload { sharing: Sharing::Same, ..Workload::new(Operation::Symlink) };
    let workload = Workload { operations_per_thread: 5, ..workload };
    let mut session = prepare(&workload, &file_set, 1).expect("it can be executed");
    session.run_with(&MonotonicClock, &never()).expect("nothing stands in the way");
    let directory = file_set.directory(0);
    let links: Vec<_> = listing(&directory).into_iter().filter(|n| n.starts_with('s')).collect();
    assert_eq!(links.len(), 5);
    for link in links {
        assert_eq!(link.len(), 100);
        assert!(directory.join(link).metadata().expect("it leads somewhere").is_file());
    }
}

#[test]
fn names_too_short_for_what_they_are_to_tell_apart_are_refused() {
    let scratch = Scratch::within(std::path::Path::new("."));
    let set = |entries, name_bytes| {
        let directories =
            DirectorySet { count: 1, entries, entry_bytes: 4096, depth: 1, name_bytes };
        let spec = FileSetSpec { directories, ..FileSetSpec::default() };
        let root = scratch.path().join(format!("{entries}-{name_bytes}"));
        std::fs::create_dir(&root).expect("it is ours");
        FileSet::create(&root, &spec, 7, &never())
    };
    let most = 36_u64.pow(4);
    let refused = set(most + 1, 5).expect_err("there are fewer names").to_string();
    assert!(refused.contains("at most 1679616 entries in a directory"), "{refused}");
    assert!(set(1, 4).is_err());
    let file_set = set(1, 5).expect("there are names enough");
    let creates = Workload { threads: 2, ..Workload::new(Operation::Create) };
    let operations_per_thread = most / 2 + 1;
    let workload = Workload { sharing: Sharing::Same, operations_per_thread, ..creates };
    let refused = prepare(&workload, &file_set, 1).expect_err("two would meet").to_string();
    assert!(refused.contains("names of that length"), "{refused}");
}

/// Each call resolves its whole path: it fails as soon as a directory on the way is renamed.
#[test]
fn a_path_is_resolved_by_every_call() {
    let scratch = Scratch::within(std::path::Path::new("."));
    let file_set = deep(&scratch, 3, 12).expect("there is room for it");
    let resolving = |operation: &Operation| *operation != Operation::Readdir;
    for operation in operations_on_names().filter(resolving) {
        let workload = Workload { sharing: Sharing::Same, ..Workload::new(operation) };
        let workload = Workload { operations_per_thread: 3, ..workload };
        let mut session = prepare(&workload, &file_set, 1).expect("it can be executed");
        let step = file_set.root().join("entries/0/p");
        std::fs::rename(&step, step.with_file_name("q")).expect("it is ours");
        let ran = session.run_with(&MonotonicClock, &never());
        std::fs::rename(step.with_file_name("q"), &step).expect("it is ours");
        // A missing name is still missing.
        assert_eq!(ran.is_err(), operation != Operation::StatMissing, "{operation:?}");
        session.restore().expect("nothing stands in the way");
    }
}

#[test]
fn changes_can_be_made_permanent_one_by_one() {
    for scratch in Scratch::everywhere() {
        for depth in [1, 3] {
            let root = scratch.path().join(depth.to_string());
            std::fs::create_dir(&root).expect("it is ours");
            let directories = DirectorySet {
                count: 2,
                entries: ENTRIES,
                entry_bytes: 4096,
                depth,
                name_bytes: 12,
            };
            let spec = FileSetSpec { directories, ..FileSetSpec::default() };
            let file_set = FileSet::create(&root, &spec, 7, &never()).expect("there is room");
            let untouched = names(&file_set);
            for operation in operations_on_names().filter(|one| one.changes_directories()) {
                let workload = Workload {
                    operations_per_thread: 4,
                    directory_sync: DirectorySync::EachOperation,
                    ..Workload::new(operation)
                };
                let done = outcome(&workload, &file_set).expect("nothing stands in the way");
                assert_eq!(done.recorder.operations(), 4, "{operation:?}");
                assert_eq!(names(&file_set), untouched, "{operation:?}");
            }
        }
    }
}

#[test]
fn depths_and_lengths_out_of_bounds_are_refused() {
    let scratch = Scratch::within(std::path::Path::new("."));
    for (depth, name_bytes) in [(0, 12), (65, 12), (1, 4), (1, 256)] {
        let refused = deep(&scratch, depth, name_bytes).expect_err("out of bounds");
        let is_it = |error: &WorkloadError| matches!(error, WorkloadError::OutOfBounds { .. });
        assert!(matches!(&refused, EngineError::Workload(error) if is_it(error)), "{refused}");
    }
}
