//! Known mistakes of benchmarking, looked for in a run.
//!
//! They are those that Wang, Kuenning, Reiher & Popek, "The Effects of Memory-Rich Environments on
//! File System Microbenchmarks" (SPECTS 2003) found in widely used benchmarks: each anomaly of its
//! sections 4 to 7 and each recommendation of its section 8 is a `Detector`, which is a row of
//! `DETECTORS` and has a file of its own. A detector reports what it found, with the numbers and
//! with what avoids it, or why the run cannot tell. If it reports neither, the run has passed.
//!
//! [docs/check.md](../../../../docs/check.md) says what each looks at.

mod alignment;
mod boundary;
mod calls;
mod cells;
mod clock;
mod dirty_cache;
mod neighbours;
mod pairs;
mod reuse;
#[cfg(test)]
pub(crate) mod sample;
mod states;
#[cfg(test)]
mod tests;
mod text;
mod volume;
mod warm_up;

use record::{Doubt, IntervalReport};
use schemars::JsonSchema;
use serde::Serialize;

use crate::AnalysedRun;
use crate::terminal::has_answer;
use cells::CheckedRun;

/// A known mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mistake {
    /// What is measured holds a warm-up.
    WarmUp,
    /// A phase pays for what the one before left dirty in a cache.
    DirtyCache,
    /// A working set is near the size of a cache or of memory.
    NearBoundary,
    /// Random operations are not aligned, and others are.
    UnalignedAccess,
    /// Calls beside the operation itself take a large part of the time, or differ between phases.
    CallOverhead,
    /// Targets or phases did not begin in the same state.
    UnequalStates,
    /// What is timed is too short for the clock.
    ShortForClock,
    /// Random operations are faster than sequential ones.
    CacheReuse,
    /// Other programs kept the machine busy.
    BusyMachine,
    /// A real difference depends on the volume's size.
    VolumeSize,
}

/// What is known of a mistake, and what looks for it.
struct Detector {
    mistake: Mistake,
    /// The doubt that it raises.
    doubt: Doubt,
    look: fn(&CheckedRun<'_>) -> Detection,
    /// Whether it rests on which phase came after which.
    needs_order: bool,
}

/// Why a run in which sequences have no order cannot tell.
const NO_ORDER: &str = "an earlier version of fsprism made this run, and did not record which \
                        phase came after which: measure again";

/// All known mistakes.
const DETECTORS: [Detector; 10] = [
    Detector {
        mistake: Mistake::WarmUp,
        doubt: Doubt::WarmUpInside,
        look: warm_up::look,
        needs_order: true,
    },
    Detector {
        mistake: Mistake::DirtyCache,
        doubt: Doubt::DirtyCarried,
        look: dirty_cache::look,
        needs_order: true,
    },
    Detector {
        mistake: Mistake::NearBoundary,
        doubt: Doubt::FragileZone,
        look: boundary::look,
        needs_order: false,
    },
    Detector {
        mistake: Mistake::UnalignedAccess,
        doubt: Doubt::UnalignedRandomAccess,
        look: alignment::look,
        needs_order: false,
    },
    Detector {
        mistake: Mistake::CallOverhead,
        doubt: Doubt::CallOverheadDominates,
        look: calls::look,
        needs_order: true,
    },
    Detector {
        mistake: Mistake::UnequalStates,
        doubt: Doubt::UnequalStates,
        look: states::look,
        needs_order: true,
    },
    Detector {
        mistake: Mistake::ShortForClock,
        doubt: Doubt::ClockOverhead,
        look: clock::look,
        needs_order: false,
    },
    Detector {
        mistake: Mistake::CacheReuse,
        doubt: Doubt::CacheReuse,
        look: reuse::look,
        needs_order: true,
    },
    Detector {
        mistake: Mistake::BusyMachine,
        doubt: Doubt::BusyMachine,
        look: neighbours::look,
        needs_order: false,
    },
    Detector {
        mistake: Mistake::VolumeSize,
        doubt: Doubt::DependsOnVolumeSize,
        look: volume::look,
        needs_order: false,
    },
];

/// What a detector comes back with.
#[derive(Debug, Default)]
struct Detection {
    findings: Vec<Finding>,
    /// What the run cannot tell, with why, and what would.
    untold: Option<String>,
    /// Whether there was anything that could be told all the same.
    is_told_in_part: bool,
}

/// Why a run cannot be checked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// Nothing was measured.
    #[error("{run} has no replicates: it never started, or its journal is lost")]
    NothingMeasured {
        /// The run.
        run: String,
    },
    /// It is a search for cliffs, or was counted in guests.
    #[error("{run} is a run of {suite}, which `fsprism check` cannot judge: see `fsprism report`")]
    OfAnotherKind {
        /// The run.
        run: String,
        /// Its suite.
        suite: String,
    },
}

