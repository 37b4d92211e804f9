//! Operations on names: each is executed, counted, and leaves the directory set as it was.

use measure::MonotonicClock;
use workload::{Access, EngineError, Operation, Sharing, Workload, prepare};

use crate::common::{
    ENTRIES, Scratch, assert_ended_together, file_set, listing, names, never, outcome,
};

fn name_operations() -> impl Iterator<Item = Operation> {
    Operation::ALL.into_iter().filter(|operation| operation.is_on_names())
}

#[test]
fn every_operation_executes_counts_right_and_leaves_the_directories_as_they_were() {
    for scratch in Scratch::everywhere() {
        let file_set = file_set(&scratch);
        let untouched = names(&file_set);
        let mut executed = 0;
        for operation in name_operations() {
            for access in [Access::Sequential, Access::Uniform, Access::Zipf { exponent: 1.0 }] {
                for (threads, sharing, batch) in
                    [(1, Sharing::Own, 1), (2, Sharing::Own, 4), (3, Sharing::Same, 1)]
                {
                    let batch = if operation.can_batch() { batch } else { 1 };
                    let workload = Workload {
                        access,
                        threads,
                        sharing,
                        batch,
                        operations_per_thread: 50,
                        ..Workload::new(operation)
                    };
                    let outcome = outcome(&workload, &file_set)
                        .unwrap_or_else(|error| panic!("{workload:?}: {error}"));
                    assert_ended_together(&outcome, &workload);
                    let moved = if operation.moves_whole_files() { 4096 } else { 0 };
                    assert_eq!(outcome.bytes, outcome.recorder.operations() * moved);
                    assert_eq!(names(&file_set), untouched, "{workload:?}");
                    executed += 1;
                }
            }
        }
        assert_eq!(executed, name_operations().count() * 9);
    }
}

#[test]
fn operations_do_what_their_name_says() {
    for scratch in Scratch::everywhere() {
        let file_set = file_set(&scratch);
        for (operation, letter, before, after) in [
            (Operation::Create, "f", 0, 7),
            (Operation::NewFile, "f", 0, 7),
            (Operation::Link, "l", 0, 7),
            (Operation::Symlink, "s", 0, 7),
            (Operation::Mkdir, "d", 0, 7),
            (Operation::Unlink, "f", 7, 0),
            (Operation::Rmdir, "d", 7, 0),
            // Sequential, so seven different entries.
            (Operation::Rename, "r", 0, 7),
            (Operation::StatPresent, "e", 20, 20),
        ] {
            let workload = Workload {
                access: Access::Sequential,
                sharing: Sharing::Same,
                operations_per_thread: 7,
                ..Workload::new(operation)
            };
            let count =
                || listing(&file_set.directory(0)).iter().filter(|n| n.starts_with(letter)).count();
            let mut session = prepare(&workload, &file_set, 1).expect("it can be executed");
            assert_eq!(session.touched(), [file_set.directory(0)]);
            assert_eq!(count(), before, "{operation:?}");
            session.run_with(&MonotonicClock, &never()).expect("nothing stands in the way");
            assert_eq!(count(), after, "{operation:?}");
            session.restore().expect("nothing stands in the way");
        }
    }
}

#[test]
fn operation_i_goes_to_directory_i_modulo_their_number() {
    for scratch in Scratch::everywhere() {
        let file_set = file_set(&scratch);
        let workload = Workload { operations_per_thread: 7, ..Workload::new(Operation::Create) };
        let mut session = prepare(&workload, &file_set, 1).expect("it can be executed");
        session.run_with(&MonotonicClock, &never()).expect("nothing stands in the way");
        let created = names(&file_set)[..3]
            .iter()
            .map(|all| all.iter().filter(|name| name.starts_with('f')).count())
            .collect::<Vec<_>>();
        assert_eq!(created, [3, 2, 2]);
    }
}

/// The kernel remembers that removed names are missing, and finds them faster than names it has not
/// seen: no session may use the names of another.
#[test]
fn another_seed_makes_other_names() {
    let scratch = Scratch::within(std::path::Path::new("."));
    let file_set = file_set(&scratch);
    for operation in [Operation::Create, Operation::Unlink, Operation::Symlink] {
        let workload = Workload { sharing: Sharing::Same, ..Workload::new(operation) };
        let made = |seed| {
            let mut session = prepare(&workload, &file_set, seed).expect("it can be executed");
            if operation != Operation::Unlink {
                session.run_with(&MonotonicClock, &never()).expect("nothing stands in the way");
            }
            listing(&file_set.directory(0))
        };
        let (first, second) = (made(1), made(2));
        let in_both: Vec<_> = first.iter().filter(|name| second.contains(name)).collect();
        assert_eq!(in_both.len() as u64, ENTRIES, "{operation:?}");
        assert!(in_both.iter().all(|name| name.starts_with('e')));
        assert_eq!(first, made(1));
    }
}

