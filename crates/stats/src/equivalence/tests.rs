//! Verdicts and the tests behind them.

use super::*;

const BASE: [f64; 8] = [10.2, 11.5, 9.8, 10.9, 12.1, 10.4, 11.0, 9.9];
const WOBBLE: [f64; 8] = [1.001, 0.998, 1.003, 0.999, 1.002, 0.997, 1.0, 1.001];
const LIMITS: Limits = Limits { within: 0.02, level: 0.95 };

fn scaled(by: f64) -> Vec<f64> {
    BASE.iter().zip(WOBBLE).map(|(value, wobble)| value * by * wobble).collect()
}

type Compare = fn(&[f64], &[f64], Limits) -> Result<Equivalence, Refusal>;
const DIFFERENCES: [Compare; 2] = [paired_difference, unpaired_difference];
const RATIOS: [Compare; 2] = [paired_ratio, unpaired_ratio];
const ALL: [Compare; 4] = [paired_difference, paired_ratio, unpaired_difference, unpaired_ratio];

#[test]
fn each_verdict_has_its_case() {
    let verdict = |by: f64| paired_ratio(&scaled(by), &BASE, LIMITS).unwrap().verdict;
    assert_eq!(verdict(1.0), Verdict::SameWithin);
    assert_eq!(verdict(1.01), Verdict::DifferentByLess);
    assert_eq!(verdict(1.02), Verdict::Different);
    assert_eq!(verdict(1.05), Verdict::Different);
    assert_eq!(verdict(1.0 / 1.05), Verdict::Different);
    let unpaired = unpaired_ratio(&scaled(1.01), &BASE, LIMITS).unwrap();
    assert_eq!(unpaired.verdict, Verdict::NotToldApart);
}

#[test]
fn a_verdict_says_no_more_than_its_p_values() {
    assert_eq!(Verdict::of(0.05, 0.051, 0.95), Verdict::Different);
    assert_eq!(Verdict::of(0.051, 0.051, 0.95), Verdict::NotToldApart);
    assert_eq!(Verdict::of(0.051, 0.049, 0.95), Verdict::SameWithin);
    assert_eq!(Verdict::of(0.049, 0.049, 0.95), Verdict::DifferentByLess);
}

#[test]
fn p_within_and_the_inner_interval_say_the_same() {
    let limits = Limits { within: 0.04, level: 0.9 };
    for by in [0.97, 0.985, 0.99, 1.0, 1.005, 1.01, 1.015, 1.018, 1.03] {
        for (compares, low, high) in [(DIFFERENCES, -0.04, 0.04), (RATIOS, 1.0 / 1.04, 1.04)] {
            for compare in compares {
                let got = compare(&scaled(by), &BASE, limits).unwrap();
                let inner = got.inner_interval;
                let is_inside = low < inner.low && inner.high < high;
                assert_eq!(got.p_within <= 0.1, is_inside, "{by}: {got:?}");
                assert!((inner.level - 0.8).abs() < 1e-12);
                assert!(inner.half_width() < got.interval.half_width());
            }
        }
    }
}

#[test]
fn swapping_the_series_changes_no_verdict() {
    for by in [1.0, 1.01, 1.018, 1.03] {
        for compare in ALL {
            let there = compare(&scaled(by), &BASE, LIMITS).unwrap();
            let back = compare(&BASE, &scaled(by), LIMITS).unwrap();
            assert_eq!(there.verdict, back.verdict, "{by}");
            assert!((there.p_within - back.p_within).abs() < 1e-9, "{by}");
        }
    }
}

#[test]
fn pairs_without_spread_are_worth_their_signs() {
    let same = paired_ratio(&BASE, &BASE, LIMITS).unwrap();
    assert_eq!((same.estimate, same.p_different, same.p_within), (1.0, 1.0, 1.0 / 256.0));
    assert_eq!(same.verdict, Verdict::SameWithin);
    let few = paired_ratio(&BASE[..4], &BASE[..4], LIMITS).unwrap();
    assert_eq!(few.verdict, Verdict::NotToldApart, "2^-4 is above 0.05");
    let tripled = BASE.map(|value| 3.0 * value);
    let far = paired_ratio(&tripled, &BASE, LIMITS).unwrap();
    assert_eq!((far.verdict, far.p_within), (Verdict::Different, 1.0));
    assert!((far.p_different - 2.0 / 256.0).abs() < 1e-12);
    let shifted = paired_difference(&[3.5, 4.5, 5.5], &[3.0, 4.0, 5.0], LIMITS).unwrap();
    assert_eq!((shifted.estimate, shifted.p_different), (0.5, 0.25));
}

#[test]
fn senseless_requests_are_refused() {
    for compare in ALL {
        for bad in [Limits { within: 0.0, ..LIMITS }, Limits { level: 0.5, ..LIMITS }] {
            assert!(matches!(compare(&BASE, &BASE, bad), Err(Refusal::OutOfRange { .. })));
        }
        assert!(compare(&BASE, &BASE, Limits { level: f64::NAN, ..LIMITS }).is_err());
        assert!(compare(&[f64::NAN; 3], &BASE[..3], LIMITS).is_err());
        assert!(matches!(compare(&BASE[..1], &BASE[..1], LIMITS), Err(Refusal::TooFew { .. })));
    }
    for compare in RATIOS {
        let refused = compare(&[1.0, 0.0, 2.0], &BASE[..3], LIMITS);
        assert!(matches!(refused, Err(Refusal::NotPositive { index: 1, .. })));
    }
    let uneven = paired_difference(&BASE, &BASE[1..], LIMITS);
    assert!(matches!(uneven, Err(Refusal::LengthsDiffer { .. })));
}

#[test]
fn samples_without_spread_are_worth_their_order() {
    let lines = |count: f64, n: usize| vec![count; n];
    let grown = unpaired_ratio(&lines(691.0, 8), &lines(601.0, 8), LIMITS).unwrap();
    assert!((grown.estimate - 691.0 / 601.0).abs() < 1e-12);
    assert_eq!((grown.interval.low, grown.interval.high), (grown.estimate, grown.estimate));
    // 8 of 16 can be chosen in 12,870 ways.
    assert!((grown.p_different - 2.0 / 12_870.0).abs() < 1e-15);
    assert_eq!((grown.p_within, grown.verdict), (1.0, Verdict::Different));
    let ranked = crate::mann_whitney::mann_whitney(&lines(691.0, 8), &lines(601.0, 8)).unwrap();
    assert!((grown.p_different - ranked.p).abs() < 1e-15);
    let same = unpaired_ratio(&lines(33.0, 6), &lines(33.0, 7), LIMITS).unwrap();
    assert_eq!((same.estimate, same.p_different, same.verdict), (1.0, 1.0, Verdict::SameWithin));
    assert!((same.p_within - 1.0 / 1716.0).abs() < 1e-15);
    let few = unpaired_difference(&[1.0; 2], &[2.0; 2], LIMITS).unwrap();
    assert_eq!(few.verdict, Verdict::NotToldApart, "2 in 6");
}
