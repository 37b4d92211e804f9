//! The simple and naive model of an L2 cache with which "Memory-rich microbenchmarks" explains why
//! a smaller footprint can make the next phase slower (section 4.5, Figures 2 and 3, Table 7).
//!
//! A cache has a number of lines. The active footprint of file system and benchmark occupies some
//! of them permanently: the cache starts with only these, and they are never evicted. The remaining
//! lines hold segments of one file, each as long as a line. A phase goes through the file from
//! start to end: a write makes its segment's line dirty, a read loads its segment. A segment that
//! is not in the cache takes an empty line, or else the least recently used one; if that is dirty,
//! it must be flushed first. A write does not load its segment.

mod picture;

use serde::Serialize;

/// What a phase does with each segment of the file, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Writes the segment.
    Write,
    /// Reads the segment.
    Read,
}

impl Phase {
    /// The phase with this name: `write` or `read`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "write" => Some(Self::Write),
            "read" => Some(Self::Read),
            _ => None,
        }
    }
}

/// The parameters of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// Lines in the cache.
    pub lines: u64,
    /// How many of them are occupied by the footprint.
    pub footprint: u64,
    /// Segments in the file.
    pub file: u64,
    /// The phases, in order.
    pub phases: Vec<Phase>,
}

/// A valid question.
#[derive(Clone, Debug)]
pub struct Naive {
    question: Question,
}

/// The maximum number of accesses: a few seconds of computing.
const ACCESSES_MAX: u64 = 1 << 31;
/// The maximum number of lines: half a GiB in the model, and 4 GiB of a real cache.
const LINES_MAX: u64 = 1 << 26;

/// Why a question is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NaiveError {
    /// The footprint leaves no lines for the file.
    #[error(
        "a footprint of {footprint} lines leaves none of the {lines} lines for the file: make \
         --footprint less than --lines"
    )]
    NoLineLeft {
        /// Lines in the cache.
        lines: u64,
        /// Lines of the footprint.
        footprint: u64,
    },
    /// There are too many lines.
    #[error("a cache of {0} lines is too large: give --lines up to 67108864")]
    Lines(u64),
    /// The file is empty.
    #[error("a file of 0 segments leaves nothing to do: give --file at least 1")]
    NoFile,
    /// There are no phases.
    #[error("no phase given: use write, read, or several such as write,read")]
    NoPhase,
    /// There are too many accesses.
    #[error(
        "{phases} phases over {file} segments are too many accesses: the limit is 2147483648, so \
         give a smaller --file"
    )]
    Accesses {
        /// The number of phases.
        phases: usize,
        /// The file's segments.
        file: u64,
    },
}

/// The model's answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Answer {
    /// One per phase, in order.
    pub phases: Vec<PhaseAnswer>,
}

/// What one phase cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PhaseAnswer {
    /// What was done.
    pub phase: Phase,
    /// Segments accessed, which is all of the file.
    pub accesses: u64,
    /// Dirty lines that had to be flushed.
    pub flushes: u64,
}

/// A segment of the file in a line of the cache. Segments are numbered from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CachedSegment {
    segment: u64,
    is_dirty: bool,
}

/// The outcome of one access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AccessOutcome {
    /// The segment was in the cache.
    Hit,
    /// It took an empty line.
    Empty,
    /// It took the line of a clean segment.
    Replaced(u64),
    /// It took the line of a dirty segment, which had to be flushed.
    Flushed(u64),
}

/// The lines that are left for the file.
///
/// The file is accessed sequentially, again and again. So if it fits, segment n always has line n;
/// if not, every segment is evicted before it is needed again, and lines are taken in turn, which
/// is the order of last use.
struct Lines {
    held: Vec<Option<CachedSegment>>,
    next: usize,
    /// The line that was accessed last.
    last: Option<usize>,
    fits: bool,
}

impl Lines {
    fn new(question: &Question) -> Self {
        let count = question.lines - question.footprint;
        let room = usize::try_from(count.min(question.file)).expect("no more than LINES_MAX");
        Self { held: vec![None; room], next: 0, last: None, fits: question.file <= count }
    }

    fn access(&mut self, phase: Phase, segment: u64) -> AccessOutcome {
        let at = self.next;
        self.last = Some(at);
        self.next = (at + 1) % self.held.len();
        let is_write = phase == Phase::Write;
        let old = self.held[at];
        if let Some(old) = old.filter(|old| old.segment == segment) {
            debug_assert!(self.fits, "a file that does not fit is never found");
            self.held[at] = Some(CachedSegment { is_dirty: old.is_dirty || is_write, ..old });
            return AccessOutcome::Hit;
        }
        self.held[at] = Some(CachedSegment { segment, is_dirty: is_write });
        match old {
            None => AccessOutcome::Empty,
            Some(old) if old.is_dirty => AccessOutcome::Flushed(old.segment),
            Some(old) => AccessOutcome::Replaced(old.segment),
        }
    }
}

impl Naive {
    /// Validates a question.
    ///
    /// # Errors
    ///
    /// If it is not valid; the message names the option to change.
    pub fn new(question: Question) -> Result<Self, NaiveError> {
        let Question { lines, footprint, file, ref phases } = question;
        if footprint >= lines {
            return Err(NaiveError::NoLineLeft { lines, footprint });
        }
        if lines > LINES_MAX {
            return Err(NaiveError::Lines(lines));
        }
        if file == 0 {
            return Err(NaiveError::NoFile);
        }
        if phases.is_empty() {
            return Err(NaiveError::NoPhase);
        }
        let accesses = file.checked_mul(phases.len() as u64);
        if accesses.is_none_or(|accesses| accesses > ACCESSES_MAX) {
            return Err(NaiveError::Accesses { phases: phases.len(), file });
        }
        Ok(Self { question })
    }

    /// What each phase costs.
    #[must_use]
    pub fn answer(&self) -> Answer {
        let mut lines = Lines::new(&self.question);
        let phases = self.question.phases.iter().map(|&phase| {
            let flushes =
                |segment: &u64| matches!(lines.access(phase, *segment), AccessOutcome::Flushed(_));
            let flushes = (0..self.question.file).filter(flushes).count() as u64;
            PhaseAnswer { phase, accesses: self.question.file, flushes }
        });
        Answer { phases: phases.collect() }
    }
}

#[cfg(test)]
mod tests;
