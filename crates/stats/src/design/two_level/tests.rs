//! Examples of Jain's chapters 17 to 19, and fractions whose confounding is known.

use super::super::{ModelChoice, Table, TableBuilder};
use super::*;

fn options(model: ModelChoice) -> Options {
    Options { model, levels: vec![0.9], interacting: None }
}

/// Runs given as signs, one letter per factor, with their observations.
fn table(runs: &[(&str, &[f64])]) -> Table {
    let names = ["A", "B", "C", "D", "E", "F", "G"];
    let factors = names[..runs[0].0.len()].iter().map(|&name| super::super::Factor {
        name: name.to_owned(),
        levels: vec!["-".to_owned(), "+".to_owned()],
    });
    let factors: Vec<super::super::Factor> = factors.collect();
    let mut levels = vec![Vec::new(); factors.len()];
    let mut values = Vec::new();
    for (signs, observed) in runs {
        for &value in *observed {
            values.push(value);
            for (column, sign) in levels.iter_mut().zip(signs.chars()) {
                column.push(u32::from(sign == '+'));
            }
        }
    }
    Table::new(factors, levels, values).unwrap()
}

fn effect(analysis: &TwoLevel, name: &str) -> TwoLevelEffect {
    let named = |effect: &&TwoLevelEffect| analysis.name(effect.word) == name;
    analysis.effects.iter().find(named).unwrap_or_else(|| panic!("no effect {name}")).clone()
}

#[track_caller]
fn assert_printed(got: f64, printed: f64, half_unit: f64) {
    assert!((got - printed).abs() <= half_unit * 1.0001, "{got} is not {printed}");
}

// Jain, section 17.2: memory and cache of a workstation.
#[test]
fn jain_without_replications() {
    let runs = table(&[("--", &[15.0]), ("+-", &[45.0]), ("-+", &[25.0]), ("++", &[75.0])]);
    let got = analyse(&runs, &options(ModelChoice::Additive)).unwrap();
    assert_eq!(got.design.to_string(), "2^2 factorial without replications");
    assert_printed(got.grand_mean.estimate, 40.0, 1e-12);
    for (name, q, percent) in [("A", 20.0, 76.19), ("B", 10.0, 19.05), ("A x B", 5.0, 4.76)] {
        let effect = effect(&got, name);
        assert_printed(effect.estimate.estimate, q, 1e-12);
        assert_printed(effect.percent_of_variation, percent, 0.005);
        assert_eq!((effect.estimate.std_error, effect.estimate.intervals.len()), (None, 0));
        assert!(effect.aliases.is_empty());
    }
    assert_eq!((got.error_deviation, got.confounding, got.anova.len()), (None, None, 3));
}

// Jain, sections 18.2 to 18.5, in another order of rows than the book's.
#[test]
fn jain_with_replications() {
    let runs = table(&[
        ("++", &[75.0, 75.0, 81.0]),
        ("--", &[15.0, 18.0, 12.0]),
        ("-+", &[25.0, 28.0, 19.0]),
        ("+-", &[45.0, 48.0, 51.0]),
    ]);
    let got = analyse(&runs, &options(ModelChoice::Additive)).unwrap();
    assert_printed(got.grand_mean.estimate, 41.0, 1e-12);
    assert_printed(got.anova[3].sum_sq, 102.0, 1e-9);
    assert_printed(got.error_deviation.unwrap(), 3.57, 0.005);
    assert_eq!(got.anova[3].df, 8);
    for (name, q, low, high) in
        [("A", 21.5, 19.58, 23.41), ("B", 9.5, 7.58, 11.41), ("A x B", 5.0, 3.08, 6.91)]
    {
        let estimate = effect(&got, name).estimate;
        assert_printed(estimate.estimate, q, 1e-12);
        assert_printed(estimate.std_error.unwrap(), 1.03, 0.005);
        assert_printed(estimate.intervals[0].low, low, 0.01);
        assert_printed(estimate.intervals[0].high, high, 0.01);
    }
    // F of one degree of freedom is the square of t.
    assert_printed(got.anova[0].f.unwrap(), (21.5_f64).powi(2) / (102.0 / 8.0 / 12.0), 1e-6);
}

// Jain, section 18.8: processors and workloads whose effects multiply.
#[test]
fn jain_multiplicative() {
    let runs = table(&[
        ("--", &[85.10, 79.50, 147.90]),
        ("+-", &[0.891, 1.047, 1.072]),
        ("-+", &[0.955, 0.933, 1.122]),
        ("++", &[0.0148, 0.0126, 0.0118]),
    ]);
    let got = analyse(&runs, &options(ModelChoice::Auto)).unwrap();
    assert_eq!(got.model, Model::Multiplicative);
    let Why::WideRatio { ratio } = got.why else { panic!("{}", got.why) };
    assert_printed(ratio, 12_534.0, 0.5);
    assert_printed(got.grand_mean.estimate, 0.03, 0.005);
    for (name, q, percent) in [("A", -0.97, 49.9), ("B", -0.97, 49.9), ("A x B", 0.03, 0.0)] {
        let effect = effect(&got, name);
        assert_printed(effect.estimate.estimate, q, 0.005);
        assert_printed(effect.percent_of_variation, percent, 0.06);
    }
}

