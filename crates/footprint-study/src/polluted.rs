//! What traced operations cost the code around them in simulated caches: rounds of generated code
//! are put between the repetitions of an operation, and their misses counted.
//!
//! The code has the footprint of a round that the suite `pollution` times. Its lines lie one after
//! the other, from where a page begins, and accesses of the operation are those of the trace.

use std::path::Path;

use caches::{Access, Hierarchy, Purpose, Simulation};
use footprint::accesses::for_each_accesses;
use footprint::trace::{Completeness, Region, Walk};
use user_code::{CodeError, CodeShape, LINE_BYTES, LineUse};

use crate::StudyError;
use crate::choice::key;
use crate::study::{description_of, names_of};
use crate::trace_file::open;

/// The most repetitions of an operation that are kept in memory.
const REPETITIONS_MOST: usize = 32;
/// Rounds of the code before anything is counted: it then lies in the caches as far as it fits.
const WARMING_ROUNDS: u32 = 3;

/// Where the code begins, and its data, in the address space of a program.
const CODE_START: u64 = 0x5555_5000_0000;
const DATA_START: u64 = 0x7f00_0000_0000;

/// One operation of a trace, with code around it.
#[derive(Clone, Debug, PartialEq)]
pub struct PollutedOperation {
    /// The label of the target.
    pub target: String,
    /// The operation.
    pub operation: String,
    /// After how many of its repetitions misses were counted.
    pub repetitions: u32,
    /// The results for each code.
    pub rounds: Vec<PollutedRounds>,
}

/// Misses of code of one shape, by level: medians over the repetitions.
#[derive(Clone, Debug, PartialEq)]
pub struct PollutedRounds {
    /// The code.
    pub shape: CodeShape,
    /// Of a round that follows another round at once.
    pub alone: Vec<f64>,
    /// Of a round that follows the operation.
    pub after_operation: Vec<f64>,
    /// Of the operation between two rounds.
    pub of_operation: Vec<f64>,
}

/// The operations of a trace, and why it is incomplete, if it is.
#[derive(Clone, Debug, PartialEq)]
pub struct PollutedTrace {
    /// The operations, in the order of the marks' numbers.
    pub operations: Vec<PollutedOperation>,
    /// Why the trace is incomplete, in a sentence.
    pub doubt: Option<String>,
}

/// Code to put between operations.
#[derive(Clone, Debug)]
pub struct CodeBetween {
    shape: CodeShape,
    accesses: Vec<Access>,
}

impl CodeBetween {
    /// A round of code of this shape.
    ///
    /// # Errors
    /// Why there is no such code.
    pub fn new(shape: CodeShape) -> Result<Self, CodeError> {
        let at = |start: u64, line: u32| start + u64::from(line) * LINE_BYTES as u64;
        let access = |used| match used {
            LineUse::Code(line) => {
                Access { purpose: Purpose::Fetch, address: at(CODE_START, line), bytes: 1 }
            }
            LineUse::Data(line) => {
                Access { purpose: Purpose::Load, address: at(DATA_START, line), bytes: 8 }
            }
        };
        let accesses = shape.uses(0)?.into_iter().map(access).collect();
        Ok(Self { shape, accesses })
    }
}

