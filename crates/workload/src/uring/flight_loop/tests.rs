//! The loop over a queue that simulates a kernel according to a script: what completes, when and
//! how.

use std::cell::Cell;
use std::collections::VecDeque;
use std::path::PathBuf;

use measure::{ManualClock, Recorder};
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;

use crate::choose::{Choices, Sequential};
use crate::content::Content;
use crate::description::Verification;
use crate::error::EngineError;
use crate::io_path::{Buffering, UringOptions};
use crate::role::Role;
use crate::run_loop::{Halt, LoopOutcome};
use crate::steps::{DataFile, Spacing};
use crate::uring::latency::AsynchronousLatency;
use crate::uring::queue::{Completion, Direction, Queue, Request};
use crate::uring::task_work::TaskWork;
use crate::uring::transfers::{Task, Transfers};

const REQUEST_BYTES: u32 = 512;

/// Completes requests in order, a given number at each wait, all fully unless told otherwise.
#[derive(Debug)]
struct ScriptedQueue {
    clock: ManualClock,
    depth: usize,
    /// Completions that arrive at the same time.
    at_once: usize,
    /// Whether requests complete during the submission.
    is_immediate: bool,
    /// The results of the next completions, until they are used up.
    results: VecDeque<i32>,
    pushed: Vec<Request>,
    flying: VecDeque<Request>,
    done: VecDeque<Completion>,
    /// Every request ever submitted.
    submitted: Vec<Request>,
    /// How many requests each call submitted.
    batches: Vec<usize>,
    waits: usize,
    /// Fails after this many submissions.
    breaks_after: usize,
    buffers: Vec<Vec<u8>>,
}

impl ScriptedQueue {
    fn new(depth: usize, clock: &ManualClock) -> Self {
        Self {
            clock: clock.clone(),
            depth,
            at_once: 1,
            is_immediate: false,
            results: VecDeque::new(),
            pushed: Vec::new(),
            flying: VecDeque::new(),
            done: VecDeque::new(),
            submitted: Vec::new(),
            batches: Vec::new(),
            waits: 0,
            breaks_after: usize::MAX,
            buffers: vec![vec![0; REQUEST_BYTES as usize]; 4096],
        }
    }

    fn complete(&mut self, count: usize) {
        for _ in 0..count {
            let Some(request) = self.flying.pop_front() else { return };
            let left = REQUEST_BYTES - request.done_bytes;
            let result = self.results.pop_front().unwrap_or(left.cast_signed());
            self.done.push_back(Completion { slot: request.slot, result });
        }
    }
}

impl Queue for ScriptedQueue {
    fn push(&mut self, _direction: Direction, request: Request) {
        self.pushed.push(request);
        let busy = self.pushed.len() + self.flying.len() + self.done.len();
        assert!(busy <= self.depth, "{busy} are in flight");
    }

    fn submit(&mut self) -> Result<(), Errno> {
        if self.batches.len() == self.breaks_after {
            return Err(Errno::BADF);
        }
        self.clock.advance_ns(100);
        self.batches.push(self.pushed.len());
        self.submitted.extend(&self.pushed);
        self.flying.extend(self.pushed.drain(..));
        if self.is_immediate {
            self.complete(usize::MAX);
        }
        Ok(())
    }

    fn ready(&mut self) -> usize {
        self.done.len()
    }

    fn wait(&mut self, least: usize) -> Result<(), Errno> {
        assert!(least <= self.flying.len() + self.done.len(), "nobody waits for ever");
        self.waits += 1;
        self.clock.advance_ns(1000);
        self.complete(self.at_once);
        Ok(())
    }

    fn reap(&mut self, count: usize, landed: &mut Vec<Completion>) {
        landed.extend(self.done.drain(..count));
    }

    fn bytes_mut(&mut self, slot: u32) -> &mut [u8] {
        &mut self.buffers[slot as usize]
    }
}

