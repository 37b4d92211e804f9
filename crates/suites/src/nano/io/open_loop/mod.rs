//! Open loops: operations that begin on a schedule, each timed from the moment at which it was due
//! (see [`workload::run_on_schedule`]).
//!
//! A closed loop measures how fast it can go; an open one, how long a request waits if requests
//! arrive independently, so many per second. Near the most that a target can do, the two differ by
//! orders of magnitude. If more than that is offered, the queue grows for as long as the replicate
//! lasts: the achieved rate and the share that began late show it, and the latency then only says
//! how long that was.
//!
//! The rates are declared here, or one is given with `--rate`.

mod figures;
mod work;

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::Duration;

use record::{Dimension, MetricDefinition, OfferedLoad, Spacing};
use runner::Failure;
use serde_json::{Value, json};
use workload::{ExactSleeps, OnSchedule, Schedule, SleepThenSpin, run_on_schedule};

pub(super) use self::figures::{metrics, values};
pub(super) use self::work::{REQUEST_BYTES, ScheduledOperation, ScheduledWork};
use crate::benchmark::Benchmark;
use crate::experiment::{Experiment, Site};
use crate::failure::failed;
use crate::file_set_kind::FileSetKind;
use crate::findings::Findings;
use crate::live_target::LiveTarget;
use crate::nano::curve::Curve;

/// Default rates, in operations per second: one that a device handles with ease, one that uses a
/// good part of it, and one that is more commits than most can do.
const RATES_PER_S: [u64; 3] = [100, 1000, 4000];
/// Duration of a replicate that reaches its rate, within the bounds below.
const LASTS_S: f64 = 0.75;
/// Bounds on the operations of a replicate. With fewer, the mean would be that of a single burst;
/// the maximum supports the 99.9th percentile, and still ends if the rate cannot be reached.
const OPERATIONS_MIN: u64 = 100;
const OPERATIONS_MAX: u64 = 4000;

/// The curves: name, title and kind of operation.
const FAMILIES: [(&str, &str, ScheduledOperation); 3] = [
    ("open-loop-warm-read", "random read 4 KiB, warm, on a schedule", ScheduledOperation::WarmRead),
    (
        "open-loop-direct-read",
        "random read 4 KiB, direct, on a schedule",
        ScheduledOperation::DirectRead,
    ),
    ("open-loop-append-fsync", "append 4 KiB and fsync, on a schedule", ScheduledOperation::Commit),
];

/// At the declared rates.
pub(super) fn curves() -> Vec<Benchmark> {
    /// They take long, and so are left out before anything shorter.
    const RANK: u32 = 6;
    points(&RATES_PER_S, Spacing::Poisson, RANK)
}

/// At the requested rate; never left out for lack of budget.
pub(crate) fn benchmarks_at(load: &OfferedLoad) -> Vec<Benchmark> {
    points(&[load.rate_per_s], load.spacing, 0)
}

/// Whether a benchmark is one of these.
pub(crate) fn is_open_loop(benchmark: &Benchmark) -> bool {
    let curve = benchmark.curve.as_ref().map(|point| point.curve.as_str());
    FAMILIES.iter().any(|(name, ..)| Some(*name) == curve)
}

fn points(rates_per_s: &[u64], spacing: Spacing, rank: u32) -> Vec<Benchmark> {
    let family = |(name, title, kind): (&str, &str, ScheduledOperation)| {
        let curve = Curve { name, title, axis: "operations per second", unit: "count" };
        curve.points(rates_per_s, |rate_per_s| Benchmark {
            dimension: Dimension::Io,
            exercises: kind.exercises(),
            cache_state: kind.cache_state(),
            rank,
            ..Benchmark::from_experiment("", "", OpenLoop { kind, rate_per_s, spacing })
        })
    };
    FAMILIES.into_iter().flat_map(family).collect()
}

/// Operations of a replicate at a rate.
fn operations_at(rate_per_s: u64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small number")]
    let wanted = (rate_per_s as f64 * LASTS_S) as u64;
    wanted.clamp(OPERATIONS_MIN, OPERATIONS_MAX)
}

/// One kind of operation at a rate.
#[derive(Debug)]
struct OpenLoop {
    kind: ScheduledOperation,
    rate_per_s: u64,
    spacing: Spacing,
}

