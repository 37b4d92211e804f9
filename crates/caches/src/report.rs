//! What a simulation counted.

use serde::Serialize;

use crate::access::Purpose;
use crate::geometry::CachePolicy;
use crate::hierarchy::Inclusion;

/// A figure for each purpose of an access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PerPurpose<T> {
    /// For instruction fetches.
    pub fetches: T,
    /// For data loads.
    pub loads: T,
    /// For data stores.
    pub stores: T,
}

impl<T> PerPurpose<T> {
    /// The figure of one purpose.
    pub fn get(&self, purpose: Purpose) -> &T {
        match purpose {
            Purpose::Fetch => &self.fetches,
            Purpose::Load => &self.loads,
            Purpose::Store => &self.stores,
        }
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, purpose: Purpose) -> &mut T {
        match purpose {
            Purpose::Fetch => &mut self.fetches,
            Purpose::Load => &mut self.loads,
            Purpose::Store => &mut self.stores,
        }
    }
}

impl PerPurpose<u64> {
    /// The sum over all purposes.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.fetches + self.loads + self.stores
    }
}

/// The outcomes of line lookups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Lookups {
    /// Lines that were in the cache.
    pub hits: u64,
    /// Lines that were not.
    pub misses: u64,
    /// Accesses with at least one missing line. This is less than `misses` if several lines of one
    /// access were missing, and is what cachegrind counts as misses.
    pub accesses_missed: u64,
}

/// What one cache did in a region.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LevelReport {
    /// `l1i`, `l1d`, or `l1` if it is unified; then `l2` and so on.
    pub name: String,
    /// Capacity in bytes.
    pub size_bytes: u64,
    /// Line size in bytes.
    pub line_bytes: u32,
    /// Lines per set.
    pub ways: u32,
    /// Which line is evicted from a full set.
    pub policy: CachePolicy,
    /// What happens to the lines above when a line leaves; `non_inclusive` for a first level, which
    /// has none above.
    pub inclusion: Inclusion,
    /// Line lookups, by the purpose of the access. Write-backs from above are not counted.
    pub lookups: PerPurpose<Lookups>,
    /// Dirty lines written back to the level below.
    pub write_backs: u64,
    /// Lines removed because an inclusive level below evicted them.
    pub back_invalidations: u64,
    /// Lines in the cache at the end of the region.
    pub resident_lines: u64,
    /// Bytes in dirty lines at the end of the region, still to be written back.
    pub dirty_bytes: u64,
}

impl LevelReport {
    /// Hits for all purposes together.
    #[must_use]
    pub fn hits(&self) -> u64 {
        Purpose::ALL.iter().map(|&purpose| self.lookups.get(purpose).hits).sum()
    }

    /// Misses for all purposes together.
    #[must_use]
    pub fn misses(&self) -> u64 {
        Purpose::ALL.iter().map(|&purpose| self.lookups.get(purpose).misses).sum()
    }
}

/// What happened in all caches during a region of a stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The number of accesses.
    pub accesses: PerPurpose<u64>,
    /// How many of them touch more than one line of the first level.
    pub straddling: PerPurpose<u64>,
    /// Fetches that were skipped because there is no instruction cache.
    pub fetches_left_out: u64,
    /// The caches, from the first level down.
    pub levels: Vec<LevelReport>,
}
