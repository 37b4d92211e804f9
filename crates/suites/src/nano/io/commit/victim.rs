//! A victim that does a little, beside a flusher that writes much and syncs.
//!
//! The victim commits 4 KiB, or reads 4 KiB from memory, at a modest, steady rate. Each operation
//! is timed from the moment at which it was due, so that waiting behind a slow one counts. The
//! flusher repeatedly writes new data to another file of the same file system and syncs it, from a
//! thread of its own. They contend for the file system, its journal, the device, and the
//! processors.
//!
//! The curve over the number of flushers has the victim alone at 0. With a flusher, the same
//! replicate also measures the victim alone, before or after, so that the slow-down compares two
//! adjacent halves of a second.

use std::collections::BTreeMap;
use std::time::Duration;

use record::{Better, Dimension, MetricDefinition};
use runner::Failure;
use serde_json::{Value, json};
use workload::{OnSchedule, Schedule, Spacing};

use super::flusher::{self, FLUSHED_BYTES, ROOM_BYTES};
use super::{check, check_memory, settle};
use crate::benchmark::Benchmark;
use crate::counters::CounterDeltas;
use crate::experiment::{Experiment, Site};
use crate::failure::failed;
use crate::file_set_kind::FileSetKind;
use crate::findings::Findings;
use crate::live_target::LiveTarget;
use crate::nano::curve::Curve;
use crate::nano::io::open_loop::{self, REQUEST_BYTES, ScheduledOperation, ScheduledWork};

/// How long the victim is measured alone, and how long beside the flusher.
const PART: Duration = Duration::from_millis(500);
/// Commits per second: one per 20 ms, so that even beside a flusher one is usually done before the
/// next is due. With so few in a replicate, high percentiles come from all blocks together.
const COMMITS_PER_S: u64 = 50;
/// Reads per second.
const READS_PER_S: u64 = 1000;

/// With no flusher, and with one.
pub(super) fn curves() -> Vec<Benchmark> {
    let curve = |name, title, kind: ScheduledOperation, rate_per_s: u64| {
        let curve = Curve { name, title, axis: "flushers", unit: "count" };
        curve.points(&[0, 1], |flushers| Benchmark {
            dimension: Dimension::Io,
            exercises: vec![Dimension::OnDiskLayout, Dimension::Caching, Dimension::Scaling],
            cache_state: kind.cache_state(),
            rank: 5,
            ..Benchmark::from_experiment("", "", Victim { kind, rate_per_s, flushers })
        })
    };
    [
        curve(
            "victim-append-fsync",
            "append 4 KiB and fsync, 50 per second",
            ScheduledOperation::Commit,
            COMMITS_PER_S,
        ),
        curve(
            "victim-warm-read",
            "random read 4 KiB, warm, 1,000 per second",
            ScheduledOperation::WarmRead,
            READS_PER_S,
        ),
    ]
    .concat()
}

/// A victim, alone or beside a flusher.
#[derive(Debug)]
struct Victim {
    kind: ScheduledOperation,
    rate_per_s: u64,
    /// 0 or 1.
    flushers: u64,
}

/// What was measured: the victim alone and, if there is a flusher, beside it, with the flusher's
/// bytes per second.
struct VictimParts {
    alone: OnSchedule,
    beside: Option<(OnSchedule, f64)>,
}

impl Victim {
    fn operations(&self) -> u64 {
        self.rate_per_s * u64::try_from(PART.as_millis()).unwrap_or(0) / 1000
    }

    /// Measures the victim for half a second, on an evenly spaced schedule.
    fn part(&self, site: &Site<'_>, work: &mut ScheduledWork) -> Result<OnSchedule, Failure> {
        let rate_per_s = self.rate_per_s as f64;
        let schedule = Schedule::new(rate_per_s, self.operations(), Spacing::Constant, site.seed);
        open_loop::on_schedule(site, work, &schedule)
    }

    /// Measures all parts, with either of the two first.
    fn parts(&self, site: &Site<'_>, work: &mut ScheduledWork) -> Result<VictimParts, Failure> {
        if self.flushers == 0 {
            return Ok(VictimParts { alone: self.part(site, work)?, beside: None });
        }
        if site.seed.is_multiple_of(2) {
            let alone = self.part(site, work)?;
            let beside = flusher::beside(site, || self.part(site, work))?;
            return Ok(VictimParts { alone, beside: Some(beside) });
        }
        let beside = flusher::beside(site, || self.part(site, work))?;
        settle(site)?;
        Ok(VictimParts { alone: self.part(site, work)?, beside: Some(beside) })
    }
}

