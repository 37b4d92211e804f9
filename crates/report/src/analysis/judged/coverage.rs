//! How often verdicts are wrong and intervals contain the truth, in simulated runs: fifteen
//! benchmarks on two targets, with the kinds of noise that measurements have. `docs/coverage.md`
//! has the table.

use std::fmt::Write;

use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal, StudentT};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;

pub(in crate::analysis) type Random = Xoshiro256PlusPlus;

pub(in crate::analysis) const LEVEL: f64 = 0.95;
const BENCHMARKS: usize = 15;
/// Standard deviation of a logarithm.
const DEVIATION: f64 = 0.07;
const RATIO: f64 = 1.2;

/// What makes the values of a run vary.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::analysis) enum Noise {
    Independent,
    /// Whole blocks are slower, by twice as much as single values vary, and one target is affected
    /// 10 % more than the other.
    Blocks,
    /// The machine slows down from block to block, and within a block from cell to cell, in random
    /// order.
    Drift,
    /// All of a target's values in a block are slower.
    Instances,
    /// Each value keeps half of the previous one's deviation.
    Remembering,
    /// On one target, one block in twenty takes four times as long, or a quarter of the time.
    Outliers,
    /// Student's t with 3 degrees of freedom.
    HeavyTails,
}

impl Noise {
    pub(in crate::analysis) const ALL: [(Self, &'static str); 7] = [
        (Self::Independent, "independent"),
        (Self::Blocks, "of the block"),
        (Self::Drift, "drift"),
        (Self::Instances, "of the target in a block"),
        (Self::Remembering, "AR(1) 0.5 from block to block"),
        (Self::Outliers, "one block in 20 far off"),
        (Self::HeavyTails, "t(3)"),
    ];

    /// Values of all benchmarks on both targets; those of the second are `ratio` times as large.
    fn run(self, random: &mut Random, blocks: u32, ratio: f64) -> Vec<Pairs> {
        let of_targets = self.values(random, blocks, &[1.0, ratio]);
        of_targets.iter().map(|of| Pairs::new(&of[0], &of[1])).collect()
    }

    /// Values of all benchmarks on targets with these factors, by block.
    pub(in crate::analysis) fn values(
        self,
        random: &mut Random,
        blocks: u32,
        factors: &[f64],
    ) -> Vec<Vec<BTreeMap<u32, f64>>> {
        let normal = |random: &mut Random| -> f64 { StandardNormal.sample(random) };
        let common: Vec<f64> = (0..blocks).map(|_| normal(random)).collect();
        let of_target: Vec<Vec<f64>> =
            (0..blocks).map(|_| factors.iter().map(|_| normal(random)).collect()).collect();
        let mut series = |target: usize, factor: f64| -> BTreeMap<u32, f64> {
            let mut before = normal(random);
            let mut value = |block: u32| {
                let place = block as usize;
                let own = normal(random);
                let log = match self {
                    Self::Independent => own,
                    Self::Blocks => own + (2.0 + 0.2 * target as f64) * common[place],
                    Self::Drift => own + 0.3 * (f64::from(block) + random.random::<f64>()),
                    Self::Instances => own / 2.0 + of_target[place][target],
                    Self::Remembering => {
                        before = 0.5 * before + 0.75_f64.sqrt() * own;
                        before
                    }
                    Self::Outliers if random.random_bool(0.05) => {
                        let sign = if random.random_bool(0.5) { 1.0 } else { -1.0 };
                        own + sign * 4_f64.ln() / DEVIATION
                    }
                    Self::Outliers => own,
                    Self::HeavyTails => StudentT::new(3.0).expect("3").sample(random),
                };
                (block, factor * (DEVIATION * log).exp())
            };
            (0..blocks).map(&mut value).collect()
        };
        let mut of_benchmark =
            || factors.iter().enumerate().map(|(target, &factor)| series(target, factor)).collect();
        (0..BENCHMARKS).map(|_| of_benchmark()).collect()
    }
}

/// Results of many comparisons, as shares.
#[derive(Clone, Copy, Debug, Default)]
struct Shares {
    /// Unadjusted p-values of at most 5 % without any difference.
    false_p: f64,
    /// Runs that call something different without any difference.
    false_runs: f64,
    /// Intervals at the level that contain the truth.
    held: f64,
    /// Among the differences that a run reports, the share whose intervals miss the truth, if a
    /// third of the benchmarks differ by 1.05: the mean over runs, counting 0 if nothing is found.
    missed: f64,
    /// Unadjusted p-values of at most 5 % if all benchmarks differ by 1.2.
    power: f64,
}

fn answers(pairs: &[Pairs]) -> Vec<Option<Answer>> {
    let dependence = dependence(pairs.iter());
    pairs.iter().map(|pairs| pairs.compared(&dependence)).collect()
}

fn share(count: usize, of: usize) -> f64 {
    count as f64 / of.max(1) as f64
}

fn small(p: Option<f64>) -> bool {
    p.is_some_and(|p| p <= 1.0 - LEVEL)
}

/// Simulates `runs` runs of `blocks` blocks.
fn simulated(noise: Noise, blocks: u32, runs: usize, seed: u64) -> Shares {
    let mut random = Random::seed_from_u64(seed);
    let (mut false_p, mut false_runs, mut held, mut power) = (0, 0, 0, 0);
    let mut missed = 0.0;
    for _ in 0..runs {
        let judged = judge(answers(&noise.run(&mut random, blocks, 1.0)), LEVEL, MARGIN);
        false_p += judged.iter().filter(|one| small(one.p)).count();
        false_runs += usize::from(judged.iter().any(|one| one.verdict.is_different()));
        let all = answers(&noise.run(&mut random, blocks, RATIO));
        power += all.iter().flatten().filter(|one| small(Some(one.p()))).count();
        let holds = |one: &&Answer| one.interval(LEVEL).is_ok_and(|it| it.contains(RATIO));
        held += all.iter().flatten().filter(holds).count();
        // If a third differ by little, the ones that are found are those that chance has made
        // large.
        let mut mixed = noise.run(&mut random, blocks, 1.0);
        mixed.splice(..5, noise.run(&mut random, blocks, 1.05).into_iter().take(5));
        let judged = judge(answers(&mixed), LEVEL, MARGIN);
        let found = judged.iter().enumerate().filter(|(_, one)| one.verdict.is_different());
        let misses = |(place, one): (usize, &Judgement)| {
            let truth = if place < 5 { 1.05 } else { 1.0 };
            one.interval.is_some_and(|it| truth < it.low || it.high < truth)
        };
        let misses: Vec<bool> = found.map(misses).collect();
        missed += share(misses.iter().filter(|&&misses| misses).count(), misses.len());
    }
    let comparisons = runs * BENCHMARKS;
    Shares {
        false_p: share(false_p, comparisons),
        false_runs: share(false_runs, runs),
        held: share(held, comparisons),
        missed: missed / runs as f64,
        power: share(power, comparisons),
    }
}

/// Simulates two sides whose runs differ by `effect`, in standard deviations of single values.
fn simulated_sides(effect: f64, each: usize, runs: usize, seed: u64) -> Shares {
    let mut random = Random::seed_from_u64(seed);
    let blocks = 10;
    let side = |random: &mut Random, ratio: f64| -> Vec<f64> {
        let one = |_| {
            let own: f64 = StandardNormal.sample(random);
            let of_run = ratio * (effect * DEVIATION * own).exp();
            let value = |_| {
                let noise: f64 = StandardNormal.sample(random);
                of_run * (DEVIATION * noise).exp()
            };
            let values: Vec<f64> = (0..blocks).map(value).collect();
            stats::trimmed::typical(&values).expect("they are positive")
        };
        (0..each).map(one).collect()
    };
    let (mut false_p, mut false_runs, mut held, mut power) = (0, 0, 0, 0);
    for _ in 0..runs {
        let mut of = |ratio: f64| -> Vec<Option<Answer>> {
            let one = |_: usize| {
                let (first, second) = (side(&mut random, 1.0), side(&mut random, ratio));
                Independent::of_runs(&second, &first).ok().map(Answer::Independent)
            };
            (0..BENCHMARKS).map(one).collect()
        };
        let different = of(RATIO);
        let judged = judge(of(1.0), LEVEL, MARGIN);
        false_p += judged.iter().filter(|one| small(one.p)).count();
        false_runs += usize::from(judged.iter().any(|one| one.verdict.is_different()));
        power += different.iter().flatten().filter(|one| small(Some(one.p()))).count();
        let holds = |one: &&Answer| one.interval(LEVEL).is_ok_and(|it| it.contains(RATIO));
        held += different.iter().flatten().filter(holds).count();
    }
    let comparisons = runs * BENCHMARKS;
    Shares {
        false_p: share(false_p, comparisons),
        false_runs: share(false_runs, runs),
        held: share(held, comparisons),
        missed: f64::NAN,
        power: share(power, comparisons),
    }
}

/// The share of runs in which a dimension has a p-value of at most 5 % without any difference. Its
/// benchmarks share `common` of their variance, and the shared part keeps half of its value from
/// the block before.
fn simulated_dimension(common: f64, blocks: u32, runs: usize) -> f64 {
    let mut random = Random::seed_from_u64(u64::from(blocks));
    let series = |random: &mut Random, keeps: f64| -> Vec<f64> {
        let mut value: f64 = StandardNormal.sample(random);
        let mut next = |_| {
            let own: f64 = StandardNormal.sample(random);
            value = keeps * value + (1.0 - keeps * keeps).sqrt() * own;
            value
        };
        (0..blocks).map(&mut next).collect()
    };
    let pairs_of = |logs: &[f64]| {
        let second = (0..).zip(logs).map(|(block, log)| (block, (DEVIATION * log).exp()));
        Pairs::new(&(0..blocks).map(|block| (block, 1.0)).collect(), &second.collect())
    };
    let mut is_called = |_: &usize| {
        let shared = series(&mut random, 0.5);
        let benchmark = |_| -> Vec<f64> {
            let own = series(&mut random, 0.0);
            let both = own.iter().zip(&shared);
            both.map(|(own, shared)| (1.0 - common).sqrt() * own + common.sqrt() * shared).collect()
        };
        let all: Vec<Vec<f64>> = (0..BENCHMARKS).map(benchmark).collect();
        let mean = |block: usize| all.iter().map(|of| of[block]).sum::<f64>() / BENCHMARKS as f64;
        let means = pairs_of(&(0..blocks as usize).map(mean).collect::<Vec<f64>>());
        let pairs: Vec<Pairs> = all.iter().map(|of| pairs_of(of)).collect();
        let (run, own) = (dependence(pairs.iter()), dependence([&means].into_iter()));
        let larger = if own.correlation > run.correlation { own } else { run };
        means.compared(&larger).is_some_and(|one| small(Some(one.p())))
    };
    share((0..runs).filter(|run| is_called(run)).count(), runs)
}

fn table_of_dimensions(runs: usize) -> String {
    let mut text = String::from(
        "| in common | 6 blocks | 12 blocks | 20 blocks | 40 blocks |\n\
         | --- | --- | --- | --- | --- |\n",
    );
    for common in [0.0, 0.1, 0.3] {
        let of = |blocks| format!("{:.1}", 100.0 * simulated_dimension(common, blocks, runs));
        let columns = [6, 12, 20, 40].map(of).join(" | ");
        writeln!(text, "| {} % | {columns} |", 100.0 * common).expect("text takes it");
    }
    text
}

#[test]
fn dimensions_err_more_often_where_what_benchmarks_share_goes_on() {
    let share = simulated_dimension(0.0, 12, 1_000);
    assert!((0.02..0.07).contains(&share), "{share}");
    let share = simulated_dimension(0.3, 12, 1_000);
    assert!((0.09..0.18).contains(&share), "{share}");
}

/// No effect, one as large as was seen between real runs, and two that are larger.
const EFFECTS: [f64; 4] = [0.0, 0.35, 0.5, 1.0];

fn table(runs: usize) -> String {
    let mut text = String::from(
        "| noise | blocks | p <= 0.05 | any called different | intervals hold | of those found, \
         missed | 1.2x found |\n| --- | --- | --- | --- | --- | --- | --- |\n",
    );
    let percent = |share: f64| {
        if share.is_nan() { "-".to_owned() } else { format!("{:.1}", 100.0 * share) }
    };
    let mut row = |name: &str, size: &str, it: Shares| {
        let columns = [it.false_p, it.false_runs, it.held, it.missed, it.power];
        let columns = columns.map(percent).join(" | ");
        writeln!(text, "| {name} | {size} | {columns} |").expect("text takes it");
    };
    for (noise, name) in Noise::ALL {
        for blocks in [6, 10, 20] {
            row(name, &blocks.to_string(), simulated(noise, blocks, runs, u64::from(blocks)));
        }
    }
    for effect in EFFECTS {
        for each in [2, 3, 10] {
            let size = format!("{each} + {each} runs of 10");
            row(
                &format!("of the run, {effect} deviations"),
                &size,
                simulated_sides(effect, each, 5 * runs, each as u64),
            );
        }
    }
    text
}

/// Reduced so that it takes seconds; the bounds are wider than what the whole table shows.
#[test]
fn verdicts_err_as_seldom_as_they_say() {
    for (noise, name) in Noise::ALL {
        for (blocks, power) in [(6, 0.45), (10, 0.75), (20, 0.97)] {
            let it = simulated(noise, blocks, 60, 3);
            let told = format!("{name}, {blocks} blocks: {it:?}");
            assert!(it.false_p <= 0.08, "{told}");
            assert!(it.false_runs <= 0.17, "{told}");
            assert!(it.held >= 0.92 && it.missed <= 0.12, "{told}");
            let is_remembering = matches!(noise, Noise::Remembering | Noise::Instances);
            assert!(it.power >= if is_remembering { 0.25 } else { power }, "{told}");
        }
    }
}

#[test]
fn several_runs_a_side_err_as_seldom_whatever_runs_differ_by() {
    for effect in EFFECTS {
        for each in [2, 3, 10] {
            let it = simulated_sides(effect, each, 200, 5);
            let told = format!("{effect} deviations, {each} runs a side: {it:?}");
            assert!((0.03..=0.07).contains(&it.false_p), "{told}");
            assert!(it.false_runs <= 0.11, "{told}");
            assert!((0.93..=0.97).contains(&it.held), "{told}");
        }
    }
}

#[test]
#[ignore = "a minute of simulation: run it with --release after changing a verdict"]
fn the_document_holds_the_table() {
    let document = include_str!("../../../../../docs/coverage.md");
    let fresh = [table_of_dimensions(4_000), table(1_000)];
    let is_held = fresh.iter().all(|table| document.contains(table.trim()));
    assert!(is_held, "docs/coverage.md should hold these tables:\n\n{}", fresh.join("\n"));
}
