//! Which targets can be told apart, on each benchmark.
//!
//! Two targets are compared on the benchmark's primary metric, paired by block, on logarithms of
//! ratios: drift of the machine hits both alike and drops out. Where a benchmark has a baseline,
//! its question is how the target scales, so speed-ups are compared: throughput would repeat the
//! difference that the baseline has shown already. A run makes dozens of comparisons
//! at once, of which one in twenty would be called real by chance alone. So the p-values are
//! adjusted after Benjamini and Hochberg ("Controlling the False Discovery Rate", 1995): among the
//! differences that a run at 95 % calls real, at most 5 % are expected to be false.

use std::collections::BTreeMap;

use record::{Comparison, MetricDefinition, Verdict};

use super::{Gathered, estimates};

/// Fewer common blocks than this are not compared: with five, no order of the blocks is unlikely
/// enough (the sign test's least two-sided p is 2/32), so that all would hang on the assumption
/// of normal errors.
pub(crate) const BLOCKS_LEAST: u32 = 6;

/// Every pair of targets on every benchmark, in the order of the manifest.
pub(super) fn all(gathered: &[Gathered<'_>], level: f64) -> Vec<Comparison> {
    let mut comparisons = Vec::new();
    for (position, first) in gathered.iter().enumerate().filter(|(_, one)| !one.is_searched) {
        let speed_up = first.has_speed_up(gathered).then(MetricDefinition::speed_up);
        let Some(metric) = speed_up.or_else(|| first.cell.metrics.first().cloned()) else {
            continue;
        };
        let values = |one: &Gathered<'_>| {
            if one.has_speed_up(gathered) {
                one.speed_up(gathered)
            } else {
                one.values_of(&metric.name)
            }
        };
        let same_benchmark = |other: &&Gathered<'_>| {
            other.cell.benchmark == first.cell.benchmark && other.cell.suite == first.cell.suite
        };
        for second in gathered[position + 1..].iter().filter(same_benchmark) {
            let pair = Pair { metric: &metric.name, first, second };
            comparisons.push(pair.compare(&values(first), &values(second), level));
        }
    }
    adjust(&mut comparisons, level);
    // Cells may stand target by target; comparisons stand benchmark by benchmark.
    let order: BTreeMap<&str, usize> = gathered
        .iter()
        .enumerate()
        .rev()
        .map(|(position, one)| (one.cell.benchmark.as_str(), position))
        .collect();
    comparisons.sort_by_key(|comparison| order.get(comparison.benchmark.as_str()).copied());
    comparisons
}

/// Two targets on one benchmark.
struct Pair<'a> {
    metric: &'a str,
    first: &'a Gathered<'a>,
    second: &'a Gathered<'a>,
}

impl Pair<'_> {
    /// Compares the values of both, by block.
    fn compare(
        &self,
        of_first: &BTreeMap<u32, f64>,
        of_second: &BTreeMap<u32, f64>,
        level: f64,
    ) -> Comparison {
        let pair = |(block, value): (&u32, &f64)| Some((*value, *of_second.get(block)?));
        let (firsts, seconds): (Vec<f64>, Vec<f64>) = of_first.iter().filter_map(pair).unzip();
        let blocks = u32::try_from(firsts.len()).unwrap_or(u32::MAX);
        let enough = blocks >= BLOCKS_LEAST;
        let paired = enough.then(|| estimates::ratio_of_pairs(&firsts, &seconds, level)).flatten();
        Comparison {
            benchmark: self.first.cell.benchmark.clone(),
            metric: self.metric.to_owned(),
            first: self.first.cell.target.clone(),
            second: self.second.cell.target.clone(),
            blocks,
            ratio: paired.map(|paired| paired.ratio),
            interval: paired.map(|paired| paired.interval),
            p: paired.map(|paired| paired.p),
            p_adjusted: None,
            verdict: Verdict::NotEnoughData,
        }
    }
}

/// Adjusts the p-values of all comparisons together, and gives the verdicts that follow.
fn adjust(comparisons: &mut [Comparison], level: f64) {
    let p_values: Vec<Option<f64>> = comparisons.iter().map(|comparison| comparison.p).collect();
    for (comparison, (p_adjusted, verdict)) in comparisons.iter_mut().zip(judged(&p_values, level))
    {
        (comparison.p_adjusted, comparison.verdict) = (p_adjusted, verdict);
    }
}

