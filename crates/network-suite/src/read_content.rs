//! What benchmarks have read: it must be the same in each state.

use std::collections::BTreeMap;

use crate::plan::NetworkBenchmark;

/// The checksums of what each benchmark has read since the files were last changed.
#[derive(Debug, Default)]
pub(crate) struct ReadContent {
    sums: BTreeMap<NetworkBenchmark, u64>,
}

impl ReadContent {
    /// The files are others from now on.
    pub(crate) fn forget(&mut self) {
        self.sums.clear();
    }

    /// Refuses other bytes than the same benchmark has read before, if it reads all of the same
    /// files each time.
    pub(crate) fn compare(&mut self, benchmark: NetworkBenchmark, sum: u64) -> Result<(), String> {
        if !benchmark.reads_the_same() || *self.sums.entry(benchmark).or_insert(sum) == sum {
            return Ok(());
        }
        Err("other bytes were read than in the states before".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_benchmark_reads_the_same_until_files_change() {
        let mut content = ReadContent::default();
        assert_eq!(content.compare(NetworkBenchmark::File, 1), Ok(()));
        assert_eq!(content.compare(NetworkBenchmark::Tree, 2), Ok(()));
        assert_eq!(content.compare(NetworkBenchmark::File, 1), Ok(()));
        let why = content.compare(NetworkBenchmark::File, 2).expect_err("these are others");
        assert!(why.contains("other bytes"), "{why}");
        assert_eq!(content.compare(NetworkBenchmark::Random, 1), Ok(()));
        assert_eq!(content.compare(NetworkBenchmark::Random, 2), Ok(()), "it draws its places");
        content.forget();
        assert_eq!(content.compare(NetworkBenchmark::File, 2), Ok(()));
    }
}
