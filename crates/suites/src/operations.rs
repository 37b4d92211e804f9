//! Benchmarks of engine operations: what is measured, and the parameters that they declare.

use std::collections::BTreeMap;
use std::time::Duration;

use record::{CacheState, MetricDefinition};
use serde_json::{Value, json};
use workload::{
    Access, Alignment, DirectorySync, IoPath, MISSING_PER_ENTRY, Operation, Pinning, Sharing,
    Workers, Workload, cores_of,
};

use crate::file_set_kind::FileSetKind;
use crate::metrics::{
    BANDWIDTH, COMPLETION_LATENCY, DEVICE_BYTES, DEVICE_READ, DEVICE_WRITES, LATENCY, Metric,
    OTHER_TIME, PROCESSOR_TIME, RESIDENT, START_TIME, SUBMISSION_LATENCY, SYNCED_TIME, THROUGHPUT,
    THROUGHPUT_ELAPSED, THROUGHPUT_PER_THREAD, TIME, TIME_BETWEEN, TIME_PER_KIB,
};
use crate::neighbours::sees_servants;
use crate::processors::processors;

/// Operations that share one sync, when device writes are counted.
pub(crate) const OPERATIONS_PER_SYNC: u64 = 100;

/// Operations of the engine on a file set.
#[derive(Clone, Debug, PartialEq)]
pub struct Operations {
    /// What is done; the number of operations is set for each replicate.
    pub workload: Workload,
    /// The files that it is done to.
    pub file_set: FileSetKind,
    /// How far down reads and writes go.
    pub layer: Layer,
    /// The question asked about them.
    pub question: Question,
    /// How long a replicate lasts, if the user asked for a length.
    pub length: Length,
    /// The state in which warm writes find the pages.
    pub pages: Pages,
}

/// The state in which warm writes find pages, all of which are in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pages {
    /// All have been written since the last sync, so what a write prepares for later ones is there.
    Dirty,
    /// None has been written since; each is written once, so that all writes are first writes.
    Clean,
}

/// How long a replicate lasts, if the user asked for a length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Length {
    /// The least time that the operations take, on the fastest target.
    pub time: Option<Duration>,
    /// Whether operations are executed beforehand until their rate is steady.
    pub until_steady: bool,
    /// Whether each block of the file may be written more than once, even by direct writes.
    pub repeats: bool,
}

/// What serves reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// The file system.
    FileSystem,
    /// The device below it, at the locations where the file system keeps the data.
    Device,
}

/// What is asked about operations, which determines their metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// How long one takes; with several threads, how many are done per second.
    Time,
    /// How many are done per second, whatever the number of threads.
    Throughput,
    /// What the device writes for them until it has nothing left to write.
    DeviceWrites,
    /// How fast they are once the caches are in a steady state, and what state that is.
    SteadyState,
}

impl Operations {
    /// Metrics of a replicate, the primary one first.
    #[must_use]
    pub fn metrics(&self) -> Vec<MetricDefinition> {
        self.metric_rows().iter().map(Metric::definition).collect()
    }

    /// The rows behind [`Self::metrics`], each with its formula.
    pub(crate) fn metric_rows(&self) -> Vec<Metric> {
        if self.queue_depth().is_some() {
            return Self::rows_in_flight();
        }
        // To be comparable with more threads, whose rates are per elapsed time.
        let is_of_threads = matches!(self.question, Question::Throughput | Question::SteadyState);
        let throughput = if is_of_threads { THROUGHPUT_ELAPSED } else { THROUGHPUT };
        let mut metrics = match self.question {
            Question::DeviceWrites => return self.rows_of_device_writes(),
            Question::SteadyState => {
                return vec![
                    throughput,
                    TIME,
                    BANDWIDTH,
                    RESIDENT,
                    DEVICE_READ,
                    THROUGHPUT_PER_THREAD,
                ];
            }
            Question::Throughput => vec![throughput, TIME],
            Question::Time if self.workload.threads > 1 => vec![throughput, TIME],
            Question::Time if self.moves_data_in_place() => {
                vec![TIME, BANDWIDTH, throughput, TIME_PER_KIB]
            }
            Question::Time => vec![TIME, throughput],
        };
        metrics.extend([START_TIME, PROCESSOR_TIME]);
        metrics.extend(sees_servants().then_some(OTHER_TIME));
        metrics
    }

