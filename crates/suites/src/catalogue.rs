//! The suites, by name.

use std::collections::BTreeSet;

use record::{
    CustomWorkload, Dimension, OfferedLoad, ReplicateLength, SpriteLfsOptions, SuiteOptions,
};
use thiserror::Error;
use wildmatch::WildMatch;

use textual::did_you_mean;

use crate::benchmark::Benchmark;
use crate::classic::{self, ClassicError, array_walk, bonnie, bonnie_anova, memory_rich};
use crate::custom;
use crate::nano::NanoDimension;
use crate::nano::io::open_loop;
use crate::{applications, job_file, nano, pollution, rocket_science};

/// A named set of benchmarks.
#[derive(Clone, Debug)]
pub struct Suite {
    /// The name that `fsprism run` accepts.
    pub name: &'static str,
    /// What it measures, in one line.
    pub summary: &'static str,
    /// Its benchmarks; a baseline is in every suite that refers to it.
    pub benchmarks: Vec<Benchmark>,
    /// The options that its benchmarks are made from, if it is a classic benchmark.
    pub classic: Option<SuiteOptions>,
    /// The operations that the user described, if it consists of those.
    pub custom: Option<CustomWorkload>,
    /// The load that the user asked for, if operations on a schedule are offered one.
    pub offered: Option<OfferedLoad>,
    /// The size of the files to read and to write, if the user gave one.
    pub file_bytes: Option<u64>,
    /// The length that the user asked for, if replicates are to have one.
    pub length: Option<ReplicateLength>,
    /// Whether its sizes are our choice: those that do not fit on a target are left out.
    pub are_sizes_placed: bool,
}

/// The benchmarks of the suite are procedures with lengths of their own.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{name} has no operations that can go on: each of its benchmarks has a length of its own")]
pub struct NoLength {
    name: String,
}

/// The suite has no benchmark of that name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "{suite} has no benchmark '{pattern}'{suggestion}; `fsprism run --list --format json` lists \
     them, and * stands for anything: 'random-read*'"
)]
pub struct NoBenchmark {
    suite: String,
    pattern: String,
    suggestion: String,
}

impl Suite {
    /// A suite of these benchmarks as declared.
    #[must_use]
    pub fn new(name: &'static str, summary: &'static str, benchmarks: Vec<Benchmark>) -> Self {
        Self {
            name,
            summary,
            benchmarks,
            classic: None,
            custom: None,
            offered: None,
            file_bytes: None,
            length: None,
            are_sizes_placed: false,
        }
    }

    /// The benchmarks whose names match one of the patterns (with `*` and `?`), along with those
    /// they are compared with; without a pattern, all of them.
    ///
    /// # Errors
    /// If a pattern matches nothing; the error suggests the nearest name.
    pub fn matching(self, patterns: &[String]) -> Result<Self, NoBenchmark> {
        if patterns.is_empty() {
            return Ok(self);
        }
        let mut chosen: BTreeSet<&str> = BTreeSet::new();
        for pattern in patterns {
            let matcher = WildMatch::new(pattern);
            // A curve's name stands for all of its points.
            let is_meant = |one: &&Benchmark| {
                let curve = one.curve.as_ref().map(|point| point.curve.as_str());
                matcher.matches(&one.name) || curve.is_some_and(|curve| matcher.matches(curve))
            };
            let found = || self.benchmarks.iter().filter(is_meant);
            if found().next().is_none() {
                let names = self.benchmarks.iter().map(|one| one.name.as_str());
                return Err(NoBenchmark {
                    suite: self.name.to_owned(),
                    pattern: pattern.clone(),
                    suggestion: did_you_mean(pattern, names),
                });
            }
            for one in found() {
                let others = one.baseline.iter().chain(&one.floor);
                chosen.extend(others.chain([&one.name]).map(String::as_str));
            }
        }
        let is_chosen = |one: &Benchmark| chosen.contains(one.name.as_str());
        let benchmarks = self.benchmarks.iter().filter(|one| is_chosen(one)).cloned().collect();
        Ok(Self { benchmarks, ..self })
    }

