//! Whole processes: how fast fsprism starts, and how much memory and time a survey takes.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;

use crate::table::Table;

const STARTS: usize = 51;
const SURVEY_BUDGET: &str = "60s";
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Adds the rows of start-up and of a survey.
pub(crate) fn measure(table: &mut Table) -> anyhow::Result<()> {
    let fsprism = binary()?;
    let mut starts_ms = Vec::new();
    for _ in 0..STARTS {
        let began = Instant::now();
        let status = Command::new(&fsprism).arg("--version").stdout(Stdio::null()).status()?;
        starts_ms.push(began.elapsed().as_secs_f64() * 1e3);
        anyhow::ensure!(status.success(), "fsprism --version failed");
    }
    table.times_ms("fsprism --version", "< 5 ms", &starts_ms);
    survey(table, &fsprism)
}

/// A whole survey of the default targets, measured from outside.
fn survey(table: &mut Table, fsprism: &PathBuf) -> anyhow::Result<()> {
    let out = tempfile::tempdir()?;
    let began = Instant::now();
    let mut child = Command::new(fsprism)
        .args(["survey", "--budget", SURVEY_BUDGET, "--out"])
        .arg(out.path().join("run"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .context("the survey could not be started")?;
    let mut peak_kib = 0;
    let status = loop {
        peak_kib = peak_kib.max(peak_resident_kib(child.id()).unwrap_or(0));
        if let Some(status) = child.try_wait()? {
            break status;
        }
        std::thread::sleep(LOOK_EVERY);
    };
    let wall_s = began.elapsed().as_secs_f64();
    let what = format!("survey --budget {SURVEY_BUDGET}, whole process ({status})");
    table.row(&what, format!("{wall_s:.1} s"), "<= 75 s");
    let peak = format!("{:.1} MiB", f64::from(peak_kib) / 1024.0);
    table.row("  its peak resident memory", peak, "< 64 MiB");
    Ok(())
}

/// The peak resident memory of a process so far.
fn peak_resident_kib(pid: u32) -> Option<u32> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

/// The fsprism binary next to this program.
pub(crate) fn binary() -> anyhow::Result<PathBuf> {
    let beside = std::env::current_exe()?.with_file_name("fsprism");
    anyhow::ensure!(beside.exists(), "{} is not built: use make bench", beside.display());
    Ok(beside)
}
