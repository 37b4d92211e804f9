//! One workshop for all cases, and single replicates of benchmarks on a target.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use measure::SystemClock;
use record::{Cell, Skipped};
use runner::{Executor, Failure, Measured, Request};
use suites::{Laboratory, LiveTarget, Scope, Settings, Suite, suite};
use targets::{Surroundings, Target, TargetSpec, Workshop, availability};
use workload::Verification;

/// Attempts at a replicate, as in a run.
const ATTEMPTS: u32 = 3;

/// Where targets are made; removed at the end.
pub(crate) struct Place {
    workshop: Workshop,
    scratch: PathBuf,
}

/// What was measured, by benchmark and metric.
pub(crate) struct Outcome {
    pub(crate) measured: BTreeMap<String, (Vec<String>, Measured)>,
    pub(crate) skipped: Vec<Skipped>,
}

impl Outcome {
    /// The value of a metric.
    #[track_caller]
    pub(crate) fn value(&self, benchmark: &str, metric: &str) -> f64 {
        let (names, measured) = &self.measured[benchmark];
        assert_eq!(names.len(), measured.metrics.len(), "{benchmark}");
        let position = names.iter().position(|name| name == metric).expect("it has the metric");
        measured.metrics[position]
    }
}

impl Place {
    pub(crate) fn new() -> Self {
        let scratch = PathBuf::from(format!("/var/tmp/caching-{}", std::process::id()));
        fs::create_dir_all(&scratch).expect("/var/tmp can be written");
        let surroundings = Surroundings { scratch: scratch.clone(), ..Surroundings::default() };
        let workshop = Workshop::open(surroundings).expect("root, one thread");
        Self { workshop, scratch }
    }

    pub(crate) fn close(self) {
        self.workshop.close().expect("nothing is left");
        fs::remove_dir_all(&self.scratch).expect("the place is ours");
    }

    /// One replicate of each of these benchmarks on a new target. Returns `None`, and prints why,
    /// if the target cannot be made on this machine.
    pub(crate) fn measure(&self, target: &str, benchmarks: &[&str]) -> Option<Outcome> {
        self.measure_of("nano/caching", target, benchmarks)
    }

    /// The same for another suite.
    pub(crate) fn measure_of(
        &self,
        suite_name: &str,
        target: &str,
        benchmarks: &[&str],
    ) -> Option<Outcome> {
        let live = self.live(target)?;
        Some(executed(live, &chosen(suite_name, benchmarks)))
    }

    /// One replicate of a suite's benchmark while something else exists, made from the path of the
    /// target's device. Of several attempts, the first during which the device was read.
    pub(crate) fn measure_beside<T>(
        &self,
        suite_name: &str,
        benchmark: &str,
        target: &str,
        beside: impl FnOnce(&Path) -> T,
    ) -> Option<Measured> {
        let live = self.live(target)?;
        let device = live.target().open_device().expect(target).path().to_owned();
        let (mut laboratory, _, _) = laboratory(live, &chosen(suite_name, &[benchmark]));
        let beside = beside(&device);
        let is_beside = |measured: &Measured| {
            measured.evidence.device_read_bytes.is_some_and(|bytes| bytes > 0)
        };
        let all = (1..=50).map(|seed| {
            let (cell, block, operations, batch) = (0, 0, 20_000, 1);
            let start_operations = 0;
            let request = Request { cell, block, operations, start_operations, batch, seed };
            laboratory.execute(&request).expect(benchmark)
        });
        let found = { all }.find(is_beside).expect("the device is read meanwhile");
        drop(beside);
        close(laboratory);
        Some(found)
    }

    /// Calls `act` with a new target, if it can be made on this machine.
    pub(crate) fn with_target(&self, target: &str, act: impl FnOnce(&Target)) {
        let Some(live) = self.live(target) else { return };
        act(live.target());
        live.close().expect("nothing is open");
    }

    fn live(&self, target: &str) -> Option<LiveTarget> {
        let spec: TargetSpec = target.parse().expect(target);
        let surroundings =
            Surroundings { scratch: self.scratch.clone(), ..Surroundings::default() };
        if let Err(unavailable) = availability(&spec, &surroundings) {
            eprintln!("skipped: {target}: {unavailable}");
            return None;
        }
        Some(LiveTarget::new(self.workshop.make(&spec).expect(target)))
    }
}

fn chosen(suite_name: &str, benchmarks: &[&str]) -> Suite {
    let all = suite(suite_name).expect("it is one of the suites");
    let is_wanted = |name: &str| benchmarks.contains(&name);
    let chosen = all.benchmarks.iter().filter(|one| is_wanted(&one.name)).cloned();
    let chosen = Suite { benchmarks: chosen.collect(), ..all };
    assert_eq!(chosen.benchmarks.len(), benchmarks.len(), "{benchmarks:?} are there");
    chosen
}

fn executed(live: LiveTarget, suite: &Suite) -> Outcome {
    let (mut laboratory, cells, skipped) = laboratory(live, suite);
    let mut measured = BTreeMap::new();
    for (number, cell) in (0..).zip(&cells) {
        let names = cell.metrics.iter().map(|metric| metric.name.clone()).collect();
        let one = replicate(&mut laboratory, number)
            .unwrap_or_else(|failure| panic!("{} on {}: {failure:?}", cell.benchmark, cell.target));
        measured.insert(cell.benchmark.clone(), (names, one));
    }
    close(laboratory);
    Outcome { measured, skipped }
}

/// A laboratory in its first block, with its cells and what was skipped.
fn laboratory(live: LiveTarget, suite: &Suite) -> (Laboratory, Vec<Cell>, Vec<Skipped>) {
    let data_file_bytes = 1 << 20;
    let scope = Scope { targets: 1, data_file_bytes, budget: None };
    let live = [live];
    let (cells, skipped) = suites::cells(suite, &live, &scope);
    let settings = Settings {
        data_file_bytes,
        seed: 1,
        verification: Verification::Off,
        stop: Arc::new(AtomicBool::new(false)),
    };
    let (clock, report) = SystemClock::calibrate();
    let mut laboratory =
        Laboratory::new(live.into(), suite.benchmarks.clone(), &cells, settings, clock, &report);
    let all: Vec<u32> = (0..).take(cells.len()).collect();
    assert_eq!(laboratory.begin_block(0, &all), []);
    (laboratory, cells, skipped)
}

fn close(laboratory: Laboratory) {
    for live in laboratory.into_targets() {
        live.close().expect("nothing is open");
    }
}

fn replicate(laboratory: &mut Laboratory, cell: u32) -> Result<Measured, Failure> {
    let mut attempt = 1;
    loop {
        let request = Request {
            cell,
            block: 0,
            operations: 1,
            start_operations: 0,
            batch: 1,
            seed: attempt.into(),
        };
        match laboratory.execute(&request) {
            Err(Failure::State { why, .. }) if attempt < ATTEMPTS => eprintln!("again: {why}"),
            outcome => return outcome,
        }
        attempt += 1;
    }
}