    /// Whether it has operations on a schedule, which can be offered another load.
    #[must_use]
    pub fn has_open_loop(&self) -> bool {
        self.benchmarks.iter().any(open_loop::is_open_loop)
    }

    /// Whether it has operations that can go on, as procedures of a length of their own cannot.
    #[must_use]
    pub fn can_last(&self) -> bool {
        self.benchmarks.iter().any(|one| one.operations().is_some())
    }

    /// The same suite with its operations on a schedule at this load, instead of those declared. A
    /// suite without any stays as it is.
    #[must_use]
    pub fn offering(self, load: &OfferedLoad) -> Self {
        let (declared, mut benchmarks): (Vec<Benchmark>, Vec<Benchmark>) =
            self.benchmarks.into_iter().partition(open_loop::is_open_loop);
        if !declared.is_empty() {
            benchmarks.extend(open_loop::benchmarks_at(load));
        }
        Self { benchmarks, offered: Some(*load), ..self }
    }

    /// The same suite with the requested options; unchanged if there are none.
    ///
    /// # Errors
    /// If the options make no sense.
    pub fn with_classic(self, options: Option<&SuiteOptions>) -> Result<Self, ClassicError> {
        let Some(options) = options else { return Ok(self) };
        let benchmarks = classic::benchmarks(options)?;
        Ok(Self { benchmarks, classic: Some(options.clone()), ..self })
    }

    /// The same suite with replicates of the requested length; unchanged if there is none.
    ///
    /// # Errors
    /// If all of its benchmarks are procedures with lengths of their own.
    pub fn lasting(self, asked: Option<&ReplicateLength>) -> Result<Self, NoLength> {
        let Some(asked) = asked else { return Ok(self) };
        if self.benchmarks.iter().all(|one| one.operations().is_none()) {
            return Err(NoLength { name: self.name.to_owned() });
        }
        let benchmarks = self.benchmarks.into_iter().map(|one| one.lasting(asked)).collect();
        Ok(Self { benchmarks, length: Some(*asked), ..self })
    }

    /// The suite of the operations that the user described; unchanged if there are none.
    #[must_use]
    pub fn with_custom(self, asked: Option<&CustomWorkload>) -> Self {
        let Some(asked) = asked else { return self };
        Self { benchmarks: vec![custom::benchmark(asked)], custom: Some(*asked), ..self }
    }

    /// The same suite, with sizes derived from the machine's caches.
    #[must_use]
    pub fn placing_sizes(self) -> Self {
        Self { are_sizes_placed: true, ..self }
    }
}

/// A classic benchmark, with its phases as benchmarks.
fn classic(options: SuiteOptions) -> Suite {
    let (name, summary) = classic::named(&options);
    let benchmarks = classic::benchmarks(&options).expect("what is declared can be meant");
    Suite { classic: Some(options), ..Suite::new(name, summary, benchmarks) }
}

