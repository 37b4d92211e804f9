//! The search compared with every possible segmentation, and values that strain the arithmetic.

use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, Normal};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;

/// Mean and variance jump at random positions; the values are rounded to `quantum` unless it is 0.
fn random_series(seed: u64, n: usize, quantum: f64) -> Vec<f64> {
    changing_series(seed, n, quantum, 0.05)
}

fn changing_series(seed: u64, n: usize, quantum: f64, change: f64) -> Vec<f64> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let (mut mean, mut deviation) = (0.0, 1.0);
    (0..n)
        .map(|_| {
            if random.random_bool(change) {
                mean = random.random_range(-5.0..5.0);
                deviation = random.random_range(0.1..3.0);
            }
            let value = Normal::new(mean, deviation).unwrap().sample(&mut random);
            if quantum > 0.0 { (value / quantum).round() * quantum } else { value }
        })
        .collect()
}

/// The least cost of a segmentation, without pruning, by differences of prefix sums.
fn least_cost(values: &[f64], penalty: f64, length_min: usize, floor: f64) -> Vec<f64> {
    let sums = |of: fn(f64) -> f64| {
        let mut sum = 0.0;
        let after = values.iter().map(|value| {
            sum += of(*value);
            sum
        });
        std::iter::once(0.0).chain(after).collect::<Vec<_>>()
    };
    let (plain, squared) = (sums(|value| value), sums(|value| value * value));
    let mut least = vec![f64::INFINITY; values.len() + 1];
    least[0] = -penalty;
    for end in length_min..=values.len() {
        for start in 0..=end - length_min {
            let n = (end - start) as f64;
            let mean = (plain[end] - plain[start]) / n;
            let variance = ((squared[end] - squared[start]) / n - mean * mean).max(0.0);
            let total = least[start] + cost_of_variance(n, variance, floor) + penalty;
            least[end] = least[end].min(total);
        }
    }
    least
}

fn cost_of_variance(n: f64, variance: f64, floor: f64) -> f64 {
    let credited = variance.max(floor);
    n * (credited.ln() + variance / credited - 1.0)
}

fn plain_cost(part: &[f64], floor: f64) -> f64 {
    let n = part.len() as f64;
    let mean = part.iter().sum::<f64>() / n;
    let variance = part.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n;
    cost_of_variance(n, variance, floor)
}

fn cost_of(found: &Segmentation, values: &[f64], penalty: f64, floor: f64) -> f64 {
    let parts = found.segments.iter().map(|it| plain_cost(&values[it.start..it.end], floor));
    parts.sum::<f64>() + penalty * found.changepoints.len() as f64
}

#[test]
fn no_segmentation_is_cheaper() {
    for case in 0..120_usize {
        let seed = case as u64;
        let quantum = if case.is_multiple_of(2) { 0.0 } else { 0.5 };
        let values = random_series(seed, 150, quantum);
        let length_min = [2, 3, 7, 20][case % 4];
        let (penalty, floor) = ([0.0, 3.0, 12.0, 40.0][case / 4 % 4], 0.02);
        let options = Options { penalty: Some(penalty), length_min, variance_floor: Some(floor) };
        let found = pelt(&values, options).unwrap();
        let best = least_cost(&values, penalty, length_min, floor)[150];
        let got = cost_of(&found, &values, penalty, floor);
        assert!((got - best).abs() < 1e-8, "seed {seed}: {got} is not {best}");
        assert!(found.segments.iter().all(|it| it.end - it.start >= length_min));
    }
}

/// Long enough, with few enough changes, for most candidates to sleep most of the time.
#[test]
fn sleeping_candidates_are_not_missed() {
    for seed in 0..24_u8 {
        let quantum = if seed.is_multiple_of(3) { 0.5 } else { 0.0 };
        let values =
            changing_series(seed.into(), 900, quantum, [0.0, 0.002, 0.01][usize::from(seed % 3)]);
        for penalty in [0.5, 6.0, 30.0, 15.0 * 900_f64.ln()] {
            let (floor, length_min) = (0.02, 2 + usize::from(seed % 2));
            let options =
                Options { penalty: Some(penalty), length_min, variance_floor: Some(floor) };
            let found = pelt(&values, options).unwrap();
            let best = least_cost(&values, penalty, length_min, floor)[900];
            let got = cost_of(&found, &values, penalty, floor);
            assert!((got - best).abs() < 1e-7, "seed {seed} {penalty}: {got} is not {best}");
        }
    }
}

