//! Seeded simulations: do the intervals and tests err as often as they say, and no more?
//!
//! Every bound is a binomial one at five standard deviations, and every seed is fixed, so that a
//! failure means a changed estimator, not bad luck.

use rand::SeedableRng;
use rand_distr::{Distribution, LogNormal, StudentT, Uniform};
use rand_xoshiro::Xoshiro256PlusPlus;
use stats::{Sample, order, paired, signed_rank};

const TRIALS: u32 = 10_000;

/// The share of seeded trials in which `event` happens.
fn share(seed: u64, mut event: impl FnMut(&mut Xoshiro256PlusPlus) -> bool) -> f64 {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let happened = (0..TRIALS).filter(|_| event(&mut random)).count();
    happened as f64 / f64::from(TRIALS)
}

/// Five standard deviations of a share whose expectation is `expected`.
fn margin(expected: f64) -> f64 {
    5.0 * (expected * (1.0 - expected) / f64::from(TRIALS)).sqrt()
}

fn draw(
    random: &mut Xoshiro256PlusPlus,
    distribution: &impl Distribution<f64>,
    n: usize,
) -> Vec<f64> {
    distribution.sample_iter(random).take(n).collect()
}

#[test]
fn lognormal_series_that_are_alike_are_told_apart_as_often_as_the_level_says() {
    let latency = LogNormal::new(1.0, 0.3).unwrap();
    for n in [3, 5, 12, 40] {
        let false_positives = share(n as u64, |random| {
            let (a, b) = (draw(random, &latency, n), draw(random, &latency, n));
            let compared = paired::paired_ratio(&a, &b, 0.95).unwrap();
            assert_eq!(compared.p < 0.05, !compared.interval.contains(1.0));
            compared.p < 0.05
        });
        assert!((false_positives - 0.05).abs() <= margin(0.05), "n = {n}: {false_positives}");
    }
}

#[test]
fn the_true_ratio_lies_within_the_interval_as_often_as_the_level_says() {
    let (fast, slow) = (LogNormal::new(1.0, 0.3).unwrap(), LogNormal::new(1.2, 0.2).unwrap());
    let covered = share(7, |random| {
        let (a, b) = (draw(random, &slow, 8), draw(random, &fast, 8));
        paired::paired_ratio(&a, &b, 0.9).unwrap().interval.contains(0.2_f64.exp())
    });
    assert!((covered - 0.9).abs() <= margin(0.9), "{covered}");
}

/// Heavy tails make t cautious (its level is an upper bound for symmetric heavy tails), and a
/// caution that went too far would mean lost power.
#[test]
fn heavy_symmetric_tails_never_raise_the_false_positives() {
    let heavy = StudentT::new(2.0).unwrap();
    for n in [5, 12, 40] {
        let false_positives = share(100 + n as u64, |random| {
            let logs = draw(random, &heavy, 2 * n);
            let series = |half: &[f64]| half.iter().map(|log| (0.1 * log).exp()).collect();
            let (a, b): (Vec<f64>, Vec<f64>) = (series(&logs[..n]), series(&logs[n..]));
            paired::paired_ratio(&a, &b, 0.95).unwrap().p < 0.05
        });
        assert!(false_positives <= 0.05 + margin(0.05), "n = {n}: {false_positives}");
        assert!(false_positives >= 0.02, "n = {n}: {false_positives} is too cautious");
    }
}

#[test]
fn the_signed_rank_test_holds_its_level_with_and_without_ties() {
    let smooth = LogNormal::new(0.0, 1.0).unwrap();
    for (n, seed) in [(8, 21), (20, 22), (40, 23)] {
        let false_positives = share(seed, |random| {
            let (a, b) = (draw(random, &smooth, n), draw(random, &smooth, n));
            signed_rank::signed_rank(&a, &b).unwrap().p < 0.05
        });
        assert!(false_positives <= 0.05 + margin(0.05), "n = {n}: {false_positives}");
        assert!(false_positives >= 0.02, "n = {n}: {false_positives} is too cautious");
    }
    let coarse = Uniform::new(1.0, 5.0).unwrap();
    let false_positives = share(24, |random| {
        let whole = |values: Vec<f64>| values.into_iter().map(f64::floor).collect::<Vec<_>>();
        let (a, b) = (whole(draw(random, &coarse, 12)), whole(draw(random, &coarse, 12)));
        signed_rank::signed_rank(&a, &b).unwrap().p < 0.05
    });
    assert!(false_positives <= 0.05 + margin(0.05), "coarse: {false_positives}");
}

#[test]
fn order_statistics_cover_the_true_quantile_at_least_as_often_as_the_level_says() {
    // The q quantile of ln X = 1 + 0.8 Z is 1 + 0.8 z(q).
    let skewed = LogNormal::new(1.0, 0.8).unwrap();
    let table = [(6, 0.5, 0.0), (25, 0.5, 0.0), (40, 0.9, 1.281_551_565_544_600_4)];
    for (n, q, z) in table {
        let truth = f64::exp(1.0 + 0.8 * z);
        let ranks = order::ranks(n, q, 0.95).unwrap();
        let covered = share(n, |random| {
            let values = draw(random, &skewed, usize::try_from(n).unwrap());
            let sample = Sample::new(values).unwrap();
            order::quantile_interval(&sample, q, 0.95).unwrap().contains(truth)
        });
        assert!((covered - ranks.coverage).abs() <= margin(ranks.coverage), "n = {n}: {covered}");
        assert!(covered >= 0.95 - margin(0.95), "n = {n}: {covered}");
    }
}
