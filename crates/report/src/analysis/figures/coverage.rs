//! How close quotients of figures are to the true ratio, and how often the intervals of figures
//! contain the true value, in simulated runs of four targets with the kinds of noise that
//! measurements have. `docs/coverage.md` has the table.

use std::collections::BTreeMap;
use std::fmt::Write;

use rand::SeedableRng;
use stats::dependence::{Dependence, TAKEN_FOR_DEPENDENT};

use super::super::estimates::summary_of_blocks;
use super::super::judged::coverage::{LEVEL, Noise, Random};
use super::super::judged::{self, Pairs};
use super::{KnownRatio, settled};

const FACTORS: [f64; 4] = [1.0, 1.2, 2.0, 5.0];

/// Sums over all simulations.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    pairs: f64,
    /// Squared errors of the logarithm: of quotients of medians, and of quotients of figures.
    of_medians: f64,
    of_figures: f64,
    /// Quotients of medians that differ from the ratio by more than 5 %.
    apart: f64,
    /// Ratios that were moved out of their intervals.
    beyond: f64,
    figures: f64,
    /// Intervals that contain the true value: of medians, and of figures.
    medians_held: f64,
    figures_held: f64,
}

/// Simulates runs of fifteen benchmarks with this noise.
fn simulated(noise: Noise, blocks: u32, runs: u32) -> Sums {
    let mut random = Random::seed_from_u64(u64::from(blocks));
    let mut sums = Sums::default();
    for _ in 0..runs {
        let all = noise.values(&mut random, blocks, &FACTORS);
        let pairs = all.iter().flat_map(|of| pairs(of)).map(|(_, _, pairs)| pairs);
        let pairs: Vec<Pairs> = pairs.collect();
        let dependence = judged::dependence(pairs.iter());
        let of_figures = dependence_of_figures(&all);
        all.iter().for_each(|of| sums.add(of, &dependence, &of_figures));
    }
    sums
}

fn dependence_of_figures(all: &[Vec<BTreeMap<u32, f64>>]) -> Dependence {
    let logs = |of: &BTreeMap<u32, f64>| -> BTreeMap<u32, f64> {
        of.iter().map(|(&block, value)| (block, value.ln())).collect()
    };
    let logs: Vec<BTreeMap<u32, f64>> = all.iter().flatten().map(logs).collect();
    Dependence::from_series(&logs, TAKEN_FOR_DEPENDENT)
}

/// All pairs of targets of a benchmark.
fn pairs(of: &[BTreeMap<u32, f64>]) -> Vec<(usize, usize, Pairs)> {
    let seconds = |from: usize| (from + 1..of.len()).map(move |to| (from, to));
    let places = (0..of.len()).flat_map(seconds);
    places.map(|(from, to)| (from, to, Pairs::new(&of[from], &of[to]))).collect()
}

impl Sums {
    fn add(&mut self, of: &[BTreeMap<u32, f64>], of_pairs: &Dependence, of_figures: &Dependence) {
        let median = |values: &BTreeMap<u32, f64>| {
            let values: Vec<f64> = values.values().copied().collect();
            summary_of_blocks(&values, LEVEL, of_figures).expect("there are values")
        };
        let medians: Vec<_> = of.iter().map(median).collect();
        let known = |(from, to, pairs): (usize, usize, Pairs)| {
            let answer = pairs.compared(of_pairs)?;
            let interval = answer.interval(LEVEL).ok()?;
            let width = (interval.high / interval.low).ln();
            let known = KnownRatio { from, to, log_ratio: answer.ratio().ln(), width };
            Some((known, interval))
        };
        let (known, intervals): (Vec<KnownRatio>, Vec<stats::Interval>) =
            pairs(of).into_iter().filter_map(known).unzip();
        let levels: Vec<f64> = medians.iter().map(|it| it.median.ln()).collect();
        let settled = settled(&levels, &known);
        for (one, interval) in known.iter().zip(intervals) {
            let truth = (FACTORS[one.to] / FACTORS[one.from]).ln();
            let of_medians = levels[one.to] - levels[one.from];
            let of_figures = settled[one.to] - settled[one.from];
            self.pairs += 1.0;
            self.of_medians += (of_medians - truth).powi(2);
            self.of_figures += (of_figures - truth).powi(2);
            self.apart += f64::from((of_medians - of_figures).abs() > 1.05_f64.ln());
            self.beyond += f64::from(!interval.contains(of_figures.exp()));
        }
        for (target, it) in medians.iter().enumerate() {
            let by = (settled[target] - levels[target]).exp();
            let holds = |by: f64| {
                let truth = FACTORS[target] / by;
                f64::from(it.interval.is_some_and(|it| it.low <= truth && truth <= it.high))
            };
            self.figures += 1.0;
            self.medians_held += holds(1.0);
            self.figures_held += holds(by);
        }
    }

    /// In percent: the errors of quotients of medians and of figures, the share that is apart, and
    /// the shares of intervals of either that contain the true value.
    fn percent(self) -> [f64; 5] {
        [
            (self.of_medians / self.pairs).sqrt(),
            (self.of_figures / self.pairs).sqrt(),
            self.apart / self.pairs,
            self.medians_held / self.figures,
            self.figures_held / self.figures,
        ]
        .map(|share| 100.0 * share)
    }
}

/// With drift, the absolute level has no true value, and only ratios matter.
fn table(runs: u32) -> String {
    let mut text = String::from(
        "| noise | blocks | error of quotients of medians | of figures | medians' are off by 5 % | \
         intervals of medians hold | of figures |\n| --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for (noise, name) in Noise::ALL {
        for blocks in [6, 10, 20] {
            let shares = simulated(noise, blocks, runs).percent();
            let mut columns: Vec<String> =
                shares.iter().map(|share| format!("{share:.1}")).collect();
            if noise == Noise::Drift {
                columns[3..].fill("-".to_owned());
            }
            writeln!(text, "| {name} | {blocks} | {} |", columns.join(" | "))
                .expect("text takes it");
        }
    }
    text
}

/// Reduced so that it takes seconds; the bounds are wider than what the whole table shows.
#[test]
fn quotients_of_figures_are_nearer_where_blocks_differ_and_intervals_hold() {
    for (noise, name) in Noise::ALL {
        let sums = simulated(noise, 10, 40);
        let [of_medians, of_figures, _, medians_held, held] = sums.percent();
        let told = format!("{name}: {of_medians} {of_figures}, {medians_held} {held}, {sums:?}");
        let is_shared = matches!(noise, Noise::Blocks | Noise::Drift);
        let most = if is_shared { 0.9 } else { 1.2 };
        assert!(of_figures < most * of_medians, "{told}");
        assert!(noise == Noise::Drift || held > 92.0, "{told}");
        assert!(sums.beyond < 0.001 * sums.pairs, "{told}");
    }
}

#[test]
#[ignore = "minutes of simulation: run it with --release after changing figures"]
fn the_document_holds_the_table() {
    let document = include_str!("../../../../../docs/coverage.md");
    let fresh = table(400);
    assert!(document.contains(fresh.trim()), "docs/coverage.md should hold this table:\n\n{fresh}");
}
