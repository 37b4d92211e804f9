//! Which targets can be told apart, on each benchmark.
//!
//! Two targets are compared on the benchmark's primary metric, paired by block, on logarithms of
//! ratios: drift of the machine affects both equally and cancels out. A benchmark with a baseline
//! asks how the target scales, so speed-ups are compared: throughput would only repeat the
//! difference that the baseline has already shown.

use std::collections::BTreeMap;

use record::{Comparison, StandardMetric};
use stats::dependence::Dependence;

use super::judged::{self, IsBusy, Judgement, MARGIN, Pairs};
use super::{Gathered, Quantile};

/// Two targets on one benchmark.
struct Question<'a> {
    metric: String,
    first: &'a Gathered<'a>,
    second: &'a Gathered<'a>,
}

/// Every pair of targets on every benchmark, in the order of the manifest, and how strongly
/// successive blocks are correlated.
pub(super) fn all(gathered: &[Gathered<'_>], level: f64) -> (Vec<Comparison>, Dependence) {
    let metric = |one: &Gathered<'_>| {
        let speed_up = one.has_speed_up(gathered).then(|| StandardMetric::SPEED_UP.definition());
        speed_up.or_else(|| one.cell.metrics.first().cloned()).map(|metric| metric.name)
    };
    let values = |one: &Gathered<'_>, metric: &str| {
        Some(match one.has_speed_up(gathered) {
            true => one.speed_up(gathered),
            false => one.values_of(metric),
        })
    };
    family(gathered, level, metric, values)
}

