//! Hand-made runs for tests: targets, benchmarks and one value per replicate.

use std::collections::BTreeMap;
use std::path::Path;

use measure::Histogram;
use record::machine::Machine;
use record::{
    Better, Busy, CacheState, Cell, CellFailed, ClockRecord, Dimension, Document, End, EndReason,
    Figure, IntervalReport, LatencySummary, Line, Manifest, MetricReport, Neighbours, Pilot,
    Planned, References, Replicate, Run, RunDirectory, RunKind, RunRecord, SCHEMA_VERSION, Skipped,
    StandardMetric, TargetRecord, Tool,
};
use serde_json::{Value, json};

/// A run under construction.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    pub(crate) run: Run,
    operations: u64,
    batch: u32,
    is_throughput_first: bool,
    inapplicable: Vec<String>,
    /// Long operations in each replicate of a cell: how many, and how long they take.
    stalls: BTreeMap<u32, (u64, u64)>,
}

/// A metric in nanoseconds with its interval.
pub(crate) fn nanoseconds(name: &str, median: f64, [low, high]: [f64; 2]) -> MetricReport {
    let interval = Some(IntervalReport { level: 0.95, low, high });
    MetricReport {
        name: name.to_owned(),
        unit: "ns".to_owned(),
        better: Better::Lower,
        figure: Figure { value: median, interval },
        median,
        mean: median,
        interval,
        percentiles: Vec::new(),
        values: Vec::new(),
    }
}

/// `count` values around `centre`, up to 1 % above and below, always in the same order: two such
/// series have a constant ratio, as if both were affected by the same machine drift.
pub(crate) fn around(centre: f64, count: usize) -> Vec<f64> {
    let drift = [1.0, 0.99, 1.01, 0.995, 1.005, 0.992, 1.008];
    drift.iter().cycle().take(count).map(|factor| centre * factor).collect()
}

/// Like [`around`], in a different order and up to about 2 % above and below.
pub(crate) fn swaying(centre: f64, count: usize) -> Vec<f64> {
    let own = [0.98, 1.02, 1.015, 0.985, 1.01, 1.0, 0.99, 1.005, 0.982, 1.018, 0.995];
    own.iter().cycle().take(count).map(|factor| centre * factor).collect()
}

/// Pseudo-random values around `centre`, the same for the same seed; `spread` is the largest
/// relative deviation.
pub(crate) fn noisy(centre: f64, spread: f64, seed: u64, count: usize) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    };
    (0..count).map(|_| centre * (1.0 + 2.0 * spread * next())).collect()
}

impl Sample {
    /// A run on these targets, without benchmarks.
    pub(crate) fn new(targets: &[&str]) -> Self {
        let manifest = Manifest {
            schema_version: SCHEMA_VERSION,
            tool: Tool { name: "fsprism".to_owned(), version: "0.1.0".to_owned() },
            run: run_record(),
            machine: Machine::default(),
            clock: clock(),
            references: Some(references()),
            targets: targets.iter().map(|label| target(label)).collect(),
            skipped: Vec::new(),
            cells: Vec::new(),
            scratch: None,
        };
        let (pilots, left_out) = (Vec::new(), Vec::new());
        let planned = Planned { at_s: 0.0, blocks: 12, pilots, left_out, pilot_s: 0.0 };
        let run = Run { manifest, lines: vec![Line::Planned(planned)], damage: Vec::new() };
        Self {
            run,
            operations: 100,
            batch: 1,
            is_throughput_first: false,
            inapplicable: Vec::new(),
            stalls: BTreeMap::new(),
        }
    }

    /// tmpfs, ext4, xfs (which cannot be told from ext4) and btrfs on `create`.
    pub(crate) fn four_targets() -> Self {
        let ext4 = swaying(26_200.0, 12);
        let xfs: Vec<f64> = ext4.iter().rev().map(|time| time * 1.001).collect();
        let values = [around(6100.0, 12), ext4, xfs, swaying(55_000.0, 12)];
        let values: Vec<&[f64]> = values.iter().map(Vec::as_slice).collect();
        Self::new(&["tmpfs", "ext4", "xfs", "btrfs"]).benchmark("create", &values).ended()
    }

    /// Marks all replicates in blocks before this one as disturbed by other programs.
    pub(crate) fn busy_before(mut self, block: u32) -> Self {
        for line in &mut self.run.lines {
            if let Line::Replicate(replicate) = line
                && replicate.block < block
            {
                let programs = vec!["cc1".to_owned()];
                let busy = Busy { programs, processors: 1.8, of: 2, ..Busy::default() };
                replicate.neighbours =
                    Some(Neighbours { busy: Some(busy), ..Neighbours::default() });
            }
        }
        self
    }

    /// Sets the operations per replicate of the benchmarks that follow.
    pub(crate) fn operations(self, operations: u64) -> Self {
        Self { operations, ..self }
    }

