//! Conducts a run: blocks in random order, replicates that count only in the requested state, a
//! stopping rule based on the width of the intervals (never on their significance), and a journal
//! of everything.
//!
//! The rules are here; how a replicate is measured is hidden behind [`Executor`]. Randomness comes
//! from the plan's seed and time from an injected [`Stopwatch`], so a run with a fake executor and
//! a fake stopwatch writes the same bytes every time.
//!
//! `opening` makes a run's manifest and directory, and `resume` decides whether an interrupted run
//! can be continued here. Start reading at [`conduct`]. The pilot executes each cell once, briefly.
//! `sizing` gives each benchmark's replicates the number of operations that it declares. `economy`
//! leaves out what does not fit into the budget. Then come the blocks, each of which executes cells
//! once in its own order, until every interval is narrow enough or the budget is used up.
//!
//! [`conduct_searches`] is the other kind of run: a search for cliffs, in which each value
//! determines what is measured next.

mod attempts;
mod busy;
mod conduct;
mod context;
mod economy;
mod error;
mod executor;
mod journal;
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
pub use journal::{Attempt, Journal};
pub use ledger::Ledger;
pub use observer::{Event, Observer, Width};
pub use opening::{
    HELD_FOR_RUN, RUNS, clock_record, directory_of_runs, machine, manifest, recorded_scratch,
    run_directory, run_record,
};
pub use plan::{ATTEMPTS, Plan, Stopwatch};
pub use resume::{ResumeError, check_cells, check_resumable};
pub use search::{Prober, SearchCourse, Served, conduct_searches};
