//! What cannot be analysed is refused by name, and nothing that can be analysed yields NaN.

use super::*;

fn refused(table: &Table) -> String {
    analyse(table, &options(ModelChoice::Auto)).unwrap_err().to_string()
}

#[test]
fn levels_that_were_never_observed_are_named() {
    let levels: Vec<String> = (0..100_000).map(|level| level.to_string()).collect();
    let factor = |name: &str| Factor { name: name.to_owned(), levels: levels.clone() };
    let factors = ["a", "b", "c", "d"].map(factor).to_vec();
    let table = Table::new(factors, vec![vec![0, 1, 2]; 4], vec![1.0, 2.0, 3.0]).unwrap();
    assert_eq!(refused(&table), "no observation of \"3\", a level of \"a\" (and 99996 more)");
}

fn of_cells(cells: &[(&str, &str, f64)]) -> Table {
    let mut builder = TableBuilder::new(["filesystem", "action"]);
    for (file_system, action, value) in cells {
        builder.row(&[*file_system, *action], *value).unwrap();
    }
    builder.build().unwrap()
}

#[test]
fn missing_combinations_need_enough_others() {
    // No errors left: three levels, two levels and the mean take four values.
    let few = [
        ("ext4", "read", 1.0),
        ("ext4", "rewrite", 3.0),
        ("ext2", "read", 1.5),
        ("xfs", "read", 2.0),
    ];
    assert_eq!(
        refused(&of_cells(&few)),
        "a two-factor factorial without replications, 4 of 6 combinations observed, type II sums \
         of squares leaves no degrees of freedom for errors: replicate it"
    );
    // Each file system was observed with a different action.
    let apart = [
        ("ext4", "read", 1.0),
        ("ext4", "read", 1.1),
        ("ext2", "rewrite", 2.0),
        ("ext2", "rewrite", 2.5),
    ];
    assert_eq!(
        refused(&of_cells(&apart)),
        "the observed combinations of levels cannot separate the effects of \"filesystem\" from \
         those of other factors: observe several of its levels with the same levels of the other \
         factors"
    );
}

/// Two file systems were observed with two actions, two others with two other actions: seven
/// effects and eight combinations, but neither half says anything about the other.
#[test]
fn combinations_that_fall_apart_are_refused_however_many_there_are() {
    let halves = [(["ext2", "ext4"], ["read", "rewrite"]), (["xfs", "btrfs"], ["append", "sync"])];
    let mut cells = Vec::new();
    for (file_systems, actions) in halves {
        for file_system in file_systems {
            for action in actions {
                for times in [1.0, 1.5] {
                    cells.push((
                        file_system,
                        action,
                        times * (file_system.len() + action.len()) as f64,
                    ));
                }
            }
        }
    }
    let refusal = refused(&of_cells(&cells));
    assert!(refusal.contains("cannot separate the effects of \"filesystem\""), "{refusal}");
}

#[test]
fn more_combinations_than_can_be_fitted_are_refused_at_once() {
    let mut builder = TableBuilder::new(["a", "b"]);
    for i in 0..6_000_u32 {
        let row = [i % 1_500, i * 7 / 11 % 1_500].map(|level| level.to_string());
        builder.row(&row, f64::from(i % 7)).unwrap();
    }
    let refusal = refused(&builder.build().unwrap());
    let wanted = "combinations of levels, not all of them observed equally often, are too many to \
                  analyse: leave out a factor, or observe every combination equally often";
    assert!(refusal.ends_with(wanted), "{refusal}");
}

#[test]
fn interactions_that_would_take_minutes_are_left_to_the_lack_of_fit() {
    let mut builder = TableBuilder::new(["a", "b", "c"]);
    for i in 0..20_002_u32 {
        let cell = i % 20_001;
        let row = [cell % 27, cell / 27 % 27, cell / 27 / 27].map(|level| level.to_string());
        builder.row(&row, f64::from(i % 7)).unwrap();
    }
    let got = analyse(&builder.build().unwrap(), &options(ModelChoice::Additive)).unwrap();
    let sources: Vec<&str> = got.anova.iter().map(|source| source.name.as_str()).collect();
    assert_eq!(sources, ["a", "b", "c", LACK_OF_FIT, "errors"]);
    assert_eq!(got.predicting, Some(1));
}

