//! Paired comparisons, checked against `SciPy` and on the cases that they are designed for.

use super::*;

const FIRST: [f64; 8] = [10.2, 11.5, 9.8, 10.9, 12.1, 10.4, 11.0, 9.9];
const SECOND: [f64; 8] = [9.1, 10.9, 9.9, 9.6, 10.8, 9.7, 10.3, 9.2];

fn assert_close(got: f64, wanted: f64) {
    assert!((got - wanted).abs() <= 1e-9 * wanted.abs(), "{got} is not {wanted}");
}

fn paired(first: &[f64], second: &[f64]) -> Paired {
    Paired::new(first, second).expect("they are pairs")
}

// From SciPy 1.17.1, `a` and `b` being the constants above:
// `d = np.log(a) - np.log(b); r = scipy.stats.ttest_1samp(d, 0)`;
// `np.exp(d.mean()), np.exp(r.confidence_interval(.95)), r.pvalue`.
#[test]
fn ratio_interval_and_p_of_means_agree_with_scipy() {
    let got = paired(&FIRST, &SECOND).of_means(0.95).unwrap();
    assert_close(got.ratio, 1.078823230008722);
    assert_close(got.interval.low, 1.0398647970011687);
    assert_close(got.interval.high, 1.119241236902016);
    assert_close(got.p, 0.0017981455107952116);
}

#[test]
fn two_p_values_are_combined_after_cauchy() {
    // `scipy.stats.combine_pvalues` has no Cauchy: cot(0.02 pi) = 15.894..., cot(0.2 pi) = 1.376...
    let mean = f64::midpoint(1.0 / (0.02 * PI).tan(), 1.0 / (0.2 * PI).tan());
    assert_close(combined(0.02, 0.2), (1.0 / mean).atan() / PI);
    for p in [1e-300, 1e-9, 0.05, 0.3, 0.5, 0.9, 1.0] {
        assert_close(combined(p, p), p);
        assert_close(combined(p, 0.2), combined(0.2, p));
    }
    assert_eq!(combined(0.0, 0.7), 0.0);
    // A test that sees nothing doubles the p value of the other, and no more.
    assert_close(combined(1e-6, 1.0), 2e-6);
}

#[test]
fn where_both_agree_the_interval_is_between_theirs_and_excludes_1_as_p_says() {
    let it = paired(&FIRST, &SECOND);
    let (mean, middle) = (it.of_means(0.95).unwrap(), it.of_the_middle(0.95).unwrap());
    let interval = it.interval(0.95).unwrap();
    assert!(interval.low >= mean.interval.low.min(middle.interval.low));
    assert!(interval.high <= mean.interval.high.max(middle.interval.high));
    assert!(interval.contains(it.ratio()));
    assert!(it.p() <= 0.05 && interval.low > 1.0);
    // At a level of 1 - p, the interval just ends at 1.
    let just = it.interval(1.0 - it.p()).unwrap();
    assert!((just.low - 1.0).abs() < 1e-6, "{just:?}");
}

/// Seven blocks at 1.2x within 0.1 % and one disturbed block used to give "cannot be told apart".
#[test]
fn one_disturbed_block_does_not_hide_a_difference() {
    let seconds = [1.0; 8];
    let mut firsts = [1.2, 1.2005, 1.1995, 1.2002, 1.1998, 1.2007, 1.1993, 1.2];
    for far in [0.01, 0.5, 60.0, 1e6] {
        firsts[7] = far;
        let it = paired(&firsts, &seconds);
        let interval = it.interval(0.95).unwrap();
        assert!(it.p() < 0.001, "{far}: {}", it.p());
        assert!(interval.low > 1.19 && interval.high < 1.21, "{far}: {interval:?}");
        assert!((it.ratio() - 1.2).abs() < 0.001, "{far}: {}", it.ratio());
        let means = it.of_means(0.95).unwrap().interval;
        assert!(means.contains(1.0), "{means:?}");
        // The mean says nothing here.
        let middle = it.of_the_middle(0.95).unwrap();
        assert_eq!((it.p(), it.ratio(), interval), (middle.p, middle.ratio, middle.interval));
    }
}

#[test]
fn one_disturbed_count_does_not_hide_one_either() {
    let (firsts, seconds) = ([12.0, 12.0, 12.0, 12.0, 12.0, 12.0, 12.0, 900.0], [10.0; 8]);
    let it = paired(&firsts, &seconds);
    // Eight of eight are larger: 2 in 2^8, and the mean sees nothing.
    assert!(it.p() < 0.02, "{}", it.p());
    let interval = it.interval(0.95).unwrap();
    assert!((it.ratio() - 1.2).abs() < 1e-9 && interval.contains(it.ratio()), "{interval:?}");
    assert!(interval.low > 1.0, "{interval:?}");
    // If there are too few signs, the interval reflects that as well.
    for last in [8.0, 9.0] {
        let it = paired(&[12.0, 12.0, 12.0, 12.0, 12.0, last], &[10.0; 6]);
        assert!(it.p() > 0.05 && it.interval(0.95).unwrap().contains(1.0), "{last}: {}", it.p());
    }
}