/// Simulates these caches for each operation of a trace, or the one that is named, with each code
/// around it.
///
/// # Errors
/// The file is not a trace, has no such operation, or none that was traced twice completely.
pub fn polluted(
    path: &Path,
    operation: Option<&str>,
    codes: &[CodeBetween],
    caches: &Hierarchy,
) -> Result<PollutedTrace, StudyError> {
    let failed = |source| StudyError::Trace { path: path.to_owned(), source };
    let mut reader = open(path)?;
    let header = *reader.header();
    let (description, missing) = description_of(path, header.scope)?;
    let warm_up = description.repetitions.warm_up;
    let mut walk = Walk::new(header, description);
    let (mut traced, mut known): (Vec<Repetitions>, Vec<String>) = (Vec::new(), Vec::new());
    let is_wanted = |region| match region {
        Region::Unmarked => false,
        Region::Marked { repetition, .. } => repetition >= warm_up,
    };
    let walked = for_each_accesses(&mut walk, &mut reader, is_wanted, |walk, region| {
        if region.completeness != Completeness::Whole {
            return;
        }
        let (target, name) = names_of(walk.names(), region.region, path);
        if operation.is_some_and(|asked| asked != name) {
            if !known.contains(&name) {
                known.push(name);
            }
            return;
        }
        let key = key(region.region);
        let at = traced.iter().position(|one| (&one.target, &one.operation) == (&target, &name));
        let at = at.unwrap_or_else(|| {
            traced.push(Repetitions { key, target, operation: name, accesses: Vec::new() });
            traced.len() - 1
        });
        if traced[at].accesses.len() < REPETITIONS_MOST {
            traced[at].accesses.push(region.accesses);
        }
    });
    let doubt = match walked {
        Err(source) if traced.is_empty() => return Err(failed(source)),
        Err(source) => Some(source.to_string()),
        Ok(()) => reader.ending().and_then(|ending| ending.cut).map(|cut| cut.to_string()),
    };
    if let Some(asked) = operation.filter(|_| traced.is_empty() && !known.is_empty()) {
        let (path, asked) = (path.to_owned(), asked.to_owned());
        return Err(StudyError::NoOperation { path, asked, known });
    }
    traced.retain(|one| one.accesses.len() > 1);
    if traced.is_empty() {
        return Err(StudyError::NotRepeated { path: path.to_owned() });
    }
    traced.sort_by_key(|one| one.key);
    let doubts: Vec<String> = doubt.into_iter().chain(missing).collect();
    let doubt = (!doubts.is_empty()).then(|| format!("{}: {}", path.display(), doubts.join("; ")));
    let operations = traced.into_iter().map(|one| one.among(codes, caches)).collect();
    Ok(PollutedTrace { operations, doubt })
}

/// What the repetitions of an operation accessed.
struct Repetitions {
    key: Option<(u8, u16)>,
    target: String,
    operation: String,
    accesses: Vec<Vec<Access>>,
}

impl Repetitions {
    fn among(self, codes: &[CodeBetween], caches: &Hierarchy) -> PollutedOperation {
        let rounds = codes.iter().map(|code| self.among_rounds_of(code, caches)).collect();
        let repetitions = u32::try_from(self.accesses.len() - 1).unwrap_or(u32::MAX);
        let Self { target, operation, .. } = self;
        PollutedOperation { target, operation, repetitions, rounds }
    }

    /// The first repetition finds in the caches what no repetition has left, so it does not count.
    fn among_rounds_of(&self, code: &CodeBetween, caches: &Hierarchy) -> PollutedRounds {
        let mut simulation = Simulation::new(caches);
        for _ in 0..WARMING_ROUNDS {
            misses(&mut simulation, &code.accesses);
        }
        let alone = misses(&mut simulation, &code.accesses);
        let (mut after_operation, mut of_operation) = (Vec::new(), Vec::new());
        for (repetition, accesses) in self.accesses.iter().enumerate() {
            let own = misses(&mut simulation, accesses);
            let after = misses(&mut simulation, &code.accesses);
            if repetition > 0 {
                of_operation.push(own);
                after_operation.push(after);
            }
        }
        let [after_operation, of_operation] =
            [after_operation, of_operation].map(|of| medians(&of));
        PollutedRounds { shape: code.shape, alone, after_operation, of_operation }
    }
}

/// Performs the accesses and counts the lookups that miss, by level.
fn misses(simulation: &mut Simulation, accesses: &[Access]) -> Vec<f64> {
    simulation.begin_region();
    accesses.iter().for_each(|access| simulation.access(*access));
    simulation.misses().map(|count| count as f64).collect()
}

/// The median of each level over some rounds; of an even number the mean of the two in the middle.
fn medians(rounds: &[Vec<f64>]) -> Vec<f64> {
    let levels = rounds.first().map_or(0, Vec::len);
    let median = |level: usize| {
        let mut values: Vec<f64> = rounds.iter().map(|round| round[level]).collect();
        values.sort_unstable_by(f64::total_cmp);
        let half = values.len() / 2;
        f64::midpoint(values[(values.len() - 1) / 2], values[half])
    };
    (0..levels).map(median).collect()
}
