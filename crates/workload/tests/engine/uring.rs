//! Reads and writes in flight: what is moved, what is timed, and how it ends.

use std::collections::BTreeSet;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::Ordering;

use measure::MonotonicClock;
use workload::{
    Access, Alignment, Buffering, EngineError, FileSet, IoPath, Operation, Outcome, Role, Sharing,
    UringOptions, Verification, Workload, io_uring_availability, prepare,
};

use crate::common::{
    FILE_BYTES, FILE_LENGTH, FakeClock, Scratch, assert_ended_together, file_set, never, outcome,
    verify_file,
};

const DEPTHS: [u32; 3] = [1, 7, 64];
const PATTERNS: [Access; 4] =
    [Access::Sequential, Access::Uniform, Access::Shuffled, Access::Zipf { exponent: 0.9 }];

/// Where to test: nowhere if there is no io_uring, with a message saying why.
pub(crate) fn places() -> Vec<Scratch> {
    match io_uring_availability() {
        Ok(()) => Scratch::everywhere(),
        Err(why) => {
            eprintln!("skipped: needs io_uring: {why}");
            Vec::new()
        }
    }
}

fn in_flight(operation: Operation, queue_depth: u32, buffering: Buffering) -> Workload {
    let io_path = IoPath::IoUring(UringOptions::new(queue_depth, buffering));
    Workload { io_path, ..Workload::new(operation) }
}

/// The outcome, or None if direct I/O was asked for and the file system refuses it.
fn outcome_if_it_can(workload: &Workload, file_set: &FileSet) -> Option<Outcome> {
    match outcome(workload, file_set) {
        Ok(outcome) => Some(outcome),
        Err(EngineError::DirectIoRefused { .. } | EngineError::NoDirectIo { .. }) => {
            eprintln!("refused: direct I/O in {}", file_set.root().display());
            None
        }
        Err(other) => panic!("{other}"),
    }
}

/// Asserts what is true of every outcome of operations in flight.
fn assert_consistent(outcome: &Outcome) {
    let operations = outcome.recorder.operations();
    let parts = outcome.asynchronous.as_ref().expect("it is an asynchronous path");
    assert_eq!((parts.submission.count(), parts.completion.count()), (operations, operations));
    // Each of the two is rounded to the nanosecond, and so is their sum.
    let sum = parts.submission.sum() + parts.completion.sum();
    let busy_ns = u128::from(outcome.recorder.busy_ns());
    assert!(sum.abs_diff(busy_ns) <= 2 * u128::from(operations), "{sum} {busy_ns}");
    let rate_per_s = operations as f64 * 1e9 / outcome.elapsed_ns as f64;
    assert!((outcome.rate_per_s / rate_per_s - 1.0).abs() < 1e-9, "{}", outcome.rate_per_s);
}

#[test]
fn verified_reads_of_every_depth_pattern_and_sharing_find_the_right_bytes() {
    for scratch in places() {
        let file_set = file_set(&scratch);
        for (access, depth) in PATTERNS.into_iter().flat_map(|a| DEPTHS.map(|depth| (a, depth))) {
            for (threads, sharing, buffering, request_bytes) in [
                (1, Sharing::Own, Buffering::PageCache, 5000),
                (3, Sharing::Own, Buffering::Direct, 8192),
                (2, Sharing::Same, Buffering::PageCache, 1),
            ] {
                let workload = Workload {
                    access,
                    threads,
                    sharing,
                    request_bytes,
                    alignment: if request_bytes == 5000 {
                        Alignment::Unaligned
                    } else {
                        Alignment::Request
                    },
                    operations_per_thread: 300,
                    verification: Verification::On,
                    ..in_flight(Operation::Read, depth, buffering)
                };
                let Some(outcome) = outcome_if_it_can(&workload, &file_set) else { continue };
                assert_consistent(&outcome);
                if threads == 1 {
                    assert_ended_together(&outcome, &workload);
                }
                let bytes = request_bytes as u64 * outcome.recorder.operations();
                assert_eq!((outcome.bytes, outcome.checked_bytes), (bytes, bytes));
            }
        }
    }
}