    fn rows_of_device_writes(&self) -> Vec<Metric> {
        let time = match self.workload.directory_sync {
            DirectorySync::Never => SYNCED_TIME,
            DirectorySync::EachOperation => TIME,
        };
        vec![time, DEVICE_BYTES, DEVICE_WRITES]
    }

    /// For operations in flight. The time per operation is the time from one to the next: what a
    /// thread or device that is always busy spends on each, whereas latencies grow with the number
    /// that wait.
    fn rows_in_flight() -> Vec<Metric> {
        vec![THROUGHPUT, BANDWIDTH, TIME_BETWEEN, LATENCY, SUBMISSION_LATENCY, COMPLETION_LATENCY]
    }

    /// How many of its operations are in flight at once, if it uses io_uring.
    pub(crate) fn queue_depth(&self) -> Option<u32> {
        if let IoPath::IoUring(options) = self.workload.io_path {
            Some(options.queue_depth)
        } else {
            None
        }
    }

    /// Whether its operations read or write existing bytes of the data files.
    #[must_use]
    pub(crate) fn moves_data_in_place(&self) -> bool {
        self.workload.operation.moves_data_in_place()
    }

    /// Whether its reads and writes bypass the page cache (`O_DIRECT`).
    #[must_use]
    pub(crate) fn is_direct(&self) -> bool {
        self.moves_data_in_place() && self.workload.io_path.is_direct()
    }

    /// Whether it writes back to the device what is already there.
    pub(crate) fn rewrites(&self) -> bool {
        self.layer == Layer::Device && self.workload.operation == Operation::Write
    }

    /// Whether each thread is pinned to one processor. Threads that wait for a device are not: its
    /// interrupts arrive at a particular processor, and whether a thread is pinned to that one or
    /// kept away from it changes the time of a short request by a third. For ordinary programs, the
    /// kernel makes that choice.
    pub(crate) fn pinning(&self, cache_state: CacheState) -> Pinning {
        let reads = self.workload.operation.reads_data();
        let waits = self.workload.operation.syncs()
            || self.is_direct()
            || self.queue_depth().is_some()
            || self.workload.directory_sync == DirectorySync::EachOperation
            || (cache_state.is_cold() && (reads || self.file_set.directories().is_some()));
        if waits { Pinning::Off } else { Pinning::EachToOneProcessor }
    }

    /// Whether it repeatedly writes to pages in memory that have all been written before.
    pub(crate) fn writes_dirty_pages(&self, cache_state: CacheState) -> bool {
        cache_state.is_warm()
            && self.pages == Pages::Dirty
            && self.workload.operation == Operation::Write
            && !self.passes_the_cache_by()
    }

    /// Whether it writes once to each page in memory, all of them clean.
    pub(crate) fn writes_clean_pages(&self) -> bool {
        self.pages == Pages::Clean
    }

    /// Whether the page cache is not involved.
    fn passes_the_cache_by(&self) -> bool {
        self.is_direct() || self.queue_depth().is_some() || self.layer == Layer::Device
    }

    /// Whether its operations change anything on the target.
    #[must_use]
    pub(crate) fn changes_anything(&self) -> bool {
        self.workload.operation.changes_anything()
    }

    /// Bytes that its reads or writes cover, all threads together.
    pub(crate) fn working_set_bytes(&self, data_file_bytes: u64) -> Option<u64> {
        let file_bytes = self.file_set.file_bytes(data_file_bytes);
        let files = match (self.file_set, self.workload.sharing) {
            (FileSetKind::Files(files), Sharing::Own) => files.count as u64,
            (FileSetKind::Files(_), Sharing::Same) => 1,
            (_, Sharing::Own | Sharing::Same) => 1,
        };
        let bytes = self.workload.span_bytes.unwrap_or(file_bytes) * files;
        self.moves_data_in_place().then_some(bytes)
    }

