//! What `fsprism reproduce memory-rich-microbenchmarks` says about reads and writes in memory,
//! against a plain C program that does the same on a ramfs of its own. Both give ratios with their
//! 90 % intervals; two that do not overlap contradict each other. Then Bonnie's seeks.

mod seeks;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context;
use serde_json::Value;
use stats::{Sample, interval};

use crate::processes::binary;
use crate::table::Table;

const PAPER: &str = "memory-rich-microbenchmarks";
/// The level of the paper's intervals.
const LEVEL: f64 = 0.9;
/// Rounds of the C program before those of fsprism, and as many after.
const ROUNDS: usize = 20;
const FILES: &str = "11";
const ONE_FILE: &str = "1";
const LARGE: &str = "1048576";
const SMALL: &str = "131072";

/// Rates that the program prints, by their position.
const WRITE: usize = 0;
const READ: usize = 1;
const READ_AGAIN: usize = 2;
const RANDOM_WRITE: usize = 3;
const RANDOM_READ: usize = 4;

/// An item of the paper, and what the program is told to do the same.
struct Compared {
    item: &'static str,
    /// Size and number of files, whether random operations begin at blocks, and whether sequential
    /// ones make the same calls.
    arguments: [&'static str; 4],
    ratios: &'static [RatioOf],
}

/// A ratio of two phases, and how the claim of the paper about it begins.
struct RatioOf {
    what: &'static str,
    claim: &'static str,
    of: usize,
    over: usize,
}

const COMPARED: [Compared; 5] = [
    Compared {
        item: "table-2",
        arguments: [LARGE, ONE_FILE, "0", "0"],
        ratios: &[RatioOf {
            what: "first read after a write / second",
            claim: "the first read after a write is slower",
            of: READ,
            over: READ_AGAIN,
        }],
    },
    Compared {
        item: "figure-4",
        arguments: [LARGE, FILES, "0", "0"],
        ratios: &[RatioOf {
            what: "reads at any byte / in order",
            claim: "random reads at any byte are half",
            of: RANDOM_READ,
            over: READ,
        }],
    },
    Compared {
        item: "figure-5",
        arguments: [LARGE, FILES, "1", "0"],
        ratios: &[RatioOf {
            what: "reads of pages at random / in order",
            claim: "page-aligned random reads",
            of: RANDOM_READ,
            over: READ,
        }],
    },
    Compared {
        item: "figure-6",
        arguments: [SMALL, FILES, "1", "0"],
        ratios: &[RatioOf {
            what: "the same, 128 KiB",
            claim: "in the cache, random reads are 20 %",
            of: RANDOM_READ,
            over: READ,
        }],
    },
    Compared {
        item: "figure-7",
        arguments: [SMALL, FILES, "1", "1"],
        ratios: &[
            RatioOf {
                what: "the same, padded",
                claim: "padding makes random and sequential reads",
                of: RANDOM_READ,
                over: READ,
            },
            RatioOf {
                what: "writes, padded",
                claim: "padding makes random and sequential writes",
                of: RANDOM_WRITE,
                over: WRITE,
            },
        ],
    },
];

/// A number with its interval.
#[derive(Clone, Copy, Debug)]
struct Number {
    low: f64,
    mean: f64,
    high: f64,
}

impl Number {
    fn of_rounds(ratios: &[f64]) -> anyhow::Result<Self> {
        let found = interval::geometric_mean(&Sample::new(ratios)?, LEVEL)?;
        Ok(Self { low: found.interval.low, mean: found.mean, high: found.interval.high })
    }

    /// The first ratio in what was measured for a statement: `0.76 [0.73, 0.80]; ...`.
    fn in_words(text: &str) -> Option<Self> {
        let (mean, rest) = text.split_once(" [")?;
        let (low, rest) = rest.split_once(", ")?;
        let (high, _) = rest.split_once(']')?;
        Some(Self { low: low.parse().ok()?, mean: mean.parse().ok()?, high: high.parse().ok()? })
    }

