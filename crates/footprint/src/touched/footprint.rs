//! What one region touched.

use footprint_trace::BlockId;
use footprint_trace::event::AccessKind;
use smallvec::SmallVec;

use crate::trace::{Completeness, Region, StackId};

/// How many times a block was executed on top of one stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Execution {
    /// The stack.
    pub stack: StackId,
    /// The block.
    pub block: BlockId,
    /// How many times.
    pub count: u64,
}

/// How one instruction accessed one line on top of one stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataTouch {
    /// The line: the address of its first byte.
    pub line: u64,
    /// The stack.
    pub stack: StackId,
    /// The block that ends in the instruction.
    pub block: BlockId,
    /// The bytes read: bit 0 is the line's first.
    pub loads: u64,
    /// The bytes written.
    pub stores: u64,
    /// Counts of accesses, by the bytes that they touch.
    pub accesses: SmallVec<[RangeAccesses; 1]>,
    /// Index of the part that was counted last.
    pub(super) latest: usize,
}

/// Accesses to the same bytes of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RangeAccesses {
    /// Whether they read or write.
    pub kind: AccessKind,
    /// Offset of the first byte in the line, below 64.
    pub offset: u8,
    /// Number of bytes in the line, from 1 to 64.
    pub bytes: u8,
    /// Whether the accesses begin here, rather than in the previous line.
    pub is_start: bool,
    /// Number of accesses.
    pub count: u64,
}

impl RangeAccesses {
    /// The bytes: bit 0 is the line's first.
    #[must_use]
    pub fn mask(&self) -> u64 {
        mask(u32::from(self.offset), u32::from(self.bytes))
    }
}

/// A mask of this many bytes of a line, beginning at an offset.
pub(super) fn mask(offset: u32, bytes: u32) -> u64 {
    (u64::MAX >> (64 - bytes.clamp(1, 64))) << offset
}

/// What one region touched, in all contexts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Footprint {
    /// The region; if repetitions are merged, the first of them.
    pub region: Region,
    /// How many repetitions are merged into it.
    pub repetitions: u32,
    /// Whether the trace contains all of it.
    pub completeness: Completeness,
    /// The code, in the order in which it was first executed.
    pub executions: Vec<Execution>,
    /// The data, in the order in which it was first accessed.
    pub touches: Vec<DataTouch>,
}

impl Footprint {
    /// The footprint of a region that has just begun.
    pub(super) fn empty(region: Region) -> Self {
        Self {
            region,
            repetitions: 1,
            completeness: Completeness::Whole,
            executions: Vec::new(),
            touches: Vec::new(),
        }
    }
}
