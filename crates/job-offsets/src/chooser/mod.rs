//! Which transfer comes next, as fio chooses it: a file, a direction, an offset, a length.
//!
//! A job consists of passes (`loops`, or as long as `io_size` and time ask for). In each, a file is
//! chosen, then a direction for it, then a place and a length. If the file has no place left, it is
//! done, and the next is tried.
//!
//! A choice counts as made: callers execute it.

mod draws;
mod file_state;
mod lengths;
mod mix;
mod offsets;
mod passes;
mod rules;
#[cfg(test)]
mod tests;
mod turns;

pub use mix::SyncKind;

use draws::Draws;
use file_state::{FileState, Position};
use mix::{Kind, Mix};
use offsets::Picker;
use passes::Passes;
use rules::Rules;
use turns::{Turn, Turns};

use crate::direction::Direction;
use crate::error::OffsetError;
use crate::extents::FileExtent;
use crate::files::FileTable;
use crate::generator::Width;
use crate::seeds::JobSeeds;
use crate::spec::{Distribution, Spec};

/// Chooses the transfers of one job.
#[derive(Clone, Debug)]
pub struct Chooser {
    rules: Rules,
    seeds: JobSeeds,
    draws: Draws,
    files: Vec<FileState>,
    turns: Turns,
    mix: Mix,
    until_random: u32,
    ignores_map: bool,
    passes: Passes,
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// A transfer.
    Transfer(Next),
    /// A file is synchronised.
    Sync {
        /// Its number.
        file: usize,
        /// How.
        kind: SyncKind,
    },
    /// As many files are open as may be. Ask again, after a transfer has ended if one is in flight.
    Wait,
    /// Nothing more in this pass.
    PassEnd,
}

/// What has completed of what was chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Completions {
    /// What completed last was a sync.
    pub last_was_sync: bool,
    /// How many syncs have not completed yet. They count as transfers (`number_ios`) until then.
    pub syncs_in_flight: u64,
}

/// The next transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Next {
    /// The number of the file.
    pub file: usize,
    /// The direction.
    pub direction: Direction,
    /// Where it begins in the file.
    pub offset_bytes: u64,
    /// How long it is.
    pub length_bytes: u64,
}

/// How many files may turn out to have nothing left, before it is given up. Where some come up more
/// often than others, they never end.
const MOST_TRIES: u32 = 1 << 20;

/// More blocks than numbers of 32 bits can tell apart.
const MOST_NARROW_BLOCKS: u64 = u32::MAX as u64;

impl Chooser {
    /// A chooser for a job and its files.
    ///
    /// # Errors
    /// Why there is nothing to choose.
    pub fn new(spec: &Spec, seeds: &JobSeeds, files: &[FileExtent]) -> Result<Self, OffsetError> {
        let rules = Rules::new(spec, files.len())?;
        let states = files.iter().map(|extent| FileState::new(extent, &rules, seeds));
        let files: Vec<FileState> = states.collect::<Result<_, _>>()?;
        Ok(Self {
            seeds: seeds_of_later_passes(&rules, &files, seeds),
            draws: Draws::new(&rules, seeds),
            turns: Turns::new(),
            mix: Mix::new(),
            until_random: 1,
            ignores_map: false,
            passes: Passes::new(&rules),
            rules,
            files,
        })
    }

    /// Begins the first pass, or the next one: `false` if the job is over. All files are closed.
    pub fn begin_pass(&mut self, files: &mut impl FileTable) -> bool {
        let has_begun = self.passes.has_begun;
        let all_files_are_done = self.files.iter().all(|file| file.is_done);
        if !self.passes.begin(&self.rules, all_files_are_done) {
            return false;
        }
        if has_begun {
            self.rewind(files);
        }
        true
    }

    /// Back to the beginning of the files, which are closed. Done between passes, and before what
    /// was written is verified.
    pub fn rewind(&mut self, files: &mut impl FileTable) {
        self.mix.begin_pass();
        if self.rules.recounts_files() {
            self.turns.done = 0;
        }
        for (number, file) in self.files.iter_mut().enumerate() {
            files.close(number);
            file.is_done = false;
            file.offset = file.later_offset;
        }
        if self.seeds.repeats_passes() {
            self.draws = Draws::new(&self.rules, &self.seeds);
        }
    }

    /// What comes next.
    #[inline]
    pub fn next(&mut self, files: &mut impl FileTable) -> Choice {
        self.next_paced(files, &mut Some)
    }