/// The p-values adjusted together, as one family, and the verdict that follows from each.
pub(super) fn judged(p_values: &[Option<f64>], level: f64) -> Vec<(Option<f64>, Verdict)> {
    let known: Vec<f64> = p_values.iter().copied().flatten().collect();
    let mut adjusted = estimates::false_discovery_adjusted(&known).into_iter();
    let judge = |p: &Option<f64>| match p.and_then(|_| adjusted.next()) {
        Some(p) if p <= 1.0 - level => (Some(p), Verdict::Real),
        Some(p) => (Some(p), Verdict::NotToldApart),
        None => (None, Verdict::NotEnoughData),
    };
    p_values.iter().map(judge).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{Sample, around, swaying};

    #[test]
    fn the_ratio_is_second_over_first() {
        let sample = Sample::new(&["tmpfs", "ext4"])
            .benchmark("create", &[&around(6000.0, 8), &around(24_000.0, 8)]);
        let document = sample.document();
        let [comparison] = document.comparisons.as_slice() else { panic!("one pair") };
        assert_eq!((comparison.first.as_str(), comparison.second.as_str()), ("tmpfs", "ext4"));
        assert_eq!((comparison.metric.as_str(), comparison.blocks), ("time_per_operation", 8));
        assert_eq!(comparison.verdict, Verdict::Real);
        assert!((comparison.ratio.unwrap() - 4.0).abs() < 0.05, "{comparison:?}");
    }

    #[test]
    fn only_common_blocks_count_and_fewer_than_six_are_refused() {
        let sample = Sample::new(&["tmpfs", "ext4"])
            .benchmark("create", &[&around(6000.0, 8), &around(24_000.0, 5)]);
        let document = sample.document();
        assert_eq!(document.comparisons[0].blocks, 5);
        assert_eq!(document.comparisons[0].verdict, Verdict::NotEnoughData);
        assert_eq!(document.comparisons[0].p, None);
        assert_eq!(document.comparisons[0].ratio, None);
    }

    #[test]
    fn with_a_baseline_the_speed_ups_are_compared() {
        // b is ten times slower throughout, and scales alike on `two` but not on `three`.
        let base = [around(100.0, 8), swaying(1000.0, 8)];
        let two = [around(50.0, 8), swaying(500.0, 8)];
        let three = [around(50.0, 8), swaying(900.0, 8)];
        let mut sample = Sample::new(&["a", "b"]);
        for (name, values) in [("one", &base), ("two", &two), ("three", &three)] {
            sample = sample.benchmark(name, &[&values[0], &values[1]]);
        }
        let document = sample.baseline("two", "one").baseline("three", "one").document();
        let [one, two, three] = document.comparisons.as_slice() else { panic!("three pairs") };
        assert_eq!((one.metric.as_str(), one.verdict), ("time_per_operation", Verdict::Real));
        assert_eq!((two.metric.as_str(), two.verdict), ("speed_up", Verdict::NotToldApart));
        assert_eq!((three.metric.as_str(), three.verdict), ("speed_up", Verdict::Real));
        // 1000/900 over 100/50: second over first.
        assert!((three.ratio.unwrap() - 10.0 / 18.0).abs() < 1e-9, "{three:?}");
    }

    #[test]
    fn without_its_baseline_in_the_run_the_primary_metric_is_compared() {
        let sample = Sample::new(&["a", "b"])
            .benchmark("two", &[&around(50.0, 8), &around(500.0, 8)])
            .baseline("two", "one");
        assert_eq!(sample.document().comparisons[0].metric, "time_per_operation");
    }

    #[test]
    fn values_without_a_logarithm_are_refused() {
        let sample = Sample::new(&["a", "b"]).benchmark("create", &[&[0.0; 8], &[1.0; 8]]);
        assert_eq!(sample.document().comparisons[0].verdict, Verdict::NotEnoughData);
    }

    #[test]
    fn p_values_are_adjusted_over_all_comparisons_of_the_run() {
        // One difference that is real by itself, at p = 0.02 or so, among many that are not.
        let weak = [1.00, 1.06, 1.01, 1.05, 1.04, 0.99, 1.07, 1.02];
        let alone = Sample::new(&["a", "b"]).benchmark("weak", &[&[1.0; 8], &weak]);
        let comparison = &alone.document().comparisons[0];
        let p = comparison.p.unwrap();
        assert!(p > 0.001 && p < 0.05, "{p}");
        assert_eq!(comparison.p_adjusted, Some(p));
        assert_eq!(comparison.verdict, Verdict::Real);

        let nothing = [1.1, 0.9, 1.05, 0.95, 1.02, 0.99, 1.01, 0.98];
        let among = (0..9).fold(alone, |sample, index| {
            sample.benchmark(&format!("nothing-{index}"), &[&[1.0; 8], &nothing])
        });
        let document = among.document();
        assert_eq!(document.comparisons.len(), 10);
        let comparison = &document.comparisons[0];
        assert_eq!(comparison.p, Some(p));
        let adjusted = comparison.p_adjusted.unwrap();
        assert!((adjusted - 10.0 * p).abs() < 1e-12, "the least of ten is multiplied by ten");
        assert_eq!(comparison.verdict, Verdict::NotToldApart);
    }

    #[test]
    fn comparisons_stand_benchmark_by_benchmark() {
        let values = around(1.0, 6);
        let sample = Sample::new(&["a", "b", "c"])
            .benchmark("first", &[&values, &values, &values])
            .benchmark("second", &[&values, &values, &values]);
        let document = sample.document();
        let of = |comparison: &Comparison| {
            format!("{} {}{}", comparison.benchmark, comparison.first, comparison.second)
        };
        let order: Vec<String> = document.comparisons.iter().map(of).collect();
        let expected = ["first ab", "first ac", "first bc", "second ab", "second ac", "second bc"];
        assert_eq!(order, expected);
    }
}
