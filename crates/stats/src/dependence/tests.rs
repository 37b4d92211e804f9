//! Dependence between blocks is detected where it exists, and only there.

use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;

/// `count` series of `n` blocks; each value depends on the previous one with `correlation`, and a
/// share `common` of their variance is the same in all series.
fn drawn(
    random: &mut Xoshiro256PlusPlus,
    count: usize,
    n: u32,
    correlation: f64,
    common: f64,
) -> Vec<BTreeMap<u32, f64>> {
    let mut series = |_| {
        let mut value: f64 = StandardNormal.sample(random);
        let mut next = || {
            let shock: f64 = StandardNormal.sample(random);
            value = correlation * value + (1.0 - correlation * correlation).sqrt() * shock;
            value
        };
        (0..n).map(|block| (block, next())).collect::<BTreeMap<u32, f64>>()
    };
    let all = series(0);
    let mix = |own: BTreeMap<u32, f64>| {
        let both = |(block, own): (u32, f64)| {
            (block, common.sqrt() * all[&block] + (1.0 - common).sqrt() * own)
        };
        own.into_iter().map(both).collect()
    };
    (0..count).map(&mut series).map(mix).collect()
}

/// In what share of runs dependence is detected.
fn share_seen(count: usize, n: u32, correlation: f64, common: f64) -> f64 {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(11);
    let runs = 1000;
    let is_seen = |_: &u32| {
        let series = drawn(&mut random, count, n, correlation, common);
        Dependence::from_series(&series, 0.05).is_seen()
    };
    (0..runs).filter(is_seen).count() as f64 / f64::from(runs)
}

#[test]
fn independent_blocks_are_taken_for_dependent_ones_as_often_as_was_asked() {
    for (count, n) in [(1, 10), (15, 6), (15, 10), (15, 20), (40, 12)] {
        for common in [0.0, 0.5, 1.0] {
            let share = share_seen(count, n, 0.0, common);
            assert!(share <= 0.085, "{count} of {n}, {common} in common: {share}");
        }
    }
}

#[test]
fn what_one_comparison_cannot_show_many_do() {
    assert!(share_seen(1, 10, 0.5, 0.0) < 0.45);
    assert!(share_seen(15, 10, 0.5, 0.0) > 0.95);
    assert!(share_seen(15, 6, 0.5, 0.0) > 0.7);
}

/// 15 comparisons with six blocks each, the hardest case: reports detect nine of ten.
#[test]
fn reports_miss_few_blocks_that_resemble_one_another() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(14);
    let is_seen = |_: &u32| {
        Dependence::from_series(&drawn(&mut random, 15, 6, 0.5, 0.0), TAKEN_FOR_DEPENDENT).is_seen()
    };
    let share = (0..1000).filter(is_seen).count() as f64 / 1000.0;
    assert!((0.85..0.93).contains(&share), "{share}");
}

#[test]
fn an_estimate_is_widened_and_loses_degrees_of_freedom() {
    let half = Dependence { correlation: 0.5, p: 0.0, series: 9 };
    let of = half.widened(Estimated { estimate: 3.0, standard_error: 1.0, df: 9.0 }, 10);
    // The variance of the mean of ten values is 2.600390625 times as large, and their spread is
    // smaller by a share of 1.600390625 / 9; the mean is worth 3.85 values, the variance 6.34.
    assert_eq!(of.estimate, 3.0);
    assert!((of.standard_error - 1.778_427_452).abs() < 1e-9, "{of:?}");
    assert!((of.df - 4.091_801_957).abs() < 1e-9, "{of:?}");
    let plain = Estimated { estimate: 3.0, standard_error: 1.0, df: 9.0 };
    assert_eq!(Dependence::NONE.widened(plain, 10), plain);
}

#[test]
fn the_correlation_is_about_right() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(12);
    let mut found = |correlation| {
        let all = drawn(&mut random, 200, 20, correlation, 0.0);
        Dependence::from_series(&all, 0.05).correlation
    };
    for correlation in [0.3, 0.5, 0.7] {
        let found = found(correlation);
        assert!((found - correlation).abs() < 0.07, "{found} for {correlation}");
    }
}

#[test]
fn values_that_swing_back_and_forth_and_too_few_say_nothing() {
    let swing: BTreeMap<u32, f64> = (0..20).map(|it| (it, f64::from(it % 2))).collect();
    let few: BTreeMap<u32, f64> = (0..5).map(|it| (it, f64::from(it))).collect();
    let constant: BTreeMap<u32, f64> = (0..20).map(|it| (it, 4.2)).collect();
    assert!(!Dependence::from_series(&[swing], 0.05).is_seen());
    assert_eq!(Dependence::from_series(&[few, constant], 0.05), Dependence::NONE);
}

#[test]
fn independent_values_are_worth_their_number_and_others_less() {
    assert!((Dependence::NONE.effective(10) - 10.0).abs() < 1e-12);
    let half = Dependence { correlation: 0.5, p: 0.0, series: 9 };
    // 1 + 2 (0.9 / 2 + 0.8 / 4 + ...): close to 3 for many values.
    assert!((half.effective(3000) - 1000.0).abs() < 2.0, "{}", half.effective(3000));
    assert!(half.effective(10) > 10.0 / 3.0 && half.effective(10) < 5.0);
    assert_eq!(Dependence::NONE.widening(10), 1.0);
    assert!((half.widening(3000) - 3_f64.sqrt()).abs() < 1e-3);
}
