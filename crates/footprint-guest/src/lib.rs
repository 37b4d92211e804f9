//! What a guest does to be traced: it makes a file system and executes operations on it, each of
//! them one system call between marks.
//!
//! A [`Job`] says what to do, an [`Outcome`] what was done; both go as JSON between host and guest.
//! [`perform`] does a job, [`inside`] around it what the first process of a guest has to do.
//! Outside a guest marks do nothing. Nothing here measures time, as time in a guest means nothing.

pub mod inside;
mod job;
mod marked;
mod operation;
mod perform;
mod prepared;

pub use job::{Failed, Job, Outcome, State};
pub use operation::{Operation, UnknownOperation};
pub use perform::{DEVICE, PerformError, perform};
