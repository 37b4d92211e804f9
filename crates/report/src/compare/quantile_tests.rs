//! Comparisons of quantiles of single operations, and of other named metrics.

use super::tests::{named, options, sides, verdicts};
use super::*;
use crate::sample::{Sample, around, noisy};

fn of_metric(name: &str, how: CompareOptions) -> CompareOptions {
    CompareOptions { metric: ComparedMetric::named(name), ..how }
}

/// A run of `fsync` in which random stalls dominate the mean, with this median in microseconds.
fn run_of_fsync(median_us: f64, seed: u64) -> Sample {
    // 1 to 9 of 400 operations take 90 ms.
    let stalls: Vec<f64> = noisy(5.0, 0.8, 91 * seed, 8).into_iter().map(f64::round).collect();
    let medians = noisy(1000.0 * median_us, 0.04, 7 * seed, 8);
    let means = medians.iter().zip(&stalls);
    let means: Vec<f64> = means.map(|(p50, stalls)| p50 + 225_000.0 * stalls * stalls).collect();
    let tails = noisy(20e6, 0.3, 13 * seed, 8);
    Sample::new(&["ext4"])
        .operations(400)
        .benchmark("fsync", &[&means])
        .quantiles("fsync", "ext4", &medians, &tails)
        .ended()
}

/// Removing the journal halves the median and leaves the stalls, with three runs per side.
#[test]
fn a_median_that_halves_is_seen_below_stalls_that_swamp_the_mean() {
    let side = |median_us: f64, seeds: [u64; 3]| seeds.map(|seed| run_of_fsync(median_us, seed));
    let with_journal = side(1050.0, [1, 2, 3]).to_vec();
    let (runs, how) = sides(with_journal, side(525.0, [4, 5, 6]).to_vec());
    let by_mean = compare(&runs, &how).unwrap();
    assert_eq!(verdicts(&by_mean), [RunVerdict::NotToldApart], "{:?}", by_mean.comparisons);
    assert_eq!((by_mean.metric.as_str(), by_mean.without_metric.len()), ("mean", 0));
    let said = by_mean.text(200).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("would have been seen); in the median 0.50"), "{said}");
    let median = by_mean.comparisons[0].median.as_ref().expect("another story");
    let document = compare(&runs, &of_metric("p50", how)).unwrap();
    assert_eq!(verdicts(&document), [RunVerdict::Real]);
    let [one] = &document.comparisons[..] else { panic!("one benchmark") };
    assert!((one.ratio.unwrap() - 0.5).abs() < 0.02, "{one:?}");
    assert_eq!((median.ratio, median.verdict), (one.ratio.unwrap(), RunVerdict::Real));
    assert_eq!(one.median, None);
    assert_eq!((document.metric.as_str(), one.metric.as_str()), ("p50", "p50"));
    assert_eq!((one.better, one.first_values), (record::Better::Lower, 3));
    for text in [document.text(100), document.summary(100)] {
        assert!(text.contains("Compared: p50, the median of each block's operations"), "{text}");
        assert!(text.contains("ext4 (b): p50 0.50"), "{text}");
    }
}

#[test]
fn within_a_run_medians_are_paired_by_block() {
    let (slow, fast) = (around(2000.0, 12), around(1000.0, 12));
    let sample = Sample::new(&["a", "b"])
        .benchmark("fsync", &[&around(9000.0, 12), &around(9000.0, 12)])
        .quantiles("fsync", "a", &fast, &slow)
        .quantiles("fsync", "b", &slow, &slow)
        .operations(5)
        .benchmark("few", &[&fast, &slow]);
    let document = compare(&[named("run", sample.clone())], &of_metric("p50", options())).unwrap();
    let [one] = &document.comparisons[..] else { panic!("one benchmark has medians") };
    assert!(one.paired && one.verdict == RunVerdict::Real, "{one:?}");
    assert_eq!(document.without_metric, ["few"]);
    assert!(document.summary(100).contains("1 benchmark without p50 on some target"));
    assert!(document.text(100).contains("without p50 on some target, so not compared there: few"));
    // The run's report has the same comparison next to that of the means.
    let report = sample.document();
    let [own] = &report.quantile_comparisons[..] else { panic!("p50 of fsync") };
    assert_eq!((own.metric.as_str(), own.benchmark.as_str()), ("p50", "fsync"));
    assert_eq!((own.ratio, own.p, own.p_adjusted), (one.ratio, one.p, one.p_adjusted));
    assert_eq!(report.comparisons.len(), 2);
}

