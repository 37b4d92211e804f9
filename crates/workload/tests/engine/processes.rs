//! Workers that are processes. They are forked, which wants a process of one thread: the test
//! starts itself again, alone on the main thread.

use std::process::Command;

use measure::MonotonicClock;
use workload::{
    EngineError, IoPath, Operation, Role, Sharing, Verification, Workers, Workload, WorkloadError,
    prepare,
};

use crate::common::{Scratch, assert_ended_together, file_set, names, never, outcome, verify_file};

/// Set in the process that has one thread.
const ALONE: &str = "FSPRISM_ENGINE_TEST_ALONE";

/// Runs the test `name` again with one thread, and gives whether this is that process.
fn alone(name: &str) -> bool {
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let itself = std::env::current_exe().expect("a running program has a path");
    let status = Command::new(itself)
        .args(["--exact", name, "--nocapture", "--test-threads", "1"])
        .env(ALONE, "yes")
        .status();
    assert!(status.expect("it can be started").success(), "{name} failed alone");
    false
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

#[test]
fn processes_do_what_threads_do_and_leave_what_threads_leave() {
    if !alone("processes::processes_do_what_threads_do_and_leave_what_threads_leave") {
        return;
    }
    for scratch in Scratch::everywhere() {
        let file_set = file_set(&scratch);
        let untouched = names(&file_set);
        for operation in Operation::ALL {
            for (workers, sharing) in [(1, Sharing::Own), (2, Sharing::Same), (3, Sharing::Own)] {
                let workload = of_processes(operation, workers, sharing);
                let done = outcome(&workload, &file_set).expect("nothing stands in the way");
                assert_ended_together(&done, &workload);
                assert!(done.recorder.busy_ns() > 0, "{operation:?}");
                assert_eq!(names(&file_set), untouched, "{operation:?}");
            }
        }
    }
}

/// What is done in a child is seen in its parent's file system, and what it checked is added up.
#[test]
fn the_operations_are_done_and_checked_in_the_other_processes() {
    if !alone("processes::the_operations_are_done_and_checked_in_the_other_processes") {
        return;
    }
    let scratch = Scratch::within(std::path::Path::new("."));
    let file_set = file_set(&scratch);
    let create = of_processes(Operation::Create, 2, Sharing::Own);
    let mut session = prepare(&create, &file_set, 1).expect("it can be executed");
    let ran = session.run(&MonotonicClock, &never()).expect("nothing stands in the way");
    let made = names(&file_set).iter().flatten().filter(|name| name.starts_with('f')).count();
    assert_eq!(made as u64, ran.recorder.operations());
    session.restore().expect("nothing stands in the way");
    for operation in [Operation::Read, Operation::Write] {
        let verification = Verification::On;
        let workload = Workload { verification, ..of_processes(operation, 2, Sharing::Own) };
        let ran = outcome(&workload, &file_set).expect("nothing stands in the way");
        let expected = if operation == Operation::Read { ran.bytes } else { 0 };
        assert_eq!((ran.checked_bytes, ran.bytes % 4096), (expected, 0));
        assert_eq!(ran.bytes / 4096, ran.recorder.operations());
    }
    verify_file(&file_set, Role::Write, 0).expect("what was written is right");
}

#[test]
fn trouble_of_one_process_ends_all_and_is_told() {
    if !alone("processes::trouble_of_one_process_ends_all_and_is_told") {
        return;
    }
    let scratch = Scratch::within(std::path::Path::new("."));
    let file_set = file_set(&scratch);
    let workload = Workload {
        operations_per_thread: 100_000_000,
        ..of_processes(Operation::OpenClose, 2, Sharing::Own)
    };
    let mut session = prepare(&workload, &file_set, 1).expect("it can be executed");
    // Of the second process, whose directory is the one numbered 1.
    for name in crate::common::listing(&file_set.directory(1)) {
        std::fs::remove_file(file_set.directory(1).join(name)).expect("it is ours");
    }
    let error = session.run(&MonotonicClock, &never()).expect_err("there is nothing to open");
    assert!(matches!(error, EngineError::Worker { .. }), "{error}");
    assert!(error.to_string().contains("openat"), "{error}");
}

#[test]
fn a_process_that_dies_frees_those_that_wait_for_it() {
    if !alone("processes::a_process_that_dies_frees_those_that_wait_for_it") {
        return;
    }
    let scratch = Scratch::within(std::path::Path::new("."));
    let file_set = file_set(&scratch);
    let workload = Workload {
        operations_per_thread: 100_000_000,
        ..of_processes(Operation::StatPresent, 2, Sharing::Same)
    };
    // Kills the first child of this process that it sees.
    let killer = Command::new("sh")
        .args(["-c", KILLER, "sh", &std::process::id().to_string()])
        .spawn()
        .expect("there is a shell");
    let mut session = prepare(&workload, &file_set, 1).expect("it can be executed");
    let error = session.run(&MonotonicClock, &never()).expect_err("one was killed");
    assert!(error.to_string().contains("ended before"), "{error}");
    drop(killer.wait_with_output());
}

/// Waits for a second child (the first is this shell) and kills it.
const KILLER: &str = "while :; do for child in $(cat /proc/$1/task/$1/children); do \
     [ $child != $$ ] && kill -9 $child && exit; done; done";

#[test]
fn a_process_of_several_threads_refuses() {
    let scratch = Scratch::within(std::path::Path::new("."));
    let file_set = file_set(&scratch);
    let workload = of_processes(Operation::StatPresent, 2, Sharing::Same);
    let error = std::thread::scope(|scope| {
        let (go, wait) = std::sync::mpsc::channel::<()>();
        scope.spawn(move || wait.recv());
        let refused = outcome(&workload, &file_set).expect_err("there are two threads");
        drop(go);
        refused
    });
    assert!(error.to_string().contains("must have one thread"), "{error}");
}

#[test]
fn paths_that_cannot_be_handed_over_are_refused() {
    let direct = of_processes(Operation::Read, 2, Sharing::Own);
    assert_eq!(direct.check(), Ok(()));
    let direct = Workload { io_path: IoPath::PsyncDirect, ..direct };
    assert_eq!(direct.check(), Ok::<(), WorkloadError>(()));
}