    fn words(self) -> String {
        format!("{:.2} [{:.2}, {:.2}]", self.mean, self.low, self.high)
    }

    /// Whether it agrees with the C program's.
    fn overlap(self, plain: Self) -> String {
        let is_met = plain.low <= self.high && self.low <= plain.high;
        format!("intervals overlap: {}", if is_met { "met" } else { "not met" })
    }
}

/// Adds a row for each ratio.
pub(crate) fn measure(table: &mut Table, work: &Path) -> anyhow::Result<()> {
    let program = compiled(work, "phases", include_str!("phases.c"))?;
    for compared in &COMPARED {
        let mut rounds = some_rounds(&program, work, compared)?;
        let document = measure_fsprism(work, compared.item)?;
        rounds.extend(some_rounds(&program, work, compared)?);
        for one in compared.ratios {
            let ratios: Vec<f64> =
                rounds.iter().map(|rates| rates[one.of] / rates[one.over]).collect();
            let (plain, ours) = (Number::of_rounds(&ratios)?, found(&document, one.claim)?);
            let figure = format!("{} / C: {}", ours.words(), plain.words());
            let what = format!("{}: {}", compared.item, one.what);
            table.row(&what, figure, &ours.overlap(plain));
        }
    }
    seeks::measure(table, work)
}

/// Compiles a C program.
fn compiled(work: &Path, name: &str, text: &str) -> anyhow::Result<PathBuf> {
    let (source, program) = (work.join(format!("{name}.c")), work.join(name));
    std::fs::write(&source, text)?;
    let mut compiler = Command::new("cc");
    let status = compiler.args(["-O2", "-Wall", "-o"]).arg(&program).arg(&source).status()?;
    anyhow::ensure!(status.success(), "cc could not compile {name}.c");
    Ok(program)
}

/// Rates of the phases, each round on a new ramfs.
fn some_rounds(program: &Path, work: &Path, of: &Compared) -> anyhow::Result<Vec<Vec<f64>>> {
    (0..ROUNDS).map(|_| round(program, &work.join("ramfs"), of)).collect()
}

fn round(program: &Path, place: &Path, of: &Compared) -> anyhow::Result<Vec<f64>> {
    std::fs::create_dir_all(place)?;
    run(Command::new("mount").args(["-t", "ramfs", "fsprism-bench"]).arg(place))?;
    let output = Command::new(program).arg(place).args(of.arguments).arg("2").output();
    run(Command::new("umount").arg(place))?;
    let output = output?;
    anyhow::ensure!(output.status.success(), "the program of phases failed: {}", output.status);
    let rates = String::from_utf8(output.stdout)?;
    rates.lines().map(|line| line.parse().context("an odd line")).collect()
}

fn run(command: &mut Command) -> anyhow::Result<()> {
    let status = command.status()?;
    anyhow::ensure!(status.success(), "{command:?} failed: {status}; it takes root");
    Ok(())
}

fn measure_fsprism(work: &Path, item: &str) -> anyhow::Result<Value> {
    let run = work.join("run");
    let output = Command::new(binary()?)
        .args(["reproduce", &format!("{PAPER}/{item}"), "--format", "json", "--out"])
        .arg(&run)
        .stderr(Stdio::null())
        .output()?;
    anyhow::ensure!(output.status.success(), "fsprism reproduce failed: {}", output.status);
    std::fs::remove_dir_all(run)?;
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn found(document: &Value, claim: &str) -> anyhow::Result<Number> {
    let mut all = document["statements"].as_array().into_iter().flatten();
    let is_own = |one: &&Value| one["claim"].as_str().is_some_and(|text| text.starts_with(claim));
    let statement = all.find(is_own).with_context(|| format!("nothing is claimed like {claim}"))?;
    let measured = statement["measured"].as_str().and_then(Number::in_words);
    measured.with_context(|| format!("{claim}: it has no ratio"))
}