/// Which known mistakes a run contains.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CheckDocument {
    /// The run.
    pub run: String,
    /// The suite that was run.
    pub suite: String,
    /// Labels of its targets.
    pub targets: Vec<String>,
    /// Number of known mistakes that the run contains.
    pub found: u32,
    /// Number of known mistakes that were looked for.
    pub known: u32,
    /// Each known mistake, in the order of the list in docs/check.md.
    pub checks: Vec<Check>,
}

/// One known mistake, looked for in a run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Check {
    /// The mistake.
    pub mistake: Mistake,
    /// Its name, for people.
    pub title: String,
    /// Where it is described: a paper with its section, or fsprism's own document.
    pub source: String,
    /// What came out.
    pub outcome: Outcome,
    /// What was found; empty unless the outcome is `found`.
    pub findings: Vec<Finding>,
    /// What the run cannot tell, with why and what would tell; with another outcome than
    /// `cannot-tell`, of a part of the cells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cannot_tell: Option<String>,
}

/// What a check came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The run contains the mistake.
    Found,
    /// The run does not contain it, as far as it can be told.
    Passed,
    /// The run cannot tell.
    CannotTell,
}

/// A mistake where it was found.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Finding {
    /// What was found, with its numbers, for people.
    pub message: String,
    /// Labels of the targets that it is about.
    pub targets: Vec<String>,
    /// Names of the benchmarks that it is about; empty if it is about targets as a whole.
    pub benchmarks: Vec<String>,
    /// The numbers.
    pub evidence: Vec<Evidence>,
    /// The option or command that avoids it.
    pub avoid: String,
}

/// A number that a finding rests on.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Evidence {
    /// Label of the target; none if it is about no target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Name of the benchmark; none if it is about no benchmark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub benchmark: Option<String>,
    /// What it is, in snake case.
    pub name: String,
    /// Unit of the value, as for metrics.
    pub unit: String,
    /// The value.
    pub value: f64,
    /// Its confidence interval, if there are enough blocks for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<IntervalReport>,
}

/// The known mistakes of a classic benchmark: they are what it is run for. None of any other run,
/// whose warnings say the same of single cells.
#[must_use]
pub fn of_classic(analysed: &AnalysedRun<'_>) -> Option<CheckDocument> {
    analysed.document.run.classic.as_ref()?;
    check(analysed, &analysed.path.display().to_string()).ok()
}

/// Looks for every known mistake; `name` is what the run is called.
///
/// # Errors
/// Where there is nothing that could be judged.
pub fn check(analysed: &AnalysedRun<'_>, name: &str) -> Result<CheckDocument, CheckError> {
    let (record, run) = (&analysed.document.run, name.to_owned());
    if !has_answer(&analysed.document) {
        return Err(CheckError::OfAnotherKind { run, suite: record.suite.clone() });
    }
    let checked = CheckedRun::new(analysed);
    if checked.cells.is_empty() {
        return Err(CheckError::NothingMeasured { run });
    }
    let checks: Vec<Check> = DETECTORS.iter().map(|detector| detector.check(&checked)).collect();
    let found = checks.iter().filter(|check| check.outcome == Outcome::Found).count();
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    Ok(CheckDocument {
        run,
        suite: record.suite.clone(),
        targets: analysed.document.targets.iter().map(|target| target.label.clone()).collect(),
        found: count(found),
        known: count(checks.len()),
        checks,
    })
}

impl Detector {
    fn check(&self, checked: &CheckedRun<'_>) -> Check {
        let Detection { findings, mut untold, mut is_told_in_part } = (self.look)(checked);
        if self.needs_order && checked.lacks_order() {
            (untold, is_told_in_part) = (Some(NO_ORDER.to_owned()), false);
        }
        let outcome = match (findings.is_empty(), &untold) {
            (false, _) => Outcome::Found,
            (true, Some(_)) if !is_told_in_part => Outcome::CannotTell,
            (true, _) => Outcome::Passed,
        };
        let row = self.doubt.row();
        let (name, source) = match row.mistake {
            Some(mistake) => (mistake.name, mistake.source),
            None => (row.title, row.source),
        };
        Check {
            mistake: self.mistake,
            title: name.to_owned(),
            source: source.to_owned(),
            outcome,
            findings,
            cannot_tell: untold,
        }
    }
}
