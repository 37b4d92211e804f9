//! Does a survey call differences real that are not, and does it detect real ones?
//!
//! A/A: the same file system under two labels, many times; every difference called real is false.
//! A/B: the same with the device of one label throttled; every cold read must be told apart.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::Context;
use serde_json::Value;

use crate::processes;

const RUNS: u32 = 20;
const BUDGET: &str = "30s";
const SIGNIFICANT: f64 = 0.05;

/// The counts of one experiment over its runs.
#[derive(Debug, Default)]
struct VerdictCounts {
    comparisons: u32,
    /// Called real: p, adjusted for the number of comparisons in the run, is at most 5 %.
    real: u32,
    /// p of the individual comparison is at most 5 %; if calibrated, 5 % of A/A comparisons.
    significant: u32,
    too_few_blocks: u32,
    /// For each benchmark, how often its comparison was called real, and in how many runs.
    real_by_benchmark: BTreeMap<String, (u32, u32)>,
}

/// How many runs there are, and for how long each.
#[derive(Clone, Debug)]
struct Plan {
    runs: u32,
    budget: String,
}

impl Plan {
    /// Parses the arguments after the experiment's name: a budget, then a number of runs.
    fn parse(mut words: impl Iterator<Item = String>) -> anyhow::Result<Self> {
        let budget = words.next().unwrap_or_else(|| BUDGET.to_owned());
        let runs = words.next().map_or(Ok(RUNS), |runs| runs.parse());
        Ok(Self { budget, runs: runs.context("the number of runs is not a number")? })
    }
}

/// Runs the experiment with this name, as planned by the arguments after it.
pub(crate) fn measure(name: &str) -> anyhow::Result<()> {
    let plan = Plan::parse(std::env::args().skip(2))?;
    if name == "same" { same(&plan) } else { throttled(&plan) }
}

/// A/A: how often a difference is called real although there is none.
fn same(plan: &Plan) -> anyhow::Result<()> {
    let count = experiment("A/A", "survey", ["a=ext4", "b=ext4"], plan)?;
    let Plan { runs, budget } = plan;
    println!("A/A, {runs} surveys of a=ext4 b=ext4, --budget {budget}: {}", count.in_words());
    Ok(())
}

/// A/B: how often a real difference is detected.
fn throttled(plan: &Plan) -> anyhow::Result<()> {
    let targets = ["plain=ext4", "throttled=ext4:read_bps=10m"];
    let count = experiment("A/B", "survey/io", targets, plan)?;
    let Plan { runs, budget } = plan;
    println!(
        "A/B, {runs} runs of survey/io on {}, --budget {budget}: {}",
        targets.join(" "),
        count.in_words()
    );
    for (benchmark, (real, runs)) in &count.real_by_benchmark {
        println!("  {benchmark}: told apart in {real} of {runs} runs");
    }
    Ok(())
}

fn experiment(
    name: &str,
    suite: &str,
    targets: [&str; 2],
    plan: &Plan,
) -> anyhow::Result<VerdictCounts> {
    let fsprism = processes::binary()?;
    let out = tempfile::tempdir()?;
    let mut count = VerdictCounts::default();
    for run in 1..=plan.runs {
        let out = out.path().join(format!("{run}"));
        let document = document(&fsprism, suite, targets, &plan.budget, &out)?;
        count.add(&document)?;
        eprintln!("{name} {run} of {}: {}", plan.runs, count.in_words());
    }
    Ok(count)
}

fn document(
    fsprism: &Path,
    suite: &str,
    targets: [&str; 2],
    budget: &str,
    out: &Path,
) -> anyhow::Result<Value> {
    let output = Command::new(fsprism)
        .args(["run", suite])
        .args(targets)
        .args(["--budget", budget, "--format", "json", "--out"])
        .arg(out)
        .stderr(Stdio::null())
        .output()
        .context("fsprism could not be started")?;
    serde_json::from_slice(&output.stdout).context("fsprism printed no document")
}

impl VerdictCounts {
    fn add(&mut self, document: &Value) -> anyhow::Result<()> {
        let comparisons = document["comparisons"].as_array().context("no comparisons")?;
        for comparison in comparisons {
            self.comparisons += 1;
            let is_real = comparison["verdict"] == "real";
            self.real += u32::from(is_real);
            self.significant +=
                u32::from(comparison["p"].as_f64().is_some_and(|p| p <= SIGNIFICANT));
            self.too_few_blocks += u32::from(comparison["verdict"] == "not-enough-data");
            let benchmark = comparison["benchmark"].as_str().unwrap_or_default().to_owned();
            let (real, runs) = self.real_by_benchmark.entry(benchmark).or_default();
            *real += u32::from(is_real);
            *runs += 1;
        }
        Ok(())
    }

    fn in_words(&self) -> String {
        let percent = |part: u32| 100.0 * f64::from(part) / f64::from(self.comparisons.max(1));
        format!(
            "{} comparisons, {} called real ({:.1} %), {} with p <= 0.05 alone ({:.1} %), {} with \
             too few blocks",
            self.comparisons,
            self.real,
            percent(self.real),
            self.significant,
            percent(self.significant),
            self.too_few_blocks,
        )
    }
}
