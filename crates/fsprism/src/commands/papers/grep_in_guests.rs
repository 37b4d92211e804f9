//! grep in guests, for section 4 of "DenseFS".

use std::fs;
use std::path::Path;

use ::report::footprint::applications::{OwnerCounts, ProgramExecution};
use ::reproduce::densefs::{GREP_TARGETS, GrepExecution};

use super::paper_run::owned;
use crate::arguments::applications::TracedApplicationsOptions;
use crate::arguments::reproduce::ReproduceOptions;
use crate::commands::footprint::applications;

/// In the directory of a run: the executions that were traced with it.
pub(super) const GREP: &str = "grep.json";
/// More bytes than that file ever has.
const LONG: u64 = 1 << 16;

/// Traces grep on the paper's file systems.
pub(super) fn grep(options: &ReproduceOptions) -> anyhow::Result<Vec<GrepExecution>> {
    let asked = TracedApplicationsOptions {
        targets: owned(&GREP_TARGETS),
        no_wait: options.no_wait,
        ..TracedApplicationsOptions::default()
    };
    let document = applications::count(&asked)?;
    let caches: Vec<&str> = document.caches.caches.iter().map(|one| one.name.as_str()).collect();
    let levels = ["l1i", "l1d", "l2"].map(|name| caches.iter().position(|one| *one == name));
    let [Some(l1i), Some(l1d), Some(l2)] = levels else {
        anyhow::bail!("it takes caches with l1i, l1d and l2, and this machine has others");
    };
    let levels = [l1i, l1d, l2];
    let made = document.executions.iter().map(|one| execution(one, document.files, levels));
    Ok(made.collect())
}

/// An execution in the form of the paper.
fn execution(of: &ProgramExecution, files: u32, levels: [usize; 3]) -> GrepExecution {
    let counts = &of.on_tree;
    let [first, ..] = levels;
    let misses = |one: &OwnerCounts| one.misses[first] as f64;
    let owners = [&counts.program, &counts.file_system_library, &counts.kernel, &counts.others];
    let all: f64 = owners.map(misses).iter().sum();
    GrepExecution {
        target: of.target.clone(),
        files,
        own_instructions_thousands: counts.program.instructions as f64 / 1000.0,
        l1i_misses_per_file: all / f64::from(files),
        own_misses: levels.map(|level| counts.per_1000(&counts.program.misses, level)),
        own_misses_alone: levels.map(|level| counts.per_1000(&counts.program_misses_alone, level)),
    }
}

/// The executions that were traced with a run.
pub(super) fn grep_of(run: &Path) -> Option<Vec<GrepExecution>> {
    let file = run.join(GREP);
    file.metadata().ok().filter(|found| found.is_file() && found.len() < LONG)?;
    serde_json::from_slice(&fs::read(&file).ok()?).ok()
}