/// Reads of a file whose content does not matter: only its name does.
fn transfers(queue: ScriptedQueue, options: UringOptions) -> Transfers<Sequential, ScriptedQueue> {
    let file = openat(CWD, ".", OFlags::PATH, Mode::empty()).expect("there is a directory");
    let content = Content::new(1, 1);
    let path = PathBuf::from("/t/file");
    let files = vec![DataFile { file, path, content, extents: None }];
    let spacing = Spacing { stride_bytes: u64::from(REQUEST_BYTES), shift_bytes: 0 };
    let verification = Verification::Off;
    let (role, request_bytes) = (Role::Read, REQUEST_BYTES);
    let task = Task {
        role,
        files,
        spacing,
        request_bytes,
        options,
        verification,
        content,
        writes_apart: 1,
    };
    let choices = Choices { resources: 1, choices: 1 << 20, thread: 0, sharers: 1, seed: 1 };
    Transfers::new(queue, task, Sequential::new(&choices), TaskWork::Deferred)
}

struct Run {
    ended: Result<LoopOutcome, EngineError>,
    recorder: Recorder,
    latency: AsynchronousLatency,
    queue: ScriptedQueue,
}

fn run(
    depth: u32,
    operations: u64,
    halt: &impl Halt,
    change: impl FnOnce(&mut UringOptions, &mut ScriptedQueue),
) -> Run {
    let clock = ManualClock::new();
    let mut options = UringOptions::new(depth, Buffering::PageCache);
    let mut queue = ScriptedQueue::new(depth as usize, &clock);
    change(&mut options, &mut queue);
    let mut transfers = transfers(queue, options);
    let mut recorder = Recorder::new(0, 1 << 12);
    let ended = transfers.run(operations, &clock, &mut recorder, halt);
    let Transfers { latency, queue, .. } = transfers;
    Run { ended, recorder, latency, queue }
}

fn never() -> bool {
    false
}

fn offsets(queue: &ScriptedQueue) -> Vec<u64> {
    queue.submitted.iter().map(|request| request.offset_bytes).collect()
}

#[test]
fn the_queue_is_kept_full_and_every_place_is_asked_for_once() {
    for (depth, operations) in [(1, 5), (4, 100), (7, 3), (64, 1000)] {
        let run = run(depth, operations, &never, |_, _| ());
        let bytes = operations * u64::from(REQUEST_BYTES);
        let expected = LoopOutcome { operations, bytes, interrupted: false };
        assert_eq!(run.ended.expect("nothing fails"), expected);
        assert_eq!(run.recorder.operations(), operations);
        let once: Vec<u64> = (0..operations).map(|index| index * 512).collect();
        assert_eq!(offsets(&run.queue), once);
        // First as many as the queue has room for, then one for each that completed.
        let first = operations.min(u64::from(depth));
        let mut batches = vec![usize::try_from(first).expect("it is small")];
        batches.resize(1 + usize::try_from(operations - first).expect("it is small"), 1);
        assert_eq!(run.queue.batches, batches);
    }
}

#[test]
fn an_operation_is_timed_from_its_submission_to_the_look_that_saw_it() {
    // Two at a time: 100 ns for each submission, 1000 ns for each wait.
    let run = run(2, 2, &never, |_, queue| queue.at_once = 1);
    run.ended.expect("nothing fails");
    // Both were submitted together; the second was seen a wait later.
    let latency = run.recorder.histogram();
    assert_eq!((latency.min(), latency.max()), (1100, 2100));
    let Run { latency: AsynchronousLatency { submission, completion, .. }, .. } = run;
    assert_eq!((submission.count(), submission.min(), submission.max()), (2, 100, 100));
    assert_eq!((completion.count(), completion.min(), completion.max()), (2, 1000, 2000));
}

#[test]
fn what_completes_with_its_submission_has_no_completion_latency() {
    let run = run(8, 100, &never, |_, queue| queue.is_immediate = true);
    run.ended.expect("nothing fails");
    assert_eq!(run.queue.waits, 0, "no system call is made to see what can be seen");
    assert_eq!((run.latency.completion.count(), run.latency.completion.max()), (100, 0));
    assert_eq!(run.latency.submission, *run.recorder.histogram());
    assert_eq!((run.recorder.operations(), run.recorder.busy_ns()), (100, 100 * 100));
}

