//! Does the order of benchmarks within a block change the results?
//!
//! Runs the same benchmarks on one file system in the order of declaration, in reverse and in
//! random order, alternating. If figures differ, the cause is the state that one benchmark leaves
//! to the next.

use std::process::{Command, Stdio};

use anyhow::Context;
use serde_json::Value;

use crate::processes;
use crate::table::Table;

const ROUNDS: u64 = 12;
const SUITES: [&str; 2] = ["survey/in-memory", "survey/caching"];
/// The others are compared with the first.
const ORDERS: [&str; 3] = ["random", "declared", "reversed"];

/// Prints the ratios of all cells.
pub(crate) fn measure() -> anyhow::Result<()> {
    let mut table = Table::default();
    for suite in SUITES {
        let mut rounds: Vec<[Vec<(String, f64)>; 3]> = Vec::new();
        for round in 1..=ROUNDS {
            eprintln!("{suite} in three orders, round {round} of {ROUNDS}");
            let [random, declared, reversed] = ORDERS.map(|order| figures(suite, order, round));
            rounds.push([random?, declared?, reversed?]);
        }
        let cells = rounds.first().map_or(0, |[random, ..]| random.len());
        for cell in 0..cells {
            for (order, name) in ORDERS.iter().enumerate().skip(1) {
                let ratio = |round: &[Vec<(String, f64)>; 3]| {
                    Some(round[order].get(cell)?.1 / round[0].get(cell)?.1)
                };
                let ratios: Vec<f64> = rounds.iter().filter_map(ratio).collect();
                let benchmark = &rounds[0][0][cell].0;
                table.ratios(&format!("{benchmark}, {name} / random"), "holds 1", &ratios);
            }
        }
    }
    println!("{table}");
    Ok(())
}

/// Each benchmark's figure in one run.
fn figures(suite: &str, order: &str, seed: u64) -> anyhow::Result<Vec<(String, f64)>> {
    let out = tempfile::tempdir()?;
    let output = Command::new(processes::binary()?)
        .args(["run", suite, "ext4", "--blocks", "3", "--order", order, "--format", "json"])
        .args(["--seed", &seed.to_string(), "--out"])
        .arg(out.path().join("run"))
        .stderr(Stdio::null())
        .output()
        .context("fsprism could not be started")?;
    let document: Value =
        serde_json::from_slice(&output.stdout).context("fsprism printed no document")?;
    let cells = document["cells"].as_array().context("the document has no cells")?;
    let figure = |cell: &Value| {
        let median = cell["metrics"].get(0)?["median"].as_f64()?;
        Some((cell["benchmark"].as_str()?.to_owned(), median))
    };
    cells.iter().map(|cell| figure(cell).context("a cell has no figure")).collect()
}
