//! One- and two-sample estimates compared with SciPy, statsmodels and plain searches. The cases are
//! in fixtures/samples.json; fixtures/samples.py beside it shows how they were made.

use serde_json::Value;
use stats::bootstrap::{Method, Resampling};
use stats::planning::power::least_detectable_deviations;
use stats::{
    Independent, Interval, Paired, Sample, autocorrelation, bootstrap, interval, outliers,
};

fn cases(area: &str) -> Vec<Value> {
    let all: Value = serde_json::from_str(include_str!("fixtures/samples.json")).unwrap();
    let cases = all[area].as_array().unwrap().clone();
    assert!(!cases.is_empty(), "{area}");
    cases
}

fn number(of: &Value) -> f64 {
    of.as_f64().unwrap_or_else(|| panic!("{of} is no number"))
}

fn series(of: &Value) -> Vec<f64> {
    of.as_array().unwrap().iter().map(number).collect()
}

fn indices(of: &Value) -> Vec<usize> {
    of.as_array().unwrap().iter().map(|i| usize::try_from(i.as_u64().unwrap()).unwrap()).collect()
}

#[track_caller]
fn assert_close(got: f64, wanted: f64, relative: f64) {
    assert!((got - wanted).abs() <= relative * wanted.abs().max(1e-12), "{got} is not {wanted}");
}

#[track_caller]
fn assert_interval(got: Interval, wanted: &Value) {
    let wanted = series(wanted);
    let scale = wanted[0].abs().max(wanted[1].abs());
    assert!((got.low - wanted[0]).abs() <= 1e-9 * scale, "{got:?} is not {wanted:?}");
    assert!((got.high - wanted[1]).abs() <= 1e-9 * scale, "{got:?} is not {wanted:?}");
}

#[test]
fn series_that_do_not_pair_are_compared_as_scipy_does() {
    let exp = |values: &Value| series(values).into_iter().map(f64::exp).collect::<Vec<_>>();
    for case in cases("welch") {
        // Means of logarithms are those of the series.
        let got = Independent::of_values(&exp(&case["a"]), &exp(&case["b"])).unwrap();
        assert_close(got.p(), number(&case["p"]), 1e-8);
        let logs = |level: f64| {
            let interval = got.interval(level).unwrap();
            Interval { low: interval.low.ln(), high: interval.high.ln(), level }
        };
        assert_interval(logs(0.9), &case["interval_90"]);
        assert_interval(logs(0.99), &case["interval_99"]);
    }
}

#[test]
fn tests_of_equivalence_agree_with_statsmodels() {
    for case in cases("equivalence") {
        let (a, b) = (series(&case["a"]), series(&case["b"]));
        let ratio = Paired::new(&a, &b).unwrap().of_means(0.95).unwrap();
        assert_close(ratio.p, number(&case["paired_ratio"][0]), 1e-9);
        assert_close(ratio.ratio, number(&case["ratio"]), 1e-12);
        let unpaired = Independent::of_values(&a, &b).unwrap();
        assert_close(unpaired.p(), number(&case["unpaired_ratio"][0]), 1e-9);
        let within = number(&case["within"]);
        assert_close(unpaired.p_within(within), number(&case["unpaired_ratio"][1]), 1e-9);
    }
}

#[test]
fn geometric_means_agree_with_scipy() {
    for case in cases("geometric_mean") {
        let sample = Sample::new(series(&case["values"])).unwrap();
        let got = interval::geometric_mean(&sample, 0.95).unwrap();
        assert_close(got.mean, number(&case["mean"]), 1e-12);
        assert_interval(got.interval, &case["interval"]);
    }
}

/// Resamples differ, so only the acceleration can agree to all digits; ends of intervals and
/// standard errors are from 200,000 resamples on both sides. Ends for the mean are within a few
/// percent of a standard error of each other; those for quantiles may be one value of the sample
/// apart.
#[test]
fn bootstraps_agree_with_scipy() {
    for case in cases("bootstrap") {
        let values = series(&case["values"]);
        let sample = Sample::new(values.clone()).unwrap();
        for (name, q) in [("mean", None), ("median", Some(0.5)), ("q90", Some(0.9))] {
            let wanted = &case[name];
            for (method, key) in [(Method::Percentile, "percentile"), (Method::Bca, "BCa")] {
                let how = Resampling { resamples: 200_000, seed: 3, level: 0.95, method };
                let got = match q {
                    None => bootstrap::statistic(&values, mean, &how).unwrap(),
                    Some(q) => bootstrap::quantile(&sample, q, &how).unwrap(),
                };
                let error = number(&wanted["error"]);
                assert_close(got.standard_error, error, 0.02);
                let ends = series(&wanted[key]);
                let far = if q.is_none() { 0.05 * error } else { 0.2 * error };
                assert!((got.interval.low - ends[0]).abs() < far, "{name} {got:?} {ends:?}");
                assert!((got.interval.high - ends[1]).abs() < far, "{name} {got:?} {ends:?}");
                if let Some(correction) = got.correction {
                    let wanted = number(&wanted["acceleration"]);
                    assert!((correction.acceleration - wanted).abs() < 1e-9, "{name}: {wanted}");
                }
            }
        }
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn autocorrelations_agree_with_statsmodels() {
    for case in cases("autocorrelation") {
        let values = series(&case["values"]);
        let lag_one = autocorrelation::lag_one(&values, 0.95).unwrap();
        assert_close(lag_one.r, number(&case["lag_one"]), 1e-9);
        let effective = autocorrelation::effective_size(&values).unwrap();
        assert_close(effective.time, number(&case["time"]), 1e-9);
        let got = autocorrelation::batch_means(&values, 20, 0.95).unwrap();
        assert_close(got.mean, number(&case["batch_mean"]), 1e-12);
        assert_interval(got.interval, &case["batch_interval"]);
        assert_close(got.between_batches.r, number(&case["between_batches"]), 1e-9);
    }
}

#[test]
fn outliers_are_those_that_numpy_marks() {
    for case in cases("outliers") {
        let values = series(&case["values"]);
        let marked = outliers::tukey(&values).unwrap();
        let all: Vec<usize> = marked.iter().map(|one| one.index).collect();
        assert_eq!(all, indices(&case["mild"]));
        let severe = marked.iter().filter(|one| one.severity == outliers::Severity::Severe);
        assert_eq!(severe.map(|one| one.index).collect::<Vec<_>>(), indices(&case["severe"]));
        let scored = outliers::modified_z(&values).unwrap();
        assert_eq!(
            scored.iter().map(|one| one.index).collect::<Vec<_>>(),
            indices(&case["scored"])
        );
        for (got, wanted) in scored.iter().zip(series(&case["scores"])) {
            assert_close(got.score, wanted, 1e-12);
        }
    }
}

#[test]
fn the_least_detectable_difference_agrees_with_statsmodels() {
    for case in cases("power") {
        let blocks = case["blocks"].as_u64().unwrap();
        let (level, power) = (number(&case["level"]), number(&case["power"]));
        let got = least_detectable_deviations(blocks, level, power).unwrap();
        assert_close(got, number(&case["effect"]), 1e-9);
    }
}
