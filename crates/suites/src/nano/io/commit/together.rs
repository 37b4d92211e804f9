//! Threads that commit together.
//!
//! A commit waits rather than computes, so it makes sense to have more threads than processors:
//! while the device flushes for one, the others can add their records to the next flush (group
//! commit). How many do so shows in the device's flushes per commit.
//!
//! All threads do the same number of commits. The clock runs from their common start to the last
//! commit of the last thread, and the device's counters are read at both moments.

use std::collections::BTreeMap;
use std::io;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use measure::{Clock, Recorder, SystemClock};
use record::{CacheState, Dimension, MetricDefinition, StandardMetric};
use runner::Failure;
use serde_json::{Value, json};

use super::log::{Log, LogExtent, SyncMethod};
use super::{COMMIT_BYTES, KIB, SLICE_NS, check, device_metrics, device_values, made_full, settle};
use crate::benchmark::Benchmark;
use crate::experiment::{Experiment, Site};
use crate::failure::failed;
use crate::findings::Findings;
use crate::live_target::LiveTarget;
use crate::nano::curve::{Curve, usize_of};

/// Commits per thread: enough that the first, which find an empty journal, are a small share, and
/// few enough that one thread on a slow device is done within seconds.
const COMMITS_PER_THREAD: u64 = 96;
/// Numbers of threads, up to more than a small machine has processors.
const THREADS: [u64; 6] = [1, 2, 4, 8, 16, 32];
/// Bytes of the log that belong to each thread, so that each commit has a place of its own.
const PART_BYTES: u64 = COMMITS_PER_THREAD * 4 * KIB;
/// Duration of a commit on a fast device, for the estimate.
const COMMIT: Duration = Duration::from_micros(500);

/// Over the number of threads, with a file for each and with one log.
pub(super) fn curves() -> Vec<Benchmark> {
    [
        curve(
            "commit-own-files-by-threads",
            "concurrent append 4 KiB and fsync, own files",
            CommitTarget::OwnFiles,
        ),
        curve(
            "commit-one-log-by-threads",
            "concurrent write 4 KiB and fdatasync, one log",
            CommitTarget::SharedLog,
        ),
    ]
    .concat()
}

fn curve(name: &str, title: &str, target: CommitTarget) -> Vec<Benchmark> {
    let curve = Curve { name, title, axis: "threads", unit: "count" };
    curve.points(&THREADS, |threads| Benchmark {
        dimension: Dimension::Io,
        exercises: vec![Dimension::OnDiskLayout, Dimension::Metadata, Dimension::Scaling],
        cache_state: CacheState::Any,
        baseline: (threads > 1).then(|| format!("{name}-1")),
        rank: 1,
        ..Benchmark::from_experiment(
            "",
            "",
            ConcurrentCommits { threads: usize_of(threads), target },
        )
    })
}

/// What threads commit to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CommitTarget {
    /// Each thread appends to a file of its own, with `fsync`.
    OwnFiles,
    /// All write to one file that was fully written beforehand, as databases lay out their logs,
    /// each thread to its own part, with `fdatasync`.
    SharedLog,
}

/// Threads that commit at the same time.
#[derive(Debug)]
struct ConcurrentCommits {
    threads: usize,
    target: CommitTarget,
}

impl ConcurrentCommits {
    fn commits(&self) -> u64 {
        self.threads as u64 * COMMITS_PER_THREAD
    }

    /// The log of each thread, with nothing left to be written back.
    fn logs(&self, site: &Site<'_>) -> Result<Vec<Log>, Failure> {
        let shared = site.directory.join("log");
        if self.target == CommitTarget::SharedLog {
            made_full(site, &shared, self.threads as u64 * PART_BYTES)?;
        }
        let log = |thread: usize| -> io::Result<Log> {
            let seed = site.seed ^ thread as u64;
            match self.target {
                CommitTarget::OwnFiles => {
                    let path = site.directory.join(format!("own-{thread}"));
                    Log::create(&path, SyncMethod::Fsync, COMMIT_BYTES, seed)
                }
                CommitTarget::SharedLog => {
                    let part = LogExtent { start: thread as u64 * PART_BYTES, bytes: PART_BYTES };
                    Log::open(&shared, SyncMethod::Fdatasync, part, COMMIT_BYTES, seed)
                }
            }
        };
        let logs = (0..self.threads).map(log).collect::<io::Result<Vec<Log>>>();
        let logs = logs.map_err(|error| failed(&error))?;
        settle(site)?;
        Ok(logs)
    }
}

impl Experiment for ConcurrentCommits {
    fn metrics(&self) -> Vec<MetricDefinition> {
        let own = [
            StandardMetric::THROUGHPUT.definition(),
            StandardMetric::TIME_PER_OPERATION.definition(),
        ];
        own.into_iter().chain(device_metrics("")).collect()
    }

    fn parameters(&self) -> BTreeMap<String, Value> {
        let (operation, sharing) = match self.target {
            CommitTarget::OwnFiles => ("append+fsync", "own"),
            CommitTarget::SharedLog => ("write+fdatasync", "same"),
        };
        // Not named `threads`, which would imply threads that need a processor each.
        BTreeMap::from([
            ("operation".to_owned(), json!(operation)),
            ("request_bytes".to_owned(), json!(COMMIT_BYTES)),
            ("committers".to_owned(), json!(self.threads)),
            ("commits_per_thread".to_owned(), json!(COMMITS_PER_THREAD)),
            ("sharing".to_owned(), json!(sharing)),
        ])
    }

