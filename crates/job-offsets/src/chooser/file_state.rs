//! How far a job is in one file.

use super::rules::Rules;
use crate::direction::{Direction, PerDirection};
use crate::error::OffsetError;
use crate::extents::FileExtent;
use crate::lfsr::Lfsr;
use crate::map::RandomMap;
use crate::seeds::{JobSeeds, Purpose};
use crate::skew::{SkewedValues, Spread};
use crate::spec::{Distribution, RandomGenerator};

/// The state of one file.
#[derive(Clone, Debug)]
pub(super) struct FileState {
    /// Where the part begins in this pass.
    pub(super) offset: u64,
    /// Where it begins in later ones. Transfers must end within the part from here.
    pub(super) later_offset: u64,
    pub(super) size: u64,
    pub(super) file_bytes: u64,
    pub(super) positions: PerDirection<Position>,
    pub(super) is_done: bool,
    pub(super) coverage: Coverage,
    pub(super) skewed: Option<SkewedValues>,
    /// How many blocks random offsets are drawn from.
    pub(super) blocks: PerDirection<u64>,
}

/// The last transfer in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Position {
    /// Where it began.
    pub(super) start: u64,
    /// Where it ended.
    pub(super) end: u64,
}

/// How each block is accessed once.
#[derive(Clone, Debug)]
pub(super) enum Coverage {
    /// It is not.
    Unknown,
    /// Used blocks are looked up.
    Map(RandomMap),
    /// A register gives them.
    Register { lfsr: Lfsr, seed: u64 },
}

/// Where a transfer began that never was.
pub(super) const NOWHERE: u64 = u64::MAX;

impl FileState {
    pub(super) fn new(
        extent: &FileExtent,
        rules: &Rules,
        seeds: &JobSeeds,
    ) -> Result<Self, OffsetError> {
        let size = extent.size_bytes.min(extent.file_bytes);
        let blocks = PerDirection::from_fn(|direction| {
            let align = rules.aligns[direction];
            let min = rules.spec.block_sizes[direction].min_bytes;
            size.saturating_sub(min.saturating_sub(align)) / align
        });
        Ok(Self {
            offset: extent.offset_bytes,
            later_offset: extent.later_offset_bytes,
            size: extent.size_bytes,
            file_bytes: extent.file_bytes,
            positions: PerDirection::default(),
            is_done: false,
            coverage: Coverage::new(size / rules.min_bytes, rules, seeds)?,
            skewed: skewed(extent, size, rules, seeds),
            blocks,
        })
    }

    /// Back to the beginning, as when the file is opened.
    pub(super) fn reset(&mut self) {
        let start = Position { start: NOWHERE, end: self.offset };
        self.positions = PerDirection::all(&start);
        match &mut self.coverage {
            Coverage::Unknown => {}
            Coverage::Map(map) => map.clear(),
            Coverage::Register { lfsr, seed } => lfsr.restart(*seed),
        }
    }

    pub(super) fn map_memory_bytes(&self) -> usize {
        match &self.coverage {
            Coverage::Map(map) => map.memory_bytes(),
            Coverage::Unknown | Coverage::Register { .. } => 0,
        }
    }

    /// Whether a transfer ends within the part.
    pub(super) const fn fits(&self, offset: u64, length: u64) -> bool {
        offset.wrapping_add(length) <= self.size.wrapping_add(self.later_offset)
    }
}

impl Coverage {
    fn new(blocks: u64, rules: &Rules, seeds: &JobSeeds) -> Result<Self, OffsetError> {
        let is_skewed = matches!(rules.spec.distribution, Distribution::Skewed(_));
        if !rules.is_random || is_skewed {
            return Ok(Self::Unknown);
        }
        match rules.spec.generator {
            Some(RandomGenerator::Lfsr) => {
                let seed = seeds.seed(Purpose::Offset);
                let lfsr = Lfsr::new(blocks, seed).ok_or(OffsetError::StuckLfsr { blocks })?;
                Ok(Self::Register { lfsr, seed })
            }
            Some(RandomGenerator::Tausworthe(_)) | None if rules.has_map => {
                Ok(Self::Map(RandomMap::new(blocks)))
            }
            Some(RandomGenerator::Tausworthe(_)) | None => Ok(Self::Unknown),
        }
    }
}

/// The skewed values of a file: blocks of the lower of the lowest sizes of reads and writes.
fn skewed(extent: &FileExtent, size: u64, rules: &Rules, seeds: &JobSeeds) -> Option<SkewedValues> {
    let Distribution::Skewed(skewed) = rules.spec.distribution else { return None };
    let sizes = &rules.spec.block_sizes;
    let block = sizes[Direction::Read].min_bytes.min(sizes[Direction::Write].min_bytes);
    let range = size.div_ceil(block);
    let seed = seeds.skew_seed(&extent.name);
    (range > 0).then(|| SkewedValues::new(skewed, range, seed, Spread::Hashed))
}
