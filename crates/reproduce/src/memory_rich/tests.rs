//! The reproduction of runs with known figures.

use super::*;

#[test]
fn the_model_computes_table_7_as_published() {
    let rows = model();
    assert_eq!(rows.len(), 4);
    for row in rows {
        assert_eq!(row.computed_flushes, row.published_flushes, "{row:?}");
    }
}

#[test]
fn ratios_are_paired_by_block() {
    let cell = |benchmark: &str, values: &[f64]| {
        let values = (1_u32..).zip(values.iter().copied()).collect();
        (("ramfs".to_owned(), benchmark.to_owned()), values)
    };
    let measured = MeasuredRates {
        targets: vec!["ramfs".to_owned()],
        by_cell: BTreeMap::from([
            cell("table-2-sequential-read-1", &[80.0, 160.0, 40.0, 81.0]),
            cell("table-2-sequential-read-2", &[100.0, 200.0, 50.0, 100.0]),
        ]),
    };
    let rates = |name| measured.rates("ramfs", name).expect("it is there");
    let ratio = Ratio::of_products(
        &[rates("table-2-sequential-read-1")],
        &[rates("table-2-sequential-read-2")],
    );
    let ratio = ratio.expect("they have blocks in common");
    assert!(ratio.low > 0.79 && ratio.high < 0.82, "{ratio:?}");
    let statements = claims::all(&measured);
    let outcomes: Vec<(&str, Outcome)> =
        statements.iter().map(|one| (one.claim, one.outcome)).collect();
    assert_eq!(
        outcomes,
        [
            ("the first read after a write is slower than the second", Outcome::Holds),
            ("on ext2, the first read after a write is as fast as the second", Outcome::Unknown),
        ]
    );
    assert!(statements[0].measured.starts_with("0.80 [0.80, 0.81]"), "{}", statements[0].measured);
}