/// All suites.
#[must_use]
pub fn suites() -> Vec<Suite> {
    let part = |name, summary, dimension| Suite::new(name, summary, short_survey_of(dimension));
    let whole =
        |name, summary, dimension: NanoDimension| Suite::new(name, summary, dimension.benchmarks());
    let case_study = |name: &'static str, summary| {
        let figure = name.strip_prefix("rocket-science/");
        Suite::new(name, summary, rocket_science::figure(figure))
    };
    vec![
        Suite::new("survey", "every dimension in brief", nano::quick()),
        part("survey/io", "cold reads and fsync: the device and the path to it", Dimension::Io),
        part("survey/layout", "reads of files written in two ways", Dimension::OnDiskLayout),
        part("survey/in-memory", "reads and writes served from memory", Dimension::InMemory),
        part("survey/caching", "writes to pages that are not resident", Dimension::Caching),
        part("survey/metadata", "names and attributes, by directory size", Dimension::Metadata),
        part("survey/scaling", "two threads against one", Dimension::Scaling),
        Suite::new("nano", "every dimension as curves", nano::all()),
        whole(
            "nano/io",
            "the device, and the file system on top of it; commits; operations on a schedule",
            NanoDimension::Io,
        ),
        whole("nano/layout", "reads of files written in different ways", NanoDimension::Layout),
        whole(
            "nano/in-memory",
            "copies from memory, by request size and working set",
            NanoDimension::InMemory,
        ),
        whole("nano/caching", "warm-up, prefetch, eviction, write-back", NanoDimension::Caching),
        whole("nano/metadata", "operations on names, by directory size", NanoDimension::Metadata),
        whole("nano/scaling", "threads and processes, by what they share", NanoDimension::Scaling),
        case_study("rocket-science", "the case study of It IS Rocket Science, scaled to 64 MiB"),
        case_study("rocket-science/figure-1", "throughput over file size"),
        case_study("rocket-science/figure-1-levels", "the same on a device with a cache"),
        case_study("rocket-science/figure-2", "throughput over time from a cold start"),
        case_study("rocket-science/figure-3", "latencies by file size"),
        case_study("rocket-science/figure-4", "latencies over time from a cold start"),
        Suite::new(
            custom::SUITE,
            "reads and writes as you describe them: --rw, --bs, --threads, --depth",
            vec![custom::benchmark(&custom::EXAMPLE)],
        ),
        classic(SuiteOptions::SpriteLfs(SpriteLfsOptions::published().into())),
        classic(SuiteOptions::ArrayWalk(array_walk::swept(&[]))),
        classic(SuiteOptions::Bonnie(bonnie::published().into())),
        classic(SuiteOptions::BonnieMetadata(bonnie::metadata::published())),
        classic(SuiteOptions::Pollution(pollution::declared())),
        classic(SuiteOptions::Applications(applications::declared())),
        classic(SuiteOptions::JobFile(job_file::declared())),
        Suite {
            name: bonnie_anova::SUITE,
            summary: "File Systems Performance Analysis: Bonnie in the paper's sizes",
            ..classic(SuiteOptions::Bonnie(bonnie::published().into()))
        },
        Suite::new(
            memory_rich::SUITE,
            "The Effects of Memory-Rich Environments, its tables and figures",
            memory_rich::benchmarks(None),
        ),
    ]
    .into_iter()
    .chain(
        memory_rich::ITEMS
            .iter()
            .map(|one| Suite::new(one.suite, one.summary, memory_rich::benchmarks(Some(one.item)))),
    )
    .collect()
}

/// The names of the parts of a suite: those that follow its own name and a slash.
#[must_use]
pub fn below(name: &str) -> Vec<&'static str> {
    let part = |suite: Suite| suite.name.strip_prefix(name)?.strip_prefix('/');
    suites().into_iter().filter_map(part).collect()
}

/// The suite called `name`, if there is one.
#[must_use]
pub fn suite(name: &str) -> Option<Suite> {
    suites().into_iter().find(|suite| suite.name == name)
}

