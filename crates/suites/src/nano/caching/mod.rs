//! Caching: what the page cache takes in, reads ahead, evicts and writes back.
//!
//! "Does the file system pre-fetch entire files, blocks, or large extents? How are elements evicted
//! from the cache?" (It *IS* Rocket Science, section 2). The pages themselves answer both
//! questions: a file proved to be cold is read in a known pattern, and after each read, or at given
//! moments, the kernel reports which of its pages are in memory.

mod cold_file;
mod eviction;
mod prefetch;
mod warm_up;
mod write_back;

use record::CacheState;
use workload::Operation;

use super::data;
use crate::benchmark::Benchmark;

/// For the survey: writes to pages that are not resident, and a short look at read-ahead.
pub(crate) fn quick() -> Vec<Benchmark> {
    [data::four(Operation::Write, CacheState::Cold), prefetch::quick()].concat()
}

/// Its curves.
pub(super) fn curves() -> Vec<Benchmark> {
    let parts = [warm_up::curves(), prefetch::curves(), eviction::benchmarks()].concat();
    [parts, write_back::benchmarks()].concat()
}

/// Runs of resident pages: the first page of each, and the number of pages.
fn page_runs(resident: &[bool]) -> Vec<(u64, u64)> {
    let mut page = 0;
    let mut runs = Vec::new();
    for chunk in resident.chunk_by(|one, next| one == next) {
        if chunk[0] {
            runs.push((page, chunk.len() as u64));
        }
        page += chunk.len() as u64;
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_maximal() {
        assert_eq!(page_runs(&[]), []);
        assert_eq!(page_runs(&[true, true, false, true]), [(0, 2), (3, 1)]);
        assert_eq!(page_runs(&[false, false, true]), [(2, 1)]);
    }
}
