//! Footprints: how fast instructions are traced, compared with gdb's single steps, and how fast
//! traces are analysed.
//!
//! If a tool or the lab is missing, what needs it is left out, with a row that says why.

mod analysis;
mod gdb;
mod plain_loop;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::Context;
use serde_json::Value;

use crate::processes;
use crate::table::Table;

/// The targets of `fsprism run footprint`: five file systems, with six operations.
const TARGETS: [&str; 5] = ["tmpfs", "ext4", "xfs", "btrfs", "f2fs"];
const OPERATIONS: &str = "create,write,read,stat,rename,unlink";
/// The guest's clock advances by one nanosecond per instruction (QEMU's `-icount shift=0`).
const INSTRUCTIONS_PER_S: f64 = 1e9;

/// The suite, run once.
struct Suite {
    /// Where the traces are.
    traces: PathBuf,
    seconds: f64,
    /// Instructions in all traced repetitions.
    traced: f64,
    /// Minimum number of instructions executed by the guests: booting, and what is traced.
    executed: f64,
}

/// Adds the rows of footprints.
pub(crate) fn measure(table: &mut Table, work: &Path) -> anyhow::Result<()> {
    let traced_per_s = plain_loop::measure(table, work)?;
    let what = "guests booted, 5 file systems x 6 operations traced and analysed";
    let suite = suite(work)?;
    match &suite {
        Ok(suite) => table.row(what, format!("{:.1} s", suite.seconds), "<= 60 s"),
        Err(why) => table.row(what, why.clone(), "<= 60 s"),
    }
    match gdb::steps_per_s(work)? {
        Ok(steps) => rows_of_gdb(table, &steps, traced_per_s.as_deref(), suite.as_ref().ok()),
        Err(why) => table.row("gdb's single steps in a guest's kernel", why, ">= 5,000 x"),
    }
    analysis::measure(table, suite.ok().map(|suite| suite.traces).as_deref())
}

/// Adds gdb's steps, and how much longer they would take for the same work.
fn rows_of_gdb(table: &mut Table, steps: &[f64], traced: Option<&[f64]>, suite: Option<&Suite>) {
    let bound = "2,142 seen before";
    table.per_second("gdb's single steps in a guest's kernel", bound, steps);
    if let Some(traced) = traced {
        let ratios: Vec<f64> = traced.iter().zip(steps).map(|(ours, gdb)| ours / gdb).collect();
        table.ratios("instructions traced, plain loop / gdb's steps", ">= 5,000", &ratios);
    }
    if let Some(suite) = suite {
        let ratios = |instructions: f64| -> Vec<f64> {
            steps.iter().map(|steps| instructions / steps / suite.seconds).collect()
        };
        let all = "time of gdb stepping all that the guests execute / the same traced";
        table.ratios(all, ">= 5,000", &ratios(suite.executed));
        let marked = "  of gdb stepping the traced operations alone / the same";
        table.ratios(marked, "no bound", &ratios(suite.traced));
    }
}

/// Runs the suite, or says why that is impossible.
fn suite(work: &Path) -> anyhow::Result<Result<Suite, String>> {
    let fsprism = processes::binary()?;
    // The first boot packs the image, which is kept.
    let boot = match booted_s(&fsprism)? {
        Ok(boot) => boot,
        Err(why) => return Ok(Err(why)),
    };
    let out = work.join("footprints");
    let mut command = Command::new(&fsprism);
    command.args(["run", "footprint"]).args(TARGETS).args(["--op", OPERATIONS]);
    command.args(["--format", "json", "--out"]).arg(&out).stdin(Stdio::null());
    let began = Instant::now();
    let output = command.output().context("fsprism run footprint could not be started")?;
    let seconds = began.elapsed().as_secs_f64();
    if !output.status.success() {
        return Ok(Err(last_line(&output.stderr)));
    }
    let document: Value = serde_json::from_slice(&output.stdout)?;
    let traced = instructions(&document).context("the run reports no instructions")?;
    let executed = boot * TARGETS.len() as f64 * INSTRUCTIONS_PER_S + traced;
    Ok(Ok(Suite { traces: out.join("footprint"), seconds, traced, executed }))
}

/// Seconds on a guest's clock from the start of its kernel to a command, or why none can be booted.
fn booted_s(fsprism: &Path) -> anyhow::Result<Result<f64, String>> {
    let mut command = Command::new(fsprism);
    command.args(["lab", "run", "--", "cat", "/proc/uptime"]).stdin(Stdio::null());
    let output = command.output().context("fsprism lab run could not be started")?;
    if !output.status.success() {
        return Ok(Err(last_line(&output.stderr)));
    }
    // Seconds since boot, and idle seconds, in which nothing is executed.
    let text = String::from_utf8(output.stdout)?;
    let mut words = text.split_whitespace().map(str::parse::<f64>);
    match (words.next(), words.next()) {
        (Some(Ok(up)), Some(Ok(idle))) => Ok(Ok(up - idle)),
        _ => anyhow::bail!("/proc/uptime of a guest does not have two numbers: {text}"),
    }
}

/// The instructions of all repetitions in all cells.
fn instructions(document: &Value) -> Option<f64> {
    let mut sum = 0.0;
    for cell in document["cells"].as_array()? {
        let mut metrics = cell["metrics"].as_array()?.iter();
        let metric = metrics.find(|metric| metric["name"] == "instructions")?;
        sum += metric["values"].as_array()?.iter().filter_map(Value::as_f64).sum::<f64>();
    }
    (sum > 0.0).then_some(sum)
}

fn last_line(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    text.lines().last().unwrap_or("it failed and said nothing").to_owned()
}

/// Whether a program can be started here.
pub(crate) fn has(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}
