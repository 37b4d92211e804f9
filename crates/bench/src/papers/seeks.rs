//! Random seeks as `fsprism run bonnie` measures them, against a plain C program whose processes do
//! the same. Both give rates with their 95 % intervals.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::Context;
use serde_json::Value;
use stats::{Sample, order};

use super::{Number, compiled};
use crate::processes::binary;
use crate::table::Table;

const PHASE: &str = "random-seeks";
const METRIC: &str = "throughput";
const LEVEL: f64 = 0.95;
/// Rounds of the C program before those of fsprism, and as many after.
const ROUNDS: usize = 10;
const BLOCKS: &str = "20";
const FILE_BYTES: &str = "67108864";
const CHUNK_BYTES: &str = "16384";
const SEEKS: &str = "100000";
const SEEKERS: [&str; 3] = ["2", "3", "4"];

/// Adds a row for each number of seekers. The file is in memory.
pub(super) fn measure(table: &mut Table, work: &Path) -> anyhow::Result<()> {
    let place = tempfile::Builder::new().prefix("fsprism-bench-").tempdir_in("/dev/shm")?;
    let program = compiled(work, "seekers", include_str!("seekers.c"))?;
    for seekers in SEEKERS {
        let mut rates = some_rounds(&program, place.path(), seekers)?;
        let ours = measure_fsprism(work, place.path(), seekers)?;
        rates.extend(some_rounds(&program, place.path(), seekers)?);
        let sample = Sample::new(rates)?;
        let interval = order::median_interval(&sample, LEVEL)?;
        let thousands = |rate: f64| rate / 1e3;
        let plain = Number {
            low: thousands(interval.low),
            mean: thousands(sample.median()),
            high: thousands(interval.high),
        };
        table.row(
            &format!("{seekers} seekers, 1000 seeks/s"),
            format!("{} / C: {}", ours.words(), plain.words()),
            &ours.overlap(plain),
        );
    }
    Ok(())
}

fn some_rounds(program: &Path, place: &Path, seekers: &str) -> anyhow::Result<Vec<f64>> {
    let round = |_| {
        let output = Command::new(program)
            .arg(place.join("file"))
            .args([FILE_BYTES, CHUNK_BYTES, SEEKS, seekers])
            .output()?;
        anyhow::ensure!(output.status.success(), "the program that seeks failed");
        String::from_utf8(output.stdout)?.trim().parse().context("an odd rate")
    };
    (0..ROUNDS).map(round).collect()
}

fn measure_fsprism(work: &Path, place: &Path, seekers: &str) -> anyhow::Result<Number> {
    let run = work.join("run");
    let output = Command::new(binary()?)
        .args(["run", "bonnie", "--size", FILE_BYTES, "--chunk", CHUNK_BYTES, "--seeks", SEEKS])
        .args(["--seekers", seekers, "--blocks", BLOCKS, "--format", "json", "--out"])
        .arg(&run)
        .arg(format!("here={}", place.display()))
        .stderr(Stdio::null())
        .output()?;
    anyhow::ensure!(output.status.success(), "fsprism run bonnie failed: {}", output.status);
    std::fs::remove_dir_all(run)?;
    let document: Value = serde_json::from_slice(&output.stdout)?;
    let of = |list: &Value, key: &str, name: &str| {
        let mut all = list.as_array().into_iter().flatten();
        all.find(|one| one[key] == name).cloned()
    };
    let cell = of(&document["cells"], "benchmark", PHASE).context("there are no seeks")?;
    let metric = of(&cell["metrics"], "name", METRIC).context("the seeks have no rate")?;
    let thousands = |of: &Value| of.as_f64().map(|rate| rate / 1e3).context("no interval");
    let interval = &metric["interval"];
    Ok(Number {
        low: thousands(&interval["low"])?,
        mean: thousands(&metric["median"])?,
        high: thousands(&interval["high"])?,
    })
}
