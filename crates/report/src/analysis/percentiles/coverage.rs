//! How often intervals of percentiles contain the true value, with the fewest operations that are
//! accepted. `docs/coverage.md` has the table.

use std::fmt::Write;

use measure::Histogram;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, Exp1, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use stats::distribution::normal::quantile as normal_quantile;

use super::*;

pub(super) type Random = Xoshiro256PlusPlus;

/// A distribution of operation times.
struct Law {
    name: &'static str,
    draw: fn(&mut Random) -> f64,
    quantile: fn(f64) -> f64,
}

const fn law(name: &'static str, draw: fn(&mut Random) -> f64, quantile: fn(f64) -> f64) -> Law {
    Law { name, draw, quantile }
}

const LAWS: [Law; 5] = [
    law("uniform", RngExt::random, |q| q),
    law("normal", |random| 10.0 + normal(random), |q| 10.0 + normal_quantile(q)),
    law("exponential", |random| Exp1.sample(random), |q| -(-q).ln_1p()),
    law("lognormal", |random| normal(random).exp(), |q| normal_quantile(q).exp()),
    law(
        "Pareto, 1.5",
        |random| random.random::<f64>().powf(-1.0 / 1.5),
        |q| (1.0 - q).powf(-1.0 / 1.5),
    ),
];

/// Large enough that rounding to whole nanoseconds does not matter.
pub(super) const SCALE: f64 = 1e6;

fn normal(random: &mut Random) -> f64 {
    StandardNormal.sample(random)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "times above 0")]
pub(super) fn nanoseconds(time: f64) -> u64 {
    (SCALE * time) as u64
}

/// The share of intervals at 95 % that contain the quantile, over `trials` cells of `blocks` blocks
/// of `operations` operations each.
fn held(law: &Law, quantile: f64, blocks: usize, operations: u64, trials: u32) -> f64 {
    let mut random = Random::seed_from_u64(operations);
    let histogram = |random: &mut Random| {
        let mut histogram = Histogram::new();
        (0..operations).for_each(|_| histogram.record(nanoseconds((law.draw)(random))));
        histogram
    };
    let holds = |_: &u32| {
        let histograms: Vec<Histogram> = (0..blocks).map(|_| histogram(&mut random)).collect();
        let found = super::supported(&OperationTimes::new(histograms), 0.95, &Dependence::NONE);
        let one = found.iter().find(|one| one.percentile == 100.0 * quantile).expect("enough");
        let interval = one.interval.expect("enough blocks");
        (interval.low..=interval.high).contains(&(SCALE * (law.quantile)(quantile)))
    };
    (0..trials).filter(holds).count() as f64 / f64::from(trials)
}

const BLOCKS: [usize; 2] = [10, 40];

/// Quantiles, and the fewest operations with which each replicate can have its own.
fn least() -> impl Iterator<Item = (f64, u64)> {
    [0.5, 0.9, 0.99, 0.999]
        .into_iter()
        .map(|quantile| (quantile, estimates::least_n(quantile, 0.95).expect("a quantile")))
}

fn table() -> String {
    let names: Vec<&str> = LAWS.iter().map(|law| law.name).collect();
    let mut text = format!("| percentile | operations | blocks | {} |\n", names.join(" | "));
    text += &"| --- ".repeat(3 + LAWS.len());
    text += "|\n";
    for (quantile, operations) in least() {
        for blocks in BLOCKS {
            let of = |law| held(law, quantile, blocks, operations, 2_000);
            let shares = LAWS.each_ref().map(|law| format!("{:.1}", 100.0 * of(law))).join(" | ");
            let name = format!("p{}", 100.0 * quantile);
            writeln!(text, "| {name} | {operations} | {blocks} | {shares} |").expect("text");
        }
    }
    text
}

/// Reduced so that it takes seconds; the bounds are wider than what the whole table shows.
#[test]
fn intervals_of_percentiles_hold_with_the_fewest_operations() {
    for (quantile, operations) in least().take(3) {
        for law in &LAWS {
            let share = held(law, quantile, 40, operations, 250);
            assert!(share >= 0.905, "p{}, {}: {share}", 100.0 * quantile, law.name);
        }
    }
}

#[test]
#[ignore = "minutes of simulation: run it with --release after changing a percentile"]
fn the_document_holds_the_table() {
    let fresh = table();
    let document = include_str!("../../../../../docs/coverage.md");
    assert!(document.contains(fresh.trim()), "docs/coverage.md should hold this table:\n\n{fresh}");
}
