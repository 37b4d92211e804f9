//! What must hold for any analysis, and what each choice and diagnostic responds to.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;

/// Roughly normal errors of standard deviation 1.
fn errors(seed: u64) -> impl FnMut() -> f64 {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    move || (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0
}

/// `rows` x `columns` x `times` observations, each computed from its row and column.
fn made(size: [usize; 3], mut of: impl FnMut(usize, usize) -> f64) -> Table {
    let mut builder = TableBuilder::new(["a", "b"]);
    for _ in 0..size[2] {
        for a in 0..size[0] {
            for b in 0..size[1] {
                builder.row(&[format!("a{a}"), format!("b{b}")], of(a, b)).unwrap();
            }
        }
    }
    builder.build().unwrap()
}

#[test]
fn shares_sum_to_the_whole_and_effects_to_nothing() {
    let mut error = errors(1);
    let table = made([4, 5, 3], |a, b| 10.0 + (a * b) as f64 + error());
    let got = analyse(&table, &options(ModelChoice::Additive)).unwrap();
    let shares: f64 = got.anova.iter().map(|source| source.percent_of_variation).sum();
    assert_printed(shares, 100.0, 1e-9);
    let squares: f64 = got.anova.iter().map(|source| source.sum_sq).sum();
    assert_printed(squares, got.totals.about_mean, 1e-9);
    assert_printed(got.totals.observations, got.totals.mean + got.totals.about_mean, 1e-8);
    assert_eq!(got.totals.df, got.anova.iter().map(|source| source.df).sum::<u64>());
    for factor in ["a", "b"] {
        let of_factor = got.effects.iter().filter(|effect| effect.factor == factor);
        assert_printed(of_factor.map(|effect| effect.estimate.estimate).sum(), 0.0, 1e-9);
    }
}

#[test]
fn an_interaction_is_found_by_its_levels() {
    let table = two_way(&[
        &[&[10.0, 12.0], &[20.0, 22.0], &[30.0, 33.0]],
        &[&[11.0, 13.0], &[20.0, 23.0], &[50.0, 51.0]],
    ]);
    let got = analyse(&table, &options(ModelChoice::Additive)).unwrap();
    let [interaction] = &got.interactions[..] else { panic!("one interaction") };
    assert_eq!(interaction.factors, ["a", "b"]);
    // The cell's mean 50.5 minus row mean 28 and column mean 41, plus the grand mean 24.583.
    let last = interaction.at(&[1, 2]).unwrap();
    assert_printed(last.estimate, 50.5 - 28.0 - 41.0 + 295.0 / 12.0, 1e-9);
    // Jain, section 22.6: s_e sqrt((a - 1)(b - 1) / abr).
    let deviation = got.error_deviation.unwrap();
    assert_printed(last.std_error.unwrap(), deviation * (2.0_f64 / 12.0).sqrt(), 1e-12);
    assert_eq!(last.intervals.len(), 2);
    assert!(interaction.at(&[2, 0]).is_none() && interaction.at(&[0]).is_none());
}

#[test]
fn a_multiplicative_model_reports_ratios() {
    // Each step of a doubles and each of b multiplies by ten; errors are also factors.
    let mut error = errors(2);
    let mean = |a: usize, b: usize| 2.0 * 2_f64.powf(a as f64) * 10_f64.powf(b as f64);
    let table = made([3, 3, 4], |a, b| mean(a, b) * (1.0 + error() / 1e4));
    let got = analyse(&table, &options(ModelChoice::Auto)).unwrap();
    assert_eq!(got.model, Model::Multiplicative);
    assert!(matches!(got.why, ModelReason::WideRatio { .. }), "{}", got.why);
    assert_printed(got.geometric_mean.as_ref().unwrap().estimate, 40.0, 0.02);
    let ratios: Vec<f64> =
        got.effects.iter().map(|effect| effect.ratio.as_ref().unwrap().estimate).collect();
    for (ratio, wanted) in ratios.iter().zip([0.5, 1.0, 2.0, 0.1, 1.0, 10.0]) {
        assert_printed(ratio / wanted, 1.0, 1e-3);
    }
    let pairs = contrasts(&got, "b", Adjustment::Tukey).unwrap();
    let ratio = pairs[1].ratio.as_ref().unwrap();
    assert_printed(ratio.estimate, 0.01, 1e-5);
    assert!(ratio.intervals[1].low < ratio.estimate && ratio.intervals[1].high < 0.0101);
}

#[test]
fn a_spread_that_grows_with_the_mean_calls_for_logarithms() {
    let mut error = errors(3);
    let mean = |a: usize, b: usize| 100.0 + 40.0 * a as f64 + 60.0 * b as f64;
    let growing = made([4, 5, 8], |a, b| mean(a, b) * (1.0 + error() / 20.0));
    let got = analyse(&growing, &options(ModelChoice::Auto)).unwrap();
    let ModelReason::SpreadGrows { slope, .. } = got.why else { panic!("{}", got.why) };
    assert_eq!(got.model, Model::Multiplicative);
    assert!((slope - 1.0).abs() < 0.4, "{slope}");

    let even = made([4, 5, 8], |a, b| mean(a, b) + 5.0 * error());
    let got = analyse(&even, &options(ModelChoice::Auto)).unwrap();
    assert_eq!(got.model, Model::Additive);
    assert!(matches!(got.why, ModelReason::Plain { slope: Some(slope), .. } if slope.abs() < 0.5));
}

#[test]
fn pooling_an_interaction_moves_its_squares_to_the_errors() {
    let table = two_way(&[
        &[&[10.0, 12.0, 11.0], &[20.0], &[30.0, 33.0]],
        &[&[11.0], &[20.0, 23.0], &[50.0, 51.0, 54.0, 50.5]],
    ]);
    let with = analyse(&table, &options(ModelChoice::Additive)).unwrap();
    let pooled = Options { interacting: Some(1), ..options(ModelChoice::Additive) };
    let without = analyse(&table, &pooled).unwrap();
    assert_eq!(
        with.design.to_string(),
        "two-factor full factorial with 1 to 4 replications, type II sums of squares"
    );
    for factor in 0..2 {
        assert_printed(without.anova[factor].sum_sq, with.anova[factor].sum_sq, 1e-9);
    }
    assert_printed(without.anova[2].sum_sq, with.anova[2].sum_sq + with.anova[3].sum_sq, 1e-9);
    assert_eq!(without.error_df, with.error_df + 2);
    assert!(without.interactions.is_empty() && with.interactions[0].std_error.is_none());
}

#[test]
fn the_order_of_factors_does_not_matter_to_unequal_replications() {
    let mut error = errors(4);
    let counts = |a: usize, b: usize| 1 + (a * 5 + b * 3) % 4;
    let build = |turned: bool, error: &mut dyn FnMut() -> f64| {
        let names = if turned { ["b", "a"] } else { ["a", "b"] };
        let mut builder = TableBuilder::new(names);
        for (a, b) in (0..3).flat_map(|a| (0..6).map(move |b| (a, b))) {
            for _ in 0..counts(a, b) {
                let (a, b) = (format!("a{a}"), format!("b{b}"));
                let row = if turned { [b, a] } else { [a, b] };
                builder.row(&row, error()).unwrap();
            }
        }
        builder.build().unwrap()
    };
    let mut drawn = Vec::new();
    let there = build(false, &mut || {
        drawn.push(error());
        drawn[drawn.len() - 1]
    });
    let mut again = drawn.iter();
    let back = build(true, &mut || *again.next().unwrap());
    let there = analyse(&there, &options(ModelChoice::Additive)).unwrap();
    let back = analyse(&back, &options(ModelChoice::Additive)).unwrap();
    for (one, other) in [(0, 1), (1, 0), (2, 2), (3, 3)] {
        assert_printed(there.anova[one].sum_sq, back.anova[other].sum_sq, 1e-9);
    }
}

fn warnings(table: &Table) -> Vec<Diagnostic> {
    let got = analyse(table, &options(ModelChoice::Additive)).unwrap();
    got.diagnostics.into_iter().filter(Diagnostic::is_warning).collect()
}

#[test]
fn each_fault_raises_its_own_warning_and_sound_data_none() {
    let mut error = errors(5);
    assert_eq!(warnings(&made([4, 5, 8], |a, b| (a + b) as f64 + error())), []);

    let mut run = 0.0;
    let drift = made([4, 5, 8], |_, _| {
        run += 1.0;
        run / 20.0 + error()
    });
    let is_order =
        |w: &Diagnostic| matches!(w, Diagnostic::Order { correlation, .. } if *correlation > 0.5);
    assert!(warnings(&drift).iter().any(is_order), "{:?}", warnings(&drift));

    let skewed = made([4, 5, 8], |_, _| (1.5 * error()).exp());
    assert!(warnings(&skewed).iter().any(|w| matches!(w, Diagnostic::Normality { .. })));

    let uneven = made([4, 5, 8], |a, _| error() * if a == 0 { 6.0 } else { 1.0 });
    assert!(warnings(&uneven).iter().any(|w| matches!(w, Diagnostic::EqualSpread { .. })));

    let growing = made([6, 6, 2], |a, b| {
        let size = 1.0 + (a * b) as f64;
        size * (10.0 + error())
    });
    assert!(warnings(&growing).iter().any(|w| matches!(w, Diagnostic::SpreadAgainstMean { .. })));

    let product = made([5, 6, 1], |a, b| (1.0 + a as f64) * (1.0 + b as f64) + error() / 4.0);
    assert!(warnings(&product).iter().any(|w| matches!(w, Diagnostic::NonAdditivity { .. })));
}

#[test]
fn diagnostics_are_sentences() {
    let all = [
        Diagnostic::Normality { a_squared: 0.3117, p: 0.551, examined: 15 },
        Diagnostic::EqualSpread { f: 1.25, df1: 3, df2: 20, p: 0.000_2 },
        Diagnostic::SpreadAgainstMean { correlation: 0.5, p: 0.06, cells: 15 },
        Diagnostic::Order { correlation: -0.5, expected: -0.25, p: 0.04, pairs: 14 },
        Diagnostic::NonAdditivity { f: 8.0, df: 7, p: 0.009 },
        Diagnostic::ExactFit,
    ];
    let wanted = [
        "normality of 15 residuals: Anderson-Darling A^2 = 0.312, p = 0.55",
        "equal spread of all cells: Brown-Forsythe F(3, 20) = 1.250, p = 0.00020",
        "size of residuals against fitted values of 15 cells: r = 0.500, p = 0.060",
        "order of 14 pairs of neighbours: r = -0.500, expected -0.250, p = 0.040",
        "effects that multiply: Tukey's non-additivity F(1, 7) = 8.000, p = 0.0090",
        "the model fits without error, so there is no F, p or interval",
    ];
    for (diagnostic, wanted) in all.iter().zip(wanted) {
        assert_eq!(diagnostic.to_string(), wanted);
    }
    let warns: Vec<bool> = all.iter().map(Diagnostic::is_warning).collect();
    assert_eq!(warns, [false, true, false, false, true, true]);
}

/// Sound data triggers warnings about as often as the p values say; some of these are
/// approximations.
#[test]
#[ignore = "a simulation of seconds in release"]
fn diagnostics_warn_as_often_as_they_say() {
    for (size, seed) in [([5, 3, 1], 10), ([8, 6, 1], 11), ([4, 5, 2], 12), ([3, 4, 5], 13)] {
        let mut error = errors(seed);
        let trials = 4_000;
        let mut below = std::collections::BTreeMap::<&str, [u32; 2]>::new();
        for _ in 0..trials {
            let table = made(size, |a, b| (3 * a + b) as f64 + error());
            let got = analyse(&table, &options(ModelChoice::Additive)).unwrap();
            for diagnostic in &got.diagnostics {
                let name = match diagnostic {
                    Diagnostic::Normality { .. } => "normality",
                    Diagnostic::EqualSpread { .. } => "equal spread",
                    Diagnostic::SpreadAgainstMean { .. } => "spread against mean",
                    Diagnostic::Order { .. } => "order",
                    Diagnostic::NonAdditivity { .. } => "non-additivity",
                    Diagnostic::ExactFit => panic!("there are errors"),
                };
                let counts = below.entry(name).or_default();
                let p = diagnostic.p().unwrap();
                counts[0] += u32::from(p < 0.01);
                counts[1] += u32::from(p < 0.05);
            }
        }
        for (name, counts) in below {
            let [at_1, at_5] = counts.map(|count| f64::from(count) / f64::from(trials));
            assert!(at_1 < 0.03 && at_5 < 0.09, "{size:?}, {name}: {at_1}, {at_5}");
        }
    }
}

/// Two million observations; the test runner reports how long it takes, table included.
#[test]
#[ignore = "a measurement, to be run in release"]
fn two_million_observations() {
    let names = |name: &str| Factor {
        name: name.to_owned(),
        levels: (0..1_000).map(|level| level.to_string()).collect(),
    };
    let rows = (0..1_000).flat_map(|row| [row; 2_000]).collect();
    let columns = (0..1_000).flat_map(|_| (0..1_000).flat_map(|column| [column; 2])).collect();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(6);
    let values = (0..2_000_000).map(|_| random.random::<f64>()).collect();
    let table = Table::new(vec![names("a"), names("b")], vec![rows, columns], values).unwrap();
    let got = analyse(&table, &Options::default()).unwrap();
    assert_eq!(got.error_df, 1_000_000);
}
