//! What a region of a trace touches: which code it executes and which data it accesses, byte by
//! byte and stack by stack.
//!
//! A [`Collector`] observes a walk and produces a [`Footprint`] per region, from which [`Figures`]
//! and the [`ByteCounts`] of a cachemap are computed. Its memory is bounded by what is touched: a
//! count for each block with each stack, and for each line with each accessing instruction and
//! stack.

mod collector;
mod figures;
mod footprint;
mod map;

pub use collector::{Collector, Repeated, Selection};
pub use figures::Figures;
pub(crate) use figures::lines_of;
pub use footprint::{DataTouch, Execution, Footprint, RangeAccesses};
pub use map::{ByteCounts, ByteUse, Content, data_map, instruction_map, uses_of};

/// Size of the cache lines that footprints are counted in, as in all current x86-64 processors.
pub const LINE_BYTES: u64 = 64;