/// Half of the combinations of three factors, each observed twice: each factor coincides with the
/// interaction of the other two, so no interaction can be told from it.
#[test]
fn effects_are_not_shared_with_interactions_that_look_the_same() {
    let mut builder = TableBuilder::new(["a", "b", "c"]);
    let rows = [("000", 10.0), ("101", 12.0), ("011", 15.0), ("110", 19.0)];
    for (row, value) in rows.into_iter().chain(rows.map(|(row, value)| (row, value + 1.0))) {
        builder.row(&row.split("").filter(|it| !it.is_empty()).collect::<Vec<_>>(), value).unwrap();
    }
    let got = analyse(&builder.build().unwrap(), &options(ModelChoice::Additive)).unwrap();
    let of = |name: &str| got.anova.iter().find(|source| source.name == name).unwrap();
    // Means of 15.5 and 12.5 + 0.5 each: (16 - 13)^2 / 2 * 4 halves.
    assert!((of("a").sum_sq - 18.0).abs() < 1e-9 && of("a").df == 1, "{:?}", of("a"));
    let shares: f64 = got.anova.iter().map(|source| source.percent_of_variation).sum();
    assert!((shares - 100.0).abs() < 1e-9, "{shares}");
    assert_eq!((got.anova.len(), got.error_df), (4, 4));
}

#[test]
fn designs_without_errors_are_refused() {
    assert_eq!(
        refused(&one_way(&[&[1.0], &[2.0], &[3.0]])),
        "a one-factor full factorial without replications leaves no degrees of freedom for \
         errors: replicate it"
    );
    assert_eq!(
        refused(&one_way(&[&[1.0, 2.0, 3.0]])),
        "factor \"a\" needs at least two levels, but has 1"
    );
    assert_eq!(
        refused(&one_way(&[&[2.5, 2.5], &[2.5, 2.5]])),
        "all 4 observations are 2.5, so there is nothing to explain"
    );
}

#[test]
fn tables_are_validated() {
    let factor = |name: &str, levels: &[&str]| Factor {
        name: name.to_owned(),
        levels: levels.iter().map(|&level| level.to_owned()).collect(),
    };
    let new = |factors: Vec<Factor>, levels: Vec<Vec<u32>>, values: &[f64]| {
        Table::new(factors, levels, values.to_vec()).map_err(|refusal| refusal.to_string())
    };
    let a = factor("a", &["x", "y"]);
    let cases = [
        (new(vec![], vec![], &[1.0, 2.0]), "unknown factor \"\" (the factors are none)"),
        (
            new(vec![a.clone(), a.clone()], vec![vec![0, 1]; 2], &[1.0, 2.0]),
            "the name \"a\" occurs twice among the factors",
        ),
        (
            new(vec![factor("a", &["x", "x"])], vec![vec![0, 1]], &[1.0, 2.0]),
            "the name \"x\" occurs twice among the levels of \"a\"",
        ),
        (
            new(vec![a.clone()], vec![vec![0, 2]], &[1.0, 2.0]),
            "observation 1 has level 2 of \"a\", which has only 2 levels",
        ),
        (
            new(vec![a.clone()], vec![vec![0]], &[1.0, 2.0]),
            "the column of \"a\": 1 entries, but 2 are needed",
        ),
        (
            new(vec![a.clone()], vec![vec![0, 1]], &[1.0, f64::NAN]),
            "value 1 is NaN, but only finite values can be analysed",
        ),
        (
            new(vec![a], vec![vec![0]], &[1.0]),
            "an analysis of variance needs at least 2 values, but got 1",
        ),
    ];
    for (got, wanted) in cases {
        assert_eq!(got.unwrap_err(), wanted);
    }
    assert!(TableBuilder::new(["a", "b"]).row(&["x"], 1.0).is_err());
}