/// Executes operations of one kind on a schedule.
pub(super) fn on_schedule(
    site: &Site<'_>,
    work: &mut ScheduledWork,
    schedule: &Schedule,
) -> Result<OnSchedule, Failure> {
    let sleeps = ExactSleeps::begin();
    let mut wait = SleepThenSpin::new(|time| sleeps.sleep(time));
    let halt = || site.stop.load(Ordering::Relaxed);
    let act = |number| work.act(number);
    let done = run_on_schedule(schedule, site.clock, &mut wait, &halt, act);
    let done = done.map_err(|error| failed(&error))?;
    if done.interrupted { Err(Failure::Interrupted) } else { Ok(done) }
}

impl OpenLoop {
    fn operations(&self) -> u64 {
        operations_at(self.rate_per_s)
    }

    fn schedule(&self, seed: u64) -> Schedule {
        let spacing = match self.spacing {
            Spacing::Poisson => workload::Spacing::Poisson,
            Spacing::Constant => workload::Spacing::Constant,
        };
        Schedule::new(self.rate_per_s as f64, self.operations(), spacing, seed)
    }
}

impl Experiment for OpenLoop {
    fn metrics(&self) -> Vec<MetricDefinition> {
        metrics(self.operations())
    }

    fn parameters(&self) -> BTreeMap<String, Value> {
        BTreeMap::from([
            ("operation".to_owned(), json!(self.kind.operation())),
            ("request_bytes".to_owned(), json!(REQUEST_BYTES)),
            ("rate_per_s".to_owned(), json!(self.rate_per_s)),
            ("spacing".to_owned(), json!(self.spacing)),
            ("operations".to_owned(), json!(self.operations())),
        ])
    }

    fn file_set(&self) -> Option<FileSetKind> {
        self.kind.file_set()
    }

    fn estimate(&self) -> Duration {
        Duration::from_secs_f64(self.operations() as f64 / self.rate_per_s as f64 + 0.05)
    }

    fn check(&self, live: &LiveTarget) -> Result<(), String> {
        self.kind.check(live, self.operations())
    }

    fn execute(&self, site: &Site<'_>) -> Result<Findings, Failure> {
        let mut work = ScheduledWork::make(self.kind, site)?;
        let counters = site.counters()?;
        let before = counters.read().map_err(|error| failed(&error))?;
        let done = on_schedule(site, &mut work, &self.schedule(site.seed))?;
        let deltas = counters.read().map_err(|error| failed(&error))?.since(&before);
        let evidence = work.proved(&deltas, done.latency.operations())?;
        Ok(Findings {
            metrics: values(&done, self.operations()),
            bytes: done.latency.operations() * REQUEST_BYTES as u64,
            elapsed_ns: done.elapsed_ns,
            recorder: Some(done.latency),
            evidence,
            ..Findings::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_operations_are_declared_and_bounded() {
        assert_eq!(
            [10, 100, 1000, 4000, 1_000_000].map(operations_at),
            [100, 100, 750, 3000, 4000]
        );
    }

    #[test]
    fn a_rate_that_is_asked_for_takes_the_place_of_those_declared() {
        let load = OfferedLoad { rate_per_s: 2000, spacing: Spacing::Constant };
        let all = benchmarks_at(&load);
        let names: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
        let expected = [
            "open-loop-warm-read-2000",
            "open-loop-direct-read-2000",
            "open-loop-append-fsync-2000",
        ];
        assert_eq!(names, expected);
        assert!(all.iter().all(|one| one.rank == 0 && is_open_loop(one)));
        assert_eq!(curves().len(), FAMILIES.len() * RATES_PER_S.len());
        assert!(curves().iter().all(is_open_loop));
    }

    #[test]
    fn percentiles_are_declared_where_the_operations_support_them() {
        let names = |rate_per_s| -> Vec<String> {
            let one = OpenLoop {
                kind: ScheduledOperation::Commit,
                rate_per_s,
                spacing: Spacing::Poisson,
            };
            one.metrics().into_iter().map(|metric| metric.name).collect()
        };
        let has = |rate_per_s, name: &str| names(rate_per_s).iter().any(|one| one == name);
        assert!(!has(100, "latency_p99") && has(1000, "latency_p99"));
        assert!(!has(1000, "latency_p999") && has(4000, "latency_p999"));
    }
}
