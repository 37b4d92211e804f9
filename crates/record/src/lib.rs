//! What a run leaves behind: its directory, its journal, and the types of both.
//!
//! A run directory contains `manifest.json` (what was measured, where, on which targets:
//! [`Manifest`]), `cells.jsonl` (one [`Line`] per replicate, appended and fsynced: nothing measured
//! is lost) and `histograms/` (one `HdrHistogram` log per cell). [`Document`] is what `--format
//! json` prints. It is computed from the manifest and the journal, so it can be written again at
//! any time.
//!
//! Everything measured is a *metric of a cell* with a unit and a direction, whatever its suite.
//! Comparison, history and report need to know nothing else about it.

mod applications;
mod bounded;
mod cache_benchmark;
mod cache_state;
mod classic;
mod cliff;
mod custom;
mod dimension;
mod directory;
mod document;
mod doubt;
mod error;
mod histogram_log;
mod interval;
mod job_file;
mod journal;
mod journal_text;
mod load;
pub mod machine;
mod manifest;
mod metric;
mod neighbours;
pub mod network;
mod observation;
mod open_directory;
mod plain;
mod plausible;
mod pollution;
mod probe;
mod run_kind;
mod schema;
mod simulated;
pub mod traffic;
mod verdict;
mod warning;

pub use applications::ApplicationsOptions;
pub use cache_benchmark::{cache_benchmark, memory_of};
pub use cache_state::CacheState;
pub use classic::{
    ArrayWalkOptions, BonnieMetadataOptions, BonnieOptions, BonniePhaseOrder, BonnieRun,
    FirstWrite, ProcessorCount, RandomAlignment, SecondWrite, SpriteLfsOptions, SpriteLfsRun,
    SuiteOptions,
};
pub use cliff::{
    Axis, Cause, CellAdded, CliffReport, Compared, FragileZone, LimitOwner, Reached, SearchPlan,
    SearchReport,
};
pub use custom::{CustomWorkload, ReplicateLength};
pub use dimension::Dimension;
pub use directory::{
    GroupDirectory, GroupMember, OutputDirectory, ReservedDirectory, Run, RunDirectory, TRACES,
};
pub use document::{
    CellReport, Comparison, CurveFit, DimensionComparison, Document, Figure, FitParameter,
    MetricReport, Percentile, PercentileOf, RatioReport, Spending, WarningReport, WorkingSet,
};
pub use doubt::{Doubt, DoubtRow, KnownMistake, Weight};
pub use error::{RecordError, TakeInError};
pub use histogram_log::HistogramLocation;
pub use interval::IntervalReport;
pub use job_file::{JobFileOptions, RecordedJob, RecordedSetting};
pub use journal::{
    Block, CacheEvidence, CellFailed, CourseRecord, Discarded, End, EndReason, LatencySummary,
    LeftOut, Line, Pilot, Planned, Replicate, Spent, Start, TimelineRecord, Waited, left_out,
};
pub use journal_text::Damage;
pub use load::{
    LoadComparison, LoadCost, LoadMissing, LoadPart, LoadReport, LoadValidation, SurveyRanking,
};
pub use manifest::{
    Ageing, Cell, ClockRecord, Conditions, CurveFamily, CurvePoint, Least, Manifest, OfferedLoad,
    Order, References, RunRecord, Skipped, Spacing, TargetRecord, Tool,
};
pub use metric::{Better, MetricDefinition, StandardMetric};
pub use neighbours::{Busy, Neighbours};
pub use observation::{Observation, PageRuns, PolicyFit, PolicyRanking, Quantity, Series};
pub use plausible::BLOCKS_MAX;
pub use pollution::{CodeFootprints, LineOrder, LoadDependence, PollutionOptions};
pub use probe::{ProbeEvidence, Waits};
pub use run_kind::RunKind;
pub use schema::SCHEMA_VERSION;
pub use simulated::{CachesOrigin, Replacement, SimulatedCache, SimulatedCaches};
pub use verdict::Verdict;
pub use warning::Warning;
