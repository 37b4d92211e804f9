//! Simulations of laws of growth and of changes in a series: the tables of docs/coverage.md.

use std::fmt::Write;

use rand::RngExt;
use rand_distr::{Distribution, StandardNormal, StudentT};
use stats::changepoint::divisive::{Options, e_divisive};
use stats::scalability::{Errors, of_blocks, scalability};

use crate::data::{Random, share};

const LEVEL: f64 = 0.95;
/// Standard deviation of the logarithm of a throughput, and of what a block's throughputs share.
const DEVIATION: f64 = 0.02;
const GAMMA: f64 = 100.0;
const ALPHA: f64 = 0.05;

/// Throughputs at these numbers of threads, by the Universal Scalability Law plus noise.
fn throughputs(random: &mut Random, at: &[f64], beta: f64) -> Vec<f64> {
    let mut normal = || -> f64 { StandardNormal.sample(random) };
    let of_block = normal();
    let one = |&n: &f64| {
        let exact = GAMMA * n / (1.0 + ALPHA * (n - 1.0) + beta * n * (n - 1.0));
        exact * (DEVIATION * (of_block + normal())).exp()
    };
    at.iter().map(one).collect()
}

/// How often intervals contain alpha and beta of the full law, from one value per number of
/// threads; and gamma, alpha and beta over ten blocks.
fn laws(at: &[f64], beta: f64, trials: u32) -> [f64; 5] {
    let of_one = |is_alpha: bool| {
        share(trials, 21, |random| {
            let x = throughputs(random, at, beta);
            let fit = scalability(at, &x, Errors::InProportion, LEVEL).and_then(|got| got.full);
            let of = |fit: stats::scalability::Fit| {
                if is_alpha { (fit.alpha, ALPHA) } else { (fit.beta, beta) }
            };
            fit.ok().map(of).is_some_and(|(estimate, truth)| {
                estimate.is_some_and(|it| it.interval.contains(truth))
            })
        })
    };
    let of_ten = |parameter: usize| {
        share(trials / 2, 22, |random| {
            let block = |_| at.iter().copied().zip(throughputs(random, at, beta)).collect();
            let blocks: Vec<Vec<(f64, f64)>> = (0..10).map(block).collect();
            of_blocks(&blocks, LEVEL).is_ok_and(|got| {
                let of = [(got.gamma, GAMMA), (got.alpha, ALPHA), (got.beta, beta)];
                of[parameter].0.interval.contains(of[parameter].1)
            })
        })
    };
    [of_one(true), of_one(false), of_ten(0), of_ten(1), of_ten(2)]
}

const FEW: [f64; 6] = [1.0, 2.0, 3.0, 4.0, 6.0, 8.0];
const MANY: [f64; 6] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0];

fn table_of_laws(trials: u32) -> String {
    let mut text = String::from(
        "| threads | beta | alpha | beta | gamma, blocks | alpha, blocks | beta, blocks |\n\
         | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for (name, at) in [("1, 2, 3, 4, 6, 8", FEW), ("1, 2, 4, 8, 16, 32", MANY)] {
        for beta in [0.0, 0.002] {
            let shares = laws(&at, beta, trials).map(|share| format!("{:.1}", 100.0 * share));
            writeln!(text, "| {name} | {beta} | {} |", shares.join(" | ")).expect("text");
        }
    }
    text
}

#[derive(Clone, Copy)]
enum Noise {
    Normal,
    HeavyTails,
    Outliers,
}

impl Noise {
    const ALL: [(Self, &'static str); 3] =
        [(Self::Normal, "normal"), (Self::HeavyTails, "t(3)"), (Self::Outliers, "2 % far off")];

    fn draw(self, random: &mut Random) -> f64 {
        match self {
            Self::HeavyTails => StudentT::new(3.0).expect("3").sample(random),
            Self::Outliers if random.random_bool(0.02) => 30.0,
            Self::Normal | Self::Outliers => StandardNormal.sample(random),
        }
    }
}

/// How often a change is found in `n` values whose second half is higher by `shift`.
fn found(noise: Noise, n: usize, shift: f64, trials: u32) -> f64 {
    share(trials, n as u64, |random| {
        let value = |place: usize| noise.draw(random) + if 2 * place >= n { shift } else { 0.0 };
        let values: Vec<f64> = (0..n).map(value).collect();
        let options = Options { permutations: 99, ..Options::default() };
        !e_divisive(&values, options).expect("a series").changes.is_empty()
    })
}

/// False positives in the longest series that can be cut this way, in percent.
fn table_of_long_series(trials: u32) -> String {
    let mut text = String::from("| noise | values | without a change |\n| --- | --- | --- |\n");
    for (noise, name) in Noise::ALL {
        let share = 100.0 * found(noise, 2_000, 0.0, trials);
        writeln!(text, "| {name} | 2000 | {share:.1} |").expect("text");
    }
    text
}

fn table_of_changes(trials: u32) -> String {
    let mut text = String::from(
        "| noise | values | without a change | shift of 1 | of 2 | of 3 |\n\
         | --- | --- | --- | --- | --- | --- |\n",
    );
    for (noise, name) in Noise::ALL {
        for n in [20, 50, 200] {
            let of = |shift| format!("{:.1}", 100.0 * found(noise, n, shift, trials));
            let shares = [0.0, 1.0, 2.0, 3.0].map(of).join(" | ");
            writeln!(text, "| {name} | {n} | {shares} |").expect("text");
        }
    }
    text
}

#[test]
fn intervals_of_the_full_law_hold() {
    for at in [FEW, MANY] {
        for beta in [0.0, 0.002] {
            let shares = laws(&at, beta, 1_000);
            assert!(shares.iter().all(|share| (0.92..=0.975).contains(share)), "{shares:?}");
        }
    }
}

#[test]
#[ignore = "minutes of simulation: run it with --release after changing a law or a test of change"]
fn the_document_holds_the_tables_of_laws_and_changes() {
    held(&[table_of_laws(4_000), table_of_changes(1_000)]);
}

#[test]
#[ignore = "half an hour of simulation: run it with --release after changing a test of change"]
fn the_document_holds_the_table_of_long_series() {
    held(&[table_of_long_series(300)]);
}

fn held(fresh: &[String]) {
    let document = include_str!("../../../../docs/coverage.md");
    let is_held = fresh.iter().all(|table| document.contains(table.trim()));
    assert!(is_held, "docs/coverage.md should hold these tables:\n\n{}", fresh.join("\n"));
}