#[test]
fn what_got_worse_in_the_tail_is_found_though_the_mean_did_not() {
    let run = |p99: f64, seed| {
        let sample = Sample::new(&["ext4"]).operations(300);
        let sample = sample.benchmark("fsync", &[&noisy(1000.0, 0.01, seed, 8)]);
        let medians = noisy(900.0, 0.01, seed, 8);
        sample.quantiles("fsync", "ext4", &medians, &noisy(p99, 0.03, seed, 8)).ended()
    };
    let (runs, how) = sides(
        vec![run(5000.0, 1), run(5000.0, 2), run(5000.0, 3)],
        vec![run(6000.0, 4), run(6000.0, 5), run(6000.0, 6)],
    );
    let worse = |metric: &str, share: f64| {
        let document = compare(&runs, &of_metric(metric, how.clone())).unwrap();
        document.gate(share).worse.len()
    };
    assert_eq!(["mean", "p50", "p99"].map(|metric| worse(metric, 0.1)), [0, 0, 1]);
    assert_eq!(worse("p99", 0.3), 0);
}

#[test]
fn a_metric_that_no_benchmark_has_is_refused_with_what_there_is() {
    let run = |operations, batch| {
        let sample = Sample::new(&["a", "b"]).operations(operations).batch(batch);
        named("before", sample.benchmark("stat", &[&around(300.0, 8), &around(400.0, 8)]))
    };
    let refused = |run: NamedRun, metric: &str| {
        compare(&[run], &of_metric(metric, options())).unwrap_err().to_string()
    };
    assert_eq!(
        refused(run(298, 1), "p75"),
        "no benchmark of before has p75: it has mean, p50, throughput and time_per_operation"
    );
    assert_eq!(
        refused(run(298, 1), "p99"),
        "no benchmark of before has p99, which takes 299 operations timed one by one in each \
         replicate: it has mean, p50, throughput and time_per_operation"
    );
    assert_eq!(
        refused(run(1000, 8), "p50"),
        "no benchmark of before has p50, which takes 6 operations timed one by one in each \
         replicate: it has mean, throughput and time_per_operation"
    );
}

#[test]
fn any_metric_of_the_cells_can_be_compared() {
    let sample = Sample::new(&["a", "b"])
        .benchmark("one", &[&around(1000.0, 8), &around(1000.0, 8)])
        .benchmark("two", &[&around(1000.0, 8), &around(2000.0, 8)])
        .baseline("two", "one");
    let runs = [named("run", sample)];
    let document = compare(&runs, &of_metric("throughput", options())).unwrap();
    let ratios: Vec<f64> = document.comparisons.iter().map(|one| one.ratio.unwrap()).collect();
    assert!((ratios[0] - 1.0).abs() < 1e-9 && (ratios[1] - 0.5).abs() < 1e-9, "{ratios:?}");
    assert!(document.text(100).contains("Compared: throughput"));
    let document = compare(&runs, &of_metric("speed_up", options())).unwrap();
    assert_eq!(document.comparisons.len(), 1);
    assert_eq!(document.without_metric, ["one"]);
}

/// Medians are whole nanoseconds, so all those of a run can be equal and still differ in the next
/// run.
#[test]
fn equal_medians_of_two_single_runs_are_not_exact() {
    let run = |median: f64| {
        let sample = Sample::new(&["a"]).benchmark("stat", &[&around(300.0, 8)]).ended();
        sample.quantiles("stat", "a", &[median; 8], &[900.0; 8])
    };
    let single = [named("one", run(300.0)), named("two", run(310.0))];
    let document = compare(&single, &of_metric("p50", options())).unwrap();
    assert_eq!(verdicts(&document), [RunVerdict::DiffersBetweenTheseRuns]);
    let (runs, how) = sides(vec![run(300.0), run(300.0)], vec![run(310.0), run(310.0)]);
    assert_eq!(verdicts(&compare(&runs, &of_metric("p50", how)).unwrap()), [RunVerdict::Real]);
}