    /// What comes next, if rates are limited: each direction is given to `pace`, which waits until
    /// its time has come, and may choose another one instead, or end the job.
    #[inline]
    pub fn next_paced(
        &mut self,
        files: &mut impl FileTable,
        pace: &mut impl FnMut(Direction) -> Option<Direction>,
    ) -> Choice {
        if self.passes.is_over(&self.rules) {
            return Choice::PassEnd;
        }
        self.choose(files, pace)
    }

    /// What comes next in a pass that is gone through once more, after [`rewind`](Self::rewind):
    /// however much has been chosen before.
    pub fn next_again(&mut self, files: &mut impl FileTable) -> Choice {
        self.choose(files, &mut Some)
    }

    #[inline]
    fn choose(
        &mut self,
        files: &mut impl FileTable,
        pace: &mut impl FnMut(Direction) -> Option<Direction>,
    ) -> Choice {
        for _ in 0..MOST_TRIES {
            let service = &self.rules.spec.file_service;
            let drawn = &mut self.draws.next_file;
            let file = match self.turns.next(service, drawn, &mut self.files, files) {
                Turn::Of(file) => file,
                Turn::Wait => return Choice::Wait,
                Turn::Nobody => return Choice::PassEnd,
            };
            match self.mix.next(&self.rules, &mut self.draws, &self.files[file], pace) {
                Kind::Stop => return Choice::PassEnd,
                Kind::Sync(kind) => {
                    self.mix.last_was_sync = true;
                    self.ignores_map = false;
                    return Choice::Sync { file, kind };
                }
                Kind::Transfer(direction) => {
                    if let Some(next) = self.transfer(file, direction) {
                        return Choice::Transfer(next);
                    }
                }
            }
            self.end_file(file, files);
        }
        Choice::PassEnd
    }

    /// Says what has completed. For jobs with more than one transfer in flight, before each choice;
    /// without it, all that was chosen has completed.
    pub const fn note(&mut self, completions: Completions) {
        self.mix.last_was_sync = completions.last_was_sync;
        self.passes.syncs_in_flight = completions.syncs_in_flight;
    }

    /// The ramp is over: counts start again, with the transfers that are in flight.
    pub fn end_ramp(&mut self, in_flight: u64) {
        self.passes.end_ramp(in_flight);
        self.mix.end_ramp();
        if self.rules.recounts_files() {
            self.turns.done = 0;
        }
    }

    /// How much memory the maps of used blocks take.
    #[must_use]
    pub fn map_memory_bytes(&self) -> usize {
        self.files.iter().map(FileState::map_memory_bytes).sum()
    }

    #[inline]
    fn transfer(&mut self, file: usize, direction: Direction) -> Option<Next> {
        let mut picker = Picker {
            rules: &self.rules,
            draws: &mut self.draws,
            file: &mut self.files[file],
            until_random: &mut self.until_random,
            ignores_map: &mut self.ignores_map,
            block: 0,
        };
        let place = picker.place(direction)?;
        let length_bytes = picker.length(direction, place)?;
        let offset_bytes = place.offset;
        let end = offset_bytes + length_bytes;
        self.files[file].positions[direction] = Position { start: offset_bytes, end };
        self.ignores_map = false;
        self.mix.issued[direction] += 1;
        self.mix.last_was_sync = false;
        self.passes.count(&self.rules, direction, length_bytes);
        Some(Next { file, direction, offset_bytes, length_bytes })
    }

    /// A file has no place left.
    fn end_file(&mut self, file: usize, files: &mut impl FileTable) {
        files.close(file);
        if self.rules.spec.file_service.is_skewed() {
            self.files[file].reset();
        } else {
            self.files[file].is_done = true;
            self.turns.done += 1;
        }
    }
}

/// If a file has too many blocks for 32 bits and no generator was asked for, passes after the first
/// draw with 64, if they are seeded again.
fn seeds_of_later_passes(rules: &Rules, files: &[FileState], seeds: &JobSeeds) -> JobSeeds {
    let is_long =
        |file: &FileState| file.size.min(file.file_bytes) / rules.min_bytes > MOST_NARROW_BLOCKS;
    let is_uniform = !matches!(rules.spec.distribution, Distribution::Skewed(_));
    let widens = rules.is_random && rules.spec.generator.is_none() && is_uniform;
    if widens && files.iter().any(is_long) {
        seeds.clone().with_width(Width::Bits64)
    } else {
        seeds.clone()
    }
}
