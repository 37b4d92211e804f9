//! A cell as a job of fio: its options, and everything that is reported about it.

use record::{CellReport, Replicate};
use serde::Serialize;
use serde_json::Value;

use super::Ordered;
use super::direction::DirectionFigures;
use super::latency::{Latency, Shares};
use crate::analysis::Gathered;
use crate::export::latencies::{CellLatencies, Distribution};
use crate::export::names::word;

/// The part of a cell's parameters that fio has options for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FioOptions {
    is_read: bool,
    access: Access,
    request_bytes: u64,
    /// `None` if there is one call after the other.
    queue_depth: Option<u64>,
    threads: u64,
    has_processes: bool,
    is_direct: bool,
    span_bytes: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    Sequential,
    Random,
    Append,
    /// Each write is followed by an `fsync` and timed together with it.
    SyncedAppend,
}

/// A job, in fio's order. What only fio itself knows (processor time, faults, how requests were
/// submitted) is 0.
#[derive(Debug, Serialize)]
pub(super) struct Job {
    jobname: String,
    groupid: u32,
    error: u32,
    eta: u32,
    elapsed: u64,
    #[serde(rename = "job options")]
    options: Ordered<String>,
    read: DirectionFigures,
    write: DirectionFigures,
    trim: DirectionFigures,
    sync: Sync,
    job_runtime: u64,
    usr_cpu: f64,
    sys_cpu: f64,
    ctx: u64,
    majf: u64,
    minf: u64,
    iodepth_level: Ordered<f64>,
    iodepth_submit: Ordered<f64>,
    iodepth_complete: Ordered<f64>,
    latency_ns: Ordered<f64>,
    latency_us: Ordered<f64>,
    latency_ms: Ordered<f64>,
    latency_depth: u64,
    latency_target: u64,
    latency_percentile: f64,
    latency_window: u64,
    #[serde(rename = "desc")]
    description: String,
}

#[derive(Debug, Default, Serialize)]
struct Sync {
    total_ios: u64,
    lat_ns: Latency,
}

impl FioOptions {
    /// `None` if fio has no such workload, or if the cell is not about its rate.
    pub(super) fn from_cell(cell: &CellReport) -> Option<Self> {
        let text = |name: &str| cell.parameters.get(name).and_then(Value::as_str);
        let number = |name: &str| cell.parameters.get(name).and_then(Value::as_u64);
        let (is_read, appends) = match text("operation")? {
            "read" => (true, None),
            "write" => (false, None),
            "append" => (false, Some(Access::Append)),
            "append+fsync" => (false, Some(Access::SyncedAppend)),
            _ => return None,
        };
        let access = match text("access") {
            Some("sequential") => Access::Sequential,
            Some("random") => Access::Random,
            None => appends?,
            Some(_) => return None,
        };
        // Experiments have their own procedure; cells that only time operations record their
        // threads.
        let threads = number("threads")?;
        Some(Self {
            is_read,
            access,
            request_bytes: number("request_bytes").filter(|&bytes| bytes > 0)?,
            queue_depth: number("queue_depth"),
            threads,
            has_processes: text("workers") == Some("processes"),
            is_direct: text("io_path").is_some_and(|path| path.contains("direct")),
            span_bytes: number("span_bytes"),
        })
    }

    /// The job of one cell, which has at least one replicate.
    pub(super) fn job(
        self,
        name: String,
        cell: &CellReport,
        gathered: &Gathered<'_>,
        latencies: &CellLatencies,
    ) -> Job {
        let replicates: Vec<&Replicate> = gathered.replicates.values().copied().collect();
        let known = match latencies {
            CellLatencies::Known(known) => Some(known),
            CellLatencies::InBatches | CellLatencies::Absent => None,
        };
        let (clat, lat, sync) = self.latencies(known);
        let figures = DirectionFigures::new(&replicates, clat, lat);
        let runtime_ms = figures.runtime_ms();
        let (read, write) = if self.is_read {
            (figures, DirectionFigures::default())
        } else {
            (DirectionFigures::default(), figures)
        };
        let shares = Shares::from_distribution(known);
        Job {
            options: Ordered(self.options(&name, known.is_some())),
            jobname: name,
            groupid: 0,
            description: format!("{}; cache state: {}", cell.title, word(&cell.cache_state)),
            error: 0,
            eta: 0,
            elapsed: runtime_ms.div_ceil(1000),
            read,
            write,
            trim: DirectionFigures::default(),
            sync,
            job_runtime: runtime_ms,
            usr_cpu: 0.0,
            sys_cpu: 0.0,
            ctx: 0,
            majf: 0,
            minf: 0,
            iodepth_level: self.depths(),
            iodepth_submit: depth_keys(&["0", "4", "8", "16", "32", "64", ">=64"]),
            iodepth_complete: depth_keys(&["0", "4", "8", "16", "32", "64", ">=64"]),
            latency_ns: shares.ns,
            latency_us: shares.us,
            latency_ms: shares.ms,
            latency_depth: self.depth(),
            latency_target: 0,
            latency_percentile: 100.0,
            latency_window: 0,
        }
    }