fn short_survey_of(dimension: Dimension) -> Vec<Benchmark> {
    let all = nano::quick();
    let chosen = |benchmark: &&Benchmark| benchmark.dimension == dimension;
    let baselines: Vec<&String> =
        all.iter().filter(chosen).filter_map(|benchmark| benchmark.baseline.as_ref()).collect();
    all.iter()
        .filter(|benchmark| chosen(benchmark) || baselines.contains(&&benchmark.name))
        .cloned()
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unique_within_a_suite_and_baselines_stand_beside_what_refers_to_them() {
        for suite in suites() {
            let names: BTreeSet<&str> =
                suite.benchmarks.iter().map(|benchmark| benchmark.name.as_str()).collect();
            assert_eq!(names.len(), suite.benchmarks.len(), "{}", suite.name);
            for benchmark in &suite.benchmarks {
                if let Some(baseline) = &benchmark.baseline {
                    assert!(names.contains(baseline.as_str()), "{}: {baseline}", suite.name);
                }
            }
        }
    }

    #[test]
    fn every_benchmark_isolates_a_dimension_that_it_does_not_merely_exercise() {
        for benchmark in nano::all() {
            assert!(!benchmark.exercises.contains(&benchmark.dimension), "{}", benchmark.name);
            if let Some(operations) = benchmark.operations() {
                assert_eq!(operations.workload.check(), Ok(()), "{}", benchmark.name);
            }
        }
    }

    #[test]
    fn the_parts_hold_every_benchmark_of_the_survey() {
        let parts = suites().into_iter().filter(|suite| suite.name.starts_with("survey/"));
        let held: BTreeSet<String> =
            parts.flat_map(|suite| suite.benchmarks).map(|benchmark| benchmark.name).collect();
        let all: BTreeSet<String> =
            nano::quick().into_iter().map(|benchmark| benchmark.name).collect();
        assert_eq!(held, all);
    }

    #[test]
    fn what_a_figure_is_set_against_is_left_out_no_sooner_than_the_figure() {
        for suite in suites() {
            for benchmark in &suite.benchmarks {
                for other in benchmark.baseline.iter().chain(&benchmark.floor) {
                    let other = suite.benchmarks.iter().find(|one| one.name == *other);
                    let other = other.unwrap_or_else(|| panic!("{}", benchmark.name));
                    assert!(other.rank <= benchmark.rank, "{}", benchmark.name);
                }
            }
        }
    }

    #[test]
    fn a_load_takes_the_place_of_the_declared_ones_where_a_suite_has_any() {
        let load = OfferedLoad { rate_per_s: 2000, spacing: record::Spacing::Poisson };
        for suite in suites() {
            let (name, before) = (suite.name, suite.benchmarks.len());
            let has_any = suite.has_open_loop();
            let offered = suite.offering(&load);
            let on_schedule = offered
                .benchmarks
                .iter()
                .filter(|one| open_loop::is_open_loop(one) && one.name.ends_with("-2000"));
            assert_eq!(on_schedule.count(), if has_any { 3 } else { 0 }, "{name}");
            assert!(has_any || offered.benchmarks.len() == before, "{name}");
        }
    }

    #[test]
    fn patterns_choose_benchmarks_and_what_they_are_set_against() {
        let chosen = |name: &str, patterns: &[&str]| -> Result<Vec<String>, String> {
            let patterns: Vec<String> = patterns.iter().map(|&one| one.to_owned()).collect();
            let suite = suite(name).expect("it is declared").matching(&patterns);
            let names = |suite: Suite| suite.benchmarks.into_iter().map(|one| one.name).collect();
            suite.map(names).map_err(|error| error.to_string())
        };
        assert_eq!(chosen("survey", &[]).map(|all| all.len()), Ok(nano::quick().len()));
        let two = chosen("survey", &["rename-100", "append*"]);
        assert_eq!(two, Ok(vec!["append-fsync-4k".to_owned(), "rename-100".to_owned()]));
        let with_baseline = chosen("survey", &["random-read-4k-2-threads"]).expect("it is there");
        assert_eq!(with_baseline.len(), 2, "{with_baseline:?}");
        // What a pattern adds may already have been chosen.
        assert!(chosen("survey", &["rename*", "rename-100"]).is_ok());
        // A curve's name chooses all of its points, and those of its floor.
        let curve = chosen("nano/io", &["random-read-direct-by-depth"]).expect("it is declared");
        assert_eq!(curve.len(), 14, "{curve:?}");
        assert!(curve.iter().all(|name| name.contains("-by-depth-")), "{curve:?}");
        let refusal = chosen("survey", &["rename-100", "renam-100"]).expect_err("no such name");
        assert!(refusal.contains("'renam-100'"), "{refusal}");
        assert!(refusal.contains("did you mean `rename-100`?"), "{refusal}");
    }
}