#[test]
fn batches_are_as_small_and_reaps_as_large_as_asked_for() {
    let run = run(8, 64, &never, |options, _| {
        options.submit_at_most = 3;
        options.reap_at_least = 4;
    });
    run.ended.expect("nothing fails");
    assert_eq!(&run.queue.batches[..7], [3, 3, 2, 3, 1, 3, 1]);
    // One completion comes at each wait, and all are waited for.
    assert_eq!(run.queue.waits, 64);
    assert_eq!(run.recorder.operations(), 64);
}

#[test]
fn short_and_interrupted_ones_are_gone_on_with_and_counted_once() {
    let eintr = -Errno::INTR.raw_os_error();
    let run = run(4, 20, &never, |_, queue| queue.results = [512, 100, eintr, 511].into());
    let outcome = run.ended.expect("nothing fails");
    assert_eq!((outcome.operations, outcome.bytes), (20, 20 * 512));
    assert_eq!(run.latency.submission.count(), 20);
    assert_eq!(run.latency.completion.count(), 20);
    let again: Vec<(u64, u32)> = run
        .queue
        .submitted
        .iter()
        .filter(|request| request.done_bytes > 0)
        .map(|request| (request.offset_bytes, request.done_bytes))
        .collect();
    assert_eq!(again, [(512, 100), (3 * 512, 511)]);
    assert_eq!(run.queue.submitted.len(), 23);
    // The latency of the interrupted one has two more waits in it than the others.
    let latencies = run.recorder.histogram();
    assert!(latencies.max() as f64 > latencies.quantile(0.5));
}

#[test]
fn a_failure_ends_the_issuing_and_brings_the_others_home() {
    let eio = -Errno::IO.raw_os_error();
    let run = run(4, 1 << 40, &never, |_, queue| queue.results = [512, 100, eio, 7].into());
    let error = run.ended.expect_err("the third fails");
    assert!(matches!(error, EngineError::DeviceFailed { operation: "io_uring read", .. }));
    let text = error.to_string();
    for part in ["/t/file", "offset 1024", "io_uring read"] {
        assert!(text.contains(part), "{part} is missing in: {text}");
    }
    assert!(run.queue.flying.is_empty() && run.queue.done.is_empty());
    assert_eq!(run.queue.submitted.len(), 6, "4, one more, and one that was short");
}

#[test]
fn an_end_of_the_file_is_never_counted() {
    let run = run(4, 100, &never, |_, queue| queue.results = [512, 500, 512, 512, 512, 0].into());
    let error = run.ended.expect_err("the second stays short");
    let EngineError::ShortTransfer { offset_bytes, wanted_bytes, done_bytes, .. } = error else {
        panic!("{error}")
    };
    assert_eq!((offset_bytes, wanted_bytes, done_bytes), (512, 512, 500));
}

#[test]
fn a_ring_that_fails_ends_the_loop_with_the_call() {
    let run = run(4, 100, &never, |_, queue| queue.breaks_after = 3);
    let error = run.ended.expect_err("the ring is broken");
    assert!(matches!(error, EngineError::System { operation: "io_uring_enter", .. }), "{error}");
}

#[test]
fn a_stop_ends_the_issuing_and_counts_what_was_in_flight() {
    let asked = Cell::new(0);
    let stop = || {
        asked.set(asked.get() + 1);
        asked.get() == 2
    };
    let run = run(16, 1 << 40, &stop, |_, _| ());
    let outcome = run.ended.expect("a stop is no error");
    assert!(outcome.interrupted);
    assert_eq!(outcome.operations, run.queue.submitted.len() as u64);
    assert_eq!(outcome.operations, run.recorder.operations());
    assert!((16..100).contains(&outcome.operations), "{}", outcome.operations);
}

/// Another thread has done its operations.
struct HaltAtOnce;

impl Halt for HaltAtOnce {
    fn at_slice(&self) -> bool {
        false
    }

    fn at_interval(&self) -> bool {
        true
    }
}

#[test]
fn the_end_of_another_threads_part_ends_this_one_uninterrupted() {
    let run = run(16, 1 << 40, &HaltAtOnce, |_, _| ());
    let outcome = run.ended.expect("that is no error");
    assert_eq!((outcome.operations, outcome.interrupted), (16, false));
}
