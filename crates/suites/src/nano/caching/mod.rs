//! Caching: what the page cache takes in, reads ahead, throws out and writes back.
//!
//! "Does the file system pre-fetch entire files, blocks, or large extents? How are elements evicted
//! from the cache?" (It *IS* Rocket Science, section 2). Both are asked of the pages themselves: a
//! file that is proved to be cold is read in a known pattern, and after each read, or at stated
//! moments, the kernel says which of its pages are in memory.

mod cold_file;
mod prefetch;

use record::CacheState;
use workload::Operation;

use super::data;
use crate::benchmark::Benchmark;

/// What the survey takes: writes to pages that are not resident, and read-ahead in short.
pub(crate) fn quick() -> Vec<Benchmark> {
    [data::four(Operation::Write, CacheState::Cold), prefetch::quick()].concat()
}

/// Its curves.
pub(super) fn curves() -> Vec<Benchmark> {
    prefetch::curves()
}