/// Like [`all`], but compares quantiles of single operations, where both targets have them. Each
/// quantile is a family of its own, so that its verdicts do not depend on the others.
pub(super) fn of_quantiles(gathered: &[Gathered<'_>], level: f64) -> Vec<Comparison> {
    let of_one = |quantile: Quantile| of_metric(gathered, level, quantile.name());
    Quantile::ALL.into_iter().flat_map(of_one).collect()
}

/// Like [`all`], but compares programs without their start, as a family of its own.
pub(super) fn without_start(gathered: &[Gathered<'_>], level: f64) -> Vec<Comparison> {
    of_metric(gathered, level, StandardMetric::WITHOUT_START.name)
}

/// Every pair of targets that have this metric of a benchmark.
fn of_metric(gathered: &[Gathered<'_>], level: f64, name: &str) -> Vec<Comparison> {
    let values = |one: &Gathered<'_>, metric: &str| {
        Some(one.values_of(metric)).filter(|values| !values.is_empty())
    };
    family(gathered, level, |_| Some(name.to_owned()), values).0
}

/// Every pair of targets that have `values` of the benchmark's `metric`, judged together.
fn family(
    gathered: &[Gathered<'_>],
    level: f64,
    metric: impl Fn(&Gathered<'_>) -> Option<String>,
    values: impl Fn(&Gathered<'_>, &str) -> Option<BTreeMap<u32, f64>>,
) -> (Vec<Comparison>, Dependence) {
    let mut questions = Vec::new();
    let mut pairs = Vec::new();
    for (position, first) in gathered.iter().enumerate().filter(|(_, one)| !one.is_searched) {
        let Some(metric) = metric(first) else { continue };
        let Some(firsts) = values(first, &metric) else { continue };
        let same_benchmark = |other: &&Gathered<'_>| {
            other.cell.benchmark == first.cell.benchmark && other.cell.suite == first.cell.suite
        };
        for second in gathered[position + 1..].iter().filter(same_benchmark) {
            let Some(seconds) = values(second, &metric) else { continue };
            questions.push(Question { metric: metric.clone(), first, second });
            pairs.push(Pairs::new(&firsts, &seconds));
        }
    }
    let dependence = judged::dependence(pairs.iter());
    let answers = pairs.iter().map(|pairs| pairs.compared(&dependence)).collect();
    let judged = judged::judge(answers, level, MARGIN);
    let of_run = IsBusy::of_run(gathered);
    let answers = questions.iter().zip(&pairs).zip(judged);
    let mut comparisons: Vec<Comparison> = answers
        .map(|((question, pairs), judged)| question.comparison(pairs, &judged, level, of_run))
        .collect();
    // Cells may be ordered target by target; comparisons are ordered benchmark by benchmark.
    let order: BTreeMap<&str, usize> = gathered
        .iter()
        .enumerate()
        .rev()
        .map(|(position, one)| (one.cell.benchmark.as_str(), position))
        .collect();
    comparisons.sort_by_key(|comparison| order.get(comparison.benchmark.as_str()).copied());
    (comparisons, dependence)
}

impl Question<'_> {
    /// `of_run` is whether other programs kept the machine busy throughout the run.
    fn comparison(
        &self,
        pairs: &Pairs,
        judged: &Judgement,
        level: f64,
        of_run: IsBusy,
    ) -> Comparison {
        let busy_blocks = busy_blocks(self.first, self.second);
        let of_pair = if busy_blocks > 0 { IsBusy::Yes } else { IsBusy::No };
        let is_busy = of_pair.or(of_run);
        let judged = judged.allowing_for(is_busy, level);
        Comparison {
            benchmark: self.first.cell.benchmark.clone(),
            metric: self.metric.clone(),
            first: self.first.cell.target.clone(),
            second: self.second.cell.target.clone(),
            blocks: pairs.len(),
            ratio: judged.ratio,
            interval: judged.interval,
            p: judged.p,
            p_adjusted: judged.p_adjusted,
            of_means: judged.of_means,
            of_the_middle: judged.of_the_middle,
            verdict: judged.verdict,
            busy_blocks,
        }
    }
}

/// Number of blocks in which both were measured and other programs were in the way of at least one
/// of them.
fn busy_blocks(first: &Gathered<'_>, second: &Gathered<'_>) -> u32 {
    let of_both = first.replicates.iter().filter(|(block, one)| {
        let other = second.replicates.get(block);
        other.is_some_and(|other| IsBusy::in_some([**one, *other]) == IsBusy::Yes)
    });
    u32::try_from(of_both.count()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use record::Verdict;

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
    fn beside_busy_programs_only_what_is_far_surer_is_called_a_difference() {
        let ratios = |spread: f64| crate::sample::noisy(1100.0, spread, 5, 8);
        let sample = |spread: f64| {
            Sample::new(&["a", "b"]).benchmark("create", &[&around(1000.0, 8), &ratios(spread)])
        };
        let of = |sample: Sample| {
            let document = sample.document();
            (document.comparisons[0].verdict, document.dimensions[0].verdict)
        };
        let (small, wide) = (0.01, 0.08);
        assert_eq!(of(sample(wide)), (Verdict::Real, Verdict::Real));
        let refused = (Verdict::NotEnoughData, Verdict::NotEnoughData);
        assert_eq!(of(sample(wide).busy_before(8)), refused);
        assert_eq!(of(sample(small).busy_before(8)), (Verdict::Real, Verdict::Real));
    }

    #[test]
    fn what_is_there_all_through_a_run_is_beside_each_comparison() {
        let wide = crate::sample::noisy(1100.0, 0.08, 5, 8);
        let of = |blocks: u32| {
            let sample = Sample::new(&["a", "b"])
                .benchmark("create", &[&around(1000.0, 8), &around(1000.0, 8)])
                .busy_before(blocks)
                .benchmark("stat", &[&around(1000.0, 8), &wide]);
            let document = sample.document();
            (document.comparisons[1].verdict, document.comparisons[1].busy_blocks)
        };
        // 2 and 4 of 32 replicates were measured beside other programs.
        assert_eq!(of(1), (Verdict::Real, 0));
        assert_eq!(of(2), (Verdict::NotEnoughData, 0));
    }

    #[test]
    fn quantiles_are_families_of_their_own() {
        let (fast, slow) = (around(1000.0, 8), around(2000.0, 8));
        let document = Sample::new(&["a", "b"])
            .operations(300)
            .benchmark("fsync", &[&slow, &slow])
            .quantiles("fsync", "a", &fast, &slow)
            .operations(100)
            .benchmark("stat", &[&slow, &slow])
            .batch(4)
            .benchmark("access", &[&slow, &slow])
            .document();
        let of = |one: &Comparison| format!("{} {} {:?}", one.metric, one.benchmark, one.verdict);
        let found: Vec<String> = document.quantile_comparisons.iter().map(of).collect();
        let expected = ["p50 fsync Real", "p50 stat NotToldApart", "p99 fsync Real"];
        assert_eq!(found, expected);
        assert_eq!(document.comparisons.len(), 3, "of the means as before");
        // One of two medians differs; the only 99th percentile needs no adjustment.
        let p = |place: usize| {
            let one = &document.quantile_comparisons[place];
            one.p_adjusted.unwrap() / one.p.unwrap()
        };
        assert!((p(0) - 2.0).abs() < 1e-9 && (p(2) - 1.0).abs() < 1e-9);
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
        // b is ten times slower throughout; it scales equally well on `two` but not on `three`.
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
    fn a_ratio_whose_interval_spans_orders_of_magnitude_is_no_figure() {
        let wild = [1.0, 3000.0, 2.0, 0.01, 500.0, 0.2, 40.0, 0.003];
        let sample = Sample::new(&["a", "b"]).benchmark("create", &[&around(1.0, 8), &wild]);
        let document = sample.document();
        assert_eq!(document.comparisons[0].verdict, Verdict::NotEnoughData);
        assert_eq!(document.comparisons[0].ratio, None);
        let wide = [1.0, 3.0, 2.0, 0.5, 1.5, 0.7, 2.5, 0.9];
        let sample = Sample::new(&["a", "b"]).benchmark("create", &[&around(1.0, 8), &wide]);
        assert_eq!(sample.document().comparisons[0].verdict, Verdict::NotToldApart);
    }

    #[test]
    fn p_values_are_adjusted_over_all_comparisons_of_the_run() {
        // One difference that is real on its own, at p = 0.02 or so, among many that are not.
        let weak = [1.00, 1.06, 1.01, 1.05, 1.04, 0.99, 1.07, 1.02];
        let alone = Sample::new(&["a", "b"]).benchmark("weak", &[&[1.0; 8], &weak]);
        let comparison = &alone.document().comparisons[0];
        let p = comparison.p.unwrap();
        assert!(p > 0.001 && p < 0.05, "{p}");
        assert_eq!(comparison.p_adjusted, Some(p));
        // A difference of 3 % on average, whose interval does not rule out less than 2 %.
        assert_eq!(comparison.verdict, Verdict::RealSizeUnknown);

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
    fn the_intervals_of_what_is_called_real_are_wider_for_having_been_picked_out() {
        let nothing = [1.1, 0.9, 1.05, 0.95, 1.02, 0.99, 1.01, 0.98];
        let slow = swaying(2.0, 8);
        let document = Sample::new(&["a", "b"])
            .benchmark("slow", &[&[1.0; 8], &slow])
            .benchmark("one", &[&[1.0; 8], &nothing])
            .benchmark("two", &[&nothing, &[1.0; 8]])
            .benchmark("three", &[&[1.0; 8], &nothing])
            .document();
        let levels: Vec<f64> =
            document.comparisons.iter().map(|one| one.interval.unwrap().level).collect();
        // One of four is called real: a quarter of the 5 % is left over for it.
        assert_eq!(levels, [0.9875, 0.95, 0.95, 0.95]);
        let paired = stats::Paired::new(&slow, &[1.0; 8]).unwrap();
        let interval = document.comparisons[0].interval.unwrap();
        assert!((interval.low - paired.interval(0.9875).unwrap().low).abs() < 1e-12);
    }

    #[test]
    fn one_disturbed_block_is_told_and_hides_nothing() {
        let mut disturbed = swaying(1.2, 8);
        disturbed[5] = 60.0;
        let document =
            Sample::new(&["a", "b"]).benchmark("create", &[&[1.0; 8], &disturbed]).document();
        let comparison = &document.comparisons[0];
        assert_eq!(comparison.verdict, Verdict::Real);
        assert!((comparison.ratio.unwrap() - 1.2).abs() < 0.03, "{comparison:?}");
        let (means, middle) = (comparison.of_means.unwrap(), comparison.of_the_middle.unwrap());
        assert!(means.interval.low < 1.0 && means.ratio > 1.5, "{means:?}");
        assert!(middle.interval.low > 1.1 && middle.interval.high < 1.3, "{middle:?}");
        // Two outliers that cancel leave the mean where it was, and its interval far too wide.
        disturbed[5] = 1.2 * 50.0;
        disturbed[2] = 1.2 / 50.0;
        let both = Sample::new(&["a", "b"])
            .benchmark("create", &[&[1.0; 12], &{ [disturbed.clone(), swaying(1.2, 4)].concat() }]);
        let comparison = &both.document().comparisons[0];
        let (means, middle) = (comparison.of_means.unwrap(), comparison.of_the_middle.unwrap());
        assert!((means.ratio / middle.ratio - 1.0).abs() < 0.01, "{means:?} {middle:?}");
        assert!(means.interval.high / means.interval.low > 3.0, "{means:?}");
        let clean = Sample::new(&["a", "b"]).benchmark("create", &[&[1.0; 8], &swaying(1.2, 8)]);
        assert_eq!(clean.document().comparisons[0].of_means, None);
        // The cell has a warning that says how far off the block was.
        let warned = |document: &record::Document| {
            let warnings = document.cells.iter().flat_map(|cell| &cell.warnings);
            let messages = warnings.map(|one| one.message.clone());
            messages.filter(|message| message.contains("far off")).collect::<Vec<_>>()
        };
        let [message] = &warned(&document)[..] else { panic!("one block of one cell") };
        assert!(message.starts_with("1 of 8 blocks was far off (up to 49.6 x"), "{message}");
        assert!(warned(&clean.document()).is_empty());
    }

    #[test]
    fn blocks_that_go_with_the_ones_before_are_worth_fewer() {
        // Each value keeps 0.8 of the previous one: fifteen benchmarks without any real difference.
        let mut state = crate::sample::noisy(1.0, 1.0, 7, 15 * 12);
        for place in 1..state.len() {
            state[place] = 0.8 * state[place - 1] + 0.6 * (state[place] - 1.0);
        }
        let mut sample = Sample::new(&["a", "b"]);
        let mut shuffled = Sample::new(&["a", "b"]);
        for (place, logs) in state.chunks(12).enumerate() {
            let values: Vec<f64> = logs.iter().map(|log| (0.1 * log).exp()).collect();
            let apart: Vec<f64> = (0..12).map(|block| values[block * 5 % 12]).collect();
            sample = sample.benchmark(&place.to_string(), &[&[1.0; 12], &values]);
            shuffled = shuffled.benchmark(&place.to_string(), &[&[1.0; 12], &apart]);
        }
        let (document, apart) = (sample.document(), shuffled.document());
        let is_told = |document: &record::Document| {
            let mut messages = document.warnings.iter().map(|one| one.message.as_str());
            messages.any(|message| message.contains("resemble those of the block before"))
        };
        assert!(is_told(&document) && !is_told(&apart));
        let width = |one: &Comparison| one.interval.unwrap().high / one.interval.unwrap().low;
        for (one, other) in document.comparisons.iter().zip(&apart.comparisons) {
            assert!(width(one).ln() > 1.4 * width(other).ln(), "{one:?} {other:?}");
        }
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
