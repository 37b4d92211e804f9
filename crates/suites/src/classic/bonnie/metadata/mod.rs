//! The six tests that Bonnie++ added to Bonnie: empty files are made, looked up and deleted,
//! directory by directory in listing order, and then again in random order.

mod names;
mod steps;

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::thread;
use std::time::Duration;

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use record::{BonnieMetadataOptions, Dimension, StandardMetric};
use runner::Failure;
use rustix::process::chdir;
use serde_json::{Value, json};

use self::names::NameOrder;
use self::steps::Steps;
use super::timed::TimeTaken;
use crate::benchmark::Benchmark;
use crate::classic::ClassicError;
use crate::classic::phase_evidence::PhaseEvidence;
use crate::experiment::Site;
use crate::failure::failed;
use crate::findings::Findings;
use crate::live_target::LiveTarget;
use crate::sequence::{self, Sequence, SequencePhase};

/// The suite's name.
pub const SUITE: &str = "bonnie-metadata";

/// The share of free inodes that files may take.
const ROOM_SHARE: f64 = 0.9;
/// Files made, looked up or deleted per second, for the estimate.
const FILES_PER_S: f64 = 50_000.0;

/// The options of "The Effects of Memory-Rich Environments on File System Microbenchmarks", section
/// 7.
#[must_use]
pub fn published() -> BonnieMetadataOptions {
    BonnieMetadataOptions { directories: 1024, files_per_directory: 16 }
}

/// The tests as benchmarks.
pub(crate) fn benchmarks(options: &BonnieMetadataOptions) -> Vec<Benchmark> {
    sequence::benchmarks(BonnieMetadata { options: options.clone() })
}

/// Checks that a target has enough inodes for the files.
///
/// # Errors
/// If it does not.
pub(crate) fn check_room(
    options: &BonnieMetadataOptions,
    live: &LiveTarget,
) -> Result<(), ClassicError> {
    let space = live.target.space().ok();
    let Some(free_inodes) = space.and_then(|space| space.free_inodes) else { return Ok(()) };
    let files = files(options) + u64::from(options.directories);
    if files as f64 <= free_inodes as f64 * ROOM_SHARE {
        return Ok(());
    }
    let label = live.target.spec().label.clone();
    Err(ClassicError::NoInodes { files, label, free_inodes, is_scratch: live.is_scratch() })
}

fn files(options: &BonnieMetadataOptions) -> u64 {
    u64::from(options.directories) * u64::from(options.files_per_directory)
}

/// A test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MetadataTest {
    CreateSequential,
    StatSequential,
    DeleteSequential,
    CreateRandom,
    StatRandom,
    DeleteRandom,
}

impl MetadataTest {
    const ALL: [Self; 6] = [
        Self::CreateSequential,
        Self::StatSequential,
        Self::DeleteSequential,
        Self::CreateRandom,
        Self::StatRandom,
        Self::DeleteRandom,
    ];

    /// Its name, and a title in words.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::CreateSequential => ("create-sequential", "create in order, and sync"),
            Self::StatSequential => ("stat-sequential", "stat as directories list"),
            Self::DeleteSequential => ("delete-sequential", "delete as listed, and sync"),
            Self::CreateRandom => ("create-random", "create under random names, and sync"),
            Self::StatRandom => ("stat-random", "stat at random"),
            Self::DeleteRandom => ("delete-random", "delete at random, and sync"),
        }
    }

    /// What is done to files, and in which order.
    fn operation(self) -> (&'static str, &'static str) {
        match self {
            Self::CreateSequential => ("create", "sequential"),
            Self::StatSequential => ("stat", "sequential"),
            Self::DeleteSequential => ("unlink", "sequential"),
            Self::CreateRandom => ("create", "random"),
            Self::StatRandom => ("stat", "random"),
            Self::DeleteRandom => ("unlink", "random"),
        }
    }

    fn execute(self, steps: &mut Steps<'_>) -> io::Result<TimeTaken> {
        match self {
            Self::CreateSequential => steps.create(NameOrder::Sequential),
            Self::StatSequential => steps.stat_sequential(),
            Self::DeleteSequential => steps.delete_sequential(),
            Self::CreateRandom => steps.create(NameOrder::Random),
            Self::StatRandom => steps.stat_random(),
            Self::DeleteRandom => steps.delete_random(),
        }
    }
}

