//! Benchmarks of the engine's operations: what is measured of them, and what they say they do.

use std::collections::BTreeMap;
use std::time::Duration;

use record::{CacheState, MetricDefinition};
use serde_json::{Value, json};
use workload::{
    Access, Alignment, DirectorySync, IoPath, MISSING_PER_ENTRY, Operation, Pinning, Sharing,
    Workers, Workload, cores_of,
};

use crate::metrics::{
    BANDWIDTH, COMPLETION_LATENCY, DEVICE_BYTES, DEVICE_READ, DEVICE_WRITES, LATENCY, Metric,
    OTHER_TIME, PROCESSOR_TIME, RESIDENT, START_TIME, SUBMISSION_LATENCY, SYNCED_TIME, THROUGHPUT,
    THROUGHPUT_ELAPSED, THROUGHPUT_PER_THREAD, TIME, TIME_BETWEEN, TIME_PER_KIB,
};
use crate::neighbours::sees_servants;
use crate::place::Place;
use crate::processors::processors;

/// Operations that one sync is shared by, and of which device writes are counted.
pub(crate) const OPERATIONS_PER_SYNC: u64 = 100;

/// Operations of the engine on a file set.
#[derive(Clone, Debug, PartialEq)]
pub struct Operations {
    /// What is done; the number of operations is set for each run.
    pub workload: Workload,
    /// The files it is done to.
    pub place: Place,
    /// How far down reads and writes go.
    pub layer: Layer,
    /// What is asked of them.
    pub question: Question,
    /// How long a replicate lasts, where somebody asked for it.
    pub length: Length,
    /// In which state warm writes find the pages.
    pub pages: Pages,
}

/// In which state warm writes find pages, which all are in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pages {
    /// All have been written since the last sync: what a write prepares for later ones is there.
    Dirty,
    /// None has: each is written once, so that all of it is first writes.
    Clean,
}

/// How long a replicate lasts where somebody asked for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Length {
    /// Time that the operations take at least, on the fastest target.
    pub time: Option<Duration>,
    /// Whether operations go on before them until their rate is steady.
    pub until_steady: bool,
    /// Whether each block of the file may be written more than once, by direct writes too.
    pub repeats: bool,
}

/// What answers a read, or takes a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// The file system.
    FileSystem,
    /// The device below it, at the places where the file system keeps the data.
    Device,
}

/// What is asked of operations, which decides their metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// How long one takes; of several threads, how many are done per second.
    Time,
    /// How many are done per second, whatever the number of threads.
    Throughput,
    /// What the device writes for them until it has nothing left to write.
    DeviceWrites,
    /// How fast they are in the steady state of the caches, and which state that is.
    SteadyState,
}

impl Operations {
    /// Metrics of a replicate, the primary one first.
    #[must_use]
    pub fn metrics(&self) -> Vec<MetricDefinition> {
        self.metric_rows().iter().map(Metric::definition).collect()
    }

