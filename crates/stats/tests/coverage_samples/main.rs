//! Seeded simulations of the one- and two-sample methods: do their intervals contain the truth as
//! often as they claim, under the conditions that they state?
//!
//! Bounds are binomial ones at five standard deviations, and every seed is fixed, so a failure
//! means a changed estimator. The large table of `table.rs` is made by an ignored test, which
//! checks docs/coverage.md against it.

mod data;
mod laws;
mod table;

use data::{Data, Random, share};
use rand::RngExt;
use rand_distr::{Distribution, Normal};
use stats::autocorrelation::{BATCHES, batch_means};
use stats::bootstrap::{self, Method, Resampling};
use stats::planning::power::least_detectable_deviations;
use stats::{Independent, Interval, Paired, Sample, interval};

const TRIALS: u32 = 4_000;

#[track_caller]
fn assert_share(got: f64, expected: f64) {
    let margin = 5.0 * (expected * (1.0 - expected) / f64::from(TRIALS)).sqrt();
    assert!((got - expected).abs() <= margin, "{got}, not {expected} within {margin}");
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn normal(random: &mut Random, centre: f64, deviation: f64, n: usize) -> Vec<f64> {
    Normal::new(centre, deviation).unwrap().sample_iter(random).take(n).collect()
}

/// How often the interval computed by `of` contains the mean of `data`.
fn holds_mean(data: Data, n: usize, seed: u64, of: impl Fn(&[f64]) -> Interval) -> f64 {
    share(TRIALS, seed, |random| of(&data.draw(random, n)).contains(data.mean()))
}

#[test]
fn batch_means_hold_where_plain_t_does_not() {
    let batched = |values: &[f64]| batch_means(values, BATCHES, 0.95).unwrap().interval;
    let covered = holds_mean(Data::Remembering, 2_000, 1, batched);
    assert_share(covered, 0.948);
    let plain = |values: &[f64]| interval::mean_interval(&Sample::new(values).unwrap(), 0.95);
    let covered = holds_mean(Data::Remembering, 2_000, 1, |values| plain(values).unwrap());
    assert!(covered < 0.75, "{covered}");
    assert_share(holds_mean(Data::Normal, 10, 2, |values| plain(values).unwrap()), 0.95);
}

/// Neither reaches 95 % for the mean of a lognormal sample of 50, but BCa comes closer.
#[test]
fn bca_comes_closer_than_percentiles_for_a_skewed_mean() {
    let covered = [Method::Percentile, Method::Bca].map(|method| {
        share(1_000, 3, |random| {
            let how = Resampling { resamples: 500, seed: random.random(), level: 0.95, method };
            let values = Data::LogNormal.draw(random, 50);
            let got = bootstrap::statistic(&values, mean, &how).unwrap();
            got.interval.contains(Data::LogNormal.mean())
        })
    });
    assert!(covered[0] < covered[1], "{covered:?}");
    assert!(0.87 < covered[1] && covered[1] < 0.95, "{covered:?}");
}

#[test]
fn bootstraps_of_a_median_hold_it() {
    let method = Method::Percentile;
    for (data, seed) in [(Data::LogNormal, 4), (Data::Normal, 5), (Data::Bimodal, 6)] {
        let covered = share(TRIALS, seed, |random| {
            let how = Resampling { resamples: 500, seed: random.random(), level: 0.95, method };
            let sample = Sample::new(data.draw(random, 60)).unwrap();
            bootstrap::median(&sample, &how).unwrap().interval.contains(data.median())
        });
        assert!((0.92..0.965).contains(&covered), "{data:?}: {covered}");
    }
}

/// A pooled variance covers about 0.80 here.
#[test]
fn series_of_unlike_spread_are_compared_by_neither_s_alone() {
    let logs = |values: Vec<f64>| values.into_iter().map(f64::exp).collect::<Vec<_>>();
    let covered = share(TRIALS, 7, |random| {
        let (a, b) = (normal(random, 5.0, 3.0, 10), normal(random, 4.0, 1.0, 30));
        let got = Independent::of_values(&logs(a), &logs(b)).unwrap();
        got.interval(0.95).unwrap().contains(1_f64.exp())
    });
    assert_share(covered, 0.95);
}

/// If the truth is on the limit, equality is claimed in 5 % of trials; beyond it, in fewer.
#[test]
fn the_same_is_seldom_claimed_of_what_is_not() {
    let logs = |values: Vec<f64>| values.into_iter().map(f64::exp).collect::<Vec<_>>();
    for shift in [1.1_f64.ln(), -(1.1_f64.ln())] {
        let paired = share(TRIALS, 13, |random| {
            let (a, b) = (normal(random, shift, 0.03, 9), normal(random, 0.0, 0.03, 9));
            Paired::new(&logs(a), &logs(b)).unwrap().p_within(0.1) <= 0.05
        });
        assert!((0.02..0.055).contains(&paired), "{paired}");
        let unpaired = share(TRIALS, 14, |random| {
            let (a, b) = (normal(random, shift, 0.06, 12), normal(random, 0.0, 0.02, 7));
            Independent::of_values(&logs(a), &logs(b)).unwrap().p_within(0.1) <= 0.05
        });
        assert_share(unpaired, 0.05);
    }
}

#[test]
fn the_least_detectable_difference_is_detected_as_often_as_promised() {
    for (blocks, n, power) in [(4, 4, 0.8), (12, 12, 0.8), (12, 12, 0.5)] {
        let shift = 0.1 * least_detectable_deviations(blocks, 0.95, power).unwrap();
        let detected = share(TRIALS, 15, |random| {
            let a: Vec<f64> = normal(random, shift, 0.1, n).into_iter().map(f64::exp).collect();
            let paired = Paired::new(&a, &vec![1.0; n]).unwrap();
            paired.of_means(0.95).unwrap().p <= 0.05
        });
        assert_share(detected, power);
    }
}
