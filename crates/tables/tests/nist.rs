//! NIST's Statistical Reference Datasets for the analysis of variance, from the text of a table to
//! the answer.
//!
//! All digits certified by NIST are matched, including those of `SmLs07` to `SmLs09`, in whose
//! values thirteen digits are constant: as doubles, they would retain four. The certified numbers
//! are in a fixture of the crate `stats`, whose test `design` checks the analysis alone against
//! them.

use std::fmt::Write as _;

use serde_json::Value;
use stats::design::Options;
use tables::answer::AnovaAnswer;
use tables::{Grid, Observations};

fn cases() -> Vec<Value> {
    let fixture = include_str!("../../stats/tests/fixtures/design.json");
    let fixture: Value = serde_json::from_str(fixture).expect("a fixture in JSON");
    fixture["nist"].as_array().expect("a list").clone()
}

/// Treatments and responses of the `SmLs` sets, which follow a rule: 21, 201 or 2001 replicates of
/// nine treatments, with 1, 7 or 13 constant leading digits.
fn smls(number: usize) -> Vec<(usize, String)> {
    let leading = ["1", "1000000", "1000000000000"][(number - 1) / 3];
    let replicates = [21, 201, 2001][(number - 1) % 3];
    let mut rows = Vec::new();
    for treatment in 1..=9 {
        let middle = if treatment == 1 { 4 } else { 3 + 2 * (treatment % 2) };
        for replicate in 0..replicates {
            let digit = if replicate == 0 { middle } else { middle + 1 - 2 * (replicate % 2) };
            rows.push((treatment, format!("{leading}.{digit}")));
        }
    }
    rows
}

/// The rows of a case. The shortest decimal of a stored double is what is in NIST's file.
fn rows(case: &Value) -> Vec<(usize, String)> {
    if let Some(number) = case["name"].as_str().expect("a name").strip_prefix("SmLs0") {
        return smls(number.parse().expect("a number"));
    }
    let list = |key: &str| case[key].as_array().expect("a list").clone();
    let treatment = |group: &Value| group.to_string().parse().expect("a small number");
    let groups = list("groups").iter().map(treatment).collect::<Vec<usize>>();
    groups.into_iter().zip(list("values").iter().map(Value::to_string)).collect()
}

fn table(rows: &[(usize, String)]) -> String {
    let mut text = "treatment,response\n".to_owned();
    for (treatment, response) in rows {
        writeln!(text, "{treatment},{response}").expect("a string has room");
    }
    text
}

fn answer(text: &str) -> AnovaAnswer {
    let grid = Grid::parse("nist.csv", text).expect("a table");
    let observations = Observations::long(&grid, "response", &["treatment".to_owned()]);
    AnovaAnswer::new(&observations.expect("observations"), &Options::default()).expect("an answer")
}

#[test]
fn certified_values_are_reached_from_text() {
    let cases = cases();
    assert_eq!(cases.len(), 11);
    for case in cases {
        let got = answer(&table(&rows(&case)));
        let [between, within] = &got.anova[..] else { panic!("{}", case["name"]) };
        assert_eq!(got.model, "additive", "{}", case["name"]);
        for (got, key) in
            [(between.f.unwrap(), "f"), (between.sum_sq, "between"), (within.sum_sq, "within")]
        {
            let wanted = case["certified"][key].as_f64().expect("a number");
            let error = (got / wanted - 1.0).abs();
            assert!(error <= 1e-12, "{}, {key}: {got}, off by {error:.1e}", case["name"]);
        }
        assert_eq!(
            [between.df, within.df].map(Value::from).to_vec(),
            *case["df"].as_array().unwrap()
        );
    }
}

#[test]
fn means_are_those_of_the_table() {
    let got = answer(&table(&smls(7)));
    let first = "1000000000000.4".parse::<f64>().unwrap();
    // The means of the treatments are .4 once, and .3 and .5 four times each.
    assert!((got.grand_mean.estimate - first).abs() <= 2.5e-4);
    assert!((got.totals.mean / 189.0 / 1e24 - 1.0).abs() < 1e-11);
    assert!((got.effects[1].estimate.estimate + 0.1).abs() < 1e-14);
}
