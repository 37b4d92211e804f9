//! fio's psync engine on the same kind of file, against the same bare loop; and how to run fio.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Context, bail};
use measure::MonotonicClock;
use serde_json::Value;
use workload::{DataFiles, FileSet, FileSetSpec, Operation, Workload};

use crate::engine::FILE_BYTES;
use crate::harness_cost::bare_rate_per_s;
use crate::table::Table;

const ROUNDS: usize = 8;
const TURN: Duration = Duration::from_secs(1);
/// About a second of the bare loop.
pub(crate) const OPERATIONS: u64 = 800_000;

/// Adds fio's rows.
pub(crate) fn measure(table: &mut Table, work: &Path) -> anyhow::Result<()> {
    let root = work.join("fio");
    std::fs::create_dir(&root)?;
    let file = DataFiles { count: 1, size_bytes: FILE_BYTES };
    let spec = FileSetSpec { read_files: file, ..FileSetSpec::default() };
    let file_set = FileSet::create(&root, &spec, 1, &AtomicBool::new(false))?;
    let data = file_set.data_file(workload::Role::Read, 0);
    let workload = Workload { operations_per_thread: OPERATIONS, ..Workload::new(Operation::Read) };
    let job = Job {
        engine: "psync",
        direction: "randread",
        data: &data,
        length: Length::Time(TURN),
        options: &[],
    };
    let mut fio = Vec::new();
    for _ in 0..ROUNDS {
        let before = bare_rate_per_s(&workload, &file_set, &MonotonicClock)?;
        let between = rate(&job)?.per_s;
        let after = bare_rate_per_s(&workload, &file_set, &MonotonicClock)?;
        fio.push(between / f64::midpoint(before, after));
    }
    file_set.remove()?;
    table.ratios("fio psync / bare loop, random read 4 KiB, 1 thread", "0.69 seen before", &fio);
    Ok(())
}

/// The rate of operations.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Rate {
    /// Per second of elapsed time.
    pub(crate) per_s: f64,
    /// Per second of CPU time; as reported by fio, that only includes its own threads, not those
    /// that work for it in the kernel.
    pub(crate) per_processor_s: f64,
}

impl std::ops::AddAssign for Rate {
    fn add_assign(&mut self, more: Self) {
        self.per_s += more.per_s;
        self.per_processor_s += more.per_processor_s;
    }
}

/// A job for fio, in a single thread with 4 KiB requests to one file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Job<'a> {
    /// Its `--ioengine`.
    pub(crate) engine: &'a str,
    /// Its `--rw`: `randread` or `randwrite`.
    pub(crate) direction: &'a str,
    /// The file, which exists.
    pub(crate) data: &'a Path,
    /// How long it runs.
    pub(crate) length: Length,
    /// Additional options.
    pub(crate) options: &'a [&'a str],
}

/// When fio stops.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Length {
    /// After this time.
    Time(Duration),
    /// After this many operations.
    Operations(u64),
}

/// The rate of one run of fio.
pub(crate) fn rate(job: &Job<'_>) -> anyhow::Result<Rate> {
    let length = match job.length {
        Length::Time(turn) => vec!["--time_based".to_owned(), runtime(turn)],
        Length::Operations(count) => {
            vec![format!("--io_size={}", 4096 * count), format!("--size={FILE_BYTES}")]
        }
    };
    let output = Command::new("fio")
        .args(["--name=job", "--bs=4k", "--thread", "--invalidate=0", "--norandommap"])
        .args(["--fallocate=none", "--output-format=json"])
        .args([format!("--ioengine={}", job.engine), format!("--rw={}", job.direction)])
        .args(length)
        .args(job.options)
        .arg(format!("--filename={}", job.data.display()))
        .output()
        .context("fio could not be started")?;
    if !output.status.success() {
        bail!("fio failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    let value = document(&output.stdout)?;
    let side = if job.direction.ends_with("read") { "read" } else { "write" };
    let job = &value["jobs"][0];
    let figure = |value: &Value| value.as_f64().context("fio's output lacks a figure");
    // CPU usage is in percent of the job's run time, which is in milliseconds.
    let processor_percent = figure(&job["usr_cpu"])? + figure(&job["sys_cpu"])?;
    let processor_s = processor_percent / 100.0 * figure(&job["job_runtime"])? / 1e3;
    Ok(Rate {
        per_s: figure(&job[side]["iops"])?,
        per_processor_s: figure(&job[side]["total_ios"])? / processor_s,
    })
}

/// Parses fio's output, which may start with messages.
pub(crate) fn document(output: &[u8]) -> anyhow::Result<Value> {
    let text = String::from_utf8_lossy(output);
    let document = text.find('{').map_or("", |start| &text[start..]);
    serde_json::from_str(document).context("fio's output is not JSON")
}

fn runtime(turn: Duration) -> String {
    format!("--runtime={}ms", turn.as_millis())
}
