//! Comparisons of targets per dimension, on values whose ratios were calculated by hand.

use record::{
    Better, Cell, CurvePoint, Dimension, DimensionComparison, Document, IntervalReport, Verdict,
};
use stats::Paired;
use stats::dependence::Dependence;

use super::{dimensions, gather};
use crate::sample::{Sample, around, noisy};

/// The only comparison of a document.
fn only(document: &Document) -> &DimensionComparison {
    let [comparison] = document.dimensions.as_slice() else {
        panic!("one pair in one dimension, not {:?}", document.dimensions)
    };
    comparison
}

fn is_near(value: Option<f64>, expected: f64) -> bool {
    value.is_some_and(|value| (value / expected - 1.0).abs() < 1e-9)
}

/// The value of `of` for each block, as a time of about a microsecond.
fn times(blocks: u32, of: impl Fn(f64) -> f64) -> Vec<f64> {
    (1..=blocks).map(|block| 1000.0 * of(f64::from(block))).collect()
}

fn point(curve: &str, value: f64) -> Option<CurvePoint> {
    Some(CurvePoint {
        curve: curve.to_owned(),
        title: curve.to_owned(),
        axis: "request size".to_owned(),
        unit: "bytes".to_owned(),
        value,
        family: None,
    })
}

#[test]
fn the_ratio_is_the_geometric_mean_over_benchmarks_and_blocks_give_its_interval() {
    // ln(second cost / first cost) varies around 0.2 without a trend on one benchmark and is 0 on
    // the other, so its mean is half of that.
    let order = [1.0, 6.0, 2.0, 5.0, 3.0, 4.0];
    let of = |factor: f64| order.map(|place: f64| (factor * place).exp());
    let (flat, grown) = (times(6, |_| 1.0), of(0.2).map(|ratio| 30_000.0 * ratio));
    let sample = Sample::new(&["ext4", "xfs"])
        .benchmark("one", &[&flat, &flat])
        .benchmark("other", &[&times(6, |_| 30.0), &grown]);
    let document = sample.document();
    let comparison = only(&document);
    assert_eq!((comparison.first.as_str(), comparison.second.as_str()), ("ext4", "xfs"));
    assert_eq!(comparison.dimension, Dimension::Metadata);
    assert_eq!((comparison.benchmarks, comparison.blocks), (2, 6));
    let paired = Paired::new(&of(0.1), &[1.0; 6]).unwrap();
    assert!(is_near(comparison.ratio, paired.ratio()), "{comparison:?}");
    assert!((comparison.ratio.unwrap() / 0.35_f64.exp() - 1.0).abs() < 1e-6, "{comparison:?}");
    let (interval, expected) = (comparison.interval.unwrap(), paired.interval(0.95).unwrap());
    assert!(is_near(Some(interval.low), expected.low), "{comparison:?}");
    assert!(is_near(Some(interval.high), expected.high), "{comparison:?}");
    assert!(is_near(comparison.p, paired.p()), "{comparison:?}");
    assert_eq!((comparison.p_adjusted, comparison.verdict), (comparison.p, Verdict::Real));
}

#[test]
fn the_points_of_a_curve_are_one_benchmark_together() {
    let same = around(100.0, 6);
    let mut sample =
        Sample::new(&["a", "b"]).benchmark("single", &[&around(100.0, 6), &around(400.0, 6)]);
    for name in ["512", "1024", "2048"] {
        sample = sample.benchmark(name, &[&same, &same]);
        sample.change(name, |cell| cell.curve = point("reads", name.parse().unwrap()));
    }
    let document = sample.document();
    // The mean of 4 and 1 is 2; if each point counted separately, 4, 1, 1 and 1 would give 1.41.
    assert!(is_near(only(&document).ratio, 2.0), "{:?}", document.dimensions);
    assert_eq!(only(&document).benchmarks, 2);
}

#[test]
fn a_rate_is_a_cost_upside_down() {
    let sample = Sample::new(&["a", "b"])
        .throughput_first()
        .benchmark("read", &[&around(100.0, 8), &around(300.0, 8)]);
    assert!(is_near(only(&sample.document()).ratio, 3.0), "b takes three times as long");
}

