//! What E-divisive finds, and what it does not mistake for a change.

use rand::RngExt;
use rand_distr::{Distribution, Normal, StandardNormal, StudentT};

use super::*;

fn normal(seed: u64, n: usize, mean: f64, deviation: f64) -> Vec<f64> {
    let random = Xoshiro256PlusPlus::seed_from_u64(seed);
    Normal::new(mean, deviation).unwrap().sample_iter(random).take(n).collect()
}

/// The definition, computed over every pair of values.
fn plain_distance(first: &[f64], second: &[f64]) -> f64 {
    let mean_between = |a: &[f64], b: &[f64], pairs: usize| {
        let sum: f64 = a.iter().flat_map(|x| b.iter().map(move |y| (x - y).abs())).sum();
        sum / pairs as f64
    };
    let (m, n) = (first.len(), second.len());
    let distance = 2.0 * mean_between(first, second, m * n)
        - mean_between(first, first, m * (m - 1))
        - mean_between(second, second, n * (n - 1));
    (m * n) as f64 / (m + n) as f64 * distance
}

#[test]
fn the_split_is_the_best_by_definition() {
    for seed in 0..20 {
        let mut values = normal(seed, 14, 0.0, 1.0);
        values.extend(normal(seed + 100, 9, 1.5, 0.5));
        let mut best = (0, 0.0);
        for at in 3..=20 {
            for end in at + 3..=23 {
                let statistic = plain_distance(&values[..at], &values[at..end]);
                if statistic > best.1 {
                    best = (at, statistic);
                }
            }
        }
        let got = split_of(&values, 3).unwrap();
        assert_eq!(got.at, best.0, "seed {seed}");
        assert!((got.statistic - best.1).abs() < 1e-10, "seed {seed}");
    }
}

#[test]
fn changes_of_mean_and_of_spread_are_found() {
    let mut values = normal(1, 40, 10.0, 0.5);
    values.extend(normal(2, 40, 12.0, 0.5));
    values.extend(normal(3, 60, 12.0, 4.0));
    let got = e_divisive(&values, Options::default()).unwrap();
    let at = &got.segmentation.changepoints;
    assert_eq!(at.len(), 2, "{at:?}");
    assert!(at[0].abs_diff(40) <= 1 && at[1].abs_diff(80) <= 6, "{at:?}");
    assert!(got.changes.iter().all(|it| it.p <= 0.05));
}

#[test]
fn the_seed_decides_and_nothing_else() {
    let values = normal(9, 60, 0.0, 1.0);
    let once = e_divisive(&values, Options::default()).unwrap();
    assert_eq!(e_divisive(&values, Options::default()).unwrap(), once);
}

/// 200 series without a change at 0.05: 10 false positives expected, 28 at six deviations.
#[test]
fn false_changes_are_as_rare_as_stated() {
    let options = Options { permutations: 39, ..Options::default() };
    let found = (0..200)
        .filter(|seed| {
            let values = normal(1000 + seed, 24, 5.0, 1.0);
            !e_divisive(&values, options).unwrap().changes.is_empty()
        })
        .count();
    assert!((1..=28).contains(&found), "{found}");
}

/// 60 series of each kind at 0.05: 3 false positives expected, 12 at five deviations.
#[test]
fn false_changes_are_rare_whatever_the_noise_and_the_length() {
    let options = Options { permutations: 39, ..Options::default() };
    let heavy = StudentT::new(3.0).unwrap();
    let of = |kind: usize, seed: u64, n: usize| -> Vec<f64> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let one = |random: &mut Xoshiro256PlusPlus| match kind {
            0 => StandardNormal.sample(random),
            1 => heavy.sample(random),
            _ if random.random_bool(0.02) => 30.0,
            _ => StandardNormal.sample(random),
        };
        (0..n).map(|_| one(&mut random)).collect()
    };
    for (kind, n) in [(0, 20), (1, 20), (2, 20), (0, 100), (1, 100), (2, 100)] {
        let found = (0..60).filter(|seed| {
            let values = of(kind, 100 * n as u64 + seed, n);
            !e_divisive(&values, options).unwrap().changes.is_empty()
        });
        let found = found.count();
        assert!(found <= 12, "{found} of 60, kind {kind}, {n} values");
    }
}

/// Each value is a share of the previous one plus new noise.
fn dependent(seed: u64, n: usize, share: f64) -> Vec<f64> {
    let scale = (1.0 - share * share).sqrt();
    let mut last = normal(!seed, 1, 0.0, 1.0)[0];
    let noise = normal(seed, n, 0.0, scale);
    let next = |new: f64| {
        last = share * last + new;
        last
    };
    noise.into_iter().map(next).collect()
}

/// 40 series of each kind at 0.05: 2 false positives expected, 9 at five deviations. If the values
/// themselves were permuted, most would be cut.
#[test]
fn values_that_depend_on_their_neighbours_hold_no_change() {
    let options = Options { permutations: 39, ..Options::default() };
    for (share, n) in [(0.5, 60), (0.5, 100), (0.7, 100), (0.9, 200)] {
        let found = (0..40).filter(|seed| {
            let got = e_divisive(&dependent(31 * seed + n as u64, n, share), options).unwrap();
            !got.changes.is_empty()
        });
        let found = found.count();
        assert!(found <= 9, "{found} of 40, a share of {share} in {n} values");
    }
}

