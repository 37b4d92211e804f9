//! The simulation itself.

use crate::access::{Access, Purpose};
use crate::cache::{Cache, LineState, Victim};
use crate::geometry::Geometry;
use crate::hierarchy::{FirstLevel, Hierarchy, Inclusion, lower_name};
use crate::report::{LevelReport, Lookups, PerPurpose, Report};

/// Caches, their contents, and the counts since the region began.
#[derive(Clone, Debug)]
pub struct Simulation {
    levels: Vec<Level>,
    /// Where instructions are looked up first; `None` if they are skipped.
    instruction: Option<usize>,
    /// Where data is looked up first.
    data: usize,
    /// How many caches the first level has; the next level is below all of them.
    first: usize,
    accesses: PerPurpose<u64>,
    straddling: PerPurpose<u64>,
    fetches_left_out: u64,
    /// Lookups that missed, in all levels and all regions.
    missed: u64,
}

#[derive(Clone, Debug)]
struct Level {
    name: String,
    geometry: Geometry,
    inclusion: Inclusion,
    line_bits: u32,
    cache: Cache,
    counts: Counts,
}

/// The counts of a level in a region.
#[derive(Clone, Debug, Default)]
struct Counts {
    hits: PerPurpose<u64>,
    misses: PerPurpose<u64>,
    /// Misses other than the first of an access.
    further_misses: PerPurpose<u64>,
    write_backs: u64,
    back_invalidations: u64,
}

impl Level {
    fn new(name: String, geometry: Geometry, inclusion: Inclusion) -> Self {
        let line_bits = geometry.line_bytes().trailing_zeros();
        let (cache, counts) = (Cache::new(&geometry), Counts::default());
        Self { name, geometry, inclusion, line_bits, cache, counts }
    }

    fn report(&self) -> LevelReport {
        let Counts { hits, misses, further_misses, write_backs, back_invalidations } = &self.counts;
        let mut lookups = PerPurpose::<Lookups>::default();
        for purpose in Purpose::ALL {
            let (hits, misses) = (*hits.get(purpose), *misses.get(purpose));
            let accesses_missed = misses - further_misses.get(purpose);
            *lookups.get_mut(purpose) = Lookups { hits, misses, accesses_missed };
        }
        let (resident_lines, dirty_lines) = self.cache.resident_and_dirty();
        LevelReport {
            name: self.name.clone(),
            size_bytes: self.geometry.size_bytes(),
            line_bytes: self.geometry.line_bytes(),
            ways: self.geometry.ways(),
            policy: self.geometry.policy(),
            inclusion: self.inclusion,
            lookups,
            write_backs: *write_backs,
            back_invalidations: *back_invalidations,
            resident_lines,
            dirty_bytes: dirty_lines * u64::from(self.geometry.line_bytes()),
        }
    }
}

impl Simulation {
    /// Empty caches.
    #[must_use]
    pub fn new(hierarchy: &Hierarchy) -> Self {
        let first = hierarchy.first_level();
        let data = first.len() - 1;
        let instruction = match hierarchy.first() {
            FirstLevel::Split { .. } | FirstLevel::Unified(_) => Some(0),
            FirstLevel::Data(_) => None,
        };
        let above = first.iter().map(|&(name, geometry)| {
            Level::new(name.to_owned(), geometry, Inclusion::NonInclusive)
        });
        let below = hierarchy.lower().iter().enumerate();
        let below =
            below.map(|(index, one)| Level::new(lower_name(index), one.geometry, one.inclusion));
        Self {
            levels: above.chain(below).collect(),
            instruction,
            data,
            first: first.len(),
            accesses: PerPurpose::default(),
            straddling: PerPurpose::default(),
            fetches_left_out: 0,
            missed: 0,
        }
    }

    /// Performs one access: all its lines are looked up, in ascending order.
    #[inline]
    pub fn access(&mut self, access: Access) {
        let Some(last_byte) = access.last_byte() else { return };
        let at = match access.purpose {
            Purpose::Fetch => match self.instruction {
                Some(at) => at,
                None => {
                    self.fetches_left_out += 1;
                    return;
                }
            },
            Purpose::Load | Purpose::Store => self.data,
        };
        *self.accesses.get_mut(access.purpose) += 1;
        let line_bits = self.levels[at].line_bits;
        let (first, last) = (access.address >> line_bits, last_byte >> line_bits);
        if first == last {
            self.look_up(at, access.purpose, first);
        } else {
            self.straddle(at, access.purpose, first..=last);
        }
    }

    /// Performs `fetches` successive fetches that are all within one line of the instruction cache.
    /// What is evicted next is the same as after the first of them.
    #[inline]
    pub fn fetch_run(&mut self, address: u64, fetches: u64) {
        let Some(at) = self.instruction else {
            self.fetches_left_out += fetches;
            return;
        };
        if fetches > 0 {
            self.accesses.fetches += fetches;
            self.look_up(at, Purpose::Fetch, address >> self.levels[at].line_bits);
            self.levels[at].counts.hits.fetches += fetches - 1;
        }
    }

