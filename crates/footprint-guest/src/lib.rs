//! What a guest does to be traced: it makes a file system and executes operations on it, each of
//! them one system call between marks.
//!
//! A [`Job`] says what to do, an [`Outcome`] what was done; both go as JSON between host and guest.
//! [`perform`] does a job on a directory, wherever that is: outside a guest marks do nothing.
//! Nothing here measures time, as time in a guest means nothing.

mod job;
mod marked;
mod operation;
mod perform;
mod prepared;

pub use job::{Failed, Job, Made, Outcome, State, Target};
pub use marked::MarkedCall;
pub use operation::{Operation, UnknownOperation};
pub use perform::{PerformError, perform};
