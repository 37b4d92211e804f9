//! How often percentiles of all operations together have an interval, and how often it contains the
//! true value, if blocks differ. `docs/coverage.md` has the table.

use std::fmt::Write;

use measure::Histogram;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, Gamma, StandardNormal};
use stats::distribution::normal;

use super::coverage::{Random, SCALE, nanoseconds};
use super::*;

/// Standard deviation of the logarithm of times within a block.
const WITHIN: f64 = 0.5;
/// Share of slow operations, if there are any.
const SLOW: f64 = 0.003;
/// Median and standard deviation of the logarithm of times, for other operations and for slow ones.
const OTHERS: (f64, f64) = (0.0, 0.3);
const SLOW_ONES: (f64, f64) = (3.0, 0.7);

/// How blocks differ.
#[derive(Clone, Copy, Debug)]
enum BlockDifference {
    /// By a factor on all times, whose logarithm is normal with this standard deviation.
    Pace(f64),
    /// By the share of slow operations: a gamma variate whose standard deviation equals its mean.
    Stalls,
    /// Not at all, but this many slow operations occur in a row.
    Bursts(u32),
}

impl BlockDifference {
    const ALL: [Self; 6] = [
        Self::Pace(0.0),
        Self::Pace(0.1),
        Self::Pace(0.2),
        Self::Pace(0.3),
        Self::Stalls,
        Self::Bursts(20),
    ];

    fn name(self) -> String {
        match self {
            Self::Pace(0.0) => "alike".to_owned(),
            Self::Pace(deviation) => format!("pace, {:.0} %", 100.0 * deviation),
            Self::Stalls => "stalls".to_owned(),
            Self::Bursts(length) => format!("bursts of {length}"),
        }
    }

    fn draw(self, random: &mut Random, operations: u64) -> Histogram {
        let mut histogram = Histogram::new();
        let own: f64 = StandardNormal.sample(random);
        let share = Gamma::new(1.0, SLOW).expect("above 0").sample(random);
        let mut in_a_row = 0;
        for _ in 0..operations {
            let is_slow = match self {
                Self::Pace(_) => false,
                Self::Stalls => random.random::<f64>() < share,
                Self::Bursts(length) => {
                    if random.random::<f64>() < SLOW / f64::from(length) {
                        in_a_row = length;
                    }
                    in_a_row > 0
                }
            };
            in_a_row = in_a_row.saturating_sub(1);
            let (centre, deviation) = match self {
                Self::Pace(pace) => (pace * own, WITHIN),
                Self::Stalls | Self::Bursts(_) if is_slow => SLOW_ONES,
                Self::Stalls | Self::Bursts(_) => OTHERS,
            };
            let normal: f64 = StandardNormal.sample(random);
            histogram.record(nanoseconds((centre + deviation * normal).exp()));
        }
        histogram
    }

    /// The share of all operations that take longer than `exp(log)`.
    fn beyond(self, log: f64) -> f64 {
        let above = |(centre, deviation): (f64, f64)| normal::sf((log - centre) / deviation);
        match self {
            Self::Pace(pace) => above((0.0, pace.hypot(WITHIN))),
            Self::Stalls | Self::Bursts(_) => {
                SLOW * above(SLOW_ONES) + (1.0 - SLOW) * above(OTHERS)
            }
        }
    }

    fn quantile(self, quantile: f64) -> f64 {
        let (mut low, mut high) = (-10.0, 10.0);
        for _ in 0..100 {
            let middle = f64::midpoint(low, high);
            if self.beyond(middle) > 1.0 - quantile { low = middle } else { high = middle }
        }
        low.exp()
    }
}

/// How many of `trials` cells have an interval at 95 %, and how many of those contain the
/// percentile.
fn held(
    of: BlockDifference,
    quantile: f64,
    blocks: usize,
    operations: u64,
    trials: u32,
) -> (u32, u32) {
    let mut random = Random::seed_from_u64(operations);
    let truth = SCALE * of.quantile(quantile);
    let (mut given, mut held) = (0, 0);
    for _ in 0..trials {
        let each = (0..blocks).map(|_| of.draw(&mut random, operations)).collect();
        let found = super::supported(&OperationTimes::new(each), 0.95, &Dependence::NONE);
        let one = found.iter().find(|one| one.percentile == 100.0 * quantile);
        let Some(interval) = one.and_then(|one| one.interval) else { continue };
        given += 1;
        held += u32::from((interval.low..=interval.high).contains(&truth));
    }
    (given, held)
}

/// A percentile, the number of blocks, and the number of operations in each.
const CELLS: [(f64, usize, u64); 7] = [
    (0.99, 6, 96),
    (0.99, 10, 96),
    (0.99, 20, 96),
    (0.999, 6, 1280),
    (0.999, 10, 640),
    (0.999, 10, 1280),
    (0.999, 20, 640),
];

fn table() -> String {
    let names: Vec<String> = BlockDifference::ALL.iter().map(|one| one.name()).collect();
    let mut text = format!("| percentile | operations | blocks | {} |\n", names.join(" | "));
    text += &"| --- ".repeat(3 + names.len());
    text += "|\n";
    for (quantile, blocks, operations) in CELLS {
        let share = |of: BlockDifference| {
            let (given, held) = held(of, quantile, blocks, operations, 1_000);
            let of_given = 100.0 * f64::from(held) / f64::from(given.max(1));
            format!("{of_given:.0} of {:.0}", f64::from(given) / 10.0)
        };
        let shares = BlockDifference::ALL.map(share).join(" | ");
        let name = format!("p{}", 100.0 * quantile);
        writeln!(text, "| {name} | {operations} | {blocks} | {shares} |").expect("text");
    }
    text
}

/// Reduced so that it takes seconds; the bounds are wider than what the whole table shows.
#[test]
fn intervals_of_all_operations_hold_where_blocks_differ() {
    for of in [BlockDifference::Pace(0.0), BlockDifference::Pace(0.1), BlockDifference::Stalls] {
        let (given, held) = held(of, 0.99, 20, 96, 150);
        let share = f64::from(held) / f64::from(given);
        assert!(given >= 75 && share >= 0.92, "{of:?}: {held} of {given}");
    }
}

#[test]
#[ignore = "minutes of simulation: run it with --release after changing a percentile"]
fn the_document_holds_the_table_of_all_operations() {
    let fresh = table();
    let document = include_str!("../../../../../docs/coverage.md");
    assert!(document.contains(fresh.trim()), "docs/coverage.md should hold this table:\n\n{fresh}");
}
