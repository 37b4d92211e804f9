//! A benchmark: what it does, which dimension it isolates, in which cache state, on which files.

use std::collections::BTreeMap;

use record::{CacheState, Cell, Dimension, MetricDefinition};
use serde_json::{Value, json};
use workload::{Access, Operation, Sharing, Workload};

/// The files and directories that a benchmark works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    /// One data file that is read and one that is written, both of the survey's data size.
    Data,
    /// Many directories of 100 entries: the number of entries stays about 100 while each
    /// directory takes its share of the operations.
    SmallDirectories,
    /// One directory of 10,000 entries.
    LargeDirectory,
    /// Two directories of 1,000 entries, for one thread each or for both in one.
    TwoDirectories,
}

impl Place {
    /// All places, in the order in which they are made.
    pub const ALL: [Self; 4] =
        [Self::Data, Self::SmallDirectories, Self::LargeDirectory, Self::TwoDirectories];

    /// Number of directories and of entries in each; none for data files.
    #[must_use]
    pub fn directories(self) -> Option<(usize, u64)> {
        match self {
            Self::Data => None,
            Self::SmallDirectories => Some((32, 100)),
            Self::LargeDirectory => Some((1, 10_000)),
            Self::TwoDirectories => Some((2, 1_000)),
        }
    }

    /// Most operations per thread that add entries to these directories (or take them away): few
    /// enough that small and large directories stay what they are; in the two directories, enough
    /// that threads overlap for much longer than they take to start.
    #[must_use]
    pub fn additions_max(self) -> u64 {
        match self {
            Self::TwoDirectories => 1_000,
            _ => self.entries() / 10,
        }
    }

    /// Entries of all its directories together.
    #[must_use]
    pub fn entries(self) -> u64 {
        self.directories().map_or(0, |(count, entries)| count as u64 * entries)
    }

    /// The name of its directory within a target.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::SmallDirectories => "small-directories",
            Self::LargeDirectory => "large-directory",
            Self::TwoDirectories => "two-directories",
        }
    }
}

/// One benchmark of a suite.
#[derive(Clone, Debug, PartialEq)]
pub struct Benchmark {
    /// Name, unique within the suite.
    pub name: String,
    /// The same in words, for people.
    pub title: String,
    /// The dimension that it isolates.
    pub dimension: Dimension,
    /// Dimensions that it merely exercises.
    pub exercises: Vec<Dimension>,
    /// The cache state that is made and verified for each replicate.
    pub cache_state: CacheState,
    /// What is done; the number of operations is set for each run.
    pub workload: Workload,
    /// The files it is done to.
    pub place: Place,
    /// Benchmark of one thread whose throughput the speed-up is relative to.
    pub baseline: Option<String>,
}

impl Benchmark {
    /// The cell of this benchmark on one target.
    #[must_use]
    pub fn cell(&self, suite: &str, target: &str, data_file_bytes: u64) -> Cell {
        Cell {
            target: target.to_owned(),
            suite: suite.to_owned(),
            benchmark: self.name.clone(),
            title: self.title.clone(),
            dimension: self.dimension,
            exercises: self.exercises.clone(),
            parameters: self.parameters(data_file_bytes),
            cache_state: self.cache_state,
            metrics: self.metrics(),
            baseline: self.baseline.clone(),
            working_set_bytes: self.working_set_bytes(data_file_bytes),
        }
    }

    /// Metrics of a replicate, the primary one first.
    #[must_use]
    pub fn metrics(&self) -> Vec<MetricDefinition> {
        let time = MetricDefinition::time_per_operation();
        if self.cache_state == CacheState::Steady {
            let state =
                [MetricDefinition::resident(), MetricDefinition::device_read_per_operation()];
            let speed = [MetricDefinition::throughput(), time, MetricDefinition::bandwidth()];
            let share = MetricDefinition::throughput_per_thread();
            return speed.into_iter().chain(state).chain([share]).collect();
        }
        if self.workload.threads > 1 {
            return vec![MetricDefinition::throughput(), time];
        }
        match self.place {
            Place::Data if self.moves_data_in_place() => {
                vec![time, MetricDefinition::bandwidth(), MetricDefinition::throughput()]
            }
            _ => vec![time, MetricDefinition::throughput()],
        }
    }

    /// Whether its operations read or write existing bytes of the data files.
    #[must_use]
    pub fn moves_data_in_place(&self) -> bool {
        matches!(self.workload.operation, Operation::Read | Operation::Write)
    }

    /// Bytes that its operations range over, where they move existing data.
    fn working_set_bytes(&self, data_file_bytes: u64) -> Option<u64> {
        let all = self.workload.span_bytes.unwrap_or(data_file_bytes);
        self.moves_data_in_place().then_some(all)
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

    fn parameters(&self, data_file_bytes: u64) -> BTreeMap<String, Value> {
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
        if let Some(span_bytes) = self.workload.span_bytes {
            put("working_set_bytes", json!(span_bytes));
        }
        if self.cache_state == CacheState::Cold {
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

fn access_name(access: Access) -> &'static str {
    match access {
        Access::Sequential => "sequential",
        Access::Zipf { .. } => "zipf",
        _ => "random",
    }
}
