//! What a job does: its options as types, fio's defaults filled in, and what depends on each other
//! settled as fio 3.33 settles it (its manual, and `fixup_options` of its `init.c`).

mod buffers;
mod choices;
mod engine;
mod errors;
mod files;
mod given;
mod goals;
mod job;
mod offsets;
mod refused;
mod replay;
mod report;
mod schedule;
mod syncs;
mod verify;

pub use buffers::{BuffersPlan, DedupeMode};
pub use choices::{ExitWhat, Fadvise, Fallocate, LockFile, SyncFlag};
pub use engine::{EngineChoice, EngineOptions, StatCall};
pub use errors::{ErrorOf, ErrorsPlan};
pub(crate) use files::DEFAULT_FORMAT;
pub use files::FilesPlan;
pub use goals::{LatencyTarget, SteadyPlan};
pub use job::JobPlan;
pub use offsets::OffsetsPlan;
pub use replay::ReplayPlan;
pub use report::{LogsPlan, ReportPlan, UnifiedReporting};
pub use schedule::{DepthPlan, ProcessPlan, RatePlan, SchedulePlan, ThinkPlan};
pub use syncs::SyncsPlan;
pub use verify::VerifyPlan;
