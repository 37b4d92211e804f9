//! How much a replay does.

use super::event::{Extent, ReplayAction, ReplayEvent};

/// How much a replay does, or has done so far if the log is read while it is replayed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Reads.
    pub reads: DirectionTotals,
    /// Writes.
    pub writes: DirectionTotals,
    /// Trims.
    pub trims: DirectionTotals,
    /// Syncs and data syncs.
    pub syncs: u64,
    /// Waits of version 2.
    pub waits: u64,
}

/// How much goes in a direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DirectionTotals {
    /// How many operations.
    pub operations: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The bytes of the largest.
    pub bytes_max: u32,
}

impl DirectionTotals {
    fn add(&mut self, extent: Extent) {
        self.operations += 1;
        self.bytes = self.bytes.saturating_add(u64::from(extent.length));
        self.bytes_max = self.bytes_max.max(extent.length);
    }
}

impl Totals {
    /// The bytes of the largest operation: how long a buffer for all of them is. fio's is not
    /// shorter than its option `bs`.
    #[must_use]
    pub fn bytes_max(&self) -> u32 {
        self.reads.bytes_max.max(self.writes.bytes_max).max(self.trims.bytes_max)
    }

    /// Counts an event; which bytes it goes to.
    pub(super) fn add(&mut self, event: &ReplayEvent) -> Option<Extent> {
        let (direction, extent) = match event.action {
            ReplayAction::Read(extent) => (&mut self.reads, extent),
            ReplayAction::Write(extent) => (&mut self.writes, extent),
            ReplayAction::Trim(extent) => (&mut self.trims, extent),
            ReplayAction::Sync(_) | ReplayAction::Datasync(_) => {
                self.syncs += 1;
                return None;
            }
            ReplayAction::WaitUntil { .. } => {
                self.waits += 1;
                return None;
            }
            ReplayAction::Open(_) | ReplayAction::Close(_) => return None,
        };
        direction.add(extent);
        Some(extent)
    }
}

/// What files are opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reading: they must exist.
    Read,
    /// Writing. As all files that fio writes, they are made if they don't exist, and opened for
    /// reading too.
    Write,
    /// Both.
    ReadWrite,
}
