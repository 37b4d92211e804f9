//! What jobs did, and the outputs of it that users of fio 3.33 know, character for character.
//!
//! Who executes jobs fills a [`JobResult`] for each thread and makes a [`Report`] of them;
//! [`write`](write()) prints it in one or several formats. While jobs run, [`StatusLine`] writes
//! the line that overwrites itself, and [`logs`] keep samples and write them to files.
//!
//! Where fio's outputs show a mistake of fio, so do these: `unified_rw_reporting=both` shows
//! `IOPS=0`. What only makes an output unreadable is left out: rows without a name for jobs with
//! `stats=0`, a share of the bandwidth that is negative beyond 2 TiB/s, and the failed assertion
//! that ends fio with `block_error_percentiles`.

#![forbid(unsafe_code)]

mod announcement;
mod blocks;
mod direction;
mod disks;
mod distributions;
mod extended;
mod formats;
mod histogram;
mod job;
mod json;
pub mod logs;
mod merge;
mod normal;
mod numbers;
mod percentiles;
mod presentation;
mod rates;
mod report;
mod statistics;
mod status_line;
mod steady_state;
mod terse;

pub use announcement::{JobAnnouncement, write_start};
pub use blocks::{BlockLife, BlockState, BlockSummary};
pub use direction::{DataDirection, PerDirection};
pub use disks::{DiskFigures, DiskUtilization};
pub use distributions::{BatchDistribution, DEPTH_LEVELS, DepthDistribution, LatencyBins};
pub use formats::{OutputFormats, UnknownFormat, write};
pub use histogram::{BUCKETS, LatencyHistogram};
pub use job::{
    DirectionResult, ErrorCounts, JobError, JobResult, Latencies, LatencyGoal, PriorityLatencies,
    ProcessorUsage, SyncResult,
};
pub use json::{JsonDetail, write_json};
pub use normal::write_normal;
pub use percentiles::PercentileList;
pub use presentation::{
    BandwidthUnit, Kilobyte, NumberStyle, PercentileChoice, Presentation, Reporting, Unified,
};
pub use rates::RateSampler;
pub use report::{GroupDirection, GroupStatus, Report, ReportTime, RunFacts};
pub use statistics::{LatencyStatistics, Moments, SampledStatistics};
pub use status_line::{
    Eta, JobState, Progress, RunningKind, StatusLine, StatusSnapshot, condensed,
};
pub use steady_state::{
    SteadyGoal, SteadyQuantity, SteadyState, SteadyStateDetector, SteadyTest, SteadyUnit,
};
pub use terse::{TerseVersion, write_terse};