    /// Reads or writes per thread in one pass over the working set.
    pub(crate) fn blocks_per_thread(&self, data_file_bytes: u64) -> u64 {
        let all = self.working_set_bytes(data_file_bytes).unwrap_or(0);
        all / self.workload.request_bytes as u64 / self.workload.threads as u64
    }

    /// Missing names that each thread has to itself.
    pub(crate) fn missing_names_per_thread(&self) -> u64 {
        let (directories, entries) = self.file_set.directories().unwrap_or_default();
        let threads = self.workload.threads;
        let names = match self.workload.sharing {
            Sharing::Own => (directories / threads) as u64 * entries,
            Sharing::Same => entries / threads as u64,
        };
        (names * MISSING_PER_ENTRY).max(1)
    }

    /// Whether several may be timed as one. Cold operations are long enough by themselves, and
    /// differ from each other; those in flight overlap.
    pub(crate) fn can_batch(&self, cache_state: CacheState) -> bool {
        let one_by_one = self.is_of_names_cold(cache_state) || self.queue_depth().is_some();
        self.workload.operation.can_batch() && !one_by_one && self.operations_per_round() == 1
    }

    /// Operations per thread in one round. With more threads than processors there are no rounds: a
    /// thread would finish its whole round before the next one gets a processor.
    pub(crate) fn operations_per_round(&self) -> usize {
        if self.workload.threads > processors() { 1 } else { self.workload.operations_per_round }
    }

    /// The most operations for a pilot: large directories are listed only a few times.
    pub(crate) fn pilot_operations_max(&self) -> u64 {
        /// Entries that a pilot may list in total.
        const ENTRIES: u64 = 100_000;
        let (_, entries) = self.file_set.directories().unwrap_or_default();
        let lists = self.workload.operation == Operation::Readdir;
        if lists { (ENTRIES / entries.max(1)).max(1) } else { u64::MAX }
    }

    /// Roughly how long one execution takes, including everything around it, in seconds.
    pub(crate) fn estimate_s(&self, cache_state: CacheState) -> f64 {
        /// For small file sets in memory.
        const EXECUTION_S: f64 = 0.04;
        const REMOUNT_S: f64 = 0.1;
        const SYNC_S: f64 = 0.001;
        const LISTED_PER_S: f64 = 2e6;
        let entries = self.file_set.entries() as f64;
        let (_, entries_of_one) = self.file_set.directories().unwrap_or_default();
        let operation = self.workload.operation;
        let listings = if operation.changes_directories() {
            // They are rehearsed and measured, and counted after each.
            2.0 * entries
        } else if operation == Operation::Readdir {
            4.0 * entries_of_one as f64
        } else {
            0.0
        };
        let remounts = if self.is_of_names_cold(cache_state) { REMOUNT_S } else { 0.0 };
        let syncs = match self.question {
            Question::DeviceWrites => OPERATIONS_PER_SYNC as f64 * SYNC_S,
            Question::Time | Question::Throughput | Question::SteadyState => 0.0,
        };
        EXECUTION_S + listings / LISTED_PER_S + remounts + syncs
    }

