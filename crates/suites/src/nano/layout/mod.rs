//! On-disk layout: what it costs to read files, depending on how they were written.
//!
//! Files are read cold, through the page cache and its read-ahead, and their layout is reported
//! along with the time. Directories are listed on a freshly mounted file system. Ageing is a
//! property of the target, not of these benchmarks.

mod files;
mod listing;
mod lists;
mod reads;
mod write_pattern;

use crate::benchmark::Benchmark;

/// For the survey: a file written in one go, and files written in turn.
pub(crate) fn quick() -> Vec<Benchmark> {
    reads::quick()
}

/// Its curves.
pub(super) fn curves() -> Vec<Benchmark> {
    [reads::curves(), lists::curves()].concat()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::benchmark::Work;
    use crate::thinning::{Scope, thinned};

    #[test]
    fn what_the_survey_takes_of_it_is_short() {
        for benchmark in quick() {
            let Work::Experiment(experiment) = &benchmark.work else { panic!("{benchmark:?}") };
            let estimate = experiment.estimate();
            assert!(estimate < Duration::from_millis(60), "{}: {estimate:?}", benchmark.name);
        }
    }

    #[test]
    fn two_minutes_have_room_for_coarse_curves_of_two_targets() {
        let budget = Some(Duration::from_secs(120));
        let scope = Scope { targets: 2, data_file_bytes: 64 << 20, budget };
        let (kept, _) = thinned(&curves(), &scope);
        for curve in curves().iter().filter_map(|benchmark| benchmark.curve.as_ref()) {
            let is_of_it = |other: &Benchmark| {
                other.curve.as_ref().is_some_and(|point| point.curve == curve.curve)
            };
            let points = kept.iter().filter(|&other| is_of_it(other)).count();
            assert!(points >= 3, "{}: {points}", curve.curve);
        }
    }
}