impl VictimParts {
    fn operations(&self) -> u64 {
        let beside = self.beside.as_ref().map_or(0, |(part, _)| part.latency.operations());
        self.alone.latency.operations() + beside
    }

    /// The values of [`Experiment::metrics`], and the part that they describe.
    fn into_values(self, operations: u64) -> (Vec<f64>, OnSchedule) {
        let alone_ns = self.alone.latency.mean_ns();
        let Some((beside, flushed_bytes_per_s)) = self.beside else {
            return (open_loop::values(&self.alone, operations), self.alone);
        };
        let mut values = open_loop::values(&beside, operations);
        let slow_down = beside.latency.mean_ns() / alone_ns.max(1.0);
        values.extend([slow_down, alone_ns, flushed_bytes_per_s]);
        (values, beside)
    }
}

impl Experiment for Victim {
    fn metrics(&self) -> Vec<MetricDefinition> {
        let mut all = open_loop::metrics(self.operations());
        if self.flushers > 0 {
            all.extend([
                MetricDefinition::new("slow_down", "x", Better::Lower),
                MetricDefinition::new("latency_alone", "ns", Better::Lower),
                MetricDefinition::new("flushed", "bytes/s", Better::Neither),
            ]);
        }
        all
    }

    fn parameters(&self) -> BTreeMap<String, Value> {
        let mut all = BTreeMap::from([
            ("operation".to_owned(), json!(self.kind.operation())),
            ("request_bytes".to_owned(), json!(REQUEST_BYTES)),
            ("rate_per_s".to_owned(), json!(self.rate_per_s)),
            ("spacing".to_owned(), json!("constant")),
            ("operations".to_owned(), json!(self.operations())),
            ("flushers".to_owned(), json!(self.flushers)),
        ]);
        if self.flushers > 0 {
            all.insert("flushed_bytes_per_sync".to_owned(), json!(FLUSHED_BYTES));
        }
        all
    }

    fn file_set(&self) -> Option<FileSetKind> {
        self.kind.file_set()
    }

    fn estimate(&self) -> Duration {
        // With a flusher, two parts and the time for the flusher to get going.
        if self.flushers > 0 { PART.mul_f64(2.5) } else { PART.mul_f64(1.1) }
    }

    fn check(&self, live: &LiveTarget) -> Result<(), String> {
        self.kind.check(live, 2 * self.operations())?;
        // Reads from a file system without a device would not meet the flusher there.
        check(live, ROOM_BYTES)?;
        check_memory(live, FLUSHED_BYTES)
    }

    fn execute(&self, site: &Site<'_>) -> Result<Findings, Failure> {
        let mut work = ScheduledWork::make(self.kind, site)?;
        let counters = site.counters()?;
        let before = counters.read().map_err(|error| failed(&error))?;
        let parts = self.parts(site, &mut work)?;
        let deltas = counters.read().map_err(|error| failed(&error))?.since(&before);
        // A flusher makes the device read what it needs to know about free space. That the victim's
        // pages are still in memory proves that those reads were not the victim's.
        let of_victim =
            CounterDeltas { device_read_bytes: None, caller_read_bytes: None, ..deltas };
        let evidence = work.proved(&of_victim, parts.operations())?;
        let (metrics, part) = parts.into_values(self.operations());
        Ok(Findings {
            metrics,
            bytes: part.latency.operations() * REQUEST_BYTES as u64,
            elapsed_ns: part.elapsed_ns,
            recorder: Some(part.latency),
            evidence,
            ..Findings::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slow_down_is_said_where_there_is_a_flusher() {
        for one in curves() {
            let flushers = one.curve.as_ref().map_or(0.0, |point| point.value);
            let says_it = one.metrics().iter().any(|metric| metric.name == "slow_down");
            assert_eq!(says_it, flushers > 0.0, "{}", one.name);
        }
    }

    #[test]
    fn reads_are_enough_for_a_high_percentile_and_commits_are_not() {
        let has = |name: &str, metric: &str| {
            let all = curves();
            let one = all.iter().find(|one| one.name == name).expect("it is declared");
            one.metrics().iter().any(|one| one.name == metric)
        };
        assert!(has("victim-warm-read-1", "latency_p99"));
        assert!(!has("victim-append-fsync-1", "latency_p99"));
    }
}
