//! The engine's I/O paths, with everything they record, against the corresponding engines of fio;
//! and characters through stdio, which fio does not have, against a bare loop.
//!
//! Both sides have the same file, request size and advice, choose their own random offsets, time
//! each operation, keep a histogram, and run wherever the kernel schedules them. The engine's rate
//! is the number of operations divided by the whole elapsed time, including untimed parts, as in
//! fio. Rounds are ours, fio's, ours.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use measure::{Clock, SystemClock};
use rustix::time::{ClockId, clock_gettime};
use workload::{
    Access, DataFiles, FileSet, FileSetSpec, IoPath, MapAdvice, MapOptions, Operation, Pinning,
    Preadv2Options, Role, StdioLocking, Workload, prepare,
};

use crate::engine::FILE_BYTES;
use crate::fio::{self, Job, Length, Rate};
use crate::harness_cost::{Ratios, characters_to_bare};
use crate::table::Table;

/// Rounds of a pair.
const ROUNDS: usize = 8;
/// Rounds of stdio: 101, of a few milliseconds each.
const CHARACTER_ROUNDS: usize = 101;
const CHARACTER_OPERATIONS: u64 = 200;

/// Adds the rows of the paths.
pub(crate) fn measure(table: &mut Table, work: &Path) -> anyhow::Result<()> {
    let root = work.join("io-paths");
    std::fs::create_dir(&root)?;
    let file = DataFiles { count: 1, size_bytes: FILE_BYTES };
    let spec = FileSetSpec { read_files: file, write_files: file, ..FileSetSpec::default() };
    let file_set = FileSet::create(&root, &spec, 1, &AtomicBool::new(false))?;
    match SystemClock::calibrate().0 {
        SystemClock::Tsc(clock) => rows(table, &file_set, &clock)?,
        SystemClock::Monotonic(clock) => rows(table, &file_set, &clock)?,
    }
    file_set.remove()?;
    std::fs::remove_dir(&root)?;
    Ok(())
}

fn rows<C: Clock>(table: &mut Table, file_set: &FileSet, clock: &C) -> anyhow::Result<()> {
    characters(table, file_set, clock)?;
    let random = MapOptions { advice: MapAdvice::Random, ..MapOptions::default() };
    for (io_path, engine) in [
        (IoPath::PsyncBuffered, "psync"),
        (IoPath::Preadv2(Preadv2Options::default()), "pvsync2"),
        (IoPath::Mmap(random), "mmap"),
    ] {
        for (operation, role, direction) in [
            (Operation::Read, Role::Read, "randread"),
            (Operation::Write, Role::Write, "randwrite"),
        ] {
            let pinning = Pinning::Off;
            let workload = Workload { io_path, pinning, ..Workload::new(operation) };
            let data = file_set.data_file(role, 0);
            let length = Length::Operations(fio::OPERATIONS);
            let job = Job { engine, direction, data: &data, length, options: &[] };
            let ratios = engine_to_fio(&workload, file_set, &job, clock)?;
            let what = format!("the engine / fio {engine}, random {} 4 KiB", operation.name());
            table.ratios(&what, ">= 1.0", &ratios.elapsed);
            table.ratios("  the same in processor time", ">= 1.0", &ratios.processor);
        }
    }
    Ok(())
}

fn engine_to_fio<C: Clock>(
    workload: &Workload,
    file_set: &FileSet,
    job: &Job<'_>,
    clock: &C,
) -> anyhow::Result<Ratios> {
    // As many as in fio, so that the share of pages accessed for the first time is the same.
    let workload = Workload { operations_per_thread: fio::OPERATIONS, ..workload.clone() };
    let mut ratios = Ratios::default();
    for round in 0..ROUNDS as u64 {
        let before = engine_rate(&workload, file_set, 2 * round, clock)?;
        let between = fio::rate(job)?;
        let after = engine_rate(&workload, file_set, 2 * round + 1, clock)?;
        ratios.elapsed.push(f64::midpoint(before.per_s, after.per_s) / between.per_s);
        let processor = f64::midpoint(before.per_processor_s, after.per_processor_s);
        ratios.processor.push(processor / between.per_processor_s);
    }
    Ok(ratios)
}

/// The rate of operations in a whole replicate.
fn engine_rate<C: Clock>(
    workload: &Workload,
    file_set: &FileSet,
    seed: u64,
    clock: &C,
) -> anyhow::Result<Rate> {
    let mut session = prepare(workload, file_set, seed)?;
    let start_ns = processor_ns();
    let outcome = session.run_with(clock, &AtomicBool::new(false))?;
    let processor_ns = processor_ns() - start_ns;
    session.restore()?;
    let operations = outcome.recorder.operations() as f64;
    Ok(Rate {
        per_s: operations * 1e9 / outcome.elapsed_ns.max(1) as f64,
        per_processor_s: operations * 1e9 / processor_ns.max(1) as f64,
    })
}

/// The CPU time used by all threads of this process.
fn processor_ns() -> i64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

fn characters<C: Clock>(table: &mut Table, file_set: &FileSet, clock: &C) -> anyhow::Result<()> {
    for (locking, functions) in
        [(StdioLocking::EachCharacter, "locked"), (StdioLocking::Unlocked, "unlocked")]
    {
        for operation in [Operation::Read, Operation::Write] {
            let workload = Workload {
                access: Access::Sequential,
                io_path: IoPath::Stdio(locking),
                operations_per_thread: CHARACTER_OPERATIONS,
                ..Workload::new(operation)
            };
            let ratios = characters_to_bare(&workload, file_set, CHARACTER_ROUNDS, clock)?;
            let name = operation.name();
            let what = format!("engine / bare loop, stdio {name}, {functions}, 4096 characters");
            table.ratios(&what, ">= 0.95", &ratios.elapsed);
            table.ratios("  the same in processor time", ">= 0.95", &ratios.processor);
        }
    }
    Ok(())
}