#[test]
fn an_offset_and_a_unit_change_nothing() {
    let values = random_series(5, 400, 0.0);
    let plain = pelt(&values, Options::default()).unwrap();
    assert!(plain.changepoints.len() > 3);
    let moved: Vec<f64> = values.iter().map(|value| 1e9 + value).collect();
    assert_eq!(pelt(&moved, Options::default()).unwrap().changepoints, plain.changepoints);
    for unit in [1e-150, 1e9, 1e300] {
        let scaled: Vec<f64> = values.iter().map(|value| value * unit).collect();
        assert_eq!(pelt(&scaled, Options::default()).unwrap().changepoints, plain.changepoints);
    }
}

/// Differences of prefix sums around the mean would lose the spread on either side.
#[test]
fn a_change_of_variance_is_seen_on_a_high_level() {
    let values = random_series(5, 400, 0.0);
    let mut stretched: Vec<f64> = vec![-1e9; 3];
    stretched.extend(values.iter().map(|value| value + 1e9));
    let options = Options { penalty: Some(60.0), length_min: 2, variance_floor: Some(1e-4) };
    let wanted: Vec<usize> = pelt(&values, options).unwrap().changepoints;
    let got = pelt(&stretched, options).unwrap().changepoints;
    assert_eq!(got[0], 3);
    assert_eq!(got[1..].iter().map(|at| at - 3).collect::<Vec<_>>(), wanted);
}

#[test]
fn equal_values_are_one_segment_and_a_constant_stretch_is_another() {
    let flat = pelt(&[7.5; 40], Options::default()).unwrap();
    assert_eq!(flat.changepoints, []);
    assert_eq!(
        flat.segments,
        [super::super::Segment { start: 0, end: 40, mean: 7.5, variance: 0.0 }]
    );
    let mut steps = vec![3.0; 20];
    steps.extend([4.0; 20]);
    assert_eq!(pelt(&steps, Options::default()).unwrap().changepoints, [20]);
}

/// On a coarse clock, equal neighbours are common and mean nothing.
#[test]
fn equal_neighbours_on_a_coarse_clock_are_no_segments() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let normal = Normal::new(100.0, 0.6).unwrap();
    let samples = normal.sample_iter(&mut random).take(3000);
    let values: Vec<f64> = samples.map(f64::round).collect();
    assert_eq!(pelt(&values, Options::default()).unwrap().changepoints, []);
}

#[test]
fn segments_describe_their_values() {
    let found = Segmentation::cut(&[1.0, 3.0, 10.0, 10.0, 13.0], vec![2]);
    assert_eq!((found.segments[0].mean, found.segments[0].variance), (2.0, 1.0));
    assert_eq!((found.segments[1].mean, found.segments[1].variance), (11.0, 2.0));
    assert_eq!((found.segments[1].start, found.segments[1].end), (2, 5));
}

#[test]
fn extreme_values_stay_finite() {
    let mut values = vec![f64::MAX, -f64::MAX, f64::MAX, 0.0];
    values.extend([1.0; 8]);
    let floored = Options { variance_floor: Some(1.0), ..Options::default() };
    for options in [Options::default(), floored] {
        let found = pelt(&values, options).unwrap();
        assert!(found.segments.iter().all(|it| it.mean.is_finite() && !it.variance.is_nan()));
    }
    assert!(pelt(&[0.0, f64::MIN_POSITIVE, 0.0, 5e-324], Options::default()).is_ok());
}

#[test]
fn what_cannot_be_cut_is_refused() {
    let with = |options: Options| pelt(&[1.0, 2.0, 3.0, 4.0], options);
    assert!(pelt(&[1.0], Options::default()).is_err());
    assert!(pelt(&[1.0, f64::NAN], Options::default()).is_err());
    assert!(with(Options { length_min: 1, ..Options::default() }).is_err());
    assert!(with(Options { length_min: 5, ..Options::default() }).is_err());
    assert!(with(Options { penalty: Some(f64::NAN), ..Options::default() }).is_err());
    assert!(with(Options { penalty: Some(-1.0), ..Options::default() }).is_err());
    assert!(with(Options { variance_floor: Some(0.0), ..Options::default() }).is_err());
}