#[test]
fn only_what_both_have_counts_and_only_blocks_that_have_all_of_it() {
    let (short, long) = (around(100.0, 7), around(100.0, 9));
    let twice = around(200.0, 8);
    let sample = Sample::new(&["tmpfs", "ext4", "xfs"])
        .benchmark("create", &[&long, &twice, &around(300.0, 9)])
        .not_on(&["tmpfs"])
        .benchmark("read", &[&[], &short, &around(500.0, 9)]);
    let document = sample.document();
    let found: Vec<_> = document
        .dimensions
        .iter()
        .map(|one| (one.first.as_str(), one.second.as_str(), one.benchmarks, one.blocks))
        .collect();
    let expected = [("tmpfs", "ext4", 1, 8), ("tmpfs", "xfs", 1, 9), ("ext4", "xfs", 2, 7)];
    assert_eq!(found, expected);
    assert!(is_near(document.dimensions[0].ratio, 2.0));
    assert!(is_near(document.dimensions[2].ratio, 7.5_f64.sqrt()), "of 1.5 and 5");
}

#[test]
fn fewer_than_six_common_blocks_are_refused() {
    let sample = Sample::new(&["a", "b"])
        .benchmark("one", &[&around(1.0, 5), &around(2.0, 9)])
        .benchmark("other", &[&around(1.0, 9), &around(2.0, 5)]);
    let document = sample.document();
    let comparison = only(&document);
    assert_eq!((comparison.blocks, comparison.verdict), (5, Verdict::NotEnoughData));
    assert_eq!((comparison.ratio, comparison.p), (None, None));
}

#[test]
fn a_benchmark_that_lacks_blocks_does_not_cost_the_others_theirs() {
    let (many, few) = (around(100.0, 20), around(200.0, 7));
    let sample = Sample::new(&["a", "b"])
        .benchmark("one", &[&many, &many])
        .benchmark("other", &[&many, &many])
        .benchmark("short", &[&many, &few]);
    let document = sample.document();
    assert_eq!((only(&document).benchmarks, only(&document).blocks), (2, 20));
}

#[test]
fn what_is_no_cost_of_the_target_stays_out() {
    let (one, three) = (around(100.0, 8), around(300.0, 8));
    let changed = |change: &dyn Fn(&mut Cell)| {
        let mut sample = Sample::new(&["a", "b"])
            .benchmark("same", &[&one, &one])
            .benchmark("other", &[&one, &three]);
        sample.change("other", change);
        sample.document()
    };
    let ratio = |document: &Document| only(document).ratio;
    assert!(is_near(ratio(&changed(&|_| {})), 3.0_f64.sqrt()));
    let describes = |cell: &mut Cell| cell.metrics[0].better = Better::Neither;
    assert!(is_near(ratio(&changed(&describes)), 1.0));
    let share = |cell: &mut Cell| {
        (cell.metrics[0].better, cell.metrics[0].unit) = (Better::Higher, "%".to_owned());
    };
    assert!(is_near(ratio(&changed(&share)), 1.0));
    // `other` is a speed-up over `same`, which was measured only for that: nothing is left.
    let scales = |cell: &mut Cell| cell.baseline = Some("same".to_owned());
    assert!(changed(&scales).dimensions.is_empty());
    // `same` is the floor of `other`, so it is what the device takes.
    let stands = |cell: &mut Cell| cell.floor = Some("same".to_owned());
    assert!(is_near(ratio(&changed(&stands)), 3.0));
}

#[test]
fn a_baseline_in_another_dimension_is_a_cost_in_its_own() {
    let mut sample = Sample::new(&["a", "b"])
        .benchmark("one-thread", &[&around(100.0, 8), &around(300.0, 8)])
        .benchmark("two-threads", &[&around(50.0, 8), &around(200.0, 8)])
        .baseline("two-threads", "one-thread");
    sample.change("two-threads", |cell| cell.dimension = Dimension::Scaling);
    let document = sample.document();
    assert_eq!(only(&document).dimension, Dimension::Metadata);
    assert!(is_near(only(&document).ratio, 3.0));
}

#[test]
fn a_cell_that_was_given_up_or_has_no_logarithm_does_not_count() {
    let sample = |values: &[f64]| {
        Sample::new(&["a", "b"])
            .benchmark("same", &[&around(1.0, 8), &around(1.0, 8)])
            .benchmark("other", &[&around(1.0, 8), values])
    };
    let failed = sample(&around(5.0, 7)).failed("other", "b", "no space").document();
    assert_eq!((only(&failed).benchmarks, only(&failed).blocks), (1, 8));
    let mut with_zero = around(5.0, 8);
    with_zero[3] = 0.0;
    assert_eq!(only(&sample(&with_zero).document()).benchmarks, 1);
    assert_eq!(only(&sample(&around(5.0, 8)).document()).benchmarks, 2);
}

