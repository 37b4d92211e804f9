//! A benchmark: what it does, which dimension it isolates, in which cache state, on which files.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use record::{CacheState, Cell, CurvePoint, Dimension, MetricDefinition, ReplicateLength};
use serde_json::Value;
use workload::Workload;

use crate::experiment::Experiment;
use crate::file_set_kind::FileSetKind;
use crate::operations::{Layer, Length, Operations, Pages, Question};
use crate::processors::processors;

/// One benchmark of a suite.
#[derive(Clone, Debug)]
pub struct Benchmark {
    /// Name, unique within the suite.
    pub name: String,
    /// Name for people, in words.
    pub title: String,
    /// The dimension that it isolates.
    pub dimension: Dimension,
    /// Dimensions that it exercises without isolating them.
    pub exercises: Vec<Dimension>,
    /// The cache state that is made and verified for each replicate.
    pub cache_state: CacheState,
    /// What it does.
    pub work: Work,
    /// The single-threaded benchmark that its speed-up is relative to.
    pub baseline: Option<String>,
    /// The benchmark of the layer below, whose time is subtracted to get this layer's own cost.
    pub floor: Option<String>,
    /// The curve that it is a point of, if any.
    pub curve: Option<CurvePoint>,
    /// When it is left out if the budget is too small for all: the highest rank goes first, 0 last.
    pub rank: u32,
}

/// What a benchmark does.
#[derive(Clone, Debug)]
pub enum Work {
    /// Operations of the engine on a file set.
    Operations(Operations),
    /// Its own procedure.
    Experiment(Arc<dyn Experiment>),
}

impl Benchmark {
    /// A benchmark of engine operations, on no curve, without baseline or floor, and the last to be
    /// left out when time is short.
    #[must_use]
    pub fn from_workload(workload: Workload, file_set: FileSetKind) -> Self {
        let name = workload.operation.name().replace(' ', "-");
        Self {
            title: name.clone(),
            name,
            dimension: Dimension::Metadata,
            exercises: Vec::new(),
            cache_state: CacheState::Warm,
            work: Work::Operations(Operations {
                workload,
                file_set,
                layer: Layer::FileSystem,
                question: Question::Time,
                length: Length::default(),
                pages: Pages::Dirty,
            }),
            baseline: None,
            floor: None,
            curve: None,
            rank: 0,
        }
    }

    /// Like [`Self::from_workload`], on the device below the file system: reads, or writes of what
    /// is already there.
    #[must_use]
    pub(crate) fn on_device(workload: Workload, file_set: FileSetKind) -> Self {
        let mut benchmark = Self::from_workload(workload, file_set);
        if let Work::Operations(operations) = &mut benchmark.work {
            operations.layer = Layer::Device;
        }
        benchmark
    }

    /// The same benchmark, writing to clean pages. An experiment is left as it is.
    #[must_use]
    pub(crate) fn with_clean_pages(mut self) -> Self {
        if let Work::Operations(operations) = &mut self.work {
            operations.pages = Pages::Clean;
        }
        self
    }

    /// The same benchmark, answering another question. An experiment only answers its own.
    #[must_use]
    pub fn answering(mut self, question: Question) -> Self {
        if let Work::Operations(operations) = &mut self.work {
            operations.question = question;
        }
        self
    }

    /// The same benchmark with replicates of this length. An experiment has its own length.
    #[must_use]
    pub(crate) fn lasting(mut self, asked: &ReplicateLength) -> Self {
        if let Work::Operations(operations) = &mut self.work {
            operations.length.time = asked.seconds.map(Duration::from_secs_f64);
            operations.length.until_steady = asked.until_steady;
        }
        self
    }

    /// An experiment with this name; everything else as in [`Self::from_workload`].
    #[must_use]
    pub fn from_experiment(name: &str, title: &str, experiment: impl Experiment + 'static) -> Self {
        Self {
            name: name.to_owned(),
            title: title.to_owned(),
            dimension: Dimension::Caching,
            exercises: Vec::new(),
            cache_state: CacheState::Any,
            work: Work::Experiment(Arc::new(experiment)),
            baseline: None,
            floor: None,
            curve: None,
            rank: 0,
        }
    }

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
            curve: self.curve.clone(),
            floor: self.floor.clone(),
            rank: self.rank,
            least: self.operations().map(|of| {
                let need = of.need(self.cache_state, data_file_bytes);
                need.least(of.workload.threads, processors())
            }),
            sequence: self.sequence(),
        }
    }

    /// Metrics of a replicate, the primary one first.
    #[must_use]
    pub fn metrics(&self) -> Vec<MetricDefinition> {
        match &self.work {
            Work::Operations(operations) => operations.metrics(),
            Work::Experiment(experiment) => experiment.metrics(),
        }
    }

    /// Its engine operations, unless it is an experiment.
    #[must_use]
    pub fn operations(&self) -> Option<&Operations> {
        match &self.work {
            Work::Operations(operations) => Some(operations),
            Work::Experiment(_) => None,
        }
    }

    /// The file set that it works on, if others can share it.
    #[must_use]
    pub fn file_set(&self) -> Option<FileSetKind> {
        match &self.work {
            Work::Operations(operations) => Some(operations.file_set),
            Work::Experiment(experiment) => experiment.file_set(),
        }
    }

    /// Name and title, or those of its curve if it is on one.
    #[must_use]
    pub fn family(&self) -> (&str, &str) {
        match &self.curve {
            Some(point) => (&point.curve, &point.title),
            None => (&self.name, &self.title),
        }
    }

    /// The sequence that it is a phase of, if any.
    fn sequence(&self) -> Option<String> {
        match &self.work {
            Work::Operations(_) => None,
            Work::Experiment(experiment) => experiment.sequence().map(str::to_owned),
        }
    }

    fn parameters(&self, data_file_bytes: u64) -> BTreeMap<String, Value> {
        match &self.work {
            Work::Operations(operations) => {
                operations.parameters(data_file_bytes, self.cache_state)
            }
            Work::Experiment(experiment) => experiment.parameters(),
        }
    }

    /// Whether it uses data files only, no directories.
    pub(crate) fn has_data_files_alone(&self) -> bool {
        match &self.work {
            Work::Operations(of) => {
                matches!(
                    of.file_set,
                    FileSetKind::Data | FileSetKind::ColdData | FileSetKind::Files(_)
                )
            }
            Work::Experiment(_) => false,
        }
    }

    fn working_set_bytes(&self, data_file_bytes: u64) -> Option<u64> {
        match &self.work {
            Work::Operations(one) => one.working_set_bytes(data_file_bytes),
            Work::Experiment(experiment) => experiment.working_set_bytes(),
        }
    }
}
