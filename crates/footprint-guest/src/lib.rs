//! Runs inside a guest: makes a file system and executes operations on it to be traced, each as one
//! system call between marks.
//!
//! A [`Job`] says what to do, and a [`JobOutcome`] what was done; host and guest exchange both as
//! JSON. [`perform`] does a job. [`inside`] does everything else that the first process of a guest
//! must do, also if the job is a whole program ([`application`]). Outside a guest, marks have no
//! effect. Nothing here measures time, because time in a guest means nothing.

pub mod application;
mod door;
pub mod inside;
mod job;
mod marked;
mod perform;
mod prepared;
mod traced_call;
mod unresolved_call;

pub use job::{Failed, Job, JobOutcome, KernelCacheState};
pub use perform::{DEVICE, PerformError, perform};
pub use traced_call::{TracedCall, UnknownCall};
