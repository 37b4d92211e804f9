//! Benchmarks of the engine's operations: what is measured of them, and what they say they do.

use std::collections::BTreeMap;

use record::{Better, CacheState, MetricDefinition};
use serde_json::{Value, json};
use workload::{Access, IoPath, Operation, Sharing, Workload};

use crate::place::Place;

/// Operations of the engine on a file set.
#[derive(Clone, Debug, PartialEq)]
pub struct Operations {
    /// What is done; the number of operations is set for each run.
    pub workload: Workload,
    /// The files it is done to.
    pub place: Place,
    /// How far down reads go.
    pub layer: Layer,
}

/// What answers a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// The file system.
    FileSystem,
    /// The device below it, at the places where the file system keeps the data.
    Device,
}

impl Operations {
    /// Metrics of a replicate, the primary one first.
    #[must_use]
    pub fn metrics(&self) -> Vec<MetricDefinition> {
        let time = MetricDefinition::time_per_operation();
        if self.queue_depth().is_some() {
            return Self::metrics_in_flight();
        }
        if self.workload.threads > 1 {
            return vec![MetricDefinition::throughput(), time];
        }
        if self.moves_data_in_place() {
            return vec![time, MetricDefinition::bandwidth(), MetricDefinition::throughput()];
        }
        vec![time, MetricDefinition::throughput()]
    }

    /// Of operations in flight. The time per operation is the one that passes from one to the next:
    /// what a thread or a device that is always busy spends on each, while their latencies grow
    /// with how many wait.
    fn metrics_in_flight() -> Vec<MetricDefinition> {
        let latency = |name| MetricDefinition::new(name, "ns", Better::Lower);
        vec![
            MetricDefinition::throughput(),
            MetricDefinition::bandwidth(),
            MetricDefinition::time_per_operation(),
            latency("latency"),
            latency("submission_latency"),
            latency("completion_latency"),
        ]
    }

    /// How many of its operations are in flight at once, where they are issued so.
    pub(crate) fn queue_depth(&self) -> Option<u32> {
        match self.workload.io_path {
            IoPath::IoUring(options) => Some(options.queue_depth),
            _ => None,
        }
    }

    /// Whether its operations read or write existing bytes of the data files.
    #[must_use]
    pub fn moves_data_in_place(&self) -> bool {
        matches!(self.workload.operation, Operation::Read | Operation::Write)
    }

    /// Whether its reads and writes pass the page cache by (`O_DIRECT`).
    #[must_use]
    pub fn is_direct(&self) -> bool {
        self.moves_data_in_place() && self.workload.io_path.is_direct()
    }

    /// Whether several can be timed as one.
    pub(crate) fn can_batch(&self) -> bool {
        self.workload.operation.can_batch() && self.queue_depth().is_none()
    }

    /// Whether its operations change anything on the target.
    #[must_use]
    pub fn changes_anything(&self) -> bool {
        !matches!(
            self.workload.operation,
            Operation::Read
                | Operation::Open
                | Operation::Close
                | Operation::OpenClose
                | Operation::StatPresent
                | Operation::StatMissing
                | Operation::Readdir
        )
    }

    /// Its parameters, by standard name with the unit in the name.
    pub(crate) fn parameters(
        &self,
        data_file_bytes: u64,
        cache_state: CacheState,
    ) -> BTreeMap<String, Value> {
        let mut parameters = BTreeMap::from([
            ("operation".to_owned(), json!(self.workload.operation.name())),
            ("threads".to_owned(), json!(self.workload.threads)),
        ]);
        let mut put = |name: &str, value: Value| parameters.insert(name.to_owned(), value);
        if let Some((directories, entries)) = self.place.directories() {
            put("directories", json!(directories));
            put("directory_entries", json!(entries));
        } else {
            put("request_bytes", json!(self.workload.request_bytes));
        }
        if self.moves_data_in_place() {
            put("file_bytes", json!(data_file_bytes));
            put("access", json!(access_name(self.workload.access)));
            put("alignment_bytes", json!(self.workload.request_bytes));
        }
        if self.is_direct() {
            put("io_path", json!("direct"));
            put("layer", json!(self.layer.name()));
        }
        if let Some(depth) = self.queue_depth() {
            put("io_path", json!("io_uring, direct"));
            put("queue_depth", json!(depth));
        }
        if cache_state == CacheState::Cold {
            // Attributes, extents and checksums stay in memory: what is cold is the data.
            put("cold", json!("data"));
        }
        if self.workload.threads > 1 {
            let shared = matches!(self.workload.sharing, Sharing::Same);
            put("sharing", json!(if shared { "same" } else { "own" }));
        }
        parameters
    }
}

impl Layer {
    fn name(self) -> &'static str {
        match self {
            Self::FileSystem => "file system",
            Self::Device => "device",
        }
    }
}

fn access_name(access: Access) -> &'static str {
    match access {
        Access::Sequential => "sequential",
        Access::Zipf { .. } => "zipf",
        _ => "random",
    }
}