/// The tests and their options.
#[derive(Clone, Debug)]
struct BonnieMetadata {
    options: BonnieMetadataOptions,
}

impl Sequence for BonnieMetadata {
    fn name(&self) -> &str {
        SUITE
    }

    fn phases(&self) -> Vec<SequencePhase> {
        MetadataTest::ALL.map(|test| self.phase(test)).to_vec()
    }

    fn estimate(&self) -> Duration {
        Duration::from_secs_f64(6.0 * files(&self.options) as f64 / FILES_PER_S)
    }

    fn check(&self, live: &LiveTarget) -> Result<(), String> {
        check_room(&self.options, live).map_err(|error| error.to_string())
    }

    fn execute(&self, site: &Site<'_>, seed: u64) -> Result<Vec<Findings>, Failure> {
        // Earlier writes must not be written back meanwhile.
        site.live.target.sync().map_err(|error| failed(&error))?;
        // Directories are entered in a thread with its own working directory; other threads stay
        // put.
        thread::scope(|scope| {
            let thread = scope.spawn(|| {
                let entered = system_calls::unshare_working_directory()
                    .and_then(|()| Ok(chdir(&site.directory)?));
                entered.map_err(|error| failed(&error))?;
                self.all(site, seed)
            });
            thread.join().expect("no test panics")
        })
    }
}

impl BonnieMetadata {
    fn all(&self, site: &Site<'_>, seed: u64) -> Result<Vec<Findings>, Failure> {
        let mut steps = Steps {
            site,
            options: &self.options,
            directory: File::open(&site.directory).map_err(|error| failed(&error))?,
            generator: Xoshiro256PlusPlus::seed_from_u64(seed),
            directories: names::directories(&self.options),
            files: Vec::new(),
        };
        MetadataTest::ALL.into_iter().map(|test| self.test(test, &mut steps)).collect()
    }

    fn test(&self, test: MetadataTest, steps: &mut Steps<'_>) -> Result<Findings, Failure> {
        let site = steps.site;
        let counters = site.counters()?;
        let counted = counters.read().map_err(|error| failed(&error))?;
        let timed = test.execute(steps);
        // A test that was cut short has no result.
        site.go_on()?;
        let timed = timed.map_err(|error| failed(&error))?;
        let deltas = counters.read().map_err(|error| failed(&error))?.since(&counted);
        let files = files(&self.options);
        let evidence = PhaseEvidence { deltas, ..PhaseEvidence::default() };
        Ok(evidence.findings(timed.elapsed_ns, timed.metrics(files), 0, files))
    }

    fn phase(&self, test: MetadataTest) -> SequencePhase {
        let (name, title) = test.names();
        SequencePhase {
            name: name.to_owned(),
            title: title.to_owned(),
            dimension: Dimension::Metadata,
            exercises: vec![Dimension::Caching],
            metrics: [StandardMetric::THROUGHPUT, StandardMetric::PROCESSOR_SHARE]
                .map(StandardMetric::definition)
                .to_vec(),
            parameters: self.parameters(test),
            working_set_bytes: None,
        }
    }

    fn parameters(&self, test: MetadataTest) -> BTreeMap<String, Value> {
        let (operation, access) = test.operation();
        let own = [
            ("operation", json!(operation)),
            ("access", json!(access)),
            ("files", json!(files(&self.options))),
            ("threads", json!(1)),
        ];
        let options = serde_json::to_value(&self.options).unwrap_or_default();
        let options = options.as_object().cloned().unwrap_or_default();
        own.map(|(name, value)| (name.to_owned(), value)).into_iter().chain(options).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tests_are_those_of_bonnie_plus_plus_in_its_order() {
        let all = benchmarks(&published());
        let names: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
        let expected = [
            "create-sequential",
            "stat-sequential",
            "delete-sequential",
            "create-random",
            "stat-random",
            "delete-random",
        ];
        assert_eq!(names, expected);
        let cell = all[0].cell(SUITE, "tmpfs", 0);
        assert_eq!(cell.parameters["files"], 16_384);
        assert_eq!(cell.metrics[0].name, "throughput");
    }
}
