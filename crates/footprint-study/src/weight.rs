//! What frames of a tree of stacks are weighted by.

use footprint::cgstacks::{Frames, Weight};
use footprint::tree::FlameTree;

use crate::{Executed, Studied, StudyError};

/// The suffix of weights that are misses of a level.
const MISSES: &str = "_misses";

/// A weight by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamedWeight {
    /// One that every footprint has.
    By(Weight),
    /// Misses of a level of simulated caches: its name.
    Misses(String),
}

impl NamedWeight {
    /// Those that every footprint has, with the names that the command line takes.
    const OF_FOOTPRINTS: [(&'static str, Weight); 4] = [
        ("bytes", Weight::CodeBytes),
        ("instructions", Weight::Instructions),
        ("lines", Weight::InstructionLines),
        ("data_lines", Weight::DataLines),
    ];

    /// All weights of an execution.
    #[must_use]
    pub fn all(executed: &Executed) -> Vec<Self> {
        let of_footprints = Self::OF_FOOTPRINTS.iter().map(|&(_, weight)| Self::By(weight));
        of_footprints.chain(levels(executed).map(Self::Misses)).collect()
    }

    /// The weight of a name.
    ///
    /// # Errors
    /// There is none of this name; the sentence names those there are.
    pub fn named(name: &str, executed: &Executed) -> Result<Self, StudyError> {
        let all = Self::all(executed);
        let known: Vec<String> = all.iter().map(Self::name).collect();
        let found = all.into_iter().find(|weight| weight.name() == name);
        found.ok_or(StudyError::NoWeight { asked: name.to_owned(), known })
    }

    /// Its name: `bytes`, `l1i_misses`.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::By(weight) => {
                let found = Self::OF_FOOTPRINTS.iter().find(|(_, known)| known == weight);
                found.map_or("executed_bytes", |(name, _)| name).to_owned()
            }
            Self::Misses(level) => format!("{level}{MISSES}"),
        }
    }

    /// What is counted, in words: `bytes of code`.
    #[must_use]
    pub fn unit(&self) -> String {
        let unit = match self {
            Self::By(Weight::CodeBytes) => "bytes of code",
            Self::By(Weight::ExecutedBytes) => "bytes executed",
            Self::By(Weight::Instructions) => "instructions",
            Self::By(Weight::InstructionLines) => "instruction lines",
            Self::By(Weight::DataLines) => "data lines",
            Self::Misses(level) => return format!("{level} misses"),
        };
        unit.to_owned()
    }

    /// The tree of an execution with this weight.
    #[must_use]
    pub fn tree(&self, studied: &Studied, executed: &Executed, frames: Frames) -> FlameTree {
        let walked = studied.walked();
        match (self, &executed.outcome) {
            (Self::By(weight), _) => walked.tree(&executed.footprint, frames, *weight),
            (Self::Misses(level), outcome) => {
                let at = levels(executed).position(|name| name == *level).unwrap_or(usize::MAX);
                let missed = outcome.as_ref().map(|outcome| outcome.missed.as_slice());
                walked.tree_of_misses(missed.unwrap_or_default(), frames, at)
            }
        }
    }
}

fn levels(executed: &Executed) -> impl Iterator<Item = String> {
    let levels = executed.outcome.iter().flat_map(|outcome| &outcome.report.levels);
    levels.map(|level| level.name.clone())
}
