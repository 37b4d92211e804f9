//! Caching: what the page cache takes in, reads ahead, throws out and writes back.

use record::CacheState;
use workload::Operation;

use super::data;
use crate::benchmark::Benchmark;

/// What the survey takes: writes to pages that are not resident.
pub(crate) fn quick() -> Vec<Benchmark> {
    data::four(Operation::Write, CacheState::Cold)
}

/// Its curves.
pub(super) fn curves() -> Vec<Benchmark> {
    Vec::new()
}
