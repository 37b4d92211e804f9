//! Tests of comparisons of independent series.

use super::*;

const BASE: [f64; 8] = [10.2, 11.5, 9.8, 10.9, 12.1, 10.4, 11.0, 9.9];

fn scaled(by: f64) -> Vec<f64> {
    let wobble = [1.001, 0.998, 1.003, 0.999, 1.002, 0.997, 1.0, 1.001];
    BASE.iter().zip(wobble).map(|(value, wobble)| value * by * wobble).collect()
}

type Compare = fn(&[f64], &[f64]) -> Result<Independent, Refusal>;
const ALL: [Compare; 2] = [Independent::of_values, Independent::of_runs];

#[test]
fn p_within_and_the_inner_interval_say_the_same() {
    for by in [0.97, 0.985, 0.99, 1.0, 1.005, 1.01, 1.015, 1.018, 1.03, 1.1] {
        for compare in ALL {
            let got = compare(&scaled(by), &BASE).unwrap();
            let inner = got.interval(0.8).unwrap();
            let is_inside = 1.0 / 1.1 < inner.low && inner.high < 1.1;
            assert_eq!(got.p_within(0.1) <= 0.1, is_inside, "{by}: {got:?}");
            let just = got.interval(1.0 - got.p()).unwrap();
            assert!((just.low - 1.0).abs() < 1e-6 || (just.high - 1.0).abs() < 1e-6, "{just:?}");
        }
    }
}

#[test]
fn swapping_the_series_inverts_the_ratio_and_keeps_p() {
    for compare in ALL {
        let (there, back) = (compare(&scaled(1.05), &BASE), compare(&BASE, &scaled(1.05)));
        let (there, back) = (there.unwrap(), back.unwrap());
        assert!((there.ratio() * back.ratio() - 1.0).abs() < 1e-12);
        assert!((there.p() - back.p()).abs() < 1e-12);
        assert!((there.p_within(0.1) - back.p_within(0.1)).abs() < 1e-12);
    }
}

/// From `SciPy` 1.17.1: `r = scipy.stats.ttest_ind(np.log(a), np.log(b)); r.pvalue,
/// np.exp(r.confidence_interval(.95))` of the three and two values here.
#[test]
fn runs_of_one_machine_have_one_spread() {
    let (a, b) = ([1.21, 1.26, 1.18], [1.02, 0.99]);
    let got = Independent::of_runs(&a, &b).unwrap();
    assert!((got.p() - 0.005_858_296_731_869_3).abs() < 1e-9, "{}", got.p());
    let interval = got.interval(0.95).unwrap();
    assert!((interval.low - 1.110_430_652_112_685_2).abs() < 1e-9, "{interval:?}");
    assert!((interval.high - 1.319_163_037_460_878_3).abs() < 1e-9, "{interval:?}");
    assert!(Independent::of_runs(&a, &b[..1]).is_err(), "how runs differ is known of neither");
}

#[test]
fn series_without_spread_are_worth_their_order() {
    let lines = |count: f64, n: usize| vec![count; n];
    let grown = Independent::of_values(&lines(691.0, 8), &lines(601.0, 8)).unwrap();
    assert!((grown.ratio() - 691.0 / 601.0).abs() < 1e-12);
    let interval = grown.interval(0.95).unwrap();
    assert_eq!((interval.low, interval.high), (grown.ratio(), grown.ratio()));
    // There are 12,870 ways to choose 8 of 16.
    assert!((grown.p() - 2.0 / 12_870.0).abs() < 1e-15);
    assert_eq!(grown.p_within(0.02), 1.0);
    let same = Independent::of_values(&lines(33.0, 6), &lines(33.0, 7)).unwrap();
    assert_eq!((same.ratio(), same.p()), (1.0, 1.0));
    assert!((same.p_within(0.02) - 1.0 / 1716.0).abs() < 1e-15);
}

#[test]
fn what_has_no_ratio_is_refused() {
    for compare in ALL {
        assert!(matches!(compare(&BASE[..1], &BASE[..2]), Err(Refusal::TooFew { .. })));
        let refused = compare(&[1.0, 0.0, 2.0], &BASE[..3]);
        assert!(matches!(refused, Err(Refusal::NotPositive { index: 1, .. })));
        assert!(compare(&[f64::NAN; 3], &BASE[..3]).is_err());
        assert!(compare(&scaled(1.1), &BASE).unwrap().interval(1.0).is_err());
    }
}

#[test]
fn counts_without_spread_are_told_apart_by_more_than_their_order() {
    let of = |first: f64, second: f64, n: usize| {
        Independent::of_counts(&vec![first; n], &vec![second; n]).unwrap()
    };
    let (same, doubled) = (of(160.0, 160.0, 3), of(320.0, 160.0, 3));
    assert!((same.p() - 1.0).abs() < 1e-12 && same.p_within(0.02) <= 0.05 + 1e-12);
    assert!((doubled.ratio() - 2.0).abs() < 1e-12 && doubled.p() < 1e-6, "{}", doubled.p());
    // Apart from the logarithm, Student's t of 1 / (sqrt(2 / 3) / sqrt(12)) with 4 degrees of
    // freedom.
    let by_one = of(161.0, 160.0, 3).p();
    assert!((by_one - 0.0132).abs() < 5e-4, "{by_one}");
    assert!((of(4.0, 3.0, 2).p() - 2.0 / 6.0).abs() < 0.3, "two are few");
    let nothing = of(0.0, 0.0, 3);
    assert!((nothing.ratio() - 1.0).abs() < 1e-12 && nothing.p_within(0.02) <= 0.05 + 1e-12);
    assert!(Independent::of_counts(&[0.0; 3], &[2.0; 3]).is_err(), "there is no ratio");
}

#[test]
fn counts_with_spread_are_values_of_runs() {
    let (a, b) = ([6452.0, 6446.0, 6469.0], [4395.0, 4401.0, 4390.0]);
    assert_eq!(Independent::of_counts(&a, &b), Independent::of_runs(&a, &b));
    assert!(Independent::of_counts(&a, &b).unwrap().p() < 1e-5);
}
