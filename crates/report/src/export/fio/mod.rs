//! The JSON that `fio --output-format=json+` writes, so that tools for fio's results can read ours.
//!
//! One job per cell that reads or writes file data. All replicates of a cell are one job:
//! operations, bytes and times are their sums, rates are those of the sums, and what fio samples
//! over time (`iops_mean`, `bw_dev`) is taken over replicates. The format has no room for
//! intervals.
//!
//! Source: `stat.c` of fio, `show_thread_status_json` and `add_ddir_status_json`; compared field by
//! field with what fio 3.33 writes.

mod direction;
mod job;
mod latency;
mod moment;

use record::{CellReport, Document, Run};
use serde::{Serialize, Serializer};
use textual::plain_json;

use super::latencies::{CellLatencies, Latencies};
use super::names::Names;
use super::{Export, NOT_MEASURED, Omissions};
use crate::analysis::{Gathered, gather};
use job::{FioOptions, Job};

const NO_EQUIVALENT: &str = "fio has no equivalent: it only reads and writes file data";
const NOTHING_MOVED: &str = "a replicate moved no bytes or took no time";

/// The version whose layout this is, with a suffix that distinguishes these files from fio's own.
const LAYOUT_OF: &str = "fio-3.33-fsprism";

/// The whole file, in fio's order.
#[derive(Debug, Serialize)]
struct File {
    #[serde(rename = "fio version")]
    fio_version: String,
    timestamp: u64,
    timestamp_ms: u64,
    time: String,
    #[serde(rename = "global options")]
    global_options: Ordered<String>,
    jobs: Vec<Job>,
    disk_util: Vec<()>,
}

/// An object whose members keep their order.
#[derive(Clone, Debug)]
struct Ordered<T>(Vec<(String, T)>);

impl<T: Serialize> Serialize for Ordered<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// Every cell that fio could have measured, as a job called `target/suite/benchmark`.
#[must_use]
pub fn render_fio(document: &Document, run: &Run, latencies: &Latencies) -> Export {
    let (mut jobs, mut names, mut omissions) = (Vec::new(), Names::default(), Omissions::default());
    for (index, (cell, gathered)) in document.cells.iter().zip(gather(run)).enumerate() {
        match job_of(cell, &gathered, latencies.of_cell(index), &mut names) {
            Ok(job) => jobs.push(job),
            Err(why) => omissions.add(why),
        }
    }
    let started = moment::Moment::from_rfc3339(&document.run.started);
    let version = document.tool.as_ref().map_or("", |tool| tool.version.as_str());
    let file = File {
        fio_version: format!("{LAYOUT_OF}-{version}"),
        timestamp: started.seconds,
        timestamp_ms: started.seconds * 1000,
        time: started.text,
        // All threads of a cell are one job here, as in fio with this option.
        global_options: Ordered(vec![("group_reporting".to_owned(), "1".to_owned())]),
        jobs,
        disk_util: Vec::new(),
    };
    let text = serde_json::to_string_pretty(&file).expect("all keys are text");
    let mut text = plain_json(text);
    text.push('\n');
    Export { text, left_out: omissions.0 }
}

fn job_of(
    cell: &CellReport,
    gathered: &Gathered<'_>,
    latencies: &CellLatencies,
    names: &mut Names,
) -> Result<Job, &'static str> {
    let workload = FioOptions::from_cell(cell).ok_or(NO_EQUIVALENT)?;
    if cell.replicates == 0 {
        return Err(NOT_MEASURED);
    }
    let has_rates = gathered.replicates.values().all(|one| one.bytes > 0 && one.elapsed_ns > 0);
    if !has_rates {
        return Err(NOTHING_MOVED);
    }
    Ok(workload.job(names.of_cell(cell), cell, gathered, latencies))
}

#[cfg(test)]
mod tests;
