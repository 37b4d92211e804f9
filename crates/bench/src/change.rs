//! How many runs it takes to see a change of known size: runs of the same command are randomly
//! assigned to two sides, and every figure of the second is made worse by that amount. With
//! no change, how often a gate would have ruled one out.

use std::path::{Path, PathBuf};

use anyhow::Context;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use record::{Better, Line, Run};
use report::compare::{CompareDocument, CompareOptions, NamedRun, compare};

const CHANGES: [f64; 3] = [0.02, 0.05, 0.10];
const DEALS: u32 = 20;
const SEED: u64 = 1;
const LEVEL: f64 = 0.95;

/// Prints the tables for the runs in a directory made by `--runs`.
pub(crate) fn measure(directory: &Path) -> anyhow::Result<()> {
    let runs = read(directory)?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
    println!("{} runs of {}", runs.len(), directory.display());
    println!("| runs a side | change | p <= 0.05 | called a difference | ruled out, no change |");
    println!("| --- | --- | --- | --- | --- |");
    for count in 2..=runs.len() / 2 {
        let mut found = [ComparisonCounts::default(); CHANGES.len()];
        let mut none = ComparisonCounts::default();
        for _ in 0..DEALS {
            let mut dealt = runs.clone();
            dealt.shuffle(&mut random);
            dealt.truncate(2 * count);
            let (_, second) = dealt.split_at(count);
            let same = compared(&dealt, count)?;
            none.add(&same);
            for (change, found) in CHANGES.into_iter().zip(&mut found) {
                let worse = second.iter().map(|run| worsened(run, change));
                let dealt: Vec<NamedRun> = dealt[..count].iter().cloned().chain(worse).collect();
                found.add(&compared(&dealt, count)?);
                let open = same.gate(change);
                found.ruled_out += open.compared - open.open.len() - open.worse.len();
            }
        }
        println!(
            "| {count} | none | {} | {} | |",
            none.percent(none.seen),
            none.percent(none.called)
        );
        for (change, one) in CHANGES.into_iter().zip(found) {
            println!(
                "| {count} | {:.0} % | {} | {} | {} |",
                100.0 * change,
                one.percent(one.seen),
                one.percent(one.called),
                one.percent(one.ruled_out)
            );
        }
    }
    Ok(())
}

/// The number of comparisons, and their outcomes.
#[derive(Clone, Copy, Default)]
struct ComparisonCounts {
    all: usize,
    seen: usize,
    called: usize,
    ruled_out: usize,
}

impl ComparisonCounts {
    fn add(&mut self, document: &CompareDocument) {
        for one in document.comparisons.iter().filter(|one| one.better != Better::Neither) {
            self.all += 1;
            self.seen += usize::from(one.p.is_some_and(|p| p <= 1.0 - LEVEL));
            self.called += usize::from(one.p_adjusted.is_some_and(|p| p <= 1.0 - LEVEL));
        }
    }

    fn percent(&self, part: usize) -> String {
        format!("{:.0} %", 100.0 * part as f64 / self.all.max(1) as f64)
    }
}

fn compared(runs: &[NamedRun], first_side: usize) -> anyhow::Result<CompareDocument> {
    let how = CompareOptions { first_side: Some(first_side), ..CompareOptions::default() };
    compare(runs, &how).context("the runs cannot be compared")
}

/// The same run with every figure made worse.
fn worsened(run: &NamedRun, change: f64) -> NamedRun {
    let mut run = run.clone();
    let cells = &run.run.manifest.cells;
    for line in &mut run.run.lines {
        let Line::Replicate(replicate) = line else { continue };
        let Some(cell) = cells.get(replicate.cell as usize) else { continue };
        for (value, metric) in replicate.metrics.iter_mut().zip(&cell.metrics) {
            match metric.better {
                Better::Lower => *value *= 1.0 + change,
                Better::Higher => *value /= 1.0 + change,
                Better::Neither => {}
            }
        }
    }
    run
}

fn read(directory: &Path) -> anyhow::Result<Vec<NamedRun>> {
    let entries = std::fs::read_dir(directory).context("the directory cannot be read")?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.join("manifest.json").exists());
    paths.sort();
    let named = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(NamedRun { name, run: Run::read(path)? })
    };
    let runs = paths.iter().map(named).collect::<anyhow::Result<Vec<NamedRun>>>()?;
    anyhow::ensure!(runs.len() >= 4, "{}: fewer than four runs", directory.display());
    Ok(runs)
}