    /// Whether it looks at names and attributes that are not in memory.
    pub(crate) fn is_of_names_cold(&self, cache_state: CacheState) -> bool {
        cache_state.is_cold() && self.file_set.directories().is_some()
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
            ("pinned".to_owned(), json!(self.pinning(cache_state) != Pinning::Off)),
        ]);
        let mut put = |name: &str, value: Value| parameters.insert(name.to_owned(), value);
        if let Some((directories, entries)) = self.file_set.directories() {
            let set = self.file_set.directory_set();
            put("directories", json!(directories));
            put("directory_entries", json!(entries));
            put("path_depth", json!(set.depth));
            put("name_bytes", json!(set.name_bytes));
            if self.workload.operation.moves_whole_files() {
                put("file_bytes", json!(set.entry_bytes));
            }
        } else {
            put("request_bytes", json!(self.workload.request_bytes));
        }
        if self.moves_data_in_place() {
            let file_bytes = self.file_set.file_bytes(data_file_bytes);
            put("file_bytes", json!(file_bytes));
            let span_bytes = self.workload.span_bytes.unwrap_or(file_bytes);
            put("span_bytes", json!(span_bytes));
            if self.question == Question::SteadyState {
                put("working_set_bytes", json!(span_bytes));
            }
            put("access", json!(access_name(self.workload.access)));
            if self.writes_dirty_pages(cache_state) {
                put("pages", json!("dirty"));
            } else if self.writes_clean_pages() {
                put("pages", json!("clean"));
            }
            if let Access::Mixed { sequential_percent } = self.workload.access {
                put("sequential_percent", json!(sequential_percent));
            }
            if let Operation::Mixed { read_percent } = self.workload.operation {
                put("read_percent", json!(read_percent));
            }
            if self.workload.advises_random {
                put("advice", json!("random"));
            }
            put("alignment_bytes", json!(alignment_bytes(&self.workload)));
        }
        self.put_path(&mut put);
        if cache_state.is_cold() {
            // Data: attributes, extents and checksums stay in memory. Names: only the directories
            // themselves, which are open, are in memory.
            let of_names = self.file_set.directories().is_some();
            put("cold", json!(if of_names { "names and attributes" } else { "data" }));
        }
        if self.workload.threads > 1 {
            let shared = matches!(self.workload.sharing, Sharing::Same);
            put("sharing", json!(if shared { "same" } else { "own" }));
            if self.pinning(cache_state) == Pinning::EachToOneProcessor {
                put("cores", json!(cores_of(self.workload.threads)));
            }
        }
        if self.operations_per_round() > 1 {
            put("operations_per_round", json!(self.operations_per_round()));
        }
        if self.workload.workers == Workers::Processes {
            put("workers", json!("processes"));
        }
        if self.question == Question::DeviceWrites {
            let each = self.workload.directory_sync == DirectorySync::EachOperation;
            put("operations_per_sync", json!(if each { 1 } else { OPERATIONS_PER_SYNC }));
            put("device_writes_until", json!("unmounted"));
        }
        parameters
    }
}

impl Operations {
    /// Declares how requests reach the device, if that is not through the page cache.
    fn put_path(&self, put: &mut impl FnMut(&str, Value) -> Option<Value>) {
        if self.is_direct() {
            put("io_path", json!("direct"));
            put("layer", json!(self.layer.name()));
        }
        if self.rewrites() {
            put("written", json!("what lies there"));
        }
        if let Some(depth) = self.queue_depth() {
            put("io_path", json!("io_uring, direct"));
            put("queue_depth", json!(depth));
        }
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
        Access::Mixed { .. } => "mixed",
        Access::Uniform | Access::Shuffled => "random",
    }
}

fn alignment_bytes(workload: &Workload) -> usize {
    match workload.alignment {
        Alignment::Request => workload.request_bytes,
        Alignment::Sector => 512,
        Alignment::Unaligned => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::suites;

    #[test]
    fn threads_stay_on_a_processor_but_for_those_that_wait_for_a_device() {
        let all: Vec<_> = suites().into_iter().flat_map(|suite| suite.benchmarks).collect();
        let stays = |name: &str| {
            let one = all.iter().find(|one| one.name == name).expect("it is declared");
            let of = one.operations().expect("it is one of operations");
            of.pinning(one.cache_state) == Pinning::EachToOneProcessor
        };
        for name in ["random-read-4k-warm", "sequential-write-1m-cold", "create-100", "stat-100"] {
            assert!(stays(name), "{name} waits for nothing");
        }
        for name in [
            "random-read-4k-cold",
            "append-fsync-4k",
            "random-read-direct-by-request-4096",
            "random-write-direct-by-request-4096",
        ] {
            assert!(!stays(name), "{name} waits for a device");
        }
    }
}
