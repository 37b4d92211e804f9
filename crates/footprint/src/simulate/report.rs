//! What a simulation counted.

use serde::Serialize;

use super::geometry::CachePolicy;
use super::hierarchy::Inclusion;
use crate::access::Kind;

/// A figure for each kind of access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PerKind<T> {
    /// Of instructions.
    pub fetches: T,
    /// Of data read.
    pub loads: T,
    /// Of data written.
    pub stores: T,
}

impl<T> PerKind<T> {
    /// The figure of one kind.
    pub fn of(&self, kind: Kind) -> &T {
        match kind {
            Kind::Fetch => &self.fetches,
            Kind::Load => &self.loads,
            Kind::Store => &self.stores,
        }
    }

    #[inline]
    pub(super) fn of_mut(&mut self, kind: Kind) -> &mut T {
        match kind {
            Kind::Fetch => &mut self.fetches,
            Kind::Load => &mut self.loads,
            Kind::Store => &mut self.stores,
        }
    }
}

impl PerKind<u64> {
    /// Over all kinds.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.fetches + self.loads + self.stores
    }
}

/// What lookups of lines found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Outcome {
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
    pub lookups: PerKind<Outcome>,
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
    /// Lines that were there, over all kinds.
    #[must_use]
    pub fn hits(&self) -> u64 {
        Kind::ALL.iter().map(|&kind| self.lookups.of(kind).hits).sum()
    }

    /// Lines that were not, over all kinds.
    #[must_use]
    pub fn misses(&self) -> u64 {
        Kind::ALL.iter().map(|&kind| self.lookups.of(kind).misses).sum()
    }
}

/// What a region of a stream did to all caches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Accesses.
    pub accesses: PerKind<u64>,
    /// Those of them that touch more than one line of the first level.
    pub straddling: PerKind<u64>,
    /// Fetches that were left out, since there is no cache of instructions.
    pub fetches_left_out: u64,
    /// The caches, from the first level down.
    pub levels: Vec<LevelReport>,
}
