//! Resampling compared with exact distributions.

use crate::distribution::binomial;

use super::quantile::QuantileResampler;
use super::*;
use crate::sample::mean;

const VALUES: [f64; 9] = [3.1, 0.2, 7.7, 4.4, 12.9, 4.5, 1.5, 6.0, 2.2];

fn how(method: Method) -> Resampling {
    Resampling { resamples: 20_000, seed: 11, level: 0.95, method }
}

fn sample_of(values: &[f64]) -> Sample {
    Sample::new(values).unwrap()
}

/// P(the `rank`-th smallest index of a resample of `n` is at most `index`).
fn index_cdf(n: u64, rank: u64, index: u64) -> f64 {
    binomial::sf(rank - 1, n, (index + 1) as f64 / n as f64)
}

// The values are their own indices, so every resampled median is an order statistic of indices,
// whose exact distribution is known (Efron & Tibshirani, problem 2.4, gives it for the median).
// Dvoretzky-Kiefer-Wolfowitz: 1e5 draws deviate by more than 0.0079 for one seed in 200,000.
#[test]
fn the_resampled_median_of_an_odd_number_has_its_exact_distribution() {
    for n in [7_u32, 51, 1001] {
        let sample = sample_of(&(0..n).map(f64::from).collect::<Vec<_>>());
        let draws = draw_many(&sample, 0.5, 100_000);
        for index in 0..n {
            let seen = draws.partition_point(|&value| value <= f64::from(index)) as f64 / 1e5;
            let wanted = index_cdf(n.into(), u64::from(n).div_ceil(2), index.into());
            assert!((seen - wanted).abs() < 0.0079, "n = {n}, {index}: {seen}, not {wanted}");
        }
    }
}

fn draw_many(sample: &Sample, q: f64, count: u32) -> Vec<f64> {
    let resampler = QuantileResampler::new(sample, q);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
    let mut draws: Vec<f64> = (0..count).map(|_| resampler.draw(&mut random)).collect();
    draws.sort_by(f64::total_cmp);
    draws
}

// Even numbers of values and other quantiles use two neighbours, which must be drawn jointly.
// Compared with whole resamples: the two-sample Kolmogorov-Smirnov distance of 1e5 draws each
// exceeds 0.012 about once in 1e12.
#[test]
fn two_neighbours_are_drawn_jointly() {
    for (n, q) in [(8_u32, 0.5), (40, 0.5), (9, 0.9), (25, 0.37), (30, 0.01)] {
        let values: Vec<f64> = (0..n).map(|i| f64::from(i).powf(1.7)).collect();
        let sample = sample_of(&values);
        let fast = draw_many(&sample, q, 100_000);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(6);
        let mut whole: Vec<f64> = (0..100_000)
            .map(|_| {
                let picks = (0..n).map(|_| values[random.random_range(0..values.len())]);
                sample_of(&picks.collect::<Vec<_>>()).quantile(q).unwrap()
            })
            .collect();
        whole.sort_by(f64::total_cmp);
        let below = |draws: &[f64], x: f64| draws.partition_point(|&v| v <= x + 1e-9) as f64 / 1e5;
        for &x in whole.iter().step_by(97) {
            let (a, b) = (below(&fast, x), below(&whole, x));
            assert!((a - b).abs() < 0.012, "n = {n}, q = {q}, {x}: {a} and {b}");
        }
    }
}

#[test]
fn leaving_each_value_out_in_closed_form_is_doing_so() {
    for n in 7..=15 {
        let values: Vec<f64> = (0..n).map(|i| f64::from(i).powf(1.7)).collect();
        for q in [0.01, 0.25, 0.5, 0.77, 0.9, 0.999] {
            let at_q = |rest: &[f64]| sample_of(rest).quantile(q).unwrap();
            let one_by_one = leave_each_out(&values, &at_q).unwrap();
            let closed = quantile::leave_each_out(&values, q);
            let spread_out = closed.iter().flat_map(|one| std::iter::repeat_n(one.0, one.1));
            let pairs: Vec<_> = spread_out.zip(&one_by_one).collect();
            assert_eq!(pairs.len(), values.len(), "n = {n}, q = {q}");
            for (got, wanted) in pairs {
                assert!((got - wanted.0).abs() < 1e-12, "n = {n}, q = {q}: {got}, {wanted:?}");
            }
        }
    }
}