    /// The rows behind [`Self::metrics`]: each with what it is computed from.
    pub(crate) fn metric_rows(&self) -> Vec<Metric> {
        if self.queue_depth().is_some() {
            return Self::rows_in_flight();
        }
        // Set against others with more threads, whose rates are by the time that passed.
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

    /// Of operations in flight. The time per operation is the one that passes from one to the next:
    /// what a thread or a device that is always busy spends on each, while their latencies grow
    /// with how many wait.
    fn rows_in_flight() -> Vec<Metric> {
        vec![THROUGHPUT, BANDWIDTH, TIME_BETWEEN, LATENCY, SUBMISSION_LATENCY, COMPLETION_LATENCY]
    }

    /// How many of its operations are in flight at once, where they are issued so.
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

    /// Whether its reads and writes pass the page cache by (`O_DIRECT`).
    #[must_use]
    pub(crate) fn is_direct(&self) -> bool {
        self.moves_data_in_place() && self.workload.io_path.is_direct()
    }

    /// Whether it writes back on the device what lies there.
    pub(crate) fn rewrites(&self) -> bool {
        self.layer == Layer::Device && self.workload.operation == Operation::Write
    }

    /// Whether threads stay on one processor each. Those that wait for a device do not: its
    /// interrupts come to a processor of their own, and whether a thread was kept off that one or
    /// on it makes a third of a short request, which the kernel decides otherwise for programs.
    pub(crate) fn pinning(&self, cache_state: CacheState) -> Pinning {
        let reads = self.workload.operation.reads_data();
        let waits = self.workload.operation.syncs()
            || self.is_direct()
            || self.queue_depth().is_some()
            || self.workload.directory_sync == DirectorySync::EachOperation
            || (cache_state == CacheState::Cold && (reads || self.place.directories().is_some()));
        if waits { Pinning::Off } else { Pinning::EachToOneProcessor }
    }

    /// Whether it writes again and again to pages in memory, which have all been written before.
    pub(crate) fn writes_dirty_pages(&self, cache_state: CacheState) -> bool {
        cache_state == CacheState::Warm
            && self.pages == Pages::Dirty
            && self.workload.operation == Operation::Write
            && !self.passes_the_cache_by()
    }

    /// Whether it writes once to each of the pages in memory, of which none is dirty.
    pub(crate) fn writes_clean_pages(&self) -> bool {
        self.pages == Pages::Clean
    }

    /// Whether the page cache has no part in it.
    fn passes_the_cache_by(&self) -> bool {
        self.is_direct() || self.queue_depth().is_some() || self.layer == Layer::Device
    }

    /// Whether its operations change anything on the target.
    #[must_use]
    pub(crate) fn changes_anything(&self) -> bool {
        self.workload.operation.changes_anything()
    }

    /// Bytes that its reads or writes range over, all threads together.
    pub(crate) fn working_set_bytes(&self, data_file_bytes: u64) -> Option<u64> {
        let file_bytes = self.place.file_bytes(data_file_bytes);
        let files = match (self.place, self.workload.sharing) {
            (Place::Files(files), Sharing::Own) => files.count as u64,
            (Place::Files(_), Sharing::Same) => 1,
            (_, Sharing::Own | Sharing::Same) => 1,
        };
        let bytes = self.workload.span_bytes.unwrap_or(file_bytes) * files;
        self.moves_data_in_place().then_some(bytes)
    }

    /// Reads or writes of each thread until the working set was gone over once.
    pub(crate) fn blocks_per_thread(&self, data_file_bytes: u64) -> u64 {
        let all = self.working_set_bytes(data_file_bytes).unwrap_or(0);
        all / self.workload.request_bytes as u64 / self.workload.threads as u64
    }

    /// Missing names that each thread has for itself.
    pub(crate) fn missing_names_per_thread(&self) -> u64 {
        let (directories, entries) = self.place.directories().unwrap_or_default();
        let threads = self.workload.threads;
        let names = match self.workload.sharing {
            Sharing::Own => (directories / threads) as u64 * entries,
            Sharing::Same => entries / threads as u64,
        };
        (names * MISSING_PER_ENTRY).max(1)
    }

    /// Whether several may be timed as one. Cold ones take long enough by themselves, and differ;
    /// those in flight overlap.
    pub(crate) fn can_batch(&self, cache_state: CacheState) -> bool {
        let one_by_one = self.is_of_names_cold(cache_state) || self.queue_depth().is_some();
        self.workload.operation.can_batch() && !one_by_one && self.operations_per_round() == 1
    }

    /// Operations of each thread in one round. With more threads than processors there are no
    /// rounds: whoever has the processor would do all of its round before the next one begins.
    pub(crate) fn operations_per_round(&self) -> usize {
        if self.workload.threads > processors() { 1 } else { self.workload.operations_per_round }
    }

    /// Operations that a pilot may do: listings of large directories are few.
    pub(crate) fn pilot_operations_max(&self) -> u64 {
        /// Entries that a pilot may list.
        const ENTRIES: u64 = 100_000;
        let (_, entries) = self.place.directories().unwrap_or_default();
        let lists = self.workload.operation == Operation::Readdir;
        if lists { (ENTRIES / entries.max(1)).max(1) } else { u64::MAX }
    }

    /// Roughly what one execution takes, all around it included, in seconds.
    pub(crate) fn estimate_s(&self, cache_state: CacheState) -> f64 {
        /// Of small file sets in memory.
        const EXECUTION_S: f64 = 0.04;
        const REMOUNT_S: f64 = 0.1;
        const SYNC_S: f64 = 0.001;
        const LISTED_PER_S: f64 = 2e6;
        let entries = self.place.entries() as f64;
        let (_, entries_of_one) = self.place.directories().unwrap_or_default();
        let operation = self.workload.operation;
        let listings = if operation.changes_directories() {
            // Rehearsed and measured, and each time counted afterwards.
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
        cache_state == CacheState::Cold && self.place.directories().is_some()
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
        if let Some((directories, entries)) = self.place.directories() {
            let set = self.place.directory_set();
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
            let file_bytes = self.place.file_bytes(data_file_bytes);
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
        if cache_state == CacheState::Cold {
            // Of data: attributes, extents and checksums stay in memory. Of names: only the
            // directories themselves, which are open, are in memory.
            let of_names = self.place.directories().is_some();
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
    /// How requests reach the device, where that is not through the page cache.
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
