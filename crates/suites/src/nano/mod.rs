//! The nano-benchmarks: each measures one particular aspect of a file system, and measures it well
//! (It *IS* Rocket Science, section 4), as a curve over what it depends on.
//!
//! Each dimension has a module, whose `quick` benchmarks make up the survey and whose `curves` give
//! the full picture.

mod caching;
mod curve;
mod data;
mod in_memory;
pub(crate) mod io;
mod layout;
mod metadata;
mod scaling;

use crate::benchmark::Benchmark;
pub(crate) use curve::Curve;

/// The survey: the quick benchmarks of all dimensions, ranked by when they are left out if the
/// budget is too small for all.
pub(crate) fn quick() -> Vec<Benchmark> {
    let all = [
        in_memory::quick(),
        io::quick(),
        layout::quick(),
        caching::quick(),
        metadata::quick(),
        scaling::quick(),
    ]
    .concat();
    all.into_iter().map(|one| Benchmark { rank: survey_rank(&one.name), ..one }).collect()
}

/// The most informative benchmarks of their dimensions, in the order in which a survey wants them:
/// at least one of each dimension before a second. Those that estimates of loads use come before
/// others.
const MOST_INFORMATIVE: [&str; 30] = [
    "random-read-4k-warm",
    "random-read-4k-cold",
    "create-100",
    "read-written-in-turn",
    "random-write-4k-cold",
    "append-fsync-4k",
    "random-write-4k-clean",
    "sequential-read-1m-cold",
    "random-read-4k-2-threads",
    "stat-100",
    "unlink-100",
    "open-close-100",
    "sequential-write-1m-warm",
    "sequential-write-4k-warm",
    "sequential-read-1m-warm",
    "sequential-read-4k-warm",
    "new-file-4k",
    "new-file-32k",
    "read-file-4k",
    "read-file-32k",
    "readdir-100",
    "mkdir-100",
    "sequential-read-4k-cold",
    "random-read-1m-cold",
    "random-write-1m-clean",
    "random-write-4k-warm",
    "read-written-at-once",
    "rename-100",
    "sequential-write-1m-cold",
    "first-read-start",
];
/// The rank after all of those; large directories, which take long to make, come one later.
const LATER: u32 = 100;

fn survey_rank(name: &str) -> u32 {
    let position = MOST_INFORMATIVE.iter().position(|&other| other == name);
    match position.and_then(|position| u32::try_from(position).ok()) {
        Some(position) => position,
        None if name.ends_with("-10000") => LATER + 1,
        None => LATER,
    }
}

/// The dimensions that nano-benchmarks isolate, in the order in which they are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NanoDimension {
    Io,
    Layout,
    InMemory,
    Caching,
    Metadata,
    Scaling,
}

impl NanoDimension {
    pub(crate) const ALL: [Self; 6] =
        [Self::Io, Self::Layout, Self::InMemory, Self::Caching, Self::Metadata, Self::Scaling];

    /// Its nano-benchmarks: the quick ones, then the curves.
    pub(crate) fn benchmarks(self) -> Vec<Benchmark> {
        match self {
            Self::Io => [io::quick(), io::curves()].concat(),
            Self::Layout => [layout::quick(), layout::curves()].concat(),
            Self::InMemory => [in_memory::quick(), in_memory::curves()].concat(),
            Self::Caching => [caching::quick(), caching::curves()].concat(),
            Self::Metadata => [metadata::quick(), metadata::curves()].concat(),
            Self::Scaling => [scaling::baselines(), scaling::quick(), scaling::curves()].concat(),
        }
    }
}

/// All nano-benchmarks.
pub(crate) fn all() -> Vec<Benchmark> {
    let mut all: Vec<Benchmark> = Vec::new();
    for dimension in NanoDimension::ALL {
        for benchmark in dimension.benchmarks() {
            // The baselines of one dimension are benchmarks of another.
            if all.iter().all(|other| other.name != benchmark.name) {
                all.push(benchmark);
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A benchmark that is renamed would lose its place without a word.
    #[test]
    fn what_says_most_is_what_a_survey_has() {
        let quick = quick();
        for name in MOST_INFORMATIVE {
            assert!(quick.iter().any(|one| one.name == name), "a survey has no {name}");
        }
    }
}