#[test]
fn verified_writes_of_every_depth_put_each_block_where_it_belongs_once() {
    for scratch in places() {
        let file_set = file_set(&scratch);
        let path = file_set.data_file(Role::Write, 0);
        for access in [Access::Sequential, Access::Shuffled] {
            for (depth, buffering) in DEPTHS
                .into_iter()
                .flat_map(|d| [Buffering::PageCache, Buffering::Direct].map(|b| (d, b)))
            {
                // Wiped first, so that only what the workload writes can be correct.
                std::fs::write(&path, vec![0; FILE_LENGTH]).expect("the file is ours");
                let blocks = FILE_BYTES / 4096;
                let workload = Workload {
                    access,
                    sharing: Sharing::Same,
                    operations_per_thread: blocks - 1,
                    verification: Verification::On,
                    ..in_flight(Operation::Write, depth, buffering)
                };
                let Some(outcome) = outcome_if_it_can(&workload, &file_set) else { continue };
                assert_consistent(&outcome);
                // One operation less than there are blocks: exactly one is left out if none comes
                // twice.
                let written = std::fs::read(&path).expect("it is ours");
                let content = file_set.content(Role::Write, 0);
                let is_right =
                    |(block, number): (&[u8], u64)| content.check(block, number * 4096).is_ok();
                let right = written.chunks(4096).zip(0..).filter(|pair| is_right(*pair)).count();
                assert_eq!(right as u64, blocks - 1, "{access:?} {depth} {buffering:?}");
                let all = Workload { operations_per_thread: blocks, ..workload };
                outcome_if_it_can(&all, &file_set);
                assert_eq!(verify_file(&file_set, Role::Write, 0).expect("whole"), FILE_BYTES);
            }
        }
    }
}

#[test]
fn unverified_writes_are_all_different_and_do_not_compress() {
    for scratch in places() {
        let file_set = file_set(&scratch);
        for depth in DEPTHS {
            let workload = Workload {
                access: Access::Sequential,
                operations_per_thread: FILE_BYTES / 4096,
                ..in_flight(Operation::Write, depth, Buffering::PageCache)
            };
            assert_consistent(&outcome(&workload, &file_set).expect("there is room"));
            let written = std::fs::read(file_set.data_file(Role::Write, 0)).expect("it is there");
            let blocks: BTreeSet<_> = written.chunks(4096).collect();
            assert_eq!(blocks.len(), FILE_LENGTH / 4096, "depth {depth}");
            // Nothing repeats within what file systems compress at once.
            for extent in written.chunks(128 << 10) {
                let pieces: BTreeSet<_> = extent.chunks(64).collect();
                assert_eq!(pieces.len(), extent.len() / 64, "depth {depth}");
            }
        }
    }
}

#[test]
#[expect(clippy::wildcard_enum_match_arm, reason = "a test looks for one of them")]
fn one_flipped_byte_among_many_in_flight_is_caught_and_named() {
    for scratch in places() {
        let file_set = file_set(&scratch);
        let path = file_set.data_file(Role::Read, 0);
        let flipped = 123_457;
        let file = std::fs::File::options().read(true).write(true).open(&path);
        let file = file.expect("the file is ours");
        let mut byte = [0];
        file.read_exact_at(&mut byte, flipped).expect("the offset is in the file");
        file.write_all_at(&[byte[0] ^ 1], flipped).expect("the file is writable");
        let workload = Workload {
            access: Access::Sequential,
            operations_per_thread: FILE_BYTES / 4096,
            verification: Verification::On,
            ..in_flight(Operation::Read, 64, Buffering::PageCache)
        };
        match outcome(&workload, &file_set).expect_err("a byte is wrong") {
            EngineError::Corrupt { path: at, offset_bytes, expected, found } => {
                assert_eq!((at, offset_bytes), (path, flipped));
                assert_eq!((expected, found), (byte[0], byte[0] ^ 1));
            }
            other => panic!("{other}"),
        }
    }
}

#[test]
#[expect(clippy::wildcard_enum_match_arm, reason = "a test looks for one of them")]
fn a_file_that_became_shorter_is_never_counted_as_read() {
    for scratch in places() {
        for (buffering, lost_bytes) in [(Buffering::PageCache, 100), (Buffering::Direct, 2048)] {
            let scratch = Scratch::within(scratch.path());
            let file_set = file_set(&scratch);
            let path = file_set.data_file(Role::Read, 0);
            let file = std::fs::File::options().write(true).open(path).expect("it is ours");
            file.set_len(FILE_BYTES - lost_bytes).expect("it is ours");
            let workload = Workload {
                access: Access::Sequential,
                operations_per_thread: FILE_BYTES / 4096,
                ..in_flight(Operation::Read, 64, buffering)
            };
            match outcome(&workload, &file_set).expect_err("the last request is short") {
                EngineError::ShortTransfer { offset_bytes, wanted_bytes, done_bytes, .. } => {
                    assert_eq!(offset_bytes, FILE_BYTES - 4096);
                    assert_eq!((wanted_bytes, done_bytes), (4096, 4096 - lost_bytes));
                }
                EngineError::DirectIoRefused { .. } | EngineError::NoDirectIo { .. } => {
                    eprintln!("refused: direct I/O in {}", scratch.path().display());
                }
                other => panic!("{other}"),
            }
        }
    }
}

