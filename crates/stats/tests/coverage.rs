//! Seeded simulations: are the intervals and tests wrong as often as they claim, and no more?
//!
//! Every bound is a binomial one at five standard deviations, and every seed is fixed, so a failure
//! means a changed estimator, not bad luck.

use rand::SeedableRng;
use rand_distr::{Distribution, LogNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use stats::{Sample, order};

const TRIALS: u32 = 10_000;

/// The share of seeded trials in which `event` happens.
fn share(seed: u64, mut event: impl FnMut(&mut Xoshiro256PlusPlus) -> bool) -> f64 {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let happened = (0..TRIALS).filter(|_| event(&mut random)).count();
    happened as f64 / f64::from(TRIALS)
}

/// Five standard deviations of a share with expectation `expected`.
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