#[test]
fn dimensions_are_a_family_of_their_own() {
    let weak = [1.00, 1.06, 1.01, 1.05, 1.04, 0.99, 1.07, 1.02];
    let nothing = [1.1, 0.9, 1.05, 0.95, 1.02, 0.99, 1.01, 0.98];
    let mut sample = Sample::new(&["a", "b"]).benchmark("weak", &[&[1.0; 8], &weak]);
    let others = [Dimension::Io, Dimension::Caching, Dimension::InMemory];
    for dimension in others {
        for part in 0..3 {
            let name = format!("{}-{part}", dimension.name());
            sample = sample.benchmark(&name, &[&[1.0; 8], &nothing]);
            sample.change(&name, |cell| cell.dimension = dimension);
        }
    }
    let document = sample.document();
    let order: Vec<&str> = document.dimensions.iter().map(|one| one.dimension.name()).collect();
    assert_eq!(order, ["io", "in-memory", "caching", "metadata"]);
    let weak = &document.dimensions[3];
    let p = weak.p.unwrap();
    assert!(p > 0.0125 && p < 0.05, "{p}");
    // Multiplied by the four dimensions, not by the ten benchmarks or by all fourteen.
    assert!(is_near(weak.p_adjusted, 4.0 * p), "{weak:?}");
    assert_eq!(weak.verdict, Verdict::NotToldApart);
    let benchmark = &document.comparisons[0];
    assert!(is_near(benchmark.p_adjusted, 10.0 * p), "{benchmark:?}");
}

#[test]
fn two_alike_are_called_different_in_few_dimensions_of_many() {
    // Four targets without differences: 6 pairs in each of 100 runs of 3 benchmarks.
    let all = noisy(1000.0, 0.1, 1, 100 * 3 * 4 * 8);
    let mut real = 0;
    for of_run in all.chunks(3 * 4 * 8) {
        let mut sample = Sample::new(&["a", "b", "c", "d"]);
        for (benchmark, values) in of_run.chunks(4 * 8).enumerate() {
            let values: Vec<&[f64]> = values.chunks(8).collect();
            sample = sample.benchmark(&benchmark.to_string(), &values);
        }
        let found = dimensions::all(&gather(&sample.run), &sample.run.manifest, Dependence::NONE);
        assert_eq!(found.len(), 6);
        real += usize::from(found.iter().any(|one| one.verdict.is_different()));
    }
    assert!((1..=11).contains(&real), "5 % of runs may find something: {real} of 100 did");
}

/// Averaging leaves what the benchmarks have in common. If that persists from block to block, a
/// dimension's blocks are worth fewer than those of its benchmarks.
#[test]
fn what_benchmarks_have_in_common_counts_for_their_dimension() {
    let document = |shuffled: bool| {
        let wave = |block: usize| (block as f64 * std::f64::consts::TAU / 15.0).sin();
        let mut sample = Sample::new(&["a", "b"]);
        for seed in 1..16 {
            let own = noisy(1.0, 1.0, 100 + seed, 30);
            let value = |block: usize| {
                let at = if shuffled { block * 7 % 30 } else { block };
                (0.05 * (wave(at) + 2.0 * (own[at] - 1.0))).exp()
            };
            let values: Vec<f64> = (0..30).map(value).collect();
            sample = sample.benchmark(&seed.to_string(), &[&[1.0; 30], &values]);
        }
        sample.document()
    };
    let width = |one: IntervalReport| (one.high / one.low).ln();
    let (resembling, apart) = (document(false), document(true));
    let of_dimension = |document: &Document| width(only(document).interval.unwrap());
    let of_benchmark = |document: &Document| width(document.comparisons[0].interval.unwrap());
    let wider = of_dimension(&resembling) / of_dimension(&apart);
    let by = of_benchmark(&resembling) / of_benchmark(&apart);
    assert!(wider > 1.5 * by, "a dimension's by {wider}, a benchmark's by {by}");
}
