//! The start is timed and recorded separately, and does not count in what is measured.

use std::sync::atomic::AtomicBool;

use measure::MonotonicClock;
use workload::{
    Access, Buffering, EngineError, IoPath, Operation, Sharing, Stretch, UringOptions, Workload,
    WorkloadError, prepare,
};

use crate::common::{SEED, Scratch, assert_ended_together, file_set, names, outcome};

const START: u64 = 10;
const STEADY: u64 = 24;

fn workload(operation: Operation) -> Workload {
    Workload { start_operations: START, operations_per_thread: STEADY, ..Workload::new(operation) }
}

fn operations(stretches: &[Stretch]) -> Vec<u64> {
    stretches.iter().map(|stretch| stretch.operations).collect()
}

#[test]
fn the_start_is_in_the_course_and_nowhere_else() {
    for scratch in Scratch::everywhere() {
        let file_set = file_set(&scratch);
        let before = names(&file_set);
        for operation in [Operation::Read, Operation::Create, Operation::Unlink, Operation::Append]
        {
            let found = outcome(&workload(operation), &file_set).expect("it can be done");
            assert_eq!(found.recorder.operations(), STEADY, "{operation:?}");
            assert_eq!(operations(&found.course.start), [1, 1, 2, 4, 2]);
            assert_eq!(operations(&found.course.steady), [3; 8]);
            let steady_ns: u64 = found.course.steady.iter().map(|one| one.busy_ns).sum();
            assert_eq!(steady_ns, found.recorder.busy_ns(), "{operation:?}");
            assert!(found.elapsed_ns >= steady_ns, "{operation:?}");
            assert_eq!(names(&file_set), before, "{operation:?}");
        }
    }
}

#[test]
fn several_begin_what_is_measured_together() {
    for scratch in Scratch::everywhere() {
        let file_set = file_set(&scratch);
        for sharing in [Sharing::Own, Sharing::Same] {
            let threads = Workload { threads: 3, sharing, ..workload(Operation::Create) };
            let found = outcome(&threads, &file_set).expect("it can be done");
            assert_ended_together(&found, &threads);
            assert_eq!(found.course.whole_start().operations, 3 * START);
        }
    }
}

#[test]
fn a_stop_in_the_start_interrupts_and_measures_nothing() {
    let scratch = &Scratch::everywhere()[0];
    let file_set = file_set(scratch);
    for threads in [1, 2] {
        let endless = Workload {
            start_operations: 1 << 31,
            threads,
            access: Access::Uniform,
            ..workload(Operation::Read)
        };
        let mut session = prepare(&endless, &file_set, SEED).expect("it can be done");
        let found = session.run_with(&MonotonicClock, &AtomicBool::new(true)).expect("no failure");
        assert!(found.interrupted);
        assert_eq!(found.recorder.operations(), 0);
    }
}

#[test]
fn operations_in_flight_have_no_start() {
    let scratch = &Scratch::everywhere()[0];
    let io_path = IoPath::IoUring(UringOptions::new(4, Buffering::PageCache));
    let refused = outcome(&Workload { io_path, ..workload(Operation::Read) }, &file_set(scratch));
    assert!(matches!(refused, Err(EngineError::Workload(WorkloadError::NoStart))), "{refused:?}");
}
