//! One- and two-sample estimates against SciPy, statsmodels and plain searches: the cases are in
//! fixtures/samples.json, and fixtures/samples.py beside it says how they were made.

use serde_json::Value;
use stats::bootstrap::{Method, Resampling};
use stats::equivalence::Limits;
use stats::planning::power::{PairedPlan, least_detectable_ratio};
use stats::{
    Interval, Sample, autocorrelation, bootstrap, equivalence, fieller, mann_whitney, outliers,
    signed_rank, welch,
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
fn welch_agrees_with_scipy() {
    for case in cases("welch") {
        let (a, b) = (series(&case["a"]), series(&case["b"]));
        let got = welch::welch(&a, &b, 0.9).unwrap();
        assert_close(got.t, number(&case["t"]), 1e-9);
        assert_close(got.df, number(&case["df"]), 1e-9);
        assert_close(got.p, number(&case["p"]), 1e-9);
        assert_interval(got.interval, &case["interval_90"]);
        assert_interval(welch::welch(&a, &b, 0.99).unwrap().interval, &case["interval_99"]);
    }
}

#[test]
fn mann_whitney_agrees_with_scipy_and_with_every_choice_written_out() {
    for case in cases("mann_whitney") {
        let got = mann_whitney::mann_whitney(&series(&case["a"]), &series(&case["b"])).unwrap();
        assert_close(got.u, number(&case["u"]), 1e-12);
        assert_close(got.p, number(&case["p"]), 1e-9);
        assert_close(got.shift, number(&case["shift"]), 1e-12);
        let is_exact = case["exact"].as_bool().unwrap();
        assert_eq!(got.method == mann_whitney::Method::Exact, is_exact);
    }
}

#[test]
fn fieller_agrees_with_a_search_for_where_the_test_turns() {
    for case in cases("fieller") {
        let (a, b) = (series(&case["a"]), series(&case["b"]));
        let check = |got: fieller::RatioOfMeans, wanted: &Value| {
            assert_close(got.ratio, number(&wanted[0]), 1e-12);
            assert_close(got.interval.low, number(&wanted[1]), 1e-9);
            assert_close(got.interval.high, number(&wanted[2]), 1e-9);
        };
        check(fieller::unpaired(&a, &b, 0.95).unwrap(), &case["unpaired"]);
        if case["paired"].is_array() {
            check(fieller::paired(&a, &b, 0.95).unwrap(), &case["paired"]);
        }
    }
}

#[test]
fn tests_of_equivalence_agree_with_statsmodels() {
    for case in cases("equivalence") {
        let (a, b) = (series(&case["a"]), series(&case["b"]));
        let limits = Limits { within: number(&case["within"]), level: 0.95 };
        let check = |got: equivalence::Equivalence, wanted: &Value| {
            assert_close(got.p_different, number(&wanted[0]), 1e-9);
            assert_close(got.p_within, number(&wanted[1]), 1e-9);
        };
        let paired = equivalence::paired_difference(&a, &b, limits).unwrap();
        check(paired, &case["paired_difference"]);
        let ratio = equivalence::paired_ratio(&a, &b, limits).unwrap();
        check(ratio, &case["paired_ratio"]);
        assert_close(ratio.estimate, number(&case["ratio"]), 1e-12);
        let unpaired = equivalence::unpaired_difference(&a, &b, limits).unwrap();
        check(unpaired, &case["unpaired_difference"]);
        check(equivalence::unpaired_ratio(&a, &b, limits).unwrap(), &case["unpaired_ratio"]);
    }
}

/// Resamples differ, so that only the acceleration can agree to all digits; ends of intervals and
/// standard errors are from 200,000 resamples on both sides. Ends for the mean lie within a few
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
fn the_least_detectable_ratio_agrees_with_statsmodels() {
    for case in cases("power") {
        let plan = PairedPlan {
            blocks: case["blocks"].as_u64().unwrap(),
            deviation_of_logs: 0.07,
            level: number(&case["level"]),
            power: number(&case["power"]),
        };
        let got = least_detectable_ratio(&plan).unwrap();
        assert_close(got.ln() / 0.07, number(&case["effect"]), 1e-9);
    }
}

#[test]
fn signed_ranks_agree_with_scipy() {
    for case in cases("wilcoxon") {
        let got = signed_rank::signed_rank(&series(&case["a"]), &series(&case["b"])).unwrap();
        assert_close(got.w_plus, number(&case["w_plus"]), 1e-12);
        assert_close(got.p, number(&case["p"]), 1e-9);
    }
}