#[test]
fn both_ways_to_the_median_agree() {
    for values in [&VALUES[..], &VALUES[..8]] {
        for method in [Method::Percentile, Method::Bca] {
            let slow = statistic(values, |x| sample_of(x).median(), &how(method)).unwrap();
            let fast = median(&sample_of(values), &how(method)).unwrap();
            assert!((slow.estimate - fast.estimate).abs() < 1e-12);
            assert!((slow.standard_error / fast.standard_error - 1.0).abs() < 0.03);
            assert!((slow.interval.low - fast.interval.low).abs() < 0.35, "{slow:?} {fast:?}");
            assert!((slow.interval.high - fast.interval.high).abs() < 0.35, "{slow:?} {fast:?}");
        }
    }
}

// The normal theory of a mean: standard error sqrt((n - 1) / n) s / sqrt(n), Efron & Tibshirani,
// section 5.3. For skewed values, BCa reaches further towards the long tail.
#[test]
fn the_mean_has_its_plug_in_standard_error_and_bca_leans_to_the_long_tail() {
    let plain = statistic(&VALUES, mean, &how(Method::Percentile)).unwrap();
    let n = VALUES.len() as f64;
    let wanted = sample::standard_deviation(&VALUES) * ((n - 1.0) / n / n).sqrt();
    assert!((plain.standard_error / wanted - 1.0).abs() < 0.03);
    assert_eq!(plain.correction, None);
    let bca = statistic(&VALUES, mean, &how(Method::Bca)).unwrap();
    assert!(bca.interval.low > plain.interval.low && bca.interval.high > plain.interval.high);
    assert!(bca.correction.unwrap().acceleration > 0.0);
}

#[test]
fn one_seed_gives_one_answer_and_order_does_not_matter_to_the_median() {
    let first = median(&sample_of(&VALUES), &how(Method::Bca));
    let mut reversed = VALUES;
    reversed.reverse();
    assert_eq!(first, median(&sample_of(&reversed), &how(Method::Bca)));
    let other = Resampling { seed: 12, ..how(Method::Bca) };
    let another = median(&sample_of(&VALUES), &other).unwrap();
    assert!(another.standard_error != first.unwrap().standard_error);
}

#[test]
fn bca_is_refused_where_it_does_not_exist() {
    let bca = how(Method::Bca);
    let alike = [2.5; 8];
    assert!(matches!(statistic(&alike, mean, &bca), Err(Refusal::NoBca { .. })));
    assert!(matches!(median(&sample_of(&alike), &bca), Err(Refusal::NoBca { .. })));
    let constant = median(&sample_of(&alike), &how(Method::Percentile)).unwrap();
    assert_eq!(constant.interval, Interval { low: 2.5, high: 2.5, level: 0.95 });
    // Resamples repeat values, so no resample has more different ones than the sample.
    let different = |x: &[f64]| {
        let mut x = x.to_vec();
        x.sort_by(f64::total_cmp);
        x.dedup();
        x.len() as f64 + x[0]
    };
    let values: Vec<f64> = (0..30).map(|i| f64::from(i) * 1e-3).collect();
    let Err(Refusal::NoBca { why }) = statistic(&values, different, &bca) else {
        panic!("30 different values out of 30 draws come up never");
    };
    assert_eq!(why, "the estimate lies outside all resampled estimates");
}

#[test]
fn senseless_requests_are_refused() {
    let percentile = how(Method::Percentile);
    let refused = |how: Resampling| statistic(&VALUES, mean, &how).is_err();
    assert!(refused(Resampling { level: 1.0, ..percentile }));
    assert!(refused(Resampling { resamples: 199, ..percentile }));
    assert!(!refused(Resampling { resamples: 200, ..percentile }));
    assert!(matches!(
        median(&sample_of(&VALUES[..6]), &percentile),
        Err(Refusal::TooFew { needed: 7, given: 6, .. })
    ));
    assert!(quantile(&sample_of(&VALUES), 1.0, &percentile).is_err());
    let nan = statistic(&VALUES, |_| f64::NAN, &percentile);
    assert!(matches!(nan, Err(Refusal::StatisticNotFinite { .. })));
    assert!(statistic(&[f64::INFINITY; 9], mean, &percentile).is_err());
}
