//! Figures of a few handmade replicates.

use record::{Better, MetricDefinition, StandardMetric};

use super::super::simulated;
use super::*;

const MIB: f64 = 1048576.0;

fn cell(benchmark: &str, metric: MetricDefinition, size: Option<f64>) -> Cell {
    simulated::cell("ext2", benchmark, metric, size)
}

/// A replicate whose slices of one second contain these latencies.
fn replicate(value: f64, slices: &[&[(u8, u64)]]) -> Replicate {
    let slices = slices.iter().map(|slice| slice.to_vec()).collect();
    let timeline = Some(TimelineRecord { slice_ns: 1_000_000_000, slices });
    Replicate { operations: 0, timeline, ..Replicate::from_metrics(0, 0, vec![value]) }
}

fn gathered<'a>(cell: &'a Cell, replicates: &'a [Replicate]) -> Gathered<'a> {
    Gathered { cells: vec![(cell, replicates.iter().collect())], memory_bytes: 64 << 20 }
}

#[test]
fn a_size_stands_as_a_share_of_the_memory_with_its_runs_and_their_deviation() {
    let cell = cell("figure-1", StandardMetric::THROUGHPUT.definition(), Some(48.0 * MIB));
    let runs = [90.0, 100.0, 110.0].map(|rate| replicate(rate, &[]));
    let [point] = sizes(&gathered(&cell, &runs), "figure-1")[..] else { panic!("one size") };
    assert_eq!((point.memory_percent, point.throughput.median, point.runs), (75.0, 100.0, 3));
    assert!((point.relative_deviation_percent.expect("of three") - 10.0).abs() < 1e-9);
    assert_eq!(point.throughput.low, None, "three runs have no interval");
    assert!(sizes(&gathered(&cell, &runs), "figure-1-zoom").is_empty());
}

#[test]
fn a_rate_over_time_is_that_of_the_slices_and_ends_with_the_replicate() {
    let one = replicate(0.0, &[&[(20, 10)], &[(10, 90), (20, 10)], &[(10, 7)]]);
    assert_eq!(rate_between(&one, 0.0, 1.0), Some(10.0));
    assert_eq!(rate_between(&one, 0.5, 1.5), Some(55.0));
    assert_eq!(rate_between(&one, 1.4, 2.4), Some(100.0), "more than half is covered");
    assert_eq!(rate_between(&one, 1.6, 2.6), None, "the last slice is cut short");
}

#[test]
fn reads_from_memory_are_those_below_the_boundary() {
    let cell = cell("figure-3b", StandardMetric::THROUGHPUT.definition(), None);
    let slice = [(DEVICE_LOG2 - 1, 3), (DEVICE_LOG2, 1)];
    let runs = [replicate(1.0, &[&slice, &slice])];
    let all = latencies(&gathered(&cell, &runs));
    assert_eq!(all[0].from_memory_percent.median, 75.0);
    assert_eq!(all[0].buckets, [(DEVICE_LOG2 - 1, 75.0), (DEVICE_LOG2, 25.0)]);
}

#[test]
fn slices_over_time_keep_their_order_and_their_moments() {
    let cell = cell("figure-4", StandardMetric::THROUGHPUT.definition(), None);
    let runs = [replicate(1.0, &[&[(20, 5)], &[(20, 1), (10, 1)], &[(10, 5)]])];
    let slices = latency_slices(&gathered(&cell, &runs));
    let buckets: Vec<&[(u8, f64)]> = slices.iter().map(|slice| &slice.buckets[..]).collect();
    assert_eq!(buckets, [&[(20, 100.0)][..], &[(10, 50.0), (20, 50.0)], &[(10, 100.0)]]);
    let starts: Vec<f64> = slices.iter().map(|slice| slice.start_s).collect();
    assert_eq!(starts, [0.0, 1.0, 2.0]);
}

#[test]
fn curves_over_time_share_one_grid() {
    let cell =
        cell("figure-2", MetricDefinition::new("time_to_half_speed", "ns", Better::Lower), None);
    let runs = [replicate(2e9, &[&[(10, 40)][..]; 5]), replicate(2e9, &[&[(10, 80)][..]; 3])];
    let curves = time_curves(&gathered(&cell, &runs));
    assert_eq!(curves[0].half_speed_s.median, 2.0);
    // At first both run, then only the longer one.
    assert_eq!(curves[0].points[0], (5.0 / 80.0, 60.0));
    assert_eq!(curves[0].points.last().expect("some").1, 40.0);
}
