//! A table with an offset gives the same results as the table of sums, and better ones if the sums
//! are rounded.

use std::mem::discriminant;

use super::super::ranks;
use super::*;

const ROWS: &[&[&[f64]]] = &[
    &[&[3.0, 5.0, 4.0], &[7.0, 8.0, 4.0], &[1.0, 0.0, 2.0]],
    &[&[6.0, 9.0, 6.0], &[9.0, 12.0, 9.0], &[8.0, 3.0, 4.0]],
];

/// The same observations in two ways: as sums, and as differences from an offset.
fn both(offset: f64) -> [Table; 2] {
    let differences = two_way(ROWS);
    let sums = differences.values().iter().map(|value| offset + value).collect();
    let sums =
        Table::new(differences.factors().to_vec(), differences.levels().to_vec(), sums).unwrap();
    [sums, differences.with_offset(offset).unwrap()]
}

#[track_caller]
fn assert_same(got: f64, wanted: f64) {
    assert!((got - wanted).abs() <= 1e-10 * wanted.abs().max(1e-3), "{got} is not {wanted}");
}

fn assert_same_estimate(got: &Estimate, wanted: &Estimate) {
    assert_same(got.estimate, wanted.estimate);
    assert_same(got.std_error.unwrap(), wanted.std_error.unwrap());
    assert_same(got.intervals[0].low, wanted.intervals[0].low);
}

#[test]
fn sums_and_differences_say_the_same() {
    // With the last offset, the values are far from it, so the sums are used.
    for offset in [64.0, 32.0, 2.0] {
        for model in [ModelChoice::Additive, ModelChoice::Multiplicative, ModelChoice::Auto] {
            let [wanted, got] = both(offset).map(|table| analyse(&table, &options(model)).unwrap());
            assert_eq!((got.design, got.model), (wanted.design, wanted.model));
            assert_eq!(discriminant(&got.why), discriminant(&wanted.why));
            assert_same_estimate(&got.grand_mean, &wanted.grand_mean);
            for (got, wanted) in got.effects.iter().zip(&wanted.effects) {
                assert_same_estimate(&got.estimate, &wanted.estimate);
                assert_same(got.mean, wanted.mean);
            }
            for (got, wanted) in got.anova.iter().zip(&wanted.anova) {
                assert_same(got.sum_sq, wanted.sum_sq);
                assert_same(got.f.unwrap_or(0.0), wanted.f.unwrap_or(0.0));
            }
            assert_same(got.totals.observations, wanted.totals.observations);
            assert_same(got.totals.mean, wanted.totals.mean);
            assert_same(got.totals.about_mean, wanted.totals.about_mean);
            assert_eq!(got.diagnostics.len(), wanted.diagnostics.len());
        }
    }
}

#[test]
fn ranks_allow_for_the_offset() {
    let rows: &[&[&[f64]]] = &[&[&[15.0], &[45.0]], &[&[25.0], &[75.0]]];
    let got = two_way(rows).with_offset(1000.0).unwrap();
    assert_eq!(ranks::friedman(&got, "a").unwrap(), ranks::friedman(&two_way(rows), "a").unwrap());
}

#[test]
fn what_a_sum_would_round_off_counts_under_both_models() {
    let [sums, differences] = both(1e17);
    let additive = options(ModelChoice::Additive);
    let multiplicative = options(ModelChoice::Multiplicative);
    let of = |table: &Table, options: &Options| analyse(table, options).unwrap().anova;
    let wanted = of(&two_way(ROWS), &additive);
    assert_eq!(of(&sums, &additive)[0].f, None);
    // For numbers this close to each other, the logarithms differ as much as the numbers.
    for options in [additive, multiplicative] {
        for (got, wanted) in of(&differences, &options).iter().zip(&wanted) {
            assert_same(got.f.unwrap_or(0.0), wanted.f.unwrap_or(0.0));
            assert_same(got.percent_of_variation, wanted.percent_of_variation);
        }
    }
}

#[test]
fn refusals_quote_the_sums() {
    let refused = |table: Table, model| analyse(&table, &options(model)).unwrap_err().to_string();
    let [_, table] = both(-4.0);
    let wanted = "observation 0 is -1, but a multiplicative model needs values above 0";
    assert_eq!(refused(table.clone(), ModelChoice::Multiplicative), wanted);
    let why = analyse(&table, &options(ModelChoice::Auto)).unwrap().why;
    assert_eq!(why.to_string(), "observation 0 is -1, which has no logarithm: additive");

    let constant = one_way(&[&[0.5, 0.5], &[0.5, 0.5]]).with_offset(7.0).unwrap();
    let wanted = "all 4 observations are 7.5, so there is nothing to explain";
    assert_eq!(refused(constant.clone(), ModelChoice::Auto), wanted);
    assert_eq!(ranks::kruskal_wallis(&constant).unwrap_err().to_string(), wanted);
    let wide = one_way(&[&[0.0, 99.0], &[1.0, 98.0]]).with_offset(1.0).unwrap();
    let why = analyse(&wide, &options(ModelChoice::Auto)).unwrap().why;
    assert_eq!(why, ModelReason::WideRatio { ratio: 100.0 });

    let huge = one_way(&[&[1.0, 2.0], &[3.0, 5.0]]).with_offset(1e200).unwrap();
    assert!(refused(huge, ModelChoice::Additive).contains("are out of range"));
    let infinite = one_way(&[&[1.0, 1e308], &[3.0, 5.0]]).with_offset(1e308).unwrap_err();
    assert_eq!(infinite, Refusal::NotFinite { index: 1, value: f64::INFINITY });
    let mut builder = TableBuilder::new(["a"]).with_offset(f64::NAN);
    for level in ["x", "y"] {
        builder.row(&[level], 1.0).unwrap();
    }
    assert!(matches!(builder.build(), Err(Refusal::NotFinite { index: 0, .. })));
}
