//! How often intervals of percentiles contain the true value, with the fewest operations that are
//! accepted. `docs/coverage.md` has the table.

use std::fmt::Write;

use measure::Histogram;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, Exp1, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use stats::distribution::normal::quantile as normal_quantile;

use super::*;

type Random = Xoshiro256PlusPlus;

/// A distribution of operation times: its name, a random value, and its quantile function.
type Times = (&'static str, fn(&mut Random) -> f64, fn(f64) -> f64);

const TIMES: [Times; 5] = [
    ("uniform", |random| random.random(), |q| q),
    ("normal", |random| 10.0 + normal(random), |q| 10.0 + normal_quantile(q)),
    ("exponential", |random| Exp1.sample(random), |q| -(-q).ln_1p()),
    ("lognormal", |random| normal(random).exp(), |q| normal_quantile(q).exp()),
    (
        "Pareto, 1.5",
        |random| random.random::<f64>().powf(-1.0 / 1.5),
        |q| (1.0 - q).powf(-1.0 / 1.5),
    ),
];

/// Large enough that rounding to whole nanoseconds does not matter.
const SCALE: f64 = 1e6;

fn normal(random: &mut Random) -> f64 {
    StandardNormal.sample(random)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "times above 0")]
fn nanoseconds(time: f64) -> u64 {
    (SCALE * time) as u64
}

/// The share of intervals at 95 % that contain the quantile, over `trials` cells of `blocks` blocks
/// of `operations` operations each.
fn held(
    (_, draw, truth): Times,
    quantile: f64,
    blocks: usize,
    operations: u64,
    trials: u32,
) -> f64 {
    let mut random = Random::seed_from_u64(operations);
    let histogram = |random: &mut Random| {
        let mut histogram = Histogram::new();
        (0..operations).for_each(|_| histogram.record(nanoseconds(draw(random))));
        histogram
    };
    let holds = |_: &u32| {
        let histograms: Vec<Histogram> = (0..blocks).map(|_| histogram(&mut random)).collect();
        let found = super::of(&OperationTimes::of(histograms), 0.95, &Dependence::NONE);
        let one = found.iter().find(|one| one.percentile == 100.0 * quantile).expect("enough");
        let interval = one.interval.expect("enough blocks");
        (interval.low..=interval.high).contains(&(SCALE * truth(quantile)))
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
    let names: Vec<&str> = TIMES.iter().map(|times| times.0).collect();
    let mut text = format!("| percentile | operations | blocks | {} |\n", names.join(" | "));
    text += &"| --- ".repeat(3 + TIMES.len());
    text += "|\n";
    for (quantile, operations) in least() {
        for blocks in BLOCKS {
            let of = |times| held(times, quantile, blocks, operations, 2_000);
            let shares = TIMES.map(|times| format!("{:.1}", 100.0 * of(times))).join(" | ");
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
        for times in TIMES {
            let share = held(times, quantile, 40, operations, 250);
            assert!(share >= 0.905, "p{}, {}: {share}", 100.0 * quantile, times.0);
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
