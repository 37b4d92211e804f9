//! Published examples, worked examples in print, and tables that cannot be analysed.

use super::*;
use crate::refusal::Refusal;

mod behaviour;
mod offset;
mod published;
mod refusals;

/// A table of two factors with levels a0, a1, ... and b0, b1, ...
fn two_way(rows: &[&[&[f64]]]) -> Table {
    let mut builder = TableBuilder::new(["a", "b"]);
    for (a, row) in rows.iter().enumerate() {
        for (b, cell) in row.iter().enumerate() {
            for value in *cell {
                builder.row(&[format!("a{a}"), format!("b{b}")], *value).unwrap();
            }
        }
    }
    builder.build().unwrap()
}

fn one_way(groups: &[&[f64]]) -> Table {
    let mut builder = TableBuilder::new(["a"]);
    for (a, group) in groups.iter().enumerate() {
        group.iter().for_each(|value| builder.row(&[format!("a{a}")], *value).unwrap());
    }
    builder.build().unwrap()
}

fn options(model: ModelChoice) -> Options {
    Options { model, levels: vec![0.9, 0.95], interacting: None }
}

/// Checks a number that was printed to within `half_unit` on either side.
#[track_caller]
fn assert_printed(got: f64, printed: f64, half_unit: f64) {
    assert!((got - printed).abs() <= half_unit * 1.0001, "{got} is not {printed}");
}