    /// The line size of the cache that instructions are looked up in first, if there is one.
    #[must_use]
    pub fn instruction_line_bytes(&self) -> Option<u32> {
        self.instruction.map(|at| self.levels[at].geometry.line_bytes())
    }

    /// The number of lookups that missed in each level, from the first down, since the region
    /// began.
    pub fn misses(&self) -> impl Iterator<Item = u64> {
        self.levels.iter().map(|level| level.counts.misses.total())
    }

    /// The number of lookups that missed in all levels and all regions.
    #[inline]
    #[must_use]
    pub fn missed(&self) -> u64 {
        self.missed
    }

    /// Empties all caches without writing back dirty lines.
    pub fn empty(&mut self) {
        self.levels.iter_mut().for_each(|level| level.cache = Cache::new(&level.geometry));
    }

    /// Begins a region: resets all counters, but not the contents of the caches.
    pub fn begin_region(&mut self) {
        self.accesses = PerPurpose::default();
        self.straddling = PerPurpose::default();
        self.fetches_left_out = 0;
        self.levels.iter_mut().for_each(|level| level.counts = Counts::default());
    }

    /// What has been counted since the region began, and the present contents of the caches.
    #[must_use]
    pub fn report(&self) -> Report {
        Report {
            accesses: self.accesses,
            straddling: self.straddling,
            fetches_left_out: self.fetches_left_out,
            levels: self.levels.iter().map(Level::report).collect(),
        }
    }

    #[cold]
    fn straddle(&mut self, at: usize, purpose: Purpose, lines: std::ops::RangeInclusive<u64>) {
        *self.straddling.get_mut(purpose) += 1;
        let before: Vec<u64> =
            self.levels.iter().map(|level| *level.counts.misses.get(purpose)).collect();
        lines.for_each(|line| self.look_up(at, purpose, line));
        for (level, before) in self.levels.iter_mut().zip(before) {
            let missed = level.counts.misses.get(purpose) - before;
            *level.counts.further_misses.get_mut(purpose) += missed.saturating_sub(1);
        }
    }

    /// Looks up a line in a cache of the first level. A store makes it dirty only there; it stays
    /// clean in the levels below until it is written back.
    #[inline]
    fn look_up(&mut self, at: usize, purpose: Purpose, line: u64) {
        let state = if purpose == Purpose::Store { LineState::Dirty } else { LineState::Clean };
        let level = &mut self.levels[at];
        if level.cache.touch(line, state) {
            *level.counts.hits.get_mut(purpose) += 1;
        } else {
            self.bring_in(at, purpose, line, state);
        }
    }

    /// Fills a line that is missing from `at`, after filling it into the levels below that miss it
    /// too.
    fn bring_in(&mut self, at: usize, purpose: Purpose, line: u64, state: LineState) {
        self.missed += 1;
        *self.levels[at].counts.misses.get_mut(purpose) += 1;
        if let Some(below) = self.below(at) {
            let line = self.line_below(at, below, line);
            let level = &mut self.levels[below];
            if level.cache.touch(line, LineState::Clean) {
                *level.counts.hits.get_mut(purpose) += 1;
            } else {
                self.bring_in(below, purpose, line, LineState::Clean);
            }
        }
        self.insert(at, line, state);
    }

    fn insert(&mut self, at: usize, line: u64, state: LineState) {
        let Some(Victim { line, state }) = self.levels[at].cache.insert(line, state) else {
            return;
        };
        let state = match self.levels[at].inclusion {
            Inclusion::Inclusive => state.or(self.invalidate_above(at, line)),
            Inclusion::NonInclusive => state,
        };
        if state == LineState::Dirty {
            self.write_back(at, line);
        }
    }

    /// Writes back a dirty line that was evicted from `from`.
    fn write_back(&mut self, from: usize, line: u64) {
        self.levels[from].counts.write_backs += 1;
        let Some(below) = self.below(from) else { return };
        let line = self.line_below(from, below, line);
        if !self.levels[below].cache.touch(line, LineState::Dirty) {
            self.insert(below, line, LineState::Dirty);
        }
    }

    /// Removes everything that is part of this line of `at` from all levels above. The result is
    /// dirty if any of it was.
    fn invalidate_above(&mut self, at: usize, line: u64) -> LineState {
        let line_bits = self.levels[at].line_bits;
        let mut state = LineState::Clean;
        for level in &mut self.levels[..at] {
            let shorter_by = line_bits - level.line_bits;
            let first = line << shorter_by;
            for line in first..first + (1 << shorter_by) {
                if let Some(lost) = level.cache.invalidate(line) {
                    level.counts.back_invalidations += 1;
                    state = state.or(lost);
                }
            }
        }
        state
    }

    fn below(&self, at: usize) -> Option<usize> {
        let below = self.first.max(at + 1);
        (below < self.levels.len()).then_some(below)
    }

    fn line_below(&self, at: usize, below: usize, line: u64) -> u64 {
        line >> (self.levels[below].line_bits - self.levels[at].line_bits)
    }
}
