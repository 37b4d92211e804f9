//! Tarasov, Bhanage, Zadok & Seltzer, "Benchmarking File System Benchmarking: It *IS* Rocket
//! Science" (`HotOS` 2011): the case study of section 3, measured here at an eighth of its scale.
//!
//! The paper prints its figures without tables, so the measured shapes are compared with what its
//! text says about them: each [`Shape`] describes both in words, and each [`Statement`] has the
//! paper's number, ours with its interval over runs, and whether it holds here. Sizes are compared
//! as shares of the memory.

mod blocks;
mod declared;
mod figures;
mod shapes;
mod statements;
mod survey;
mod text;

use record::Run;
use serde::Serialize;

pub use crate::gathered::Estimate;
use crate::gathered::{self, Gathered};
pub use crate::statement::{Outcome, Statement};
pub use survey::{Survey, SurveyRow};

const PAPER: &str = "Tarasov et al., Benchmarking File System Benchmarking: It IS Rocket Science";

/// Latencies from here on, as the floor of log2 of nanoseconds, are those of reads from the device:
/// 16 us, well above a copy from memory and below a device access through a system call.
pub(crate) const DEVICE_LOG2: u8 = 14;

/// What was measured of the case study, and how it compares with the paper.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reproduction {
    /// The paper.
    pub paper: &'static str,
    /// The name of the run.
    pub run: String,
    /// How its scale compares with the paper's.
    pub scale: Scale,
    /// Figure 1: throughput over file size.
    pub figure_1: Vec<SizePoint>,
    /// Figure 1's drop, in finer steps.
    pub figure_1_zoom: Vec<SizePoint>,
    /// Figure 2: throughput over time.
    pub figure_2: Vec<TimeCurve>,
    /// Figure 3: latencies by file size.
    pub figure_3: Vec<Latencies>,
    /// Figure 4: latencies over time.
    pub figure_4: Vec<LatencySlice>,
    /// The shape of each figure, as published and as measured.
    pub shapes: Vec<Shape>,
    /// What the paper says, and what was found here.
    pub statements: Vec<Statement>,
    /// What could not be measured, and why.
    pub missing: Vec<String>,
}

/// The paper's conditions and ours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Scale {
    /// Memory of the paper's machine, in bytes.
    pub published_memory_bytes: u64,
    /// Memory limit here, in bytes.
    pub memory_bytes: u64,
    /// The targets as they were specified, with the limits of their devices.
    pub targets: Vec<String>,
}

/// One size of Figure 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SizePoint {
    /// Size of the file.
    pub file_bytes: f64,
    /// The same in percent of the memory.
    pub memory_percent: f64,
    /// Operations per second over the runs.
    pub throughput: Estimate,
    /// Relative standard deviation of the runs, in percent; `None` with fewer than two.
    pub relative_deviation_percent: Option<f64>,
    /// Number of runs.
    pub runs: usize,
}

/// Throughput over time on one file system: medians over the runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TimeCurve {
    /// The target.
    pub target: String,
    /// Seconds since the cold start, and operations per second.
    pub points: Vec<(f64, f64)>,
    /// Seconds until half of the final throughput was reached.
    pub half_speed_s: Estimate,
}

/// Latencies of one file size: mean over the runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Latencies {
    /// Which file.
    pub title: String,
    /// Floor of log2 of the latency in nanoseconds, and percent of the operations.
    pub buckets: Vec<(u8, f64)>,
    /// Percentage of operations that were served from memory.
    pub from_memory_percent: Estimate,
}

/// Latencies within one slice of time: mean over the runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LatencySlice {
    /// When it begins, in seconds since the cold start.
    pub start_s: f64,
    /// Floor of log2 of the latency in nanoseconds, and percent of the slice's operations.
    pub buckets: Vec<(u8, f64)>,
}

/// The shape of a figure, in words.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Shape {
    /// The number of the figure.
    pub figure: u8,
    /// As the paper's text describes it.
    pub published: &'static str,
    /// As measured here.
    pub measured: String,
}

impl Reproduction {
    /// Reproduces the case study from a run. `name` is the run's name.
    #[must_use]
    pub fn from_run(run: &Run, name: &str) -> Self {
        let gathered = Gathered::new(run);
        let memory_bytes = gathered.memory_bytes;
        let targets = run.manifest.targets.iter().map(|one| one.specification.clone()).collect();
        let mut reproduction = Self {
            paper: PAPER,
            run: name.to_owned(),
            scale: Scale { published_memory_bytes: 512 << 20, memory_bytes, targets },
            figure_1: figures::sizes(&gathered, "figure-1"),
            figure_1_zoom: figures::sizes(&gathered, "figure-1-zoom"),
            figure_2: figures::time_curves(&gathered),
            figure_3: figures::latencies(&gathered),
            figure_4: figures::latency_slices(&gathered),
            shapes: Vec::new(),
            statements: Vec::new(),
            missing: gathered::missing(run),
        };
        reproduction.shapes = shapes::all(&reproduction);
        reproduction.statements = statements::all(&gathered);
        if run.manifest.run.suite.contains('/') {
            // A run of one figure has nothing to say about the others.
            reproduction.statements.retain(Statement::is_measured);
        }
        reproduction
    }

    /// Renders the reproduction for people.
    #[must_use]
    pub fn text(&self, width: usize) -> String {
        text::render(self, width)
    }
}

#[cfg(test)]
mod nulls;
#[cfg(test)]
mod simulated;
#[cfg(test)]
mod tests;
