//! The engine's io_uring path against fio's, with the same settings on the same file.
//!
//! Both keep 32 reads of 4 KiB in flight at random offsets of one file, submit all free entries
//! with one system call, reap all available completions and wait for at least one (fio:
//! `iodepth_batch_submit` and `iodepth_batch_complete_max` equal to the depth,
//! `iodepth_batch_complete_min=1`), with registered files and buffers, on the same processor, for
//! the same time, and record every latency. Each round is a new process with new file systems, in
//! which they alternate: ours, fio, fio, ours, and again.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context;
use measure::{Clock, SystemClock};
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};
use targets::Surroundings;
use workload::{
    Buffering, DataFiles, FileSet, FileSetSpec, IoPath, Operation, Role, UringOptions, Workload,
    io_uring_availability, prepare,
};

use crate::engine::FILE_BYTES;
use crate::fio::{Job, Length, Rate, rate};
use crate::new_process;
use crate::table::Table;

/// The argument that asks for the rows of one process.
pub(crate) const ONE_PROCESS: &str = "one-process-of-io_uring";

const ROUNDS: usize = 11;
const DEPTH: u32 = 32;
const TURN: Duration = Duration::from_millis(500);
/// How many times each is both first and last, in one process.
const REPEATS: u64 = 2;
/// More than any machine completes in a turn; the engine's maximum.
const OPERATIONS: u64 = 1 << 32;
const BOUND: &str = ">= 1.0";

/// Adds the rows of io_uring, if it is available.
pub(crate) fn measure(table: &mut Table, work: &Path) -> anyhow::Result<()> {
    let what = format!("engine / fio, io_uring, random read 4 KiB, depth {DEPTH}");
    if let Err(refusal) = io_uring_availability() {
        table.row(&what, refusal.to_string(), BOUND);
        return Ok(());
    }
    let mut processes: Vec<Vec<Value>> = Vec::new();
    for number in 1..=ROUNDS {
        eprintln!("io_uring, process {number} of {ROUNDS}");
        processes.push(new_process::rows(ONE_PROCESS, work)?);
    }
    let rows = processes.first().map_or(0, Vec::len);
    for row in 0..rows {
        let place = processes[0][row]["place"].as_str().unwrap_or_default();
        let what = format!("{what}, {place}");
        if let Some(why) = processes[0][row]["why_not"].as_str() {
            table.row(&what, why.to_owned(), BOUND);
            continue;
        }
        let column = |name: &str| -> Vec<f64> {
            processes.iter().filter_map(|rows| rows.get(row)?[name].as_f64()).collect()
        };
        table.ratios(&what, BOUND, &column("elapsed"));
        let processor = column("processor");
        if !processor.is_empty() {
            table.ratios("  the same in processor time", BOUND, &processor);
        }
    }
    Ok(())
}

/// The work of a new process: measures every row once and prints them. Called while it is
/// single-threaded.
pub(crate) fn one_process(work: &Path) -> anyhow::Result<()> {
    let [ext4, cached] = ["ext4 on a loop device, O_DIRECT", "ext4, page cache"];
    let on_ext4 = |root: &Path| {
        Ok(vec![
            row(ext4, root, Buffering::Direct, Workers::None)?,
            row(cached, root, Buffering::PageCache, Workers::None)?,
        ])
    };
    let scratch = Surroundings::default().scratch;
    let rows = new_process::on_target("ext4:size=1g", scratch, on_ext4)?;
    let mut rows = rows.unwrap_or_else(|why| vec![json!({ "place": ext4, "why_not": why })]);
    rows.push(row("tmpfs, page cache", work, Buffering::PageCache, Workers::Kernel)?);
    println!("{}", Value::Array(rows));
    Ok(())
}

/// What works on requests apart from the submitting thread. fio does not report the CPU time of the
/// kernel's workers, so if there are any, there is nothing to compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Workers {
    None,
    /// tmpfs cannot tell without blocking whether a page is missing, so every request goes to a
    /// worker.
    Kernel,
}

