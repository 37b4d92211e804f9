//! What one region touched.

use footprint_trace::BlockId;
use footprint_trace::event::AccessKind;
use smallvec::SmallVec;

use crate::trace::{Completeness, Region, StackId};

/// How often a block was executed on top of one stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Execution {
    /// What it ran on top of.
    pub stack: StackId,
    /// The block.
    pub block: BlockId,
    /// How often.
    pub count: u64,
}

/// How often one instruction accessed one line on top of one stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataTouch {
    /// The line: the address of its first byte.
    pub line: u64,
    /// What the instruction ran on top of.
    pub stack: StackId,
    /// The block whose last instruction it is.
    pub block: BlockId,
    /// The bytes read: bit 0 is the line's first.
    pub loads: u64,
    /// The bytes written.
    pub stores: u64,
    /// How often which bytes.
    pub parts: SmallVec<[Part; 1]>,
    /// The part that was counted last.
    pub(super) latest: usize,
}

/// Accesses of the same bytes of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Whether they read or write.
    pub kind: AccessKind,
    /// The first byte within the line, below 64.
    pub offset: u8,
    /// How many bytes of the line, from 1 to 64.
    pub bytes: u8,
    /// Whether the accesses begin here, not in the line before.
    pub is_start: bool,
    /// How many accesses.
    pub count: u64,
}

impl Part {
    /// The bytes: bit 0 is the line's first.
    #[must_use]
    pub fn mask(&self) -> u64 {
        mask(u32::from(self.offset), u32::from(self.bytes))
    }
}

/// The bits of so many bytes of a line from an offset on.
pub(super) fn mask(offset: u32, bytes: u32) -> u64 {
    (u64::MAX >> (64 - bytes.clamp(1, 64))) << offset
}

/// What one region touched, in all contexts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Footprint {
    /// The region; where repetitions are merged, its first.
    pub region: Region,
    /// How many repetitions are merged in it.
    pub repetitions: u32,
    /// Whether the trace has all of it.
    pub completeness: Completeness,
    /// The code, in the order in which it was first executed.
    pub executions: Vec<Execution>,
    /// The data, in the order in which it was first accessed.
    pub touches: Vec<DataTouch>,
}

impl Footprint {
    /// Of a region of which nothing is known yet.
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
