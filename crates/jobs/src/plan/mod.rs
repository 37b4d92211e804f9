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
mod memory;
mod nodes;
mod offsets;
mod priorities;
mod refused;
mod replay;
mod report;
mod schedule;
mod syncs;
mod verify;

pub use buffers::{BuffersPlan, DedupeMode};
pub use choices::{ExitWhat, Fadvise, Fallocate, LockFile, SyncFlag, WriteHint};
pub use engine::{EngineChoice, EngineOptions, StatCall};
pub use errors::{ErrorOf, ErrorsPlan};
pub(crate) use files::DEFAULT_FORMAT;
pub use files::FilesPlan;
pub use goals::{LatencyTarget, SteadyPlan};
pub use job::JobPlan;
pub use memory::{BufferPages, MemoryPlan};
pub use nodes::{MemoryPolicy, NodesPlan};
pub use offsets::OffsetsPlan;
pub use priorities::{PrioritiesPlan, PriorityShare};
pub use replay::ReplayPlan;
pub use report::{LogsPlan, ReportPlan, UnifiedReporting};
pub use schedule::{DepthPlan, ProcessPlan, RatePlan, SchedulePlan, ThinkPlan};
pub use syncs::SyncsPlan;
pub use verify::{TrimsPlan, VerifyPlan};