    fn estimate(&self) -> Duration {
        /// This many more threads double the time, if most of them share flushes.
        const THREADS_PER_TIME: f64 = 8.0;
        let commits = u32::try_from(COMMITS_PER_THREAD).unwrap_or(u32::MAX);
        let alone = COMMIT * commits;
        alone + alone.mul_f64(self.threads as f64 / THREADS_PER_TIME)
    }

    fn check(&self, live: &LiveTarget) -> Result<(), String> {
        check(live, self.threads as u64 * PART_BYTES)
    }

    fn execute(&self, site: &Site<'_>) -> Result<Findings, Failure> {
        let logs = self.logs(site)?;
        let counters = site.counters()?;
        let before = counters.read().map_err(|error| failed(&error))?;
        let committed = match site.clock {
            SystemClock::Tsc(clock) => commit_all(logs, clock, site.stop),
            SystemClock::Monotonic(clock) => commit_all(logs, clock, site.stop),
        };
        let deltas = counters.read().map_err(|error| failed(&error))?.since(&before);
        let AllCommits { recorder, elapsed_ns } = committed.map_err(|error| failed(&error))?;
        site.go_on()?;
        let per_s = self.commits() as f64 / elapsed_ns.max(1) as f64 * 1e9;
        let mut metrics = vec![per_s, recorder.mean_ns()];
        metrics.extend(device_values(&deltas, self.commits()));
        Ok(Findings {
            metrics,
            bytes: self.commits() * COMMIT_BYTES as u64,
            elapsed_ns,
            recorder: Some(recorder),
            ..Findings::default()
        })
    }
}

/// All commits of all threads.
struct AllCommits {
    recorder: Recorder,
    elapsed_ns: u64,
}

/// What one thread did, with clock readings before its first commit and after its last.
struct ThreadCommits {
    recorder: Recorder,
    start_ticks: u64,
    end_ticks: u64,
}

/// Commits [`COMMITS_PER_THREAD`] times to each log, unless stopped, each from a thread of its own.
fn commit_all<C: Clock>(logs: Vec<Log>, clock: &C, stop: &AtomicBool) -> io::Result<AllCommits> {
    let barrier = Barrier::new(logs.len());
    let origin_ticks = clock.ticks();
    let one = |mut log: Log| -> io::Result<ThreadCommits> {
        let mut recorder = Recorder::new(origin_ticks, clock.ticks_of(SLICE_NS));
        barrier.wait();
        let start_ticks = clock.ticks();
        recorder.begin_at(start_ticks);
        for _ in 0..COMMITS_PER_THREAD {
            let began_ticks = clock.start();
            log.commit()?;
            recorder.record(began_ticks, clock.end(), clock);
            if stop.load(Ordering::Relaxed) {
                break;
            }
        }
        Ok(ThreadCommits { recorder, start_ticks, end_ticks: clock.ticks() })
    };
    let shares: io::Result<Vec<ThreadCommits>> = thread::scope(|scope| {
        let threads: Vec<_> = logs.into_iter().map(|log| scope.spawn(|| one(log))).collect();
        let join = |thread: thread::ScopedJoinHandle<'_, _>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads.into_iter().map(join).collect()
    });
    let shares = shares?;
    let first = shares.iter().map(|share| share.start_ticks).min().unwrap_or(origin_ticks);
    let last = shares.iter().map(|share| share.end_ticks).max().unwrap_or(origin_ticks);
    let mut recorder = Recorder::new(first, clock.ticks_of(SLICE_NS));
    shares.iter().for_each(|share| recorder.merge(&share.recorder));
    Ok(AllCommits { recorder, elapsed_ns: clock.nanos(last.saturating_sub(first)) })
}

#[cfg(test)]
mod tests {
    use measure::MonotonicClock;

    use super::*;

    #[test]
    fn every_thread_does_all_of_its_commits() {
        let directory =
            std::env::temp_dir().join(format!("fsprism-together-{}", std::process::id()));
        std::fs::create_dir(&directory).expect("it is new");
        let log = |thread: u64| {
            let path = directory.join(thread.to_string());
            Log::create(&path, SyncMethod::Fdatasync, COMMIT_BYTES, thread).expect("it is new")
        };
        let go_on = AtomicBool::new(false);
        let all = commit_all((0..3).map(log).collect(), &MonotonicClock, &go_on);
        let all = all.expect("there is room");
        assert_eq!(all.recorder.operations(), 3 * COMMITS_PER_THREAD);
        assert!(all.recorder.busy_ns() <= 3 * all.elapsed_ns);
        let bytes = std::fs::metadata(directory.join("2")).expect("it is there").len();
        assert_eq!(bytes, PART_BYTES);
        let stopped = commit_all(vec![log(3)], &MonotonicClock, &AtomicBool::new(true));
        assert_eq!(stopped.expect("there is room").recorder.operations(), 1);
        std::fs::remove_dir_all(&directory).expect("it is there");
    }

    #[test]
    fn one_thread_is_what_the_others_are_set_against() {
        for one in curves() {
            let threads = one.curve.as_ref().map_or(0.0, |point| point.value);
            assert_eq!(one.baseline.is_some(), threads > 1.0, "{}", one.name);
        }
    }
}
