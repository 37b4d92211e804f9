//! Bonnie, as run by `fsprism run bonnie`: its per-character phases against a C program, and all of
//! it against Bonnie++.

mod characters;
mod original;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::Context;
use serde_json::Value;

pub(crate) use self::original::{ONE_PROCESS, one_process};
use crate::processes::binary;
use crate::table::Table;

const ROUNDS: usize = 15;
const FILE_MIB: u64 = 256;

/// Adds the rows of Bonnie.
pub(crate) fn measure(table: &mut Table, work: &Path) -> anyhow::Result<()> {
    characters::measure(table, work)?;
    original::measure(table, work)
}

/// How long a process with one block takes, in seconds, and its report. The file is in `place`, and
/// the run temporarily in `run`.
fn measure_fsprism(place: &Path, run: &Path, options: &[&str]) -> anyhow::Result<(f64, Value)> {
    std::fs::create_dir_all(place)?;
    let size = format!("{FILE_MIB}m");
    let began = Instant::now();
    let output = Command::new(binary()?)
        .args(["run", "bonnie", "--size", &size, "--blocks", "1", "--format", "json"])
        .args(options)
        .arg(format!("here={}", place.display()))
        .arg("--out")
        .arg(run)
        .stderr(Stdio::null())
        .output()?;
    let whole_s = began.elapsed().as_secs_f64();
    anyhow::ensure!(output.status.success(), "fsprism run bonnie failed: {}", output.status);
    std::fs::remove_dir_all(run)?;
    Ok((whole_s, serde_json::from_slice(&output.stdout)?))
}

/// The median of a phase's metric.
fn median(document: &Value, phase: &str, metric: &str) -> anyhow::Result<f64> {
    let mut cells = document["cells"].as_array().into_iter().flatten();
    let cell = cells.find(|cell| cell["benchmark"] == phase).context("a phase is missing")?;
    let mut all = cell["metrics"].as_array().into_iter().flatten();
    let found = all.find(|one| one["name"] == metric);
    found.and_then(|one| one["median"].as_f64()).context("a metric is missing")
}
