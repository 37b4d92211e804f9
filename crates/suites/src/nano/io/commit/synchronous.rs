//! Writes of 4 KiB that are durable when they return (`O_DSYNC`), compared with `fdatasync` after
//! each write: one call instead of two, for the same promise.
//!
//! A replicate does both, in turns of a few dozen, so that any drift affects both and their ratio
//! compares neighbours. They either overwrite existing blocks, when no metadata but timestamps has
//! to follow, or append, when the size and the block's location must.

use std::collections::BTreeMap;
use std::time::Duration;

use measure::{Clock, Recorder};
use record::{Better, CacheState, Dimension, MetricDefinition, StandardMetric};
use runner::Failure;
use serde_json::{Value, json};

use super::log::{Log, LogExtent, SyncMethod};
use super::{COMMIT_BYTES, KIB, SLICE_NS, check, device_metrics, device_values, made_full, settle};
use crate::benchmark::Benchmark;
use crate::counters::CounterDeltas;
use crate::experiment::{Experiment, Site};
use crate::failure::failed;
use crate::findings::Findings;
use crate::live_target::LiveTarget;

/// Turns of each kind, and writes per turn: few enough that there is no drift between two turns,
/// and enough that the first write after a turn of the other kind is one of many.
const TURNS: u64 = 4;
const WRITES_PER_TURN: u64 = 32;
const WRITES: u64 = TURNS * WRITES_PER_TURN;
/// Size of the file that is overwritten: as much as all writes of one kind.
const FILE_BYTES: u64 = WRITES * 4 * KIB;

/// On existing blocks, and at the end.
pub(super) fn benchmarks() -> Vec<Benchmark> {
    let benchmark = |name: &str, title: &str, position: WritePosition| Benchmark {
        dimension: Dimension::Io,
        exercises: vec![Dimension::OnDiskLayout, Dimension::Metadata],
        cache_state: CacheState::Any,
        rank: 1,
        ..Benchmark::from_experiment(name, title, Synchronous { position })
    };
    vec![
        benchmark(
            "dsync-overwrite-4k",
            "O_DSYNC overwrite 4 KiB, versus fdatasync",
            WritePosition::Overwrite,
        ),
        benchmark(
            "dsync-append-4k",
            "O_DSYNC append 4 KiB, versus fdatasync",
            WritePosition::Append,
        ),
    ]
}

/// Where the writes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WritePosition {
    /// Over existing blocks.
    Overwrite,
    /// At the end of a growing file.
    Append,
}

/// Both kinds of durable writes, in turns.
#[derive(Debug)]
struct Synchronous {
    position: WritePosition,
}

/// What was observed of one kind.
struct MethodRun {
    log: Log,
    recorder: Recorder,
    deltas: CounterDeltas,
}

impl Synchronous {
    fn method_run(
        &self,
        site: &Site<'_>,
        sync_method: SyncMethod,
        name: &str,
    ) -> Result<MethodRun, Failure> {
        let path = site.directory.join(name);
        let log = match self.position {
            WritePosition::Append => Log::create(&path, sync_method, COMMIT_BYTES, site.seed),
            WritePosition::Overwrite => {
                made_full(site, &path, FILE_BYTES)?;
                let part = LogExtent { start: 0, bytes: FILE_BYTES };
                Log::open(&path, sync_method, part, COMMIT_BYTES, site.seed)
            }
        };
        let clock = site.clock;
        let recorder = Recorder::new(clock.ticks(), clock.ticks_of(SLICE_NS));
        let deltas = CounterDeltas {
            device_writes: Some(0),
            device_written_bytes: Some(0),
            device_flushes: Some(0),
            ..CounterDeltas::default()
        };
        Ok(MethodRun { log: log.map_err(|error| failed(&error))?, recorder, deltas })
    }
}

impl MethodRun {
    /// One turn.
    fn turn(&mut self, site: &Site<'_>) -> Result<(), Failure> {
        let counters = site.counters()?;
        let before = counters.read().map_err(|error| failed(&error))?;
        for _ in 0..WRITES_PER_TURN {
            let start_ticks = site.clock.start();
            let done = self.log.commit();
            let end_ticks = site.clock.end();
            done.map_err(|error| failed(&error))?;
            self.recorder.record(start_ticks, end_ticks, site.clock);
        }
        let more = counters.read().map_err(|error| failed(&error))?.since(&before);
        let sum = |one: Option<u64>, other: Option<u64>| Some(one? + other?);
        let so_far = &mut self.deltas;
        so_far.device_writes = sum(so_far.device_writes, more.device_writes);
        so_far.device_written_bytes = sum(so_far.device_written_bytes, more.device_written_bytes);
        so_far.device_flushes = sum(so_far.device_flushes, more.device_flushes);
        site.go_on()
    }
}

impl Experiment for Synchronous {
    fn metrics(&self) -> Vec<MetricDefinition> {
        let times = [
            StandardMetric::TIME_PER_OPERATION.definition(),
            MetricDefinition::new("fdatasync_time_per_operation", "ns", Better::Lower),
            MetricDefinition::new("dsync_over_fdatasync", "x", Better::Neither),
        ];
        let own = times.into_iter().chain(device_metrics(""));
        own.chain(device_metrics("fdatasync_")).collect()
    }

    fn parameters(&self) -> BTreeMap<String, Value> {
        let operation = match self.position {
            WritePosition::Overwrite => "overwrite",
            WritePosition::Append => "append",
        };
        BTreeMap::from([
            ("operation".to_owned(), json!(operation)),
            ("request_bytes".to_owned(), json!(COMMIT_BYTES)),
            ("open_flags".to_owned(), json!("O_DSYNC")),
            ("writes_of_each_kind".to_owned(), json!(WRITES)),
        ])
    }

    fn estimate(&self) -> Duration {
        Duration::from_micros(2 * WRITES * 500)
    }

    fn check(&self, live: &LiveTarget) -> Result<(), String> {
        check(live, 2 * FILE_BYTES)
    }

    fn execute(&self, site: &Site<'_>) -> Result<Findings, Failure> {
        let mut dsync = self.method_run(site, SyncMethod::Dsync, "dsync")?;
        let mut fdatasync = self.method_run(site, SyncMethod::Fdatasync, "fdatasync")?;
        settle(site)?;
        for turn in 0..TURNS {
            // The two kinds alternate in going first.
            if turn.wrapping_add(site.seed).is_multiple_of(2) {
                dsync.turn(site)?;
                fdatasync.turn(site)?;
            } else {
                fdatasync.turn(site)?;
                dsync.turn(site)?;
            }
        }
        let times = [dsync.recorder.mean_ns(), fdatasync.recorder.mean_ns()];
        let mut metrics = vec![times[0], times[1], times[0] / times[1].max(1.0)];
        let of_device = [&dsync, &fdatasync].map(|kind| device_values(&kind.deltas, WRITES));
        // Values are matched to metrics by position: those of the second kind follow all of the
        // first kind's.
        if of_device[0].len() == device_metrics("").len() {
            metrics.extend(of_device.concat());
        }
        Ok(Findings {
            metrics,
            bytes: WRITES * COMMIT_BYTES as u64,
            elapsed_ns: dsync.recorder.busy_ns(),
            recorder: Some(dsync.recorder),
            ..Findings::default()
        })
    }
}
