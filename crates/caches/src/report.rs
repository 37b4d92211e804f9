//! What a simulation counted.

use serde::Serialize;

use crate::access::Purpose;
use crate::geometry::CachePolicy;
use crate::hierarchy::Inclusion;

/// A figure for each purpose of access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PerPurpose<T> {
    /// Of instructions.
    pub fetches: T,
    /// Of data read.
    pub loads: T,
    /// Of data written.
    pub stores: T,
}

impl<T> PerPurpose<T> {
    /// The figure of one purpose.
    pub fn of(&self, purpose: Purpose) -> &T {
        match purpose {
            Purpose::Fetch => &self.fetches,
            Purpose::Load => &self.loads,
            Purpose::Store => &self.stores,
        }
    }

    #[inline]
    pub(crate) fn of_mut(&mut self, purpose: Purpose) -> &mut T {
        match purpose {
            Purpose::Fetch => &mut self.fetches,
            Purpose::Load => &mut self.loads,
            Purpose::Store => &mut self.stores,
        }
    }
}

impl PerPurpose<u64> {
    /// Over all purposes.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.fetches + self.loads + self.stores
    }
}

/// What lookups of lines found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Lookups {
    /// Lines that were there.
    pub hits: u64,
    /// Lines that were not.
    pub misses: u64,
    /// Accesses with a line that was not: less than `misses` by those of which several lines were
    /// not. This is what cachegrind counts as misses.
    pub accesses_missed: u64,
}

/// What one cache did in a region.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LevelReport {
    /// `l1i`, `l1d`, or `l1` where one holds both; then `l2` and so on.
    pub name: String,
    /// Bytes of data that it holds.
    pub size_bytes: u64,
    /// Bytes of a line.
    pub line_bytes: u32,
    /// Lines of a set.
    pub ways: u32,
    /// Which line of a full set leaves.
    pub policy: CachePolicy,
    /// What becomes of the lines above; of a first level, which has none above, `non_inclusive`.
    pub inclusion: Inclusion,
    /// Lookups of lines, by what the access was for. Write-backs from above are none.
    pub lookups: PerPurpose<Lookups>,
    /// Dirty lines that left it for the level below.
    pub write_backs: u64,
    /// Lines that left because an inclusive level below lost them.
    pub back_invalidations: u64,
    /// Lines in it at the end of the region.
    pub resident_lines: u64,
    /// Bytes of its dirty lines at the end of the region: what somebody has yet to write back.
    pub dirty_bytes: u64,
}

impl LevelReport {
    /// Lines that were there, over all purposes.
    #[must_use]
    pub fn hits(&self) -> u64 {
        Purpose::ALL.iter().map(|&purpose| self.lookups.of(purpose).hits).sum()
    }

    /// Lines that were not, over all purposes.
    #[must_use]
    pub fn misses(&self) -> u64 {
        Purpose::ALL.iter().map(|&purpose| self.lookups.of(purpose).misses).sum()
    }
}

/// What a region of a stream did to all caches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Accesses.
    pub accesses: PerPurpose<u64>,
    /// Those of them that touch more than one line of the first level.
    pub straddling: PerPurpose<u64>,
    /// Fetches that were left out, since there is no cache of instructions.
    pub fetches_left_out: u64,
    /// The caches, from the first level down.
    pub levels: Vec<LevelReport>,
}
