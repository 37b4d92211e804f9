//! The engine against bare loops.
//!
//! The memory layout of a process's code, stack and buffers makes one side or the other faster by
//! several percent, in all rounds of that process alike. So every row is measured in several new
//! processes, and the table has the median over processes, with its interval, of the medians over
//! each one's rounds.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use measure::{Clock, SystemClock};
use serde_json::{Value, json};
use stats::Sample;
use workload::{Access, DataFiles, FileSet, FileSetSpec, Operation, Sharing, Workload};

use crate::harness_cost::{
    Ratios, engine_to_bare, noop_to_two_readings, replicate_to_bare, set_up_to_bare_loop,
};
use crate::new_process;
use crate::table::Table;

/// Size of the file for the acceptance figures: larger than the processor's caches.
pub(crate) const FILE_BYTES: u64 = 256 << 20;
/// The argument that asks for the rows of one process.
pub(crate) const ONE_PROCESS: &str = "one-process";

const PROCESSES: usize = 11;
/// Rounds take a few milliseconds, less than a scheduler's time slice, and there are enough of them
/// that those preempted do not affect the median.
const ROUNDS: usize = 61;
const OPERATIONS: u64 = 2_000;
/// Sequential operations of all threads together, in each of a side's two turns per round: half of
/// the file. Its parts are not equally fast, and each side must access all of them in the same
/// pairs: with two threads, the first and the third quarter at the same time, and the second and
/// the fourth. Otherwise the slower thread, which is waited for, would be slower on one side.
const TURN_OPERATIONS: u64 = FILE_BYTES / 4096 / 2;
const TURN_ROUNDS: usize = 14;
/// Operations in a replicate: about as long as those of a survey.
const REPLICATE_OPERATIONS: u64 = 50_000;
const REPLICATE_ROUNDS: usize = 9;
const FILES: u64 = 1_000_000;

/// Adds the rows of the engine.
pub(crate) fn measure(table: &mut Table, work: &Path) -> anyhow::Result<()> {
    let mut processes: Vec<Vec<Value>> = Vec::new();
    for number in 1..=PROCESSES {
        eprintln!("the engine and bare loops, process {number} of {PROCESSES}");
        processes.push(new_process::rows(ONE_PROCESS, work)?);
    }
    let rows = processes.first().map_or(0, Vec::len);
    for row in 0..rows {
        let column = |name: &str| -> Vec<f64> {
            processes.iter().filter_map(|rows| rows.get(row)?[name].as_f64()).collect()
        };
        let text = |name: &str| processes[0][row][name].as_str().unwrap_or_default();
        table.ratios(text("what"), text("bound"), &column("elapsed"));
        // Elapsed time is what users wait for; CPU time is not affected by preemption. Trust either
        // only if the two agree.
        let processor = column("processor");
        if !processor.is_empty() {
            table.ratios("  the same in processor time", text("bound"), &processor);
        }
    }
    Ok(())
}

/// The work of a new process: measures every row once and prints them.
pub(crate) fn one_process(work: &Path) -> anyhow::Result<()> {
    let rows = match SystemClock::calibrate().0 {
        SystemClock::Tsc(clock) => rows(work, &clock)?,
        SystemClock::Monotonic(clock) => rows(work, &clock)?,
    };
    println!("{}", Value::Array(rows));
    Ok(())
}

fn rows<C: Clock>(work: &Path, clock: &C) -> anyhow::Result<Vec<Value>> {
    let noop = noop_to_two_readings(20_000, ROUNDS, clock)?;
    let mut rows = vec![row("no-op operation / two clock readings", "<= 1.25", &noop)];
    let root = work.join("engine");
    std::fs::create_dir(&root)?;
    let file = DataFiles { count: 1, size_bytes: FILE_BYTES };
    let spec = FileSetSpec { read_files: file, write_files: file, ..FileSetSpec::default() };
    let file_set = FileSet::create(&root, &spec, 1, &AtomicBool::new(false))?;
    for threads in [1, 2] {
        for operation in [Operation::Read, Operation::Write] {
            rows.extend(transfers(operation, threads, &file_set, clock)?);
        }
    }
    let workload =
        Workload { operations_per_thread: REPLICATE_OPERATIONS, ..Workload::new(Operation::Read) };
    let elapsed = replicate_to_bare(&workload, &file_set, REPLICATE_ROUNDS, clock)?;
    let ratios = Ratios { elapsed, processor: Vec::new() };
    rows.push(row("a whole replicate / bare loop, random read 4 KiB", ">= 0.95", &ratios));
    file_set.remove()?;
    std::fs::remove_dir(&root)?;
    let set_up = set_up_to_bare_loop(work, FILES, 1, clock)?;
    rows.push(row("setting up 1,000,000 files / bare create loop", "<= 1.1", &set_up));
    Ok(rows)
}

fn transfers<C: Clock>(
    operation: Operation,
    threads: usize,
    file_set: &FileSet,
    clock: &C,
) -> anyhow::Result<Vec<Value>> {
    let mut rows = Vec::new();
    for (access, name, operations_per_thread, rounds) in [
        (Access::Uniform, "random", OPERATIONS, ROUNDS),
        (Access::Sequential, "sequential", TURN_OPERATIONS / threads as u64, TURN_ROUNDS),
    ] {
        let sharing = Sharing::Same;
        let of = Workload::new(operation);
        let workload = Workload { access, threads, operations_per_thread, sharing, ..of };
        let ratios = engine_to_bare(&workload, file_set, rounds, clock)?;
        let plural = if threads == 1 { "" } else { "s" };
        let verb = operation.name();
        let what = format!("engine / bare loop, {name} {verb} 4 KiB, {threads} thread{plural}");
        rows.push(row(&what, ">= 0.95", &ratios));
    }
    Ok(rows)
}

/// The medians over the rounds.
fn row(what: &str, bound: &str, ratios: &Ratios) -> Value {
    let median = |values: &[f64]| Sample::new(values).ok().map(|sample| sample.median());
    json!({
        "what": what,
        "bound": bound,
        "elapsed": median(&ratios.elapsed),
        "processor": median(&ratios.processor),
    })
}
