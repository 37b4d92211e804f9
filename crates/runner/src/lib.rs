//! Conducts a run: blocks in random order, replicates that count only in the requested state, a
//! stop by the width of the intervals (never by their significance), and a journal of everything.
//!
//! The rules are here; what a replicate *is* lies behind [`Executor`]. Randomness comes from the
//! plan's seed, and time from an injected [`Stopwatch`], so a run with a fake executor and a fake
//! stopwatch writes the same bytes every time.
//!
//! `opening` makes a run's manifest and its directory, and `resume` says whether a run that was
//! cut off can be continued here. Then start reading at [`conduct`]: the pilot measures each cell
//! once, small. `sizing` gives each benchmark's replicates the number of operations that it
//! declares. `economy` leaves out what does not fit the budget. Then blocks follow, each executing
//! cells once in an order of its own, until every interval is narrow enough or the budget is used
//! up.
//!
//! [`conduct_searches`] is the other kind of run: a search for cliffs, in which each value decides
//! what is measured next.

mod busy;
mod conduct;
mod context;
mod economy;
mod error;
mod executor;
mod keeping;
mod ledger;
mod observer;
mod opening;
mod pace;
mod plan;
mod resume;
mod search;
mod sizing;

pub use conduct::conduct;
pub use context::{OnBusy, RunContext};
pub use error::RunError;
pub use executor::{Executor, Failure, Measured, PilotMeasure, Request};
pub use ledger::Ledger;
pub use observer::{Event, Observer, Width};
pub use opening::{
    HELD_FOR_RUN, RUNS, clock_record, directory_of_runs, machine, manifest, recorded_scratch,
    run_directory, run_record,
};
pub use plan::{Plan, Stopwatch};
pub use resume::{ResumeError, check_cells, check_resumable};
pub use search::{Prober, SearchCourse, Served, conduct_searches};
