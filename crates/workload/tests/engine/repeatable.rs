//! The same seed does the same bit for bit; another seed does not.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use workload::{Access, EngineError, Operation, Outcome, Verification, Workload, prepare};

use crate::common::{FakeClock, Scratch, file_set, never};

/// Everything in an outcome, as text.
fn in_words(outcome: &Outcome) -> String {
    format!("{outcome:?}")
}

#[test]
fn outcomes_under_a_manual_clock_are_the_same_bit_for_bit() {
    for scratch in Scratch::everywhere() {
        let file_set = file_set(&scratch);
        for operation in Operation::ALL {
            for batch in [1, 5] {
                let batch = if operation.can_batch() { batch } else { 1 };
                let workload = Workload {
                    batch,
                    operations_per_thread: 40,
                    verification: Verification::On,
                    ..Workload::new(operation)
                };
                let run = |step_ns| {
                    let mut session = prepare(&workload, &file_set, 5).expect("it can be executed");
                    let clock = FakeClock::with_step(step_ns);
                    let outcome =
                        session.run_with(&clock, &never()).expect("nothing is in the way");
                    session.restore().expect("nothing stands in the way");
                    // Processor times of the threads do not come from this clock.
                    Outcome {
                        processor_ns: 0,
                        threads_ns: 0,
                        waited_ns: None,
                        read_bytes: None,
                        ..outcome
                    }
                };
                let first = run(700);
                assert_eq!(in_words(&first), in_words(&run(700)), "{operation:?}");
                assert_ne!(in_words(&first), in_words(&run(701)), "{operation:?}");
                let intervals = 40_u64.div_ceil(batch as u64);
                assert_eq!(first.threads[0].busy_ns, 700 * intervals);
                assert_eq!(first.elapsed_ns, 700 * (2 * intervals + 1));
                let expected_rate = 40e9 / (700.0 * intervals as f64);
                assert!((first.overlap - 1.0).abs() < f64::EPSILON);
                assert!((first.rate_per_s - expected_rate).abs() < 1e-6 * expected_rate);
            }
        }
    }
}

/// Which 1000-byte blocks of a zeroed file a workload writes, as found in the file itself.
#[test]
fn the_same_seed_touches_the_same_places() {
    for scratch in Scratch::everywhere() {
        let file_set = file_set(&scratch);
        let path = file_set.data_file(workload::Role::Write, 0);
        for access in [Access::Uniform, Access::Zipf { exponent: 0.8 }] {
            let workload = Workload {
                access,
                request_bytes: 1000,
                operations_per_thread: 100,
                sharing: workload::Sharing::Same,
                ..Workload::new(Operation::Write)
            };
            let written = |seed| {
                let zeroes = vec![0; crate::common::FILE_LENGTH];
                std::fs::write(&path, zeroes).expect("the file is ours");
                let mut session = prepare(&workload, &file_set, seed).expect("it can be executed");
                session.run_with(&FakeClock::with_step(1), &never()).expect("there is room");
                let bytes = std::fs::read(&path).expect("the file is ours");
                bytes.chunks(1000).map(|block| block[0] != 0).collect::<Vec<_>>()
            };
            let first = written(1);
            let blocks = first.iter().filter(|&&is_written| is_written).count();
            assert!((10..=100).contains(&blocks), "{blocks} blocks");
            assert_eq!(first, written(1));
            assert_ne!(first, written(2));
        }
    }
}

#[test]
fn the_stop_flag_interrupts_and_what_was_done_is_counted_and_restored() {
    for scratch in Scratch::everywhere() {
        let file_set = file_set(&scratch);
        let untouched = crate::common::names(&file_set);
        for (operation, batch) in
            [(Operation::Read, 1), (Operation::Create, 1), (Operation::Unlink, 10)]
        {
            let workload = Workload {
                batch,
                threads: 2,
                operations_per_thread: 500,
                ..Workload::new(operation)
            };
            let mut session = prepare(&workload, &file_set, 1).expect("it can be executed");
            let stop = AtomicBool::new(true);
            let outcome = session.run_with(&measure::MonotonicClock, &stop).expect("not an error");
            assert!(outcome.interrupted);
            // Single operations are recorded after the next one, batches immediately, so this is
            // how far the thread that is interrupted first gets. It ends the other after its
            // current interval.
            let (interval, first) = (batch as u64, if batch == 1 { 2 } else { batch as u64 });
            let of_threads: Vec<u64> =
                outcome.threads.iter().map(|thread| thread.operations).collect();
            assert_eq!(of_threads.iter().max(), Some(&first), "{of_threads:?}");
            assert!(of_threads.iter().all(|done| *done >= interval), "{of_threads:?}");
            let done: u64 = outcome.threads.iter().map(|thread| thread.operations).sum();
            assert_eq!(done, outcome.recorder.operations());
            session.restore().expect("nothing stands in the way");
            assert_eq!(crate::common::names(&file_set), untouched);
        }
    }
}

/// A stop in the middle is noticed at the next slice of the timeline. The clock advances 1 ms per
/// reading; a slice is 10 ms, rounded up to 2^24 ns; a thread raises the flag only once the clock
/// shows that operations are under way.
#[test]
fn a_stop_raised_while_running_ends_a_run_that_would_take_hours() {
    let scratch = Scratch::within(Path::new("."));
    let file_set = file_set(&scratch);
    let workload =
        Workload { operations_per_thread: 1 << 32, ..Workload::new(Operation::StatPresent) };
    let mut session = prepare(&workload, &file_set, 1).expect("it can be executed");
    let (clock, stop) = (FakeClock::with_step(1_000_000), never());
    let outcome = std::thread::scope(|scope| {
        scope.spawn(|| {
            while clock.now_ns() < 1_000_000_000 {
                std::thread::yield_now();
            }
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        session.run_with(&clock, &stop).expect("not an error")
    });
    assert!(outcome.interrupted);
    assert!(outcome.recorder.operations() > 100);
    session.restore().expect("nothing stands in the way");
}

#[test]
fn a_session_runs_once() {
    let scratch = Scratch::within(Path::new("."));
    let file_set = file_set(&scratch);
    let mut session =
        prepare(&Workload::new(Operation::Unlink), &file_set, 1).expect("it can be executed");
    session.run_with(&FakeClock::with_step(0), &never()).expect("the first time");
    let again = session.run_with(&FakeClock::with_step(0), &never());
    assert!(matches!(again, Err(EngineError::AlreadyRun)));
}

/// Only what was done is there, and restoring copes with threads that did less than asked.
#[test]
fn the_first_thread_to_be_done_ends_the_run_of_all() {
    let scratch = Scratch::within(Path::new("."));
    let file_set = file_set(&scratch);
    let workload =
        Workload { threads: 3, operations_per_thread: 2000, ..Workload::new(Operation::Create) };
    let untouched = crate::common::names(&file_set);
    let mut session = prepare(&workload, &file_set, 1).expect("it can be executed");
    let outcome =
        session.run_with(&measure::MonotonicClock, &never()).expect("nothing is in the way");
    crate::common::assert_ended_together(&outcome, &workload);
    let created: Vec<u64> = crate::common::names(&file_set)[..3]
        .iter()
        .map(|names| names.iter().filter(|name| name.starts_with('f')).count() as u64)
        .collect();
    let done: Vec<u64> = outcome.threads.iter().map(|thread| thread.operations).collect();
    assert_eq!(created, done);
    session.restore().expect("nothing stands in the way");
    assert_eq!(crate::common::names(&file_set), untouched);
}