    /// Sets the operations per timed interval of the benchmarks that follow.
    pub(crate) fn batch(self, batch: u32) -> Self {
        Self { batch, ..self }
    }

    /// Makes throughput the primary metric of the benchmarks that follow.
    pub(crate) fn throughput_first(self) -> Self {
        Self { is_throughput_first: true, ..self }
    }

    /// The benchmarks that follow do not apply to these targets: they have no cell there.
    pub(crate) fn not_on(self, targets: &[&str]) -> Self {
        let inapplicable = targets.iter().map(|&target| target.to_owned()).collect();
        Self { inapplicable, ..self }
    }

    /// Adds a benchmark, given the time per operation in ns by target and block. Targets beyond
    /// those of `values`, or with an empty list, are never measured.
    pub(crate) fn benchmark(mut self, name: &str, values: &[&[f64]]) -> Self {
        let targets = self.run.manifest.targets.clone();
        for (position, target) in targets.iter().enumerate() {
            if self.inapplicable.contains(&target.label) {
                continue;
            }
            let index = u32::try_from(self.run.manifest.cells.len()).unwrap();
            let cell = self.cell(&target.label, name);
            self.run.manifest.cells.push(cell);
            if let Some(values) = values.get(position).filter(|values| !values.is_empty()) {
                self.measure(index, values);
            }
        }
        self
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "a test looks for one of them")]
    fn measure(&mut self, cell: u32, times_ns: &[f64]) {
        let (operations, batch, time_per_operation_ns) = (self.operations, self.batch, times_ns[0]);
        let pilot = Pilot {
            cell,
            operations,
            batch,
            time_per_operation_ns,
            overhead_ns: 0,
            start_operations: 0,
        };
        match &mut self.run.lines[0] {
            Line::Planned(planned) => planned.pilots.push(pilot),
            other => panic!("the plan comes first, not {other:?}"),
        }
        for (block, &time_ns) in (0..).zip(times_ns) {
            let replicate = self.replicate(cell, block, time_ns);
            self.run.lines.push(Line::Replicate(Box::new(replicate)));
        }
    }

    /// Makes `base` the baseline of `benchmark`.
    pub(crate) fn baseline(mut self, benchmark: &str, base: &str) -> Self {
        self.change(benchmark, |cell| cell.baseline = Some(base.to_owned()));
        self
    }

    /// Gives the replicates of a cell their median and 99th percentile in ns, block by block; by
    /// default the median is the mean, and the 99th percentile is twice that.
    pub(crate) fn quantiles(
        mut self,
        benchmark: &str,
        target: &str,
        p50: &[f64],
        p99: &[f64],
    ) -> Self {
        let own = self.index(benchmark, target);
        for line in &mut self.run.lines {
            if let Line::Replicate(replicate) = line
                && replicate.cell == own
            {
                let block = replicate.block as usize;
                replicate.latency.p50_ns = whole(p50[block]);
                replicate.latency.p99_ns = whole(p99[block]);
            }
        }
        self
    }

    /// Makes some operations of each replicate of a cell take this long, in its histograms.
    pub(crate) fn stalled(
        mut self,
        benchmark: &str,
        target: &str,
        count: u64,
        time_ns: u64,
    ) -> Self {
        self.stalls.insert(self.index(benchmark, target), (count, time_ns));
        self
    }

    fn index(&self, benchmark: &str, target: &str) -> u32 {
        let is_it = |cell: &Cell| cell.benchmark == benchmark && cell.target == target;
        u32::try_from(self.run.manifest.cells.iter().position(is_it).unwrap()).unwrap()
    }

    /// Changes the cells of one benchmark.
    pub(crate) fn change(&mut self, benchmark: &str, change: impl Fn(&mut Cell)) {
        let cells = self.run.manifest.cells.iter_mut();
        cells.filter(|cell| cell.benchmark == benchmark).for_each(change);
    }

    /// Makes a cell fail.
    pub(crate) fn failed(mut self, benchmark: &str, target: &str, why: &str) -> Self {
        let cell = self.index(benchmark, target);
        let failed = CellFailed { cell, block: 0, why: why.to_owned() };
        self.run.lines.push(Line::CellFailed(failed));
        self
    }

    /// Records something that was not measured.
    pub(crate) fn skipped(mut self, target: &str, why: &str) -> Self {
        let skipped = Skipped { target: target.to_owned(), why: why.to_owned() };
        self.run.manifest.skipped.push(skipped);
        self
    }

    /// Ends the run because its budget is used up.
    pub(crate) fn ended(mut self) -> Self {
        let end = End { reason: EndReason::Budget, used_s: 60.4, clock_drift_ppm: 1.5 };
        self.run.lines.push(Line::End(end));
        self
    }

    /// The document of this run, read back from a run directory with all its histograms.
    pub(crate) fn document(&self) -> Document {
        self.document_under(&[])
    }

    /// Like [`Self::document`], with these loads.
    pub(crate) fn document_under(&self, loads: &[crate::Load]) -> Document {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("run");
        let run = self.write(&path);
        crate::AnalysedRun::under(&run, &path, loads).document
    }

    /// Writes the run directory, with all its histograms.
    pub(crate) fn write(&self, path: &Path) -> Run {
        let mut directory = RunDirectory::create(path, &self.run.manifest).unwrap();
        let mut run = self.run.clone();
        for line in &mut run.lines {
            if let Line::Replicate(replicate) = line {
                let mut histogram = Histogram::new();
                // Nine tenths take the same time, and some are slower.
                let (operations, p50_ns) = (replicate.operations, replicate.latency.p50_ns);
                let (stalls, stall_ns) =
                    self.stalls.get(&replicate.cell).copied().unwrap_or((0, 0));
                let (tail, far) = (operations / 12, operations / 60);
                histogram.record_n(p50_ns, operations - tail - far - stalls);
                histogram.record_n(p50_ns * 5 / 4, tail);
                histogram.record_n(p50_ns * 2, far);
                histogram.record_n(stall_ns, stalls);
                let elapsed_ns = replicate.elapsed_ns;
                let location = directory
                    .append_histogram(replicate.cell, &histogram, replicate.at_s, elapsed_ns)
                    .unwrap();
                replicate.histogram = Some(location);
            }
        }
        run
    }

    fn cell(&self, target: &str, benchmark: &str) -> Cell {
        let (time, throughput) = (
            StandardMetric::TIME_PER_OPERATION.definition(),
            StandardMetric::THROUGHPUT.definition(),
        );
        let metrics =
            if self.is_throughput_first { vec![throughput, time] } else { vec![time, throughput] };
        let parameters: BTreeMap<String, Value> = [
            ("operation", json!("create")),
            ("threads", json!(1)),
            ("directory_entries", json!(100)),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        Cell {
            target: target.to_owned(),
            suite: "survey".to_owned(),
            benchmark: benchmark.to_owned(),
            title: benchmark.to_owned(),
            dimension: Dimension::Metadata,
            exercises: Vec::new(),
            parameters,
            cache_state: CacheState::Warm,
            metrics,
            baseline: None,
            working_set_bytes: None,
            curve: None,
            floor: None,
            rank: 0,
            least: None,
            sequence: None,
        }
    }

    pub(crate) fn replicate(&self, cell: u32, block: u32, time_ns: f64) -> Replicate {
        let throughput = 1e9 / time_ns.max(1e-9);
        let metrics = if self.is_throughput_first {
            vec![throughput, time_ns]
        } else {
            vec![time_ns, throughput]
        };
        let nanos = whole(time_ns);
        Replicate {
            order: cell,
            at_s: f64::from(block),
            operations: self.operations,
            // Speed-ups are calculated from this.
            elapsed_ns: whole((time_ns * self.operations as f64).round()),
            busy_ns: nanos * self.operations,
            latency: LatencySummary {
                p50_ns: nanos,
                p99_ns: 2 * nanos,
                ..LatencySummary::default()
            },
            neighbours: Some(Neighbours::default()),
            ..Replicate::from_metrics(cell, block, metrics)
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "test values")]
fn whole(nanos: f64) -> u64 {
    nanos as u64
}

fn run_record() -> RunRecord {
    RunRecord {
        command: "survey".to_owned(),
        arguments: vec!["fsprism".to_owned(), "survey".to_owned()],
        started: "2026-11-20T08:23:05Z".to_owned(),
        suite: "survey".to_owned(),
        kind: RunKind::Timed,
        seed: 42,
        budget_s: 60.0,
        precision_percent: 2.0,
        confidence_level: 0.95,
        blocks: None,
        verify: false,
        data_file_bytes: 64 << 20,
        guest_kernel: None,
        simulated_caches: None,
        offered_load: None,
        custom: None,
        replicate_length: None,
        classic: None,
        order: record::Order::default(),
    }
}

fn references() -> References {
    References {
        copy_4k_ns: 110.0,
        copy_1m_ns: 38_000.0,
        disk_read_4k_ns: Some(55_000.0),
        disk_read_1m_ns: Some(420_000.0),
    }
}

fn clock() -> ClockRecord {
    ClockRecord {
        source: "tsc".to_owned(),
        frequency_hz: 2.1e9,
        precision_ns: 1.0,
        cost_ns: 21.0,
        calibration_error_ppm: 0.3,
        system_call_ns: 213.0,
    }
}

fn target(label: &str) -> TargetRecord {
    TargetRecord {
        scratch: false,
        mount_options: "rw,relatime".to_owned(),
        size_bytes: 1 << 30,
        ..TargetRecord::plain(label, label.to_owned(), label)
    }
}
