//! Bonnie, as `fsprism run bonnie` runs it: its characters against those of a C program, and all of
//! it against Bonnie++.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::Context;
use serde_json::Value;

use crate::processes::binary;
use crate::table::Table;

const ROUNDS: usize = 15;
const FILE_MIB: u64 = 256;
/// The phases of characters, each with what C does there.
const PHASES: [(&str, &str); 2] =
    [("char-output", "putc_unlocked"), ("char-input", "getc_unlocked")];
/// Options of fsprism that are as near to those of Bonnie++ as can be.
const AS_BONNIE: [&str; 7] = ["--chunk", "8k", "--seeks", "8192", "--seekers", "5", "--fsync"];

/// Characters per second, of time and of processor time.
#[derive(Clone, Copy, Debug)]
struct Rates {
    per_s: f64,
    per_processor_s: f64,
}

/// Adds the rows of Bonnie.
pub(crate) fn measure(table: &mut Table, work: &Path) -> anyhow::Result<()> {
    let program = compiled(work)?;
    let mut ratios: [[Vec<f64>; 2]; 2] = Default::default();
    let mut whole = Vec::new();
    let has_original = Command::new("bonnie++").arg("-h").output().is_ok();
    for round in 0..ROUNDS {
        let plain = of_c(&program, work)?;
        let (_, ours) = of_fsprism(work, &format!("characters-{round}"), &[])?;
        for (phase, of_phase) in ratios.iter_mut().enumerate() {
            of_phase[0].push(ours[phase].per_s / plain[phase].per_s);
            of_phase[1].push(ours[phase].per_processor_s / plain[phase].per_processor_s);
        }
        if has_original {
            let original_s = of_original(work)?;
            let (whole_s, _) = of_fsprism(work, &format!("whole-{round}"), &AS_BONNIE)?;
            whole.push(whole_s / original_s);
        }
    }
    for ((phase, call), [by_time, by_processor]) in PHASES.iter().zip(&ratios) {
        table.ratios(&format!("bonnie, {phase} / {call}, by time"), "stated", by_time);
        table.ratios("  by processor time", ">= 0.97", by_processor);
    }
    let what = format!("bonnie / bonnie++, {FILE_MIB} MiB, whole process");
    if has_original {
        table.ratios(&what, "<= 1", &whole);
    } else {
        table.row(&what, "bonnie++ is not installed".to_owned(), "<= 1");
    }
    Ok(())
}

/// The C program of characters.
fn compiled(work: &Path) -> anyhow::Result<std::path::PathBuf> {
    let (source, program) = (work.join("characters.c"), work.join("characters"));
    std::fs::write(&source, include_str!("characters.c"))?;
    let mut compiler = Command::new("cc");
    let status = compiler.args(["-O2", "-Wall", "-o"]).arg(&program).arg(&source).status()?;
    anyhow::ensure!(status.success(), "cc could not compile the program that moves characters");
    Ok(program)
}

fn of_c(program: &Path, work: &Path) -> anyhow::Result<[Rates; 2]> {
    let bytes = (FILE_MIB << 20).to_string();
    let output = Command::new(program).arg(work.join("plain")).arg(bytes).output()?;
    anyhow::ensure!(output.status.success(), "the program that moves characters failed");
    let text = String::from_utf8(output.stdout)?;
    let mut lines = text.lines().map(|line| -> anyhow::Result<Rates> {
        let (per_s, per_processor_s) = line.split_once('\t').context("an odd line")?;
        Ok(Rates { per_s: per_s.parse()?, per_processor_s: per_processor_s.parse()? })
    });
    let mut next = || lines.next().context("too few lines")?;
    Ok([next()?, next()?])
}

/// How long one block takes as a process, and the rates of its phases of characters.
fn of_fsprism(work: &Path, name: &str, options: &[&str]) -> anyhow::Result<(f64, [Rates; 2])> {
    let (place, run) = (work.join("place"), work.join(name));
    std::fs::create_dir_all(&place)?;
    let size = format!("{FILE_MIB}m");
    let began = Instant::now();
    let output = Command::new(binary()?)
        .args(["run", "bonnie", "--size", &size, "--blocks", "1", "--format", "json"])
        .args(options)
        .arg(format!("here={}", place.display()))
        .arg("--out")
        .arg(&run)
        .stderr(Stdio::null())
        .output()?;
    let whole_s = began.elapsed().as_secs_f64();
    anyhow::ensure!(output.status.success(), "fsprism run bonnie failed: {}", output.status);
    std::fs::remove_dir_all(&run)?;
    let document: Value = serde_json::from_slice(&output.stdout)?;
    let [put, get] = PHASES.map(|(phase, _)| rates(&document, phase));
    Ok((whole_s, [put?, get?]))
}

fn rates(document: &Value, phase: &str) -> anyhow::Result<Rates> {
    let mut cells = document["cells"].as_array().into_iter().flatten();
    let cell = cells.find(|cell| cell["benchmark"] == phase).context("a phase is missing")?;
    let metric = |name: &str| {
        let mut all = cell["metrics"].as_array().into_iter().flatten();
        let found = all.find(|metric| metric["name"] == name);
        found.and_then(|metric| metric["median"].as_f64()).context("a metric is missing")
    };
    let per_s = metric("bandwidth")?;
    Ok(Rates { per_s, per_processor_s: per_s * 100.0 / metric("processor_share")? })
}

/// How long Bonnie++ takes, in seconds.
fn of_original(work: &Path) -> anyhow::Result<f64> {
    let place = work.join("original");
    std::fs::create_dir_all(&place)?;
    let began = Instant::now();
    let status = Command::new("bonnie++")
        .args(["-q", "-n", "0", "-u", "root", "-s", &FILE_MIB.to_string()])
        .args(["-r", &(FILE_MIB / 2).to_string(), "-d"])
        .arg(&place)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    anyhow::ensure!(status.success(), "bonnie++ failed: {status}");
    Ok(began.elapsed().as_secs_f64())
}