// Jain, section 19.1: 2^(7-4) with D = AB, E = AC, F = BC, G = ABC.
#[test]
fn jain_fraction() {
    let observed = [20.0, 35.0, 7.0, 42.0, 36.0, 50.0, 45.0, 82.0];
    let sign = |positive: bool| if positive { '+' } else { '-' };
    let runs: Vec<(String, Vec<f64>)> = (0..8_u32)
        .map(|run| {
            let [a, b, c] = [0, 1, 2].map(|factor| run >> factor & 1 == 1);
            let signs = [a, b, c, a == b, a == c, b == c, (a == b) == c].map(sign);
            (signs.iter().collect(), vec![observed[run as usize]])
        })
        .collect();
    let runs: Vec<(&str, &[f64])> =
        runs.iter().map(|(signs, values)| (signs.as_str(), values.as_slice())).collect();
    let got = analyse(&table(&runs), &options(ModelChoice::Additive)).unwrap();
    assert_eq!(got.design.to_string(), "2^(7-4) fractional factorial without replications");
    assert_printed(got.grand_mean.estimate, 39.62, 0.006);
    for (name, eighths, percent) in [("A", 101.0, 37.26), ("B", 35.0, 4.47), ("C", 109.0, 43.40)] {
        assert_printed(effect(&got, name).estimate.estimate, eighths / 8.0, 1e-12);
        assert_printed(effect(&got, name).percent_of_variation, percent, 0.005);
    }
    let confounding = got.confounding.as_ref().unwrap();
    let generators: Vec<String> =
        confounding.generators.iter().map(|word| got.name(*word)).collect();
    assert_eq!(generators, ["A x B x D", "A x C x E", "B x C x F", "A x B x C x G"]);
    assert_eq!((confounding.resolution, confounding.defining_relation.len()), (3, 15));
    assert_eq!(effect(&got, "A").aliases.len(), 15);
}

// Jain, section 19.2: 2^(4-1) with D = ABC is of resolution IV; with the other half, D = -ABC.
#[test]
fn both_halves_state_their_confounding() {
    for (negative, generator, alias) in
        [(false, "A x B x C x D", "B x C x D"), (true, "-A x B x C x D", "-B x C x D")]
    {
        let runs: Vec<(String, Vec<f64>)> = (0..8_u32)
            .map(|run| {
                let bits = [0, 1, 2].map(|factor| run >> factor & 1 == 1);
                let product = bits.iter().fold(true, |product, bit| product == *bit);
                let all = [bits[0], bits[1], bits[2], product != negative];
                let signs: String = all.map(|bit| if bit { '+' } else { '-' }).iter().collect();
                // A adds 10 either way, D adds 3 either way, C x D 1.
                let code = |bit: bool| if bit { 1.0 } else { -1.0 };
                let value =
                    50.0 + 10.0 * code(all[0]) + 3.0 * code(all[3]) + code(all[2]) * code(all[3]);
                (signs, vec![value])
            })
            .collect();
        let runs: Vec<(&str, &[f64])> =
            runs.iter().map(|(signs, values)| (signs.as_str(), values.as_slice())).collect();
        let got = analyse(&table(&runs), &options(ModelChoice::Additive)).unwrap();
        let confounding = got.confounding.as_ref().unwrap();
        assert_eq!(confounding.resolution, 4);
        assert_eq!(got.name(confounding.generators[0]), generator);
        let a = effect(&got, "A");
        assert_eq!(got.name(a.aliases[0]), alias);
        assert_printed(a.estimate.estimate, 10.0, 1e-12);
        assert_printed(effect(&got, "D").estimate.estimate, 3.0, 1e-12);
        // C x D is confounded with A x B, under whose name it comes, sign included.
        let sign = if negative { -1.0 } else { 1.0 };
        assert_printed(effect(&got, "A x B").estimate.estimate, sign, 1e-12);
        let shares: f64 = got.effects.iter().map(|e| e.percent_of_variation).sum();
        assert_printed(shares, 100.0, 1e-9);
    }
}

#[test]
fn what_is_no_two_level_design_is_refused() {
    let refused =
        |table: &Table| analyse(table, &options(ModelChoice::Additive)).unwrap_err().to_string();
    let three = [("--", &[1.0][..]), ("+-", &[2.0]), ("-+", &[3.0])];
    assert_eq!(
        refused(&table(&three)),
        "the 3 different runs are no regular fraction of the 4 combinations"
    );
    let irregular = [("---", &[1.0][..]), ("+--", &[2.0]), ("-+-", &[3.0]), ("--+", &[4.0])];
    assert!(refused(&table(&irregular)).contains("4 different runs are no regular fraction"));
    let unequal = [("--", &[1.0, 2.0][..]), ("+-", &[2.0]), ("-+", &[3.0]), ("++", &[5.0])];
    assert!(refused(&table(&unequal)).contains("there are 1 to 2"));
    let mut builder = TableBuilder::new(["a"]);
    ["x", "y", "z"].iter().for_each(|level| builder.row(&[level], 1.0).unwrap());
    assert_eq!(
        refused(&builder.build().unwrap()),
        "a 2^k design needs two levels of every factor, and \"a\" has 3"
    );
    // A factor that never leaves its first level defines a fraction of resolution I.
    let fixed = [("--", &[1.0][..]), ("+-", &[2.0])];
    let got = analyse(&table(&fixed), &options(ModelChoice::Additive)).unwrap();
    assert_eq!(got.confounding.unwrap().resolution, 1);
}