#[test]
fn too_few_values_that_depend_on_their_neighbours_tell_nothing() {
    let got = e_divisive(&dependent(3, 30, 0.99), Options::default()).unwrap();
    assert!(!got.can_tell && got.correlation > 0.5, "{got:?}");
}

#[test]
fn shifts_of_one_to_three_deviations_are_found_in_short_series() {
    for (n, shift, least) in [(20, 3.0, 19), (60, 1.5, 19), (200, 1.0, 19)] {
        let found = (0..20).filter(|seed| {
            let mut values = normal(500 + seed, n / 2, 10.0, 1.0);
            values.extend(normal(900 + seed, n / 2, 10.0 + shift, 1.0));
            !e_divisive(&values, Options::default()).unwrap().changes.is_empty()
        });
        let found = found.count();
        assert!(found >= least, "{found} of 20 shifts by {shift} in {n} values");
    }
}

/// In other series with the same noise, four times in five.
#[test]
fn the_least_shift_is_seen_four_times_in_five() {
    let options = Options { permutations: 39, ..Options::default() };
    let is_found = |seed: u64| {
        let n = 40;
        let least = least_shift(&normal(seed, n, 10.0, 1.0), options).unwrap().unwrap();
        let mut other = normal(7_000 + seed, n, 10.0, 1.0);
        other[n / 2..].iter_mut().for_each(|value| *value += least);
        !e_divisive(&other, options).unwrap().changes.is_empty()
    };
    let found = (0..200).filter(|&seed| is_found(seed)).count();
    assert!((140..=180).contains(&found), "{found} of 200");
}

/// If values lean to one side, but not enough for a change, the smallest detectable shift is no
/// smaller than that of values that do not.
#[test]
fn a_shift_that_was_not_seen_makes_the_least_no_smaller() {
    let options = Options { permutations: 39, ..Options::default() };
    let ratio = |seed: u64| {
        let plain = normal(seed, 40, 10.0, 1.0);
        let mut leaning = plain.clone();
        leaning[20..].iter_mut().for_each(|value| *value += 0.6);
        let least = |values: &[f64]| least_shift(values, options).unwrap().unwrap();
        least(&leaning) / least(&plain)
    };
    let mean = (0..20).map(ratio).sum::<f64>() / 20.0;
    assert!((0.95..1.25).contains(&mean), "{mean}");
    assert_eq!(least_shift(&[4.0; 30], options).unwrap(), None);
    assert_eq!(least_shift(&normal(4, 9, 10.0, 1.0), options).unwrap(), None);
}

#[test]
fn equal_values_hold_no_change() {
    let got = e_divisive(&[4.0; 30], Options::default()).unwrap();
    assert_eq!(got.segmentation.changepoints, []);
}

#[test]
fn what_cannot_be_tested_is_refused() {
    let with = |options: Options| e_divisive(&[1.0; 20], options);
    assert!(e_divisive(&[1.0; 4], Options::default()).is_err());
    assert!(e_divisive(&[1.0; LENGTH_MAX + 1], Options::default()).is_err());
    assert!(e_divisive(&[f64::NAN; 9], Options::default()).is_err());
    assert!(with(Options { length_min: 1, ..Options::default() }).is_err());
    assert!(with(Options { significance: 0.01, permutations: 98, ..Options::default() }).is_err());
    assert!(with(Options { significance: 0.01, permutations: 99, ..Options::default() }).is_ok());
}

#[test]
fn the_place_of_a_change_lies_in_its_interval() {
    let (mut found, mut held, mut widths) = (0, 0, Vec::new());
    for seed in 0..100 {
        let mut values = normal(seed, 30, 10.0, 1.0);
        values.extend(normal(seed + 1000, 30, 12.0, 1.0));
        let divided = e_divisive(&values, Options::default()).unwrap();
        let places = places(&values, &divided, 0.95, Options::default()).unwrap();
        assert_eq!(places.len(), divided.changes.len());
        if let [[low, high]] = places[..] {
            found += 1;
            held += usize::from((low..=high).contains(&30));
            widths.push(high - low);
        }
    }
    widths.sort_unstable();
    assert!(found >= 85, "{found}");
    assert!(held * 100 >= found * 90, "{held} of {found}");
    assert!(widths[widths.len() / 2] <= 12, "{widths:?}");
}

#[test]
fn the_place_of_a_large_change_is_exact() {
    let mut values = normal(3, 40, 10.0, 0.5);
    values.extend(normal(4, 40, 30.0, 0.5));
    let divided = e_divisive(&values, Options::default()).unwrap();
    assert_eq!(places(&values, &divided, 0.95, Options::default()).unwrap(), [[40, 40]]);
    assert!(places(&values, &divided, 1.0, Options::default()).is_err());
}
