//! Why a table of observations, or a question about one, is refused.

use crate::design_kind::DesignKind;

/// Why an analysis of a designed experiment is refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// There are no factors, or none with the name asked for.
    #[error("unknown factor {name:?} (the factors are {known})")]
    NoFactor {
        /// The name asked for; empty if the table has no factors.
        name: String,
        /// The names there are, joined by commas.
        known: String,
    },
    /// Two factors, or two levels of one factor, share a name.
    #[error("the name {name:?} occurs twice among {among}")]
    SameName {
        /// The name.
        name: String,
        /// Whose names they are, as the end of a sentence.
        among: String,
    },
    /// A row or column is longer or shorter than the others.
    #[error("{what}: {given} entries, but {wanted} are needed")]
    Length {
        /// The row or column, as the subject of a sentence.
        what: String,
        /// The number of entries needed.
        wanted: usize,
        /// The number of entries given.
        given: usize,
    },
    /// An observation has a level number that its factor does not have.
    #[error("observation {index} has level {level} of {factor:?}, which has only {levels} levels")]
    NoLevel {
        /// The index of the observation, from 0.
        index: usize,
        /// The factor's name.
        factor: String,
        /// The level's number, from 0.
        level: u32,
        /// The number of the factor's levels.
        levels: usize,
    },
    /// A factor that does not vary.
    #[error("factor {factor:?} needs at least two levels, but has {levels}")]
    TooFewLevels {
        /// The factor's name.
        factor: String,
        /// The number of its levels.
        levels: usize,
    },
    /// More than the analysis can take.
    #[error("{given} {what} are too many: at most {most} can be analysed")]
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// The number given.
        given: usize,
        /// The largest number possible.
        most: usize,
    },
    /// Some levels of a factor were never observed.
    #[error("no observation of {level:?}, a level of {factor:?}{}", and_more(*.more))]
    Unobserved {
        /// The factor's name.
        factor: String,
        /// The first of the levels.
        level: String,
        /// How many more there are.
        more: usize,
    },
    /// From the observed combinations, it cannot be told which of two factors an effect belongs to.
    #[error(
        "the observed combinations of levels cannot separate the effects of {factor:?} from those \
         of other factors: observe several of its levels with the same levels of the other factors"
    )]
    Unlinked {
        /// The factor's name.
        factor: String,
    },
    /// Combinations, not all observed equally often, whose fit would take minutes.
    #[error(
        "{cells} combinations of levels, not all of them observed equally often, are too many to \
         analyse: leave out a factor, or observe every combination equally often"
    )]
    TooLarge {
        /// The number of combinations observed.
        cells: usize,
    },
    /// The effects use up all observations, so nothing is left to estimate the errors from.
    #[error("a {design} leaves no degrees of freedom for errors: replicate it")]
    NoErrors {
        /// The design.
        design: DesignKind,
    },
    /// The model fits without errors, so a difference cannot be compared with them.
    #[error("the errors are 0, so a difference cannot be compared with them")]
    ExactFit,
    /// All observations are equal.
    #[error("all {observations} observations are {value}, so there is nothing to explain")]
    Constant {
        /// The number of observations.
        observations: usize,
        /// The value that they all have.
        value: f64,
    },
    /// Values so large or so small that their squares are out of range for a double.
    #[error("the squares of these values are out of range: use another unit")]
    OutOfRange,
    /// A value without a logarithm.
    #[error("observation {index} is {value}, but a multiplicative model needs values above 0")]
    NotPositive {
        /// The index of the observation, from 0.
        index: usize,
        /// The value.
        value: f64,
    },
    /// All values are equal within each block.
    #[error("all values are equal within each of the {blocks} blocks, so ranks say nothing")]
    TiedBlocks {
        /// The number of blocks.
        blocks: usize,
    },
    /// A rank test with a cell that was not observed exactly once.
    #[error("{test} needs one observation of every cell, but there are {least} to {most}")]
    NotOnce {
        /// The test's name.
        test: &'static str,
        /// The smallest number of observations of a cell.
        least: u64,
        /// The largest number of observations of a cell.
        most: u64,
    },
    /// A rank test with the wrong number of factors.
    #[error("{test} needs {wanted} factors, but there are {given}")]
    Factors {
        /// The test's name.
        test: &'static str,
        /// The number of factors it takes.
        wanted: usize,
        /// The number of factors given.
        given: usize,
    },
}

fn and_more(more: usize) -> String {
    if more == 0 { String::new() } else { format!(" (and {more} more)") }
}
