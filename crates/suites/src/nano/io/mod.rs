//! I/O: the device and the way to it.
//!
//! Requests pass the page cache by (`O_DIRECT`), so that what is timed is the device and the file
//! system's way to it. The same reads are made on the device itself, at the same places in the same
//! order; the difference is what the file system costs. Writes are made through the file system
//! only: on the device they would write over it.

mod by_depth;
mod by_request;
mod requests;

use record::{CacheState, Dimension};
use workload::{Operation, Workload};

use super::data;
use crate::benchmark::Benchmark;
use crate::place::Place;

/// What the survey takes: cold reads, and an fsync after each append.
pub(crate) fn quick() -> Vec<Benchmark> {
    let mut all = data::four(Operation::Read, CacheState::Cold);
    all.push(append_fsync());
    all
}

fn append_fsync() -> Benchmark {
    Benchmark {
        name: "append-fsync-4k".to_owned(),
        title: "append 4 KiB and fsync".to_owned(),
        dimension: Dimension::Io,
        exercises: vec![Dimension::OnDiskLayout, Dimension::Metadata],
        cache_state: CacheState::Any,
        ..Benchmark::of_operations(
            Workload { request_bytes: 4 * data::KIB, ..Workload::new(Operation::AppendFsync) },
            Place::Data,
        )
    }
}

/// Its curves.
pub(super) fn curves() -> Vec<Benchmark> {
    [by_request::curves(), by_depth::curves()].concat()
}
