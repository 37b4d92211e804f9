//! Designed experiments compared with statsmodels, `SciPy` and NIST: see `fixtures/design.py`.

use serde_json::Value;
use stats::design::{
    Adjustment, Analysis, Diagnostic, Estimate, Factor, ModelChoice, Options, Table, analyse,
    contrasts, ranks,
};

fn fixture() -> Value {
    serde_json::from_str(include_str!("fixtures/design.json")).expect("a fixture in JSON")
}

fn list(value: &Value) -> &Vec<Value> {
    value.as_array().expect("a list")
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

fn whole(value: &Value) -> u32 {
    u32::try_from(value.as_u64().expect("a whole number")).expect("a small one")
}

fn numbers(value: &Value) -> Vec<f64> {
    list(value).iter().map(number).collect()
}

#[track_caller]
fn assert_close(got: f64, wanted: f64, tolerance: f64, what: &str) {
    // Differences of effects near 0 cannot be more accurate than the values behind them.
    let error = (got - wanted).abs() / wanted.abs().max(1e-3);
    assert!(error <= tolerance, "{what}: {got} is not {wanted}, off by {error:.1e}");
}

fn table(dims: &[u32], levels: Vec<Vec<u32>>, values: Vec<f64>) -> Table {
    let factor = |(axis, levels): (usize, &u32)| Factor {
        name: format!("f{axis}"),
        levels: (0..*levels).map(|level| level.to_string()).collect(),
    };
    let factors = dims.iter().enumerate().map(factor).collect();
    Table::new(factors, levels, values).expect("a valid table")
}

fn additive(interacting: Option<usize>) -> Options {
    Options { model: ModelChoice::Additive, levels: vec![0.95], interacting }
}

fn assert_estimate(got: &Estimate, wanted: &Value, what: &str) {
    let wanted = numbers(wanted);
    assert_close(got.estimate, wanted[0], 1e-9, what);
    assert_close(got.std_error.expect("a standard error"), wanted[1], 1e-9, what);
    assert_close(got.intervals[0].low, wanted[2], 1e-9, what);
    assert_close(got.intervals[0].high, wanted[3], 1e-9, what);
}

fn table_of(case: &Value) -> Table {
    let dims: Vec<u32> = list(&case["dims"]).iter().map(whole).collect();
    let columns = list(&case["levels"]).iter();
    let levels = columns.map(|column| list(column).iter().map(whole).collect()).collect();
    table(&dims, levels, numbers(&case["values"]))
}

/// Balanced designs, those of one and two factors with unequal replications, and all others.
fn cases() -> Vec<Value> {
    let fixture = fixture();
    list(&fixture["designs"]).iter().chain(list(&fixture["unequal"])).cloned().collect()
}

fn analysed(case: &Value) -> Analysis {
    let order = usize::try_from(whole(&case["order"])).expect("a small one");
    analyse(&table_of(case), &additive(Some(order))).expect("an analysis")
}

#[test]
fn effects_and_intervals_agree_with_statsmodels() {
    for case in &cases() {
        let (name, got) = (case["name"].as_str().unwrap(), analysed(case));
        assert_estimate(&got.grand_mean, &case["grand"], name);
        let wanted: Vec<&Value> = list(&case["effects"]).iter().flat_map(list).collect();
        assert_eq!(got.effects.len(), wanted.len(), "{name}");
        for (effect, wanted) in got.effects.iter().zip(wanted) {
            let what = format!("{name}, {} {}", effect.factor, effect.level);
            assert_estimate(&effect.estimate, wanted, &what);
        }
    }
}

#[test]
fn analyses_of_variance_agree_with_statsmodels() {
    for case in &cases() {
        let (name, got) = (case["name"].as_str().unwrap(), analysed(case));
        let wanted = list(&case["anova"]);
        assert_eq!(got.anova.len(), wanted.len(), "{name}");
        for (source, wanted) in got.anova.iter().zip(wanted) {
            let what = format!("{name}, {}", source.name);
            assert_close(source.sum_sq, number(&wanted[0]), 1e-9, &what);
            assert_close(source.df as f64, number(&wanted[1]), 0.0, &what);
            assert_eq!(source.f.is_some(), wanted[2].is_f64(), "{what}");
            if let (Some(f), Some(p)) = (source.f, source.p) {
                assert_close(f, number(&wanted[2]), 1e-9, &what);
                assert_close(p, number(&wanted[3]), 1e-9, &what);
            }
        }
    }
}

#[test]
fn contrasts_agree_with_statsmodels() {
    for case in &cases() {
        let (name, got) = (case["name"].as_str().unwrap(), analysed(case));
        let pairs = contrasts(&got, "f0", Adjustment::Holm).expect("contrasts");
        let wanted = list(&case["pairs"]);
        assert_eq!(pairs.len(), wanted.len(), "{name}");
        for (pair, wanted) in pairs.iter().zip(wanted) {
            let what = format!("{name}, {} - {}", pair.first, pair.second);
            assert_close(pair.difference, number(&wanted[0]), 1e-9, &what);
            assert_close(pair.std_error, number(&wanted[1]), 1e-9, &what);
            assert_close(pair.intervals[0].low, number(&wanted[2]), 1e-9, &what);
            assert_close(pair.p, number(&wanted[4]), 1e-9, &what);
        }
    }
}

#[test]
fn tukey_agrees_with_scipy() {
    let mut compared = 0;
    for case in list(&fixture()["designs"]).iter().filter(|case| case["tukey"].is_array()) {
        let name = case["name"].as_str().unwrap();
        let pairs = contrasts(&analysed(case), "f0", Adjustment::Tukey).expect("contrasts");
        for (pair, wanted) in pairs.iter().zip(list(&case["tukey"])) {
            let what = format!("{name}, {} - {}", pair.first, pair.second);
            assert_close(pair.p_adjusted, number(&wanted[0]), 1e-9, &what);
            assert_close(pair.simultaneous[0].low, number(&wanted[1]), 1e-9, &what);
            assert_close(pair.simultaneous[0].high, number(&wanted[2]), 1e-9, &what);
            compared += 1;
        }
    }
    assert_eq!(compared, 12);
}

#[test]
fn diagnostics_agree_with_scipy_and_an_explicit_residual_maker() {
    let mut compared = 0;
    for case in list(&fixture()["designs"]) {
        let got = analysed(case);
        let wanted = &case["diagnostics"];
        assert_eq!(got.diagnostics.len(), wanted.as_object().unwrap().len(), "{}", case["name"]);
        for diagnostic in &got.diagnostics {
            let what = format!("{}, {diagnostic}", case["name"]);
            let (key, first) = match *diagnostic {
                Diagnostic::Normality { a_squared, .. } => ("normality", a_squared),
                Diagnostic::EqualSpread { f, .. } => ("equal_spread", f),
                Diagnostic::SpreadAgainstMean { correlation, .. } => ("against_mean", correlation),
                Diagnostic::NonAdditivity { f, .. } => ("non_additivity", f),
                Diagnostic::Order { correlation, expected, .. } => {
                    assert_close(expected, number(&wanted["order"][1]), 1e-9, &what);
                    ("order", correlation)
                }
                Diagnostic::ExactFit => panic!("{what}"),
            };
            assert_close(first, number(&wanted[key][0]), 1e-9, &what);
            let p = list(&wanted[key]).last().map(number).unwrap();
            assert_close(diagnostic.p().unwrap(), p, 1e-9, &what);
            compared += 1;
        }
    }
    assert_eq!(compared, 30);
}

#[test]
fn rank_tests_agree_with_scipy() {
    let fixture = &fixture()["ranks"];
    let check = |got: ranks::RankTest, wanted: &Value| {
        assert_close(got.statistic, number(&wanted[0]), 1e-12, "statistic");
        assert_close(got.p, number(&wanted[1]), 1e-9, "p");
    };
    let groups: Vec<Vec<f64>> = list(&fixture["groups"]).iter().map(numbers).collect();
    let level_of = |(level, group): (u32, &Vec<f64>)| vec![level; group.len()];
    let levels = (0..).zip(&groups).flat_map(level_of).collect();
    let one = table(&[3], vec![levels], groups.concat());
    check(ranks::kruskal_wallis(&one).unwrap(), &fixture["kruskal"]);

    let blocks: Vec<Vec<f64>> = list(&fixture["blocks"]).iter().map(numbers).collect();
    let rows = (0..9).flat_map(|row| [row; 4]).collect();
    let columns = (0..9).flat_map(|_| 0..4).collect();
    let two = table(&[9, 4], vec![rows, columns], blocks.concat());
    check(ranks::friedman(&two, "f1").unwrap(), &fixture["friedman"]);
}

/// The observations of a case: as stored, or by the rule of NIST's `SmLs` sets.
fn nist_table(case: &Value) -> Table {
    let name = case["name"].as_str().unwrap();
    if let Some(groups) = case["groups"].as_array() {
        let levels: Vec<u32> = groups.iter().map(whole).collect();
        let count = levels.iter().max().unwrap() + 1;
        return table(&[count], vec![levels], numbers(&case["values"]));
    }
    let number: usize = name.strip_prefix("SmLs0").unwrap().parse().unwrap();
    let leading = ["1", "1000000", "1000000000000"][(number - 1) / 3];
    let replicates = [21, 201, 2001][(number - 1) % 3];
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    for treatment in 0..9_u32 {
        let middle = if treatment == 0 { 4 } else { 5 - 2 * (treatment % 2) };
        for replicate in 0..replicates {
            let digit = if replicate == 0 { middle } else { middle + 1 - 2 * (replicate % 2) };
            levels.push(treatment);
            values.push(format!("{leading}.{digit}").parse().unwrap());
        }
    }
    table(&[9], vec![levels], values)
}

/// Two tolerances. Against rational arithmetic on the doubles as given, this code's own errors;
/// against the certified values, those of representing the data as doubles, which with thirteen
/// constant digits leaves anybody at most four. As differences from an offset, these data sets are
/// no harder than the others: see the next test, and `crates/tables/tests/nist.rs`, where they are
/// read from the text of a table.
#[test]
fn nist_reference_datasets() {
    let fixture = fixture();
    let cases = list(&fixture["nist"]);
    assert_eq!(cases.len(), 11);
    for case in cases {
        let name = case["name"].as_str().unwrap();
        let got = analyse(&nist_table(case), &additive(None)).expect("an analysis");
        let [between, within] = &got.anova[..] else { panic!("{name}") };
        let certified_to = match name {
            "SmLs07" | "SmLs08" | "SmLs09" => 1.3e-4,
            "AtmWtAg" | "SmLs04" | "SmLs05" | "SmLs06" => 1.2e-10,
            _ => 1e-12,
        };
        for (key, tolerance) in [("exact", 1e-12), ("certified", certified_to)] {
            let what = |of: &str| format!("{name}, {key} {of}");
            let relative = |got: f64, of: &str| {
                let wanted = number(&case[key][of]);
                assert_close(got / wanted, 1.0, tolerance, &what(of));
            };
            relative(between.f.expect("an F"), "f");
            relative(between.sum_sq, "between");
            relative(within.sum_sq, "within");
        }
        assert_eq!([between.df, within.df].map(Value::from).to_vec(), *list(&case["df"]));
    }
}

/// All digits of the certified values, with the constant digits as the table's offset.
#[test]
fn nist_reference_datasets_as_differences_from_an_offset() {
    let fixture = fixture();
    let smls = |case: &&Value| case["name"].as_str().unwrap().starts_with("SmLs");
    for case in list(&fixture["nist"]).iter().filter(smls) {
        let whole = nist_table(case);
        let offset = whole.values()[0].floor();
        let tenth = |value: &f64| ((value - offset) * 10.0).round() / 10.0;
        let rest = whole.values().iter().map(tenth).collect();
        let table = Table::new(whole.factors().to_vec(), whole.levels().to_vec(), rest)
            .and_then(|table| table.with_offset(offset))
            .expect("a valid table");
        let got = analyse(&table, &additive(None)).expect("an analysis");
        let certified = &case["certified"];
        let close = |got: f64, of: &str| {
            let what = format!("{}, {of}", case["name"]);
            assert_close(got / number(&certified[of]), 1.0, 1e-13, &what);
        };
        close(got.anova[0].f.expect("an F"), "f");
        close(got.anova[0].sum_sq, "between");
        close(got.anova[1].sum_sq, "within");
    }
}
