//! Conducting a run: blocks in random order, replicates that count only in the state asked for,
//! a stop by the width of the intervals (never by their significance), a journal of it all.
//!
//! The rules live here; what a replicate *is* lives behind [`Executor`]. Randomness comes from the
//! plan's seed and time from an injected [`Stopwatch`], so a run under a fake executor and a fake
//! stopwatch writes the same bytes every time.
//!
//! Start reading at [`conduct`]. The course of a run: the pilot measures each cell once, small;
//! `sizing` counts out its replicates as the benchmark declares them; `economy` leaves out what the
//! budget has no room for; then blocks follow, each executing cells once in an order of its own,
//! until every interval is narrow enough or the budget is used.
//!
//! [`conduct_searches`] is the other kind of run: a search for cliffs, in which each value decides
//! what is measured next.

mod conduct;
mod economy;
mod executor;
mod keeping;
mod ledger;
mod observer;
mod plan;
mod search;
mod sizing;

pub use conduct::{RunError, Surroundings, conduct};
pub use executor::{Executor, Failure, Measured, PilotMeasure, Request};
pub use ledger::Ledger;
pub use observer::{Event, Observer, Width};
pub use plan::{Plan, Stopwatch};
pub use search::{Course, Prober, Served, conduct_searches};
