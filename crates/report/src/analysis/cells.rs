//! The figures of one cell, over its replicates.

use std::collections::BTreeMap;

use record::{
    Cell, CellReport, Figure, Manifest, MetricDefinition, MetricReport, RecordError,
    StandardMetric, Warning,
};

use serde_json::Value;
use stats::dependence::Dependence;

use super::{Gathered, OperationTimes, doubts, estimates, percentiles, stalls, working_set};

/// A speed-up larger than this multiple of the number of threads cannot be put down to noise and
/// caches.
const BEYOND: f64 = 1.5;

/// The report of `gathered`. Its baseline and floor, if any, are looked up in `all`.
pub(super) fn report(
    gathered: &Gathered<'_>,
    all: &[Gathered<'_>],
    times: &Result<OperationTimes, RecordError>,
    manifest: &Manifest,
    dependence: &Dependence,
) -> CellReport {
    let cell = gathered.cell;
    let level = manifest.run.confidence_level;
    let mut warnings = doubts::of_cell(gathered, all, manifest);
    // Only this cell's percentiles are lost; everything else comes from the journal.
    let times = times.as_ref().map_err(why).and_then(|times| complete(times, gathered));
    if let Err(why) = &times {
        warnings.push(Warning::HistogramLost { why: why.clone() });
    }
    let times = times.ok();
    warnings.extend(times.and_then(|times| stalls::why_mean_is_above(&times.pooled)));
    warnings.extend(beyond_threads(gathered, all));
    CellReport {
        target: cell.target.clone(),
        suite: cell.suite.clone(),
        benchmark: cell.benchmark.clone(),
        title: cell.title.clone(),
        dimension: cell.dimension,
        parameters: cell.parameters.clone(),
        cache_state: cell.cache_state,
        baseline: cell.baseline.clone(),
        replicates: gathered.count(),
        discarded: u32::try_from(gathered.discarded.len()).unwrap_or(u32::MAX),
        failed: gathered.failed.map(|failed| failed.why.clone()),
        operations: gathered.replicates.values().map(|replicate| replicate.operations).sum(),
        operations_per_replicate: gathered.pilot.map(|pilot| pilot.operations),
        replicate_length_ns: estimates::median(&lengths_ns(gathered)).filter(|&ns| ns > 0.0),
        least: cell.least.clone(),
        curve: cell.curve.clone(),
        floor: cell.floor.clone(),
        working_set: working_set::for_cell(cell, &manifest.machine),
        metrics: metrics(gathered, all, times, level, dependence),
        observations: gathered.observations(),
        warnings: warnings.into_iter().map(Into::into).collect(),
    }
}

/// The times, provided that they cover exactly the operations in the journal.
fn complete<'a>(
    times: &'a OperationTimes,
    gathered: &Gathered<'_>,
) -> Result<&'a OperationTimes, String> {
    let recorded = gathered.replicates.values().filter(|one| one.histogram.is_some());
    let operations: u64 = recorded.map(|one| one.operations).sum();
    let count = times.pooled.count();
    // Experiments time steps that they define themselves, and a batch has one time for several
    // operations.
    let is_each = gathered.cell.least.is_some() && gathered.pilot.is_some_and(|it| it.batch == 1);
    if is_each && count != operations {
        return Err(format!("they hold {count} operations and the journal {operations}"));
    }
    Ok(times)
}

/// Warns if the speed-up exceeds the number of threads.
fn beyond_threads(gathered: &Gathered<'_>, all: &[Gathered<'_>]) -> Option<Warning> {
    let speed_ups: Vec<f64> = gathered.speed_up(all).into_values().collect();
    let speed_up = estimates::median(&speed_ups)?;
    let threads_of = |cell: &Cell| cell.parameters.get("threads").and_then(Value::as_u64);
    let baseline = gathered.cell.baseline.as_deref()?;
    let of_baseline = all.iter().map(|one| one.cell).find(|cell| cell.benchmark == baseline)?;
    let threads = threads_of(gathered.cell)? / threads_of(of_baseline)?.max(1);
    let threads = u32::try_from(threads).ok().filter(|&threads| threads > 0)?;
    (speed_up > BEYOND * f64::from(threads))
        .then_some(Warning::SpeedUpBeyondThreads { speed_up, threads })
}

