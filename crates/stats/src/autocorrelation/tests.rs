//! Correlated series, constructed and random.

use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;

/// x(i) = 10 + phi (x(i - 1) - 10) + noise.
fn series(n: usize, phi: f64, seed: u64) -> Vec<f64> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut deviation: f64 = 0.0;
    let mut next = || {
        let noise: f64 = StandardNormal.sample(&mut random);
        deviation = phi * deviation + noise;
        10.0 + deviation
    };
    (0..n).map(|_| next()).collect()
}

// By hand, for 1 to 10: the products of successive deviations from the mean sum to 57.75, their
// squares to 82.5.
#[test]
fn the_lag_1_autocorrelation_of_a_ramp_is_as_by_hand() {
    let ramp: Vec<f64> = (1..=10).map(f64::from).collect();
    let got = lag_one(&ramp, 0.95).unwrap();
    assert!((got.r - 57.75 / 82.5).abs() < 1e-12);
    assert!((got.threshold - 1.959963984540054 / 10f64.sqrt()).abs() < 1e-9);
    assert!(got.is_correlated());
}

#[test]
fn independent_values_warn_as_often_as_the_level_leaves_over() {
    let warned =
        (0..2_000).filter(|&seed| lag_one(&series(100, 0.0, seed), 0.95).unwrap().is_correlated());
    let share = warned.count() as f64 / 2e3;
    assert!((share - 0.05).abs() < 0.025, "{share}");
}

// For x(i) = phi x(i - 1) + noise, the autocorrelation time is (1 + phi) / (1 - phi): 4 for 0.6.
#[test]
fn the_effective_number_is_that_of_theory() {
    let got = effective_size(&series(100_000, 0.6, 1)).unwrap();
    assert!((got.time - 4.0).abs() < 0.3, "{got:?}");
    assert!((got.values * got.time - 1e5).abs() < 1e-6);
    let independent = effective_size(&series(100_000, 0.0, 2)).unwrap();
    assert!(independent.time < 1.1, "{independent:?}");
}

#[test]
fn swinging_series_are_credited_with_no_more_than_their_length() {
    let got = effective_size(&series(1_000, -0.8, 3)).unwrap();
    assert_eq!(got, EffectiveSize { values: 1_000.0, time: 1.0 });
    let strict: Vec<f64> = (0..60).map(|i| f64::from(i % 2)).collect();
    assert_eq!(effective_size(&strict).unwrap().values, 60.0);
}

#[test]
fn batches_leave_out_the_beginning() {
    let mut values = series(205, 0.0, 4);
    values[..5].fill(1e9);
    let got = batch_means(&values, 20, 0.95).unwrap();
    assert_eq!(got.batch_size, 10);
    assert!((got.mean - sample::mean(&values[5..])).abs() < 1e-9);
    assert!(got.interval.contains(got.mean));
}

#[test]
fn a_wandering_series_shows_between_its_batches() {
    let short = batch_means(&series(600, 0.99, 5), 60, 0.95).unwrap();
    assert!(short.between_batches.is_correlated(), "{short:?}");
    let long = batch_means(&series(20_000, 0.6, 6), 20, 0.95).unwrap();
    assert!(!long.between_batches.is_correlated(), "{long:?}");
}

#[test]
fn short_and_constant_series_are_refused() {
    let values = series(250, 0.6, 7);
    assert!(matches!(lag_one(&values[..9], 0.95), Err(Refusal::TooFew { needed: 10, .. })));
    assert!(matches!(effective_size(&values[..49]), Err(Refusal::TooFew { needed: 50, .. })));
    let refused = batch_means(&values[..199], 20, 0.95);
    assert!(matches!(refused, Err(Refusal::TooFew { needed: 200, given: 199, .. })));
    assert!(matches!(batch_means(&values, 9, 0.95), Err(Refusal::OutOfRange { .. })));
    let alike = [0.1; 200];
    assert!(matches!(lag_one(&alike, 0.95), Err(Refusal::NoSpread { .. })));
    assert!(matches!(effective_size(&alike), Err(Refusal::NoSpread { .. })));
    assert!(matches!(batch_means(&alike, 20, 0.95), Err(Refusal::NoSpread { .. })));
    assert!(lag_one(&values, 0.0).is_err());
    assert!(lag_one(&[f64::NAN; 10], 0.9).is_err());
}