/// A fifth of the pairs differ, always in the same direction: neither estimate represents both
/// groups.
#[test]
fn estimates_that_refuse_one_another_leave_an_interval_that_holds_both() {
    let wobble = |place: usize| 1.0 + 0.002 * (place as f64 * 2.4).sin();
    let firsts: Vec<f64> =
        (0..40).map(|place| wobble(place) * if place % 5 == 0 { 2.7 } else { 1.0 }).collect();
    let it = paired(&firsts, &[1.0; 40]);
    let (means, middle) = (it.of_means(0.95).unwrap(), it.of_the_middle(0.95).unwrap());
    assert!(means.interval.low > 1.05 && middle.interval.high < 1.01, "{means:?} {middle:?}");
    let interval = it.interval(0.95).unwrap();
    assert!(interval.contains(means.ratio) && interval.contains(middle.ratio), "{interval:?}");
}

#[test]
fn swapping_the_series_inverts_the_ratio_and_keeps_p() {
    let (there, back) = (paired(&FIRST, &SECOND), paired(&SECOND, &FIRST));
    assert_close(there.ratio(), 1.0 / back.ratio());
    let (one, other) = (there.interval(0.9).unwrap(), back.interval(0.9).unwrap());
    assert!((one.low * other.high - 1.0).abs() < 1e-9);
    assert_close(there.p(), back.p());
    assert_close(there.p_within(0.1), back.p_within(0.1));
}

#[test]
fn a_unit_common_to_both_series_cancels() {
    let in_ms = |series: &[f64]| series.iter().map(|s| s * 1e3).collect::<Vec<_>>();
    let (scaled, plain) = (paired(&in_ms(&FIRST), &in_ms(&SECOND)), paired(&FIRST, &SECOND));
    assert_close(scaled.ratio(), plain.ratio());
    assert_close(scaled.p(), plain.p());
}

#[test]
fn identical_series_cannot_be_told_apart() {
    let it = paired(&FIRST, &FIRST);
    assert_eq!((it.ratio(), it.p()), (1.0, 1.0));
    assert_eq!(it.interval(0.95).unwrap(), Interval { low: 1.0, high: 1.0, level: 0.95 });
    assert_close(it.p_within(0.02), 1.0 / 256.0);
}

#[test]
fn a_constant_ratio_is_worth_no_more_than_its_equal_signs() {
    let tripled = FIRST.map(|value| value * 3.0);
    let it = paired(&tripled, &FIRST);
    assert_close(it.ratio(), 3.0);
    assert_close(it.p(), 2.0 / 256.0);
    assert_eq!(it.p_within(0.02), 1.0);
    assert_close(it.interval(0.95).unwrap().low, 3.0);
    assert_close(paired(&tripled[..3], &FIRST[..3]).p(), 0.25);
}

#[test]
fn pairs_that_stay_within_the_margin_are_shown_to() {
    let close = [1.001, 0.999, 1.002, 0.998, 1.0005, 0.9995, 1.001, 0.9985];
    let it = paired(&close, &[1.0; 8]);
    assert!(it.p() > 0.3 && it.p_within(0.02) < 1e-4, "{} {}", it.p(), it.p_within(0.02));
    // If one block in five takes a hundred times as long, the two are not equal, whatever the
    // others do.
    let stalls = [1.001, 0.999, 1.002, 0.998, 1.0005, 0.9995, 1.001, 0.9985, 100.0, 100.0];
    assert!(paired(&stalls, &[1.0; 10]).p_within(0.02) > 0.5);
    assert!(paired(&FIRST, &SECOND).p_within(0.02) > 0.9);
}

#[test]
fn values_far_apart_do_not_overflow() {
    let it = paired(&[1e300, 2e300, 1e300], &[1e-5, 1e-5, 1e-5]);
    assert!(it.p() < 1e-4 && it.p() >= 0.0);
    let tiny = paired(&[1e-300, 1e-299, 1e-300, 1e-301, 1e300, 1e-300], &[1.0; 6]);
    let interval = tiny.interval(0.95).unwrap();
    assert!(interval.low >= 0.0 && interval.low <= interval.high, "{interval:?}");
}

#[test]
fn what_is_no_pair_of_positive_series_is_refused() {
    let refusal = |a: &[f64], b: &[f64]| Paired::new(a, b).unwrap_err();
    assert_eq!(
        refusal(&[1.0, 2.0], &[1.0, 2.0]).to_string(),
        "a paired comparison needs at least 3 values, but got 2"
    );
    assert_eq!(refusal(&[1.0], &[]), Refusal::LengthsDiffer { first: 1, second: 0 });
    let zero = refusal(&[1.0, 2.0, 0.0], &[1.0, 1.0, 1.0]);
    assert_eq!(zero, Refusal::NotPositive { index: 2, value: 0.0 });
    assert!(matches!(refusal(&[1.0; 3], &[1.0, f64::NAN, 1.0]), Refusal::NotFinite { .. }));
    assert!(paired(&FIRST, &SECOND).interval(95.0).is_err());
}

/// Three of ten pairs are far off on one side, which is more than the trimmed mean cuts off.
#[test]
fn the_ratio_is_what_most_pairs_say() {
    let firsts = [1.18, 1.22, 1.2, 1.19, 1.21, 1.17, 1.23, 4.8, 4.7, 4.9];
    let it = paired(&firsts, &[1.0; 10]);
    assert!(it.of_the_middle(0.95).unwrap().ratio > 1.4);
    assert!((it.ratio() - 1.2).abs() < 0.02, "{}", it.ratio());
}
