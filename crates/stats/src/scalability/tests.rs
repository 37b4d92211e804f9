//! Laws recovered, bounds kept, choices made, and refusals of what the values do not determine.

use rand::SeedableRng;
use rand_distr::{Distribution, Normal};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::least_squares::Curve;
use super::*;

const N: [f64; 9] = [1.0, 2.0, 4.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0];

/// Constant errors at every concurrency, `noise` in units of the mean throughput.
fn noisy(curve: Curve, noise: f64, seed: u64) -> Vec<f64> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mean = N.iter().map(|&n| curve.at(n) / N.len() as f64).sum::<f64>();
    let normal = Normal::new(0.0, noise * mean).unwrap();
    N.iter().map(|&n| curve.at(n) + normal.sample(&mut random)).collect()
}

fn curve(gamma: f64, alpha: f64, beta: f64) -> Curve {
    Curve { gamma, alpha, beta }
}

#[test]
fn exact_values_give_exact_parameters() {
    for (gamma, alpha, beta) in [(1000.0, 0.03, 1e-3), (2e-7, 0.4, 2e-2), (3e200, 0.001, 1e-5)] {
        let x = noisy(curve(gamma, alpha, beta), 0.0, 0);
        let got = scalability(&N, &x, Errors::OfOneSize, 0.95).unwrap();
        assert_eq!(got.chosen.model, Model::Usl);
        let fit = got.usl.unwrap();
        assert!((fit.gamma.value / gamma - 1.0).abs() < 1e-9, "{:?}", fit.gamma);
        assert!((fit.alpha.unwrap().value / alpha - 1.0).abs() < 1e-9);
        assert!((fit.beta.unwrap().value / beta - 1.0).abs() < 1e-9);
        let peak = got.peak.unwrap();
        assert!((peak.n / ((1.0 - alpha) / beta).sqrt() - 1.0).abs() < 1e-8);
        assert!((peak.x / fit.throughput(peak.n) - 1.0).abs() < 1e-12);
    }
}

#[test]
fn the_smallest_law_that_explains_the_values_is_chosen() {
    let chosen = |it: Curve| {
        let picks = (0..200).map(|seed| {
            scalability(&N, &noisy(it, 0.02, seed), Errors::OfOneSize, 0.95).unwrap().chosen.model
        });
        picks.collect::<Vec<_>>()
    };
    let share = |picks: &[Model], model: Model| {
        picks.iter().filter(|it| **it == model).count() as f64 / picks.len() as f64
    };
    assert!(share(&chosen(curve(100.0, 0.05, 2e-3)), Model::Usl) > 0.95);
    assert!(share(&chosen(curve(100.0, 0.08, 0.0)), Model::Amdahl) > 0.9);
    assert!(share(&chosen(curve(100.0, 0.0, 0.0)), Model::Linear) > 0.9);
    assert!(share(&chosen(curve(100.0, 0.0, 1e-3)), Model::Coherency) > 0.85);
}

#[test]
fn an_optimum_out_of_bounds_is_given_up_for_a_smaller_law() {
    // Faster than proportional: alpha would be below 0.
    let x: Vec<f64> = N.iter().map(|n| 10.0 * n.powf(1.1)).collect();
    let got = scalability(&N, &x, Errors::OfOneSize, 0.95).unwrap();
    let (amdahl, usl) = (got.amdahl.unwrap(), got.usl.unwrap());
    assert_eq!(amdahl.model, Model::Linear);
    assert!(amdahl.given_up.unwrap().0 < 0.0);
    assert!(usl.given_up.is_some() && usl.model != Model::Usl);
    assert!(usl.alpha.is_none_or(|it| it.value >= 0.0));
    assert!(got.peak.is_err() || usl.beta.is_some());
}

#[test]
fn intervals_cover_as_often_as_stated() {
    let truth = curve(100.0, 0.05, 2e-3);
    let peak = ((1.0 - truth.alpha) / truth.beta).sqrt();
    let (mut beta, mut at_peak, mut top) = (0, 0, 0);
    let trials = 500;
    for seed in 0..trials {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(9000 + seed);
        let normal = Normal::new(0.0, 10.0).unwrap();
        let x: Vec<f64> = N.iter().map(|&n| truth.at(n) + normal.sample(&mut random)).collect();
        let got = scalability(&N, &x, Errors::OfOneSize, 0.95).unwrap();
        let (fit, found) = (got.usl.unwrap(), got.peak.unwrap());
        beta += u32::from(fit.beta.unwrap().interval.contains(truth.beta));
        at_peak += u32::from(found.n_interval.contains(peak));
        top += u32::from(found.x_interval.contains(truth.at(peak)));
    }
    // 475 expected; 24 is five standard deviations.
    for covered in [beta, at_peak, top] {
        assert!((451..=497).contains(&covered), "{beta} {at_peak} {top}");
    }
}

#[test]
fn each_law_needs_its_distinct_concurrencies() {
    let with = |n: &[f64]| {
        let x: Vec<f64> = n.iter().map(|&n| curve(10.0, 0.1, 0.01).at(n)).collect();
        scalability(n, &x, Errors::OfOneSize, 0.95)
    };
    assert!(with(&[4.0, 4.0, 4.0]).is_err());
    let two = with(&[1.0, 2.0, 2.0]).unwrap();
    assert!(two.amdahl.is_err() && two.usl.is_err() && two.chosen.model == Model::Linear);
    let three = with(&[1.0, 2.0, 4.0, 4.0, 4.0]).unwrap();
    assert!(three.amdahl.is_ok() && three.peak.is_err());
    assert_eq!(
        three.usl.unwrap_err().to_string(),
        "the Universal Scalability Law, over distinct concurrencies, needs at least 4 values, but \
         got 3"
    );
    assert!(with(&[1.0, 2.0, 4.0, 8.0]).unwrap().usl.is_ok());
}

#[test]
fn a_peak_that_the_values_leave_open_is_refused() {
    let x = noisy(curve(100.0, 0.08, 0.0), 0.02, 3);
    let got = scalability(&N, &x, Errors::OfOneSize, 0.95).unwrap();
    assert!(matches!(got.peak, Err(Refusal::NotIdentified { .. })));
}

#[test]
fn what_is_no_throughput_by_concurrency_is_refused() {
    let with = |n: &[f64], x: &[f64]| scalability(n, x, Errors::OfOneSize, 0.95).unwrap_err();
    assert!(matches!(with(&[1.0], &[1.0, 2.0]), Refusal::LengthsDiffer { .. }));
    assert!(matches!(with(&[0.5, 2.0], &[1.0, 2.0]), Refusal::OutOfRange { .. }));
    assert!(matches!(with(&[1.0, 2.0], &[1.0, 0.0]), Refusal::NotPositive { index: 1, .. }));
    assert!(matches!(with(&[1.0, 2.0], &[1.0, f64::NAN]), Refusal::NotFinite { .. }));
    assert!(with(&[], &[]).to_string().contains("at least 2"));
    assert!(scalability(&N, &[1.0; 9], Errors::OfOneSize, 1.0).is_err());
}