#[test]
fn renames_go_there_and_back_without_ever_adding_an_entry() {
    for scratch in Scratch::everywhere() {
        let file_set = file_set(&scratch);
        let untouched = names(&file_set);
        for access in [Access::Sequential, Access::Uniform] {
            let workload = Workload {
                access,
                threads: 2,
                sharing: Sharing::Same,
                batch: 3,
                operations_per_thread: 333,
                ..Workload::new(Operation::Rename)
            };
            let mut session = prepare(&workload, &file_set, 1).expect("it can be executed");
            session.run_with(&MonotonicClock, &never()).expect("nothing stands in the way");
            assert_eq!(listing(&file_set.directory(0)).len() as u64, ENTRIES);
            session.restore().expect("nothing stands in the way");
            assert_eq!(names(&file_set), untouched);
        }
    }
}

/// If the session still had a directory open, its file system could not be unmounted.
#[test]
fn a_closed_session_holds_nothing_open_and_goes_on_where_it_was() {
    for scratch in Scratch::everywhere() {
        let file_set = file_set(&scratch);
        let untouched = names(&file_set);
        let root = file_set.root().canonicalize().expect("it is there");
        let holds_it_open = || {
            let open = std::fs::read_dir("/proc/self/fd").expect("it is always there");
            let mut links = open.filter_map(|one| std::fs::read_link(one.ok()?.path()).ok());
            links.any(|path| path.starts_with(&root))
        };
        for operation in [Operation::Unlink, Operation::Rmdir, Operation::StatPresent] {
            let workload = Workload { operations_per_thread: 9, ..Workload::new(operation) };
            let session = prepare(&workload, &file_set, 1).expect("it can be executed");
            let made = names(&file_set);
            assert_eq!(made != untouched, operation.removes_names());
            assert!(holds_it_open());
            let closed = session.close().expect("it has not run");
            assert!(!holds_it_open());
            assert_eq!(names(&file_set), made);
            let mut session = closed.open().expect("the directories are there");
            let outcome =
                session.run_with(&MonotonicClock, &never()).expect("nothing is in the way");
            assert_eq!(outcome.recorder.operations(), 9);
            assert!(matches!(session.close(), Err(EngineError::AlreadyRun)));
            assert_eq!(names(&file_set), untouched);
            let session = prepare(&workload, &file_set, 2).expect("it can be executed");
            drop(session.close().expect("it has not run"));
            assert_eq!(names(&file_set), untouched, "{operation:?} given up");
        }
        let workload = Workload::new(Operation::Append);
        let session = prepare(&workload, &file_set, 1).expect("it can be executed");
        let refused = session.close().expect_err("it is of data").to_string();
        assert!(refused.contains("append is not an operation on names"), "{refused}");
    }
}

#[test]
fn a_session_dropped_before_or_after_its_run_leaves_nothing() {
    for scratch in Scratch::everywhere() {
        let file_set = file_set(&scratch);
        let untouched = names(&file_set);
        for operation in Operation::ALL {
            let workload = Workload { operations_per_thread: 9, ..Workload::new(operation) };
            drop(prepare(&workload, &file_set, 1).expect("it can be executed"));
            assert_eq!(names(&file_set), untouched, "{operation:?} not run");
            let mut session = prepare(&workload, &file_set, 1).expect("it can be executed");
            session.run_with(&MonotonicClock, &never()).expect("nothing stands in the way");
            drop(session);
            assert_eq!(names(&file_set), untouched, "{operation:?} run");
        }
    }
}

#[test]
fn a_changed_directory_is_noticed() {
    let scratch = Scratch::within(std::path::Path::new("."));
    let file_set = file_set(&scratch);
    std::fs::write(file_set.directory(0).join("stranger"), "").expect("it is ours");
    for operation in [Operation::Readdir, Operation::Create] {
        let error = outcome(&Workload::new(operation), &file_set).expect_err("21 entries");
        let expected = ENTRIES;
        let EngineError::WrongEntryCount { expected: said, found: 21, .. } = error else {
            panic!("{error}");
        };
        assert_eq!(said, expected);
    }
    assert!(file_set.directory(0).join("stranger").exists(), "what is not ours stays");
}

#[test]
fn new_files_hold_what_was_written_and_entries_too_small_are_not_read() {
    for scratch in Scratch::everywhere() {
        let file_set = file_set(&scratch);
        let workload = Workload { operations_per_thread: 7, ..Workload::new(Operation::NewFile) };
        let mut session = prepare(&workload, &file_set, 1).expect("it can be executed");
        session.run_with(&MonotonicClock, &never()).expect("nothing stands in the way");
        let directory = file_set.directory(1);
        let made: Vec<_> =
            listing(&directory).into_iter().filter(|name| name.starts_with('f')).collect();
        let contents = made.iter().map(|name| std::fs::read(directory.join(name)).expect("ours"));
        let contents: Vec<Vec<u8>> = contents.collect();
        assert_eq!(contents.iter().map(Vec::len).collect::<Vec<_>>(), [4096, 4096]);
        assert_ne!(contents[0], contents[1]);
        session.restore().expect("nothing stands in the way");

        let larger = Workload { request_bytes: 8192, ..Workload::new(Operation::ReadFile) };
        let error = prepare(&larger, &file_set, 1).map(drop).expect_err("they are too small");
        let words = "open+read+close needs 8192 bytes in each entry, but the file set has 4096";
        assert!(error.to_string().ends_with(words), "{error}");
    }
}