/// The engine's rates over fio's.
fn row(
    place: &str,
    parent: &Path,
    buffering: Buffering,
    workers: Workers,
) -> anyhow::Result<Value> {
    let root = parent.join("io_uring");
    std::fs::create_dir(&root)?;
    let file = DataFiles { count: 1, size_bytes: FILE_BYTES };
    let spec = FileSetSpec { read_files: file, ..FileSetSpec::default() };
    let file_set = FileSet::create(&root, &spec, 1, &AtomicBool::new(false))?;
    let data = file_set.data_file(Role::Read, 0);
    // So that there is no writeback during the reads.
    std::fs::File::open(&data)?.sync_all()?;
    let ours = |seed| match SystemClock::calibrate().0 {
        SystemClock::Tsc(clock) => our_rate(&file_set, buffering, seed, &clock),
        SystemClock::Monotonic(clock) => our_rate(&file_set, buffering, seed, &clock),
    };
    let mut sums = [Rate::default(); 2];
    for repeat in 0..REPEATS {
        sums[0] += ours(2 * repeat)?;
        sums[1] += fio_rate(&data, buffering)?;
        sums[1] += fio_rate(&data, buffering)?;
        sums[0] += ours(2 * repeat + 1)?;
    }
    file_set.remove()?;
    std::fs::remove_dir(&root)?;
    let elapsed = sums[0].per_s / sums[1].per_s;
    let processor = match workers {
        Workers::None => Some(sums[0].per_processor_s / sums[1].per_processor_s),
        Workers::Kernel => None,
    };
    Ok(json!({ "place": place, "elapsed": elapsed, "processor": processor }))
}

fn our_rate<C: Clock>(
    file_set: &FileSet,
    buffering: Buffering,
    seed: u64,
    clock: &C,
) -> anyhow::Result<Rate> {
    let workload = Workload {
        io_path: IoPath::IoUring(UringOptions::new(DEPTH, buffering)),
        operations_per_thread: OPERATIONS,
        ..Workload::new(Operation::Read)
    };
    let mut session = prepare(&workload, file_set, seed)?;
    let stop = AtomicBool::new(false);
    let before_ns = processor_ns();
    let outcome = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(TURN);
            stop.store(true, Ordering::Relaxed);
        });
        session.run_with(clock, &stop)
    })?;
    let processor_s = (processor_ns() - before_ns) as f64 / 1e9;
    session.restore()?;
    let per_processor_s = outcome.recorder.operations() as f64 / processor_s;
    Ok(Rate { per_s: outcome.rate_per_s, per_processor_s })
}

/// The CPU time used by this process.
fn processor_ns() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}

fn fio_rate(data: &Path, buffering: Buffering) -> anyhow::Result<Rate> {
    let direct = match buffering {
        Buffering::Direct => "--direct=1",
        Buffering::PageCache => "--direct=0",
    };
    let depth = format!("--iodepth={DEPTH}");
    let submit = format!("--iodepth_batch_submit={DEPTH}");
    let reap = format!("--iodepth_batch_complete_max={DEPTH}");
    let pinned = format!("--cpus_allowed={}", first_processor()?);
    let ring = ["--fixedbufs=1", "--registerfiles=1", direct];
    let queue = [depth.as_str(), &submit, "--iodepth_batch_complete_min=1", &reap, &pinned];
    rate(&Job {
        engine: "io_uring",
        direction: "randread",
        data,
        length: Length::Time(TURN),
        options: &[&ring[..], &queue[..]].concat(),
    })
}

/// The processor that the engine's first thread is pinned to.
fn first_processor() -> anyhow::Result<usize> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let first = list.and_then(|list| list.trim().split([',', '-']).next()?.parse().ok());
    first.context("/proc/self/status names no processor")
}