/// The declared metrics, the speed-up if there is a baseline, and the operation's own cost if there
/// is a floor. Empty without replicates, since JSON cannot represent the median of nothing.
fn metrics(
    gathered: &Gathered<'_>,
    all: &[Gathered<'_>],
    times: Option<&OperationTimes>,
    level: f64,
    dependence: &Dependence,
) -> Vec<MetricReport> {
    let metric_report = |metric: &MetricDefinition, by_block: &BTreeMap<u32, f64>| {
        metric_report(metric, by_block, level, dependence)
    };
    let declared = gathered.cell.metrics.iter().enumerate();
    let mut reports: Vec<MetricReport> = declared
        .filter_map(|(position, metric)| metric_report(metric, &gathered.values(position)))
        .collect();
    // Operations in a batch are not timed individually, so there is nothing to take percentiles of.
    let is_single = gathered.has_single_operations();
    // With several operations in flight, the time recorded for each is its latency.
    let position = [StandardMetric::LATENCY, StandardMetric::TIME_PER_OPERATION]
        .into_iter()
        .find_map(|metric| reports.iter().position(|report| report.is(metric)));
    let time = position.map(|position| &mut reports[position]);
    if let (Some(time), Some(times), true) = (time, times, is_single) {
        time.percentiles = percentiles::supported(times, level, dependence);
    }
    let speed_up = gathered.speed_up(all);
    reports.extend(metric_report(&StandardMetric::SPEED_UP.definition(), &speed_up));
    reports.extend(metric_report(&StandardMetric::OWN_COST.definition(), &gathered.own_cost(all)));
    reports
}

fn metric_report(
    metric: &MetricDefinition,
    by_block: &BTreeMap<u32, f64>,
    level: f64,
    dependence: &Dependence,
) -> Option<MetricReport> {
    let values: Vec<f64> = by_block.values().copied().collect();
    let summary = estimates::summary_of_blocks(&values, level, dependence)?;
    Some(MetricReport {
        name: metric.name.clone(),
        unit: metric.unit.clone(),
        better: metric.better,
        figure: Figure { value: summary.median, interval: summary.interval },
        median: summary.median,
        mean: summary.mean,
        interval: summary.interval,
        percentiles: Vec::new(),
        values,
    })
}

/// What is wrong with a log, without its path, so that the same problem in many cells is reported
/// only once.
#[expect(clippy::wildcard_enum_match_arm, reason = "other errors pass through")]
fn why(error: &RecordError) -> String {
    match error {
        RecordError::Damaged { why, .. } => why.clone(),
        RecordError::Io { action, source, .. } => format!("cannot {action} the log: {source}"),
        other => other.to_string(),
    }
}

/// How long each replicate lasted, in nanoseconds.
fn lengths_ns(gathered: &Gathered<'_>) -> Vec<f64> {
    gathered.replicates.values().map(|replicate| replicate.elapsed_ns as f64).collect()
}

#[cfg(test)]
mod tests {
    use record::{Least, Line, Warning};

    use crate::sample::Sample;

    const TIMES: [f64; 8] = [6100.0, 6000.0, 6200.0, 6050.0, 6150.0, 6080.0, 6120.0, 6090.0];

    #[test]
    fn values_are_in_the_order_of_blocks_whatever_the_journal_s() {
        let mut sample = Sample::new(&["tmpfs"]).benchmark("create", &[&TIMES]);
        sample.run.lines[1..].reverse();
        let time = &sample.document().cells[0].metrics[0];
        assert_eq!(time.values, TIMES);
        assert_eq!(time.median, 6095.0);
        assert_eq!(time.mean, 6098.75);
        // Order statistics 1 and 8 of 8: 2 and 7 would cover only 93 %.
        let interval = time.interval.unwrap();
        assert_eq!((interval.low, interval.high), (6000.0, 6200.0));
    }

    #[test]
    fn a_value_that_is_no_number_is_left_out() {
        let values = [6100.0, f64::NAN, f64::NEG_INFINITY, 6300.0];
        let document = Sample::new(&["tmpfs"]).benchmark("create", &[&values]).document();
        assert_eq!(document.cells[0].metrics[0].values, [6100.0, 6300.0]);
    }

    #[test]
    fn no_interval_with_five_blocks() {
        let document = Sample::new(&["tmpfs"]).benchmark("create", &[&TIMES[..5]]).document();
        let cell = &document.cells[0];
        assert_eq!(cell.metrics[0].interval, None);
        assert_eq!(cell.warnings[0].message, "5 replicates; an interval needs 6");
    }

    #[test]
    fn operations_of_each_replicate_are_those_of_the_pilot() {
        let sample = Sample::new(&["tmpfs", "ext4"]).operations(70);
        let document = sample.benchmark("create", &[&TIMES]).document();
        assert_eq!(document.cells[0].operations_per_replicate, Some(70));
        assert_eq!(document.cells[1].operations_per_replicate, None, "it was never reached");
    }

    /// The document of a run of two cells after `damage` has broken the first one's log.
    fn damaged(damage: impl Fn(&std::path::Path)) -> record::Document {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("run");
        let sample = Sample::new(&["tmpfs", "ext4"]).benchmark("create", &[&TIMES, &TIMES]);
        let run = sample.write(&path);
        damage(&path.join("histograms/0000.hlog"));
        crate::AnalysedRun::new(&run, &path).document
    }

    #[test]
    fn a_lost_histogram_log_costs_its_cell_the_percentiles_only() {
        let lost = damaged(|log| std::fs::remove_file(log).unwrap());
        let torn = damaged(|log| std::fs::write(log, "short").unwrap());
        for (document, expected) in
            [(&lost, "cannot open the log"), (&torn, "the log is shorter than the journal says")]
        {
            let time = &document.cells[0].metrics[0];
            assert!(time.percentiles.is_empty() && time.interval.is_some());
            let message = &document.cells[0].warnings[0].message;
            assert!(message.contains(expected), "{message}");
            assert!(!document.cells[1].metrics[0].percentiles.is_empty());
            assert!(document.cells[1].warnings.is_empty());
        }
    }

    #[test]
    fn a_histogram_of_other_operations_than_the_journals_is_not_believed() {
        let mut sample = Sample::new(&["tmpfs"]).benchmark("create", &[&TIMES]);
        let least = Least {
            start_operations: 0,
            operations: 1,
            time_ns: 1,
            overlap_percent: None,
            why: "a test".to_owned(),
        };
        sample.change("create", |cell| cell.least = Some(least.clone()));
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("run");
        let mut run = sample.write(&path);
        let lost = |run: &record::Run| {
            let warnings = crate::AnalysedRun::new(run, &path).document.cells[0].warnings.clone();
            warnings.into_iter().find(|one| matches!(one.warning, Warning::HistogramLost { .. }))
        };
        assert_eq!(lost(&run), None);
        let first = run.lines.iter_mut().find_map(|line| {
            if let Line::Replicate(replicate) = line { Some(replicate) } else { None }
        });
        first.unwrap().operations += 1;
        let message = lost(&run).unwrap().message;
        assert!(message.contains("they hold 800 operations and the journal 801"), "{message}");
    }

    #[test]
    fn operations_timed_in_batches_have_no_percentiles() {
        let sample = Sample::new(&["tmpfs"]).operations(1000).batch(8);
        let document = sample.benchmark("create", &[&TIMES]).document();
        assert!(document.cells[0].metrics[0].percentiles.is_empty());
    }

    #[test]
    fn the_speed_up_is_paired_by_block_and_target() {
        let sample = Sample::new(&["tmpfs", "ext4"])
            .benchmark("one", &[&[100.0, 200.0, 400.0], &[1000.0; 3]])
            .benchmark("two", &[&[50.0, 100.0], &[1000.0; 3]])
            .baseline("two", "one");
        let document = sample.document();
        let speed_up = |cell: usize| document.cells[cell].metrics.last().unwrap();
        assert_eq!(speed_up(2).name, "speed_up");
        assert_eq!(speed_up(2).values, [2.0, 2.0], "the third block is not in both");
        assert_eq!(speed_up(3).values, [1.0; 3]);
        assert_ne!(speed_up(0).name, "speed_up");
    }

    /// Two threads that take turns each spend half of their time on something untimed.
    #[test]
    fn more_speed_up_than_threads_is_doubted() {
        let warned = |two: f64, threads: u32| {
            let mut sample = Sample::new(&["tmpfs"])
                .benchmark("one", &[&[8000.0; 6]])
                .benchmark("two", &[&[two; 6]])
                .baseline("two", "one");
            sample.change("two", |cell| {
                cell.parameters.insert("threads".to_owned(), threads.into());
            });
            let document = sample.document();
            let cell = document.cells.into_iter().find(|cell| cell.benchmark == "two").unwrap();
            cell.warnings.iter().find_map(|report| {
                let Warning::SpeedUpBeyondThreads { speed_up, threads } = report.warning else {
                    return None;
                };
                Some((speed_up, threads))
            })
        };
        let speed_up = warned(1.0, 2).expect("it is 8,000 x at least");
        assert!(speed_up.0 > 100.0 && speed_up.1 == 2, "{speed_up:?}");
        assert_eq!(warned(8000.0, 2), None);
    }

    #[test]
    fn the_speed_up_is_of_the_time_that_passed() {
        let mut sample = Sample::new(&["tmpfs"])
            .benchmark("one", &[&[100.0; 3]])
            .benchmark("two", &[&[50.0; 3]])
            .baseline("two", "one");
        for line in &mut sample.run.lines {
            if let record::Line::Replicate(replicate) = line
                && replicate.cell == 1
            {
                replicate.elapsed_ns *= 2;
            }
        }
        let document = sample.document();
        assert_eq!(document.cells[1].metrics.last().unwrap().values, [1.0; 3]);
    }

    #[test]
    fn a_layer_s_own_cost_is_what_is_left_of_its_time_above_the_floor_in_the_same_block() {
        let mut sample = Sample::new(&["ext4", "xfs"])
            .benchmark("device", &[&[70_000.0, 90_000.0, 60_000.0], &[70_000.0]])
            .benchmark("file", &[&[71_000.0, 91_500.0, 61_200.0, 99.0], &[69_000.0]]);
        sample.change("file", |cell| cell.floor = Some("device".to_owned()));
        let document = sample.document();
        let own_cost = |cell: usize| document.cells[cell].metrics.last().unwrap();
        assert_eq!(own_cost(2).name, "own_cost");
        assert_eq!(own_cost(2).values, [1000.0, 1500.0, 1200.0], "the fourth is not in both");
        // A difference may be negative: then the cost is smaller than the noise.
        assert_eq!(own_cost(3).values, [-1000.0]);
        assert_ne!(own_cost(0).name, "own_cost");
    }

    #[test]
    fn the_percentiles_of_operations_in_flight_are_those_of_their_latencies() {
        let sample = Sample::new(&["ext4"]).operations(1000);
        let mut sample = sample.benchmark("read", &[&TIMES]);
        sample.change("read", |cell| cell.metrics[1].name = "latency".to_owned());
        let document = sample.document();
        let metrics = &document.cells[0].metrics;
        assert!(metrics[0].percentiles.is_empty() && !metrics[1].percentiles.is_empty());
    }

    #[test]
    fn a_failed_cell_says_why_and_a_cell_never_reached_has_no_figure() {
        let sample = Sample::new(&["tmpfs", "ext4"]).benchmark("create", &[&TIMES]);
        let document = sample.failed("create", "ext4", "no space").document();
        assert_eq!(document.cells[1].failed.as_deref(), Some("no space"));
        assert_eq!(document.cells[1].replicates, 0);
        assert!(document.cells[1].metrics.is_empty());
        assert_eq!(document.cells[0].failed, None);
    }
}