#[test]
fn an_exact_fit_has_effects_and_says_why_it_has_no_intervals() {
    let table = two_way(&[&[&[0.1], &[0.2], &[0.4]], &[&[1.1], &[1.2], &[1.4]]]);
    let got = analyse(&table, &options(ModelChoice::Additive)).unwrap();
    assert_eq!(got.diagnostics, [Diagnostic::ExactFit]);
    assert!(got.diagnostics[0].is_warning());
    assert_eq!((got.error_deviation, got.grand_mean.std_error), (None, None));
    assert!(got.anova.iter().all(|source| source.f.is_none() && source.p.is_none()));
    assert_printed(got.effects[0].estimate.estimate, -0.5, 1e-12);
    let refusal = contrasts(&got, "a", Adjustment::Holm).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "the errors are 0, so a difference cannot be compared with them"
    );
}

#[test]
fn senseless_questions_are_refused() {
    let table = one_way(&[&[1.0, 2.0], &[3.0, 5.0], &[4.0, 4.5]]);
    let got = analyse(&table, &options(ModelChoice::Auto)).unwrap();
    let refusal = contrasts(&got, "size", Adjustment::Holm).unwrap_err();
    assert_eq!(refusal.to_string(), "unknown factor \"size\" (the factors are a)");
    let bad = Options { levels: vec![95.0], ..Options::default() };
    assert!(matches!(analyse(&table, &bad), Err(Refusal::OutOfRange { .. })));
}

#[test]
fn values_whose_squares_leave_the_range_are_refused() {
    for scale in [1e300, 1e-300] {
        let values: Vec<Vec<f64>> = vec![vec![scale, 2.0 * scale], vec![3.0 * scale, scale]];
        let groups: Vec<&[f64]> = values.iter().map(Vec::as_slice).collect();
        let refusal = refused(&one_way(&groups));
        assert_eq!(refusal, "the squares of these values are out of range: use another unit");
    }
}

#[test]
fn negative_values_have_no_multiplicative_model() {
    let table = one_way(&[&[1.0, 2.0], &[3.0, -5.0]]);
    let got = analyse(&table, &options(ModelChoice::Auto)).unwrap();
    assert_eq!(got.model, Model::Additive);
    assert_eq!(got.why.to_string(), "observation 3 is -5, which has no logarithm: additive");
    let refusal = analyse(&table, &options(ModelChoice::Multiplicative)).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "observation 3 is -5, but a multiplicative model needs values above 0"
    );
}

#[test]
fn rank_tests_refuse_what_they_cannot_rank() {
    let one = one_way(&[&[1.0, 2.0], &[3.0, 5.0]]);
    assert!(ranks::friedman(&one, "a").is_err());
    let twice = two_way(&[&[&[1.0, 2.0], &[1.0, 3.0]], &[&[1.0, 2.0], &[4.0, 5.0]]]);
    assert!(ranks::kruskal_wallis(&twice).is_err());
    assert!(ranks::friedman(&twice, "b").is_err());
    let once = [("ext4", "read", 1.0), ("ext4", "rewrite", 3.0), ("ext2", "read", 1.5)];
    assert_eq!(
        ranks::friedman(&of_cells(&once), "action").unwrap_err().to_string(),
        "Friedman's test needs one observation of every cell, but there are 0 to 1"
    );
    let tied = two_way(&[&[&[1.0], &[1.0]], &[&[2.0], &[2.0]]]);
    assert_eq!(
        ranks::friedman(&tied, "b").unwrap_err().to_string(),
        "all values are equal within each of the 2 blocks, so ranks say nothing"
    );
    assert!(ranks::friedman(&tied, "c").is_err());
    assert!(ranks::kruskal_wallis(&one_way(&[&[2.0, 2.0], &[2.0]])).is_err());
}
