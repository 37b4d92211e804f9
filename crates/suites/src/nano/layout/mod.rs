//! On-disk layout: what it costs to read what was written in one way or another.
//!
//! Files are read cold, through the page cache and its read-ahead, and how they lie is said beside
//! the time. Directories are listed on a file system that was just mounted. How a target has aged
//! is a matter of the target.

mod files;
mod listing;
mod lists;
mod reads;
mod written;

use crate::benchmark::Benchmark;

/// What the survey takes: a file written at once, and files written in turn.
pub(crate) fn quick() -> Vec<Benchmark> {
    reads::quick()
}

/// Its curves.
pub(super) fn curves() -> Vec<Benchmark> {
    [reads::curves(), lists::curves()].concat()
}
