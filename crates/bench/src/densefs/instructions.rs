//! How many instructions each call of DenseFS executes: all of them, between the call in a C
//! program and its return, counted in a trace.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::Context;
use footprint::touched::Figures;
use footprint::trace::{Nameless, Region};

use super::{Calls, built, compile, new_arena};
use crate::footprints::has;
use crate::table::Table;

/// The program that makes the calls.
pub(super) const SOURCE: &str = include_str!("../../../densefs-c/tests/shipped/lines.c");

/// The operations of the program, in the order of their numbers, which begin with 1.
pub(super) const CALLS: [&str; 12] = [
    "stat",
    "stat, missing",
    "open",
    "pread 4 KiB",
    "close",
    "create",
    "pwrite 4 KiB, first",
    "pwrite 4 KiB, over the same",
    "unlink",
    "rename",
    "mkdir",
    "rmdir",
];

/// Adds a row for each call.
pub(super) fn measure(table: &mut Table, work: &Path) -> anyhow::Result<()> {
    let what = |call: &str| format!("DenseFS, {call}: instructions executed");
    if !has("qemu-x86_64") {
        let why = "there is no qemu-x86_64 here (scripts/setup bench)".to_owned();
        table.row(&what("all calls"), why, "stated");
        return Ok(());
    }
    let counted = count(work)?;
    anyhow::ensure!(counted.len() == CALLS.len(), "the program has made other calls");
    for (call, counts) in CALLS.iter().zip(counted.values()) {
        table.counts(&what(call), "stated", counts);
    }
    Ok(())
}

/// The instructions of each execution, by operation.
fn count(work: &Path) -> anyhow::Result<BTreeMap<u16, Vec<f64>>> {
    let (program, arena) = (compile(work, "lines", SOURCE, Calls::Library)?, new_arena(work)?);
    let library = format!("LD_LIBRARY_PATH={}", built()?.join("lib").display());
    let counted = traced(work, &[library], &[&program, &arena])?;
    std::fs::remove_file(&arena)?;
    let instructions =
        |all: Vec<Figures>| all.iter().map(|one| one.instructions as f64).collect::<Vec<_>>();
    Ok(counted.into_iter().map(|(operation, all)| (operation, instructions(all))).collect())
}

/// What the program touches between its marks, by operation: of each of their executions. The
/// variables are for the program, and not for QEMU.
pub(super) fn traced(
    work: &Path,
    variables: &[String],
    program: &[&Path],
) -> anyhow::Result<BTreeMap<u16, Vec<Figures>>> {
    let (library, trace) = (footprint_library::write_into(work)?, work.join("trace"));
    let plugin = format!("{},out={},regions=marked", library.display(), trace.display());
    let ran = Command::new("qemu-x86_64")
        .args(["-plugin", &plugin])
        .args(variables.iter().flat_map(|variable| ["-E", variable]))
        .args(program)
        // The position of the stack depends on the size of the environment.
        .env_clear()
        .output()
        .context("qemu-x86_64 could not be started")?;
    let why = String::from_utf8_lossy(&ran.stderr);
    anyhow::ensure!(ran.status.success(), "the program that is traced failed: {why}");
    let mut counted: BTreeMap<u16, Vec<Figures>> = BTreeMap::new();
    for one in footprint_study::regions(&trace, Nameless, None)? {
        if let Region::Marked { operation, .. } = one.region {
            counted.entry(operation).or_default().push(one.figures);
        }
    }
    std::fs::remove_file(&trace)?;
    Ok(counted)
}