    /// Completion latency, total latency and that of syncs. Without a queue, a call is both of the
    /// former. With operations in flight, only the total was recorded, as with fio's `disable_slat`
    /// and `disable_clat`. A write and its `fsync` were timed together, which is the third.
    fn latencies(self, known: Option<&Distribution>) -> (Latency, Latency, Sync) {
        let total = known.map(Latency::from_distribution).unwrap_or_default();
        let none = Latency::default;
        if self.access == Access::SyncedAppend {
            let total_ios = known.map_or(0, |known| known.count);
            (none(), none(), Sync { total_ios, lat_ns: total })
        } else if self.queue_depth.is_some() {
            (none(), total, Sync::default())
        } else {
            (total.clone(), total, Sync::default())
        }
    }

    fn options(self, name: &str, has_latencies: bool) -> Vec<(String, String)> {
        let rw = match (self.access, self.is_read) {
            (Access::Random, true) => "randread",
            (Access::Random, false) => "randwrite",
            (_, true) => "read",
            (_, false) => "write",
        };
        let mut options = vec![
            ("name", name.to_owned()),
            ("rw", rw.to_owned()),
            ("bs", size(self.request_bytes)),
            ("iodepth", self.depth().to_string()),
            ("numjobs", self.threads.to_string()),
            ("direct", u8::from(self.is_direct).to_string()),
        ];
        let mut put = |name: &'static str, value: &str| options.push((name, value.to_owned()));
        if self.queue_depth.is_some() {
            put("ioengine", "io_uring");
        } else if matches!(self.access, Access::Sequential | Access::Random) {
            put("ioengine", "psync");
        } else {
            put("file_append", "1");
        }
        if self.access == Access::SyncedAppend {
            put("fsync", "1");
        }
        if !self.has_processes {
            put("thread", "1");
        }
        if let Some(bytes) = self.span_bytes {
            put("size", &size(bytes));
        }
        if self.queue_depth.is_some() || self.access == Access::SyncedAppend || !has_latencies {
            put("disable_slat", "1");
            put("disable_clat", "1");
        }
        if self.access == Access::SyncedAppend || !has_latencies {
            put("disable_lat", "1");
        }
        options.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// How many operations are in flight at a time.
    fn depth(self) -> u64 {
        self.queue_depth.unwrap_or(1).max(1)
    }

    /// The share of operations by how many were in flight: the loop keeps the depth constant.
    fn depths(self) -> Ordered<f64> {
        let mut depths = depth_keys(&["1", "2", "4", "8", "16", "32", ">=64"]);
        let level = (self.depth().ilog2() as usize).min(depths.0.len() - 1);
        depths.0[level].1 = 100.0;
        depths
    }
}

fn depth_keys(keys: &[&str]) -> Ordered<f64> {
    Ordered(keys.iter().map(|&key| (key.to_owned(), 0.0)).collect())
}

/// Bytes as fio options write them, with units in powers of 1024: `512`, `4k`, `1m`.
fn size(bytes: u64) -> String {
    let units = [(1 << 30, "g"), (1 << 20, "m"), (1 << 10, "k")];
    let unit = units.into_iter().find(|(unit, _)| bytes >= *unit && bytes.is_multiple_of(*unit));
    unit.map_or_else(|| bytes.to_string(), |(unit, name)| format!("{}{name}", bytes / unit))
}