#[test]
fn a_stop_ends_the_run_and_what_was_in_flight_is_counted() {
    for scratch in places() {
        let file_set = file_set(&scratch);
        let depth = 16;
        let workload = Workload {
            threads: 2,
            operations_per_thread: 1 << 32,
            ..in_flight(Operation::Read, depth, Buffering::PageCache)
        };
        let mut session = prepare(&workload, &file_set, 1).expect("it can be executed");
        let (clock, stop) = (FakeClock::with_step(1_000), never());
        let outcome = std::thread::scope(|scope| {
            scope.spawn(|| {
                while clock.now_ns() < 10_000_000 {
                    std::thread::yield_now();
                }
                stop.store(true, Ordering::Relaxed);
            });
            session.run_with(&clock, &stop).expect("not an error")
        });
        assert!(outcome.interrupted);
        assert_consistent(&outcome);
        let done: u64 = outcome.threads.iter().map(|thread| thread.operations).sum();
        assert_eq!(done, outcome.recorder.operations());
        assert!(outcome.threads.iter().all(|thread| thread.operations >= u64::from(depth)));

        let stopped = std::sync::atomic::AtomicBool::new(true);
        let mut session = prepare(&workload, &file_set, 1).expect("it can be executed");
        let outcome = session.run_with(&MonotonicClock, &stopped).expect("not an error");
        assert!(outcome.interrupted);
        // The flag is first checked at the first completion; the queue was being filled until then.
        let most = outcome.threads.iter().map(|thread| thread.operations).max();
        assert!(most <= Some(u64::from(2 * depth)), "{most:?}");
    }
}

/// With many in flight, latencies overlap, so their sum is not elapsed time.
#[test]
fn latencies_of_many_in_flight_add_up_to_more_than_the_time_that_passed() {
    for scratch in places() {
        let file_set = file_set(&scratch);
        let workload = Workload {
            operations_per_thread: 5000,
            ..in_flight(Operation::Read, 32, Buffering::PageCache)
        };
        let outcome = outcome(&workload, &file_set).expect("nothing is in the way");
        assert_consistent(&outcome);
        let in_flight = outcome.recorder.busy_ns() as f64 / outcome.elapsed_ns as f64;
        assert!((2.0..=32.0).contains(&in_flight), "{in_flight}");
        let psync = Workload { io_path: IoPath::PsyncBuffered, ..workload };
        let outcome = crate::common::outcome(&psync, &file_set).expect("nothing is in the way");
        assert!(outcome.asynchronous.is_none());
    }
}

#[test]
fn batches_of_any_size_do_the_same_work() {
    for scratch in places() {
        let file_set = file_set(&scratch);
        for (submit_at_most, reap_at_least) in [(1, 1), (32, 32), (5, 9)] {
            let options = UringOptions::new(32, Buffering::PageCache);
            let options = UringOptions { submit_at_most, reap_at_least, ..options };
            let workload = Workload {
                io_path: IoPath::IoUring(options),
                verification: Verification::On,
                ..Workload::new(Operation::Read)
            };
            let outcome = outcome(&workload, &file_set).expect("nothing is in the way");
            assert_consistent(&outcome);
            assert_eq!(outcome.checked_bytes, 1000 * 4096);
        }
    }
}

/// If a session is dropped without a run, no thread has enabled its rings.
#[test]
fn a_session_that_never_runs_leaves_nothing_open() {
    for scratch in places() {
        let file_set = file_set(&scratch);
        let workload = in_flight(Operation::Read, 4096, Buffering::PageCache);
        for _ in 0..3 {
            drop(prepare(&workload, &file_set, 1).expect("it can be executed"));
        }
        let open = std::fs::read_dir("/proc/self/fd").expect("every process has one");
        let root = file_set.root().to_path_buf();
        let ours = open.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
        assert_eq!(ours.filter(|path| path.starts_with(&root)).count(), 0);
        assert!(Path::new(&root).exists());
    }
}
