//! What the frames of a tree of stacks are weighted by.

use footprint::cgstacks::{Frames, Weight};
use footprint::tree::FlameTree;

use crate::{Executed, Studied, StudyError};

/// The suffix of weights that count the misses of a cache level.
const MISSES: &str = "_misses";

/// A weight by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamedWeight {
    /// A weight that every footprint has.
    By(Weight),
    /// Misses of the simulated cache level with this name.
    Misses(String),
}

impl NamedWeight {
    /// The weights that every footprint has, with their names on the command line.
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

    /// The weight with this name.
    ///
    /// # Errors
    /// There is no such weight; the message lists those that exist.
    pub fn from_name(name: &str, executed: &Executed) -> Result<Self, StudyError> {
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

    /// The tree of an execution, weighted by this.
    #[must_use]
    pub fn tree(&self, studied: &Studied, executed: &Executed, frames: Frames) -> FlameTree {
        let walked = studied.categorized_trace();
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
