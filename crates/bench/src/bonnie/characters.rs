//! The per-character phases against a C program that does the same as Bonnie in them.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use serde_json::Value;

use super::{FILE_MIB, ROUNDS, measure_fsprism, median};
use crate::table::Table;

/// The phases, each with the corresponding C function.
const PHASES: [(&str, &str); 2] =
    [("char-output", "putc_unlocked"), ("char-input", "getc_unlocked")];

/// Characters per second, of elapsed time and of CPU time.
#[derive(Clone, Copy, Debug)]
struct Rates {
    per_s: f64,
    per_processor_s: f64,
}

/// Adds the rows of both phases.
pub(super) fn measure(table: &mut Table, work: &Path) -> anyhow::Result<()> {
    let program = compiled(work)?;
    let mut ratios: [[Vec<f64>; 2]; 2] = Default::default();
    for _ in 0..ROUNDS {
        let plain = measure_c(&program, work)?;
        let (_, document) =
            measure_fsprism(&work.join("place"), &work.join("characters-run"), &[])?;
        for (phase, of_phase) in ratios.iter_mut().enumerate() {
            let ours = rates(&document, PHASES[phase].0)?;
            of_phase[0].push(ours.per_s / plain[phase].per_s);
            of_phase[1].push(ours.per_processor_s / plain[phase].per_processor_s);
        }
    }
    for ((phase, call), [by_time, by_processor]) in PHASES.iter().zip(&ratios) {
        table.ratios(&format!("bonnie, {phase} / {call}, by time"), "stated", by_time);
        table.ratios("  by processor time", ">= 0.97", by_processor);
    }
    Ok(())
}

/// Compiles the C program.
fn compiled(work: &Path) -> anyhow::Result<PathBuf> {
    let (source, program) = (work.join("characters.c"), work.join("characters"));
    std::fs::write(&source, include_str!("characters.c"))?;
    let mut compiler = Command::new("cc");
    let status = compiler.args(["-O2", "-Wall", "-o"]).arg(&program).arg(&source).status()?;
    anyhow::ensure!(status.success(), "cc could not compile the program that moves characters");
    Ok(program)
}

fn measure_c(program: &Path, work: &Path) -> anyhow::Result<[Rates; 2]> {
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

fn rates(document: &Value, phase: &str) -> anyhow::Result<Rates> {
    let per_s = median(document, phase, "bandwidth")?;
    let share_percent = median(document, phase, "processor_share")?;
    Ok(Rates { per_s, per_processor_s: per_s * 100.0 / share_percent })
}
