//! The engine against bare loops, in this process.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use measure::Clock;
use workload::harness_cost::{Ratios, engine_to_bare, noop_to_two_readings, set_up_to_bare_loop};
use workload::{Access, DataFiles, FileSet, FileSetSpec, Operation, Sharing, Workload};

use crate::table::Table;

/// The file of the acceptance figures: larger than the processor's caches.
pub(crate) const FILE_BYTES: u64 = 256 << 20;
/// Rounds are a few milliseconds long, shorter than a scheduler's slice, and so many that the
/// preempted ones do not reach the median.
const ROUNDS: usize = 301;
const OPERATIONS: u64 = 2_000;
const FILES: u64 = 1_000_000;
const FILES_ROUNDS: usize = 6;

/// Adds the rows of the engine.
pub(crate) fn measure<C: Clock>(table: &mut Table, work: &Path, clock: &C) -> anyhow::Result<()> {
    let noop = noop_to_two_readings(20_000, ROUNDS, clock)?;
    add(table, "no-op operation / two clock readings", "<= 1.25", &noop);

    let root = work.join("engine");
    std::fs::create_dir(&root)?;
    let file = DataFiles { count: 1, size_bytes: FILE_BYTES };
    let spec = FileSetSpec { read_files: file, write_files: file, ..FileSetSpec::default() };
    let file_set = FileSet::create(&root, &spec, 1, &AtomicBool::new(false))?;
    for threads in [1, 2] {
        for operation in [Operation::Read, Operation::Write] {
            for (access, name) in [(Access::Uniform, "random"), (Access::Sequential, "sequential")]
            {
                let workload = Workload {
                    access,
                    threads,
                    operations_per_thread: OPERATIONS,
                    sharing: Sharing::Same,
                    ..Workload::new(operation)
                };
                let ratios = engine_to_bare(&workload, &file_set, ROUNDS, clock)?;
                let plural = if threads == 1 { "" } else { "s" };
                let verb = operation.name();
                let what =
                    format!("engine / bare loop, {name} {verb} 4 KiB, {threads} thread{plural}");
                add(table, &what, ">= 0.95", &ratios);
            }
        }
    }
    file_set.remove()?;
    let set_up = set_up_to_bare_loop(work, FILES, FILES_ROUNDS, clock)?;
    add(table, "setting up 1,000,000 files / bare create loop", "<= 1.1", &set_up);
    Ok(())
}

/// Elapsed time is what a user waits for; processor time does not see preemption by others. Only
/// where the two agree is either to be believed, so the table shows both.
fn add(table: &mut Table, what: &str, bound: &str, ratios: &Ratios) {
    table.ratios(what, bound, &ratios.elapsed);
    table.ratios("  the same in processor time", bound, &ratios.processor);
}
