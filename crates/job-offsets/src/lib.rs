//! Which block comes next in a job of fio: its random and sequential choices, one for one.
//!
//! [`JobSeeds`] gives a generator for each purpose, seeded as fio seeds it. [`ExtentOptions`] finds
//! the part of each file that a job accesses. [`Chooser`] chooses transfers: the file, the
//! direction, the offset and the length. With the same options and seeds, they are those of fio
//! 3.33, in the same order.

#![forbid(unsafe_code)]

mod chooser;
mod direction;
mod error;
mod extents;
mod files;
mod generator;
mod hash;
mod lfsr;
mod map;
mod seeds;
mod skew;
mod spec;
mod split;

pub use chooser::{Choice, Chooser, Completions, Next, SyncKind};
pub use direction::{Direction, PerDirection};
pub use error::OffsetError;
pub use extents::{Amount, ExtentOptions, Extents, FileExtent, PresentFile, clone_index};
pub use files::{CountedFiles, FileTable, Opening, Openness};
pub use generator::{Generator, Tausworthe88, Tausworthe258, Width};
pub use lfsr::Lfsr;
pub use map::RandomMap;
pub use seeds::{JobSeeds, Purpose, Repeats, SEEDS, SeedSource, SharedSizes};
pub use skew::{
    ApproximateZipf, Normal, Pareto, RejectionZipf, Skew, Skewed, SkewedValues, Spread, ZipfSampler,
};
pub use spec::{
    Accesses, BlockSizes, Completion, Distribution, FileOrder, FileService, Limits, Order,
    RandomGenerator, Sequencer, SizeRules, Spec, Syncs, Verification,
};
pub use split::{SizeReader, SizeShare, Zone, block_sizes, zones, zones_in_bytes};
