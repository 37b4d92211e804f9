//! Prints what the harness costs on this machine: medians of ratios with 95 % intervals.
//!
//! `cargo run --release -p fsprism-workload --example harness_cost [DIRECTORY]`; the directory,
//! `/dev/shm` unless given, should be on a tmpfs.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use measure::{Clock, SystemClock};
use workload::harness_cost::{Ratios, engine_to_bare, noop_to_two_readings, set_up_to_bare_loop};
use workload::{Access, DataFiles, FileSet, FileSetSpec, Operation, Workload};

/// Rounds are a millisecond or two long, shorter than a scheduler's slice, and so many that the
/// preempted ones do not reach the median.
const ROUNDS: usize = 501;
const OPERATIONS: u64 = 2_000;
const SET_UP_ROUNDS: usize = 8;

fn main() -> Result<(), Box<dyn Error>> {
    let parent = std::env::args_os().nth(1).map_or_else(|| "/dev/shm".into(), PathBuf::from);
    let root = parent.join(format!("fsprism-harness-{}", std::process::id()));
    std::fs::create_dir(&root)?;
    let outcome = match SystemClock::calibrate().0 {
        SystemClock::Tsc(clock) => measure_all(&root, &clock),
        SystemClock::Monotonic(clock) => measure_all(&root, &clock),
    };
    std::fs::remove_dir_all(&root)?;
    outcome
}

fn measure_all<C: Clock>(root: &Path, clock: &C) -> Result<(), Box<dyn Error>> {
    let ratios = noop_to_two_readings(20_000, ROUNDS, clock)?;
    print_row("no-op / two clock readings (at most 1.25)", &ratios);

    let data_files = DataFiles { count: 1, size_bytes: 256 << 20 };
    let spec =
        FileSetSpec { read_files: data_files, write_files: data_files, ..FileSetSpec::default() };
    let file_set = FileSet::create(root, &spec, 1, &AtomicBool::new(false))?;
    for threads in [1, 2] {
        for operation in [Operation::Read, Operation::Write] {
            for access in [Access::Uniform, Access::Sequential] {
                let workload = Workload {
                    access,
                    threads,
                    operations_per_thread: OPERATIONS,
                    sharing: workload::Sharing::Same,
                    ..Workload::new(operation)
                };
                let ratios = engine_to_bare(&workload, &file_set, ROUNDS, clock)?;
                let name = operation.name();
                let what = format!("engine / bare rate, {name}, {access:?}, {threads} thread(s)");
                print_row(&what, &ratios);
            }
        }
    }
    file_set.remove()?;

    let ratios = set_up_to_bare_loop(root, 1_000_000, SET_UP_ROUNDS, clock)?;
    print_row("1,000,000 files: set-up / bare loop (at most 1.1)", &ratios);
    Ok(())
}

fn print_row(what: &str, ratios: &Ratios) {
    let (elapsed, processor) = (in_words(&ratios.elapsed), in_words(&ratios.processor));
    println!("{what:<50} elapsed {elapsed}  processor {processor}");
}

/// The median with its interval.
fn in_words(ratios: &[f64]) -> String {
    let mut sorted = ratios.to_vec();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len();
    let median = f64::midpoint(sorted[(count - 1) / 2], sorted[count / 2]);
    match median_interval_rank(count) {
        Some(rank) => {
            let (low, high) = (sorted[rank - 1], sorted[count - rank]);
            format!("{median:.3} [{low:.3}, {high:.3}]")
        }
        None => format!("{median:.3} (too few rounds for an interval)"),
    }
}

/// The rank r such that the r-th smallest and r-th largest of `count` values enclose the median
/// with 95 % confidence: the largest with P(Binomial(count, 1/2) < r) <= 2.5 % (David and Nagaraja,
/// Order Statistics, section 7.1).
fn median_interval_rank(count: usize) -> Option<usize> {
    let mut probability = 0.5_f64.powf(count as f64);
    let mut below = 0.0;
    let mut rank = 0;
    while below + probability <= 0.025 {
        below += probability;
        rank += 1;
        probability *= (count - rank + 1) as f64 / rank as f64;
    }
    (rank > 0).then_some(rank)
}
