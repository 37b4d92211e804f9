//! Change points, steady states and scalability laws compared with ruptures, `NumPy` and `SciPy`,
//! using the results in `fixtures/series.json`, which `fixtures/series.py` makes.

use serde_json::Value;
use stats::changepoint::{divisive, pelt};
use stats::scalability::{Errors, Fit, Model, ParameterEstimate, Peak, scalability};
use stats::steady_state::{Rule, steady_state};

fn cases(area: &str) -> Vec<Value> {
    let text = include_str!("fixtures/series.json");
    let fixture: Value = serde_json::from_str(text).expect("the fixture is JSON");
    fixture[area].as_array().expect("a list of cases").clone()
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(number).collect()
}

fn indices(value: &Value) -> Vec<u64> {
    value.as_array().expect("a list").iter().map(|it| it.as_u64().expect("an index")).collect()
}

fn assert_close(got: f64, wanted: f64, tolerance: f64, what: &str) {
    assert!((got / wanted - 1.0).abs() <= tolerance, "{what}: {got} is not {wanted}");
}

#[test]
fn change_points_are_those_of_ruptures() {
    let mut found = 0;
    for case in cases("pelt") {
        let values = numbers(&case["values"]);
        let options = pelt::Options {
            penalty: Some(number(&case["penalty"])),
            variance_floor: Some(number(&case["floor"])),
            ..pelt::Options::default()
        };
        let search = |options| {
            let got = pelt::pelt(&values, options).expect("a segmentation").changepoints;
            got.into_iter().map(|at| at as u64).collect::<Vec<_>>()
        };
        assert_eq!(search(options), indices(&case["changepoints"]));
        found += search(options).len();
        // The normal cost in ruptures has no floor.
        if case["normal_changepoints"].is_array() {
            let no_floor = pelt::Options { variance_floor: Some(1e-30), ..options };
            assert_eq!(search(no_floor), indices(&case["normal_changepoints"]));
        }
    }
    assert!(found > 30);
}

#[test]
fn divisive_splits_are_those_of_the_definition() {
    for case in cases("divisive") {
        let options = divisive::Options::default();
        let got = divisive::e_divisive(&numbers(&case["values"]), options).expect("a division");
        let first = got.changes[0];
        assert_eq!(first.at as u64, case["at"].as_u64().expect("an index"));
        assert_close(first.statistic, number(&case["statistic"]), 1e-12, "statistic");
    }
}

#[test]
fn windows_spread_and_drift_as_in_numpy() {
    let mut steady = 0;
    for case in cases("steady_state") {
        let got = steady_state(&numbers(&case["values"]), Rule::default()).expect("a window");
        assert_close(got.range_percent, number(&case["range_percent"]), 1e-12, "range");
        let wanted = number(&case["excursion_percent"]);
        assert!((got.excursion_percent - wanted).abs() < 1e-10, "{got:?} is not {wanted}");
        steady += usize::from(got.steady);
    }
    assert!((5..=25).contains(&steady), "{steady}");
}

/// gamma, alpha and beta, as far as the model has them.
fn estimates(fit: &Fit) -> Vec<ParameterEstimate> {
    [Some(fit.gamma), fit.alpha, fit.beta].into_iter().flatten().collect()
}

fn assert_fit(fit: &Fit, wanted: &Value, name: &str) {
    let (values, errors) = (numbers(&wanted["parameters"]), numbers(&wanted["std_errors"]));
    let got = estimates(fit);
    assert_eq!(got.len(), values.len(), "{name}");
    for (index, estimate) in got.iter().enumerate() {
        assert_close(estimate.value, values[index], 1e-9, name);
        assert_close(estimate.std_error, errors[index], 1e-9, name);
    }
    let residual = number(&wanted["residual_std_error"]);
    assert_close(fit.residual_std_error, residual, 1e-9, name);
}

fn assert_peak(got: &Peak, wanted: &Value) {
    assert_close(got.n, number(&wanted["n"]), 1e-6, "peak n");
    assert_close(got.x, number(&wanted["x"]), 1e-6, "peak x");
    let (n_ends, x_ends) = (numbers(&wanted["n_interval"]), numbers(&wanted["x_interval"]));
    assert_close(got.n_interval.low, n_ends[0], 1e-4, "low end of n");
    assert_close(got.n_interval.high, n_ends[1], 1e-4, "high end of n");
    assert_close(got.x_interval.low, x_ends[0], 1e-4, "low end of x");
    assert_close(got.x_interval.high, x_ends[1], 1e-4, "high end of x");
}

#[test]
fn laws_are_fitted_as_by_scipy() {
    for case in cases("scalability") {
        let name = case["name"].as_str().expect("a name");
        let (n, x) = (numbers(&case["n"]), numbers(&case["x"]));
        let got = scalability(&n, &x, Errors::OfOneSize, 0.95).expect("a fit");
        let (amdahl, usl) = (got.amdahl.expect("Amdahl's law"), got.usl.expect("the USL"));
        assert_fit(&amdahl, &case["amdahl"], name);
        let free = numbers(&case["usl"]["parameters"]);
        if free[2] >= 0.0 {
            assert_fit(&usl, &case["usl"], name);
            let p = got.third_parameter_p.expect("a test of beta");
            assert_close(p, number(&case["third_parameter_p"]), 1e-6, name);
            assert_peak(&got.peak.expect("a peak"), &case["peak"]);
            continue;
        }
        // The free optimum has beta below 0, so Amdahl's law is used.
        assert_eq!(usl.model, Model::Amdahl, "{name}");
        assert_fit(&usl, &case["amdahl"], name);
        let (alpha, beta) = usl.given_up.expect("the optimum given up");
        assert_close(alpha, free[1], 1e-9, name);
        assert_close(beta, free[2], 1e-9, name);
        assert!(got.peak.is_err());
    }
}

/// As the R package usl (2.0) prints for its data set `specsdm91`: coefficients, standard errors
/// and residual standard error.
#[test]
fn the_published_example_comes_out_as_published() {
    let case = &cases("scalability")[0];
    let (n, x) = (numbers(&case["n"]), numbers(&case["x"]));
    let got = scalability(&n, &x, Errors::OfOneSize, 0.95).expect("a fit");
    let usl = got.usl.expect("the USL");
    let published =
        [(89.995_233_0, 14.213_489_4), (0.027_728_5, 0.009_121_7), (0.000_104_4, 0.000_019_9)];
    for (estimate, (value, std_error)) in estimates(&usl).iter().zip(published) {
        assert_close(estimate.value, value, 1e-3, "value");
        assert_close(estimate.std_error, std_error, 5e-3, "standard error");
    }
    assert_close(usl.residual_std_error, 82.8, 1e-3, "residual standard error");
    assert_eq!(usl.degrees_of_freedom, 4);
    assert_eq!(got.chosen.model, Model::Usl);
    let peak = got.peak.expect("a peak");
    assert_close(peak.n, 96.52, 1e-3, "peak");
    assert!(peak.within_range && peak.n_interval.contains(peak.n));
}
