//! What became of blocks that are written and trimmed again and again:
//! `block_error_percentiles`.

use crate::numbers::whole;

/// In which state a block was left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum BlockState {
    /// Never written.
    #[default]
    Unwritten,
    /// Trimmed last.
    Trimmed,
    /// Written last.
    Written,
    /// A trim failed.
    TrimFailure,
    /// A write failed.
    WriteFailure,
}

impl BlockState {
    /// All, in the order in which they are printed.
    pub const ALL: [Self; 5] =
        [Self::Unwritten, Self::Trimmed, Self::Written, Self::TrimFailure, Self::WriteFailure];

    /// Its name in outputs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unwritten => "unwritten",
            Self::Trimmed => "trimmed",
            Self::Written => "written",
            Self::TrimFailure => "trim failure",
            Self::WriteFailure => "write failure",
        }
    }

    /// Blocks that failed count as having lived longer than any other.
    fn rank(self) -> u8 {
        match self {
            Self::Unwritten => 0,
            Self::Trimmed | Self::Written => 1,
            Self::TrimFailure | Self::WriteFailure => 2,
        }
    }
}

/// The life of one block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockLife {
    /// In which state it was left.
    pub state: BlockState,
    /// How often it was trimmed.
    pub trims: u32,
}

/// Percentiles of how often blocks were trimmed, and how many were left in which state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockSummary {
    /// Trims by percentile; empty if no block was ever written.
    pub percentiles: Vec<u32>,
    /// Blocks in each state of [`BlockState::ALL`].
    pub states: [u64; 5],
}

impl BlockSummary {
    /// Sums up these blocks.
    pub fn of(blocks: &[BlockLife], percents: &[f64]) -> Self {
        let mut used: Vec<_> =
            blocks.iter().filter(|block| block.state != BlockState::Unwritten).collect();
        used.sort_by_key(|block| (block.state.rank(), block.trims, block.state));
        let trims = |percent: &f64| {
            let place = usize::try_from(whole(percent * used.len() as f64 / 100.0)).ok()?;
            Some(used.get(place).or(used.last())?.trims)
        };
        let percentiles = percents.iter().filter_map(trims).collect();
        let states = BlockState::ALL
            .map(|state| blocks.iter().filter(|block| block.state == state).count() as u64);
        Self { percentiles, states }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_blocks_in_use() {
        let mut blocks = vec![BlockLife::default(); 7];
        let used = (1..=10).map(|trims| BlockLife { state: BlockState::Written, trims });
        blocks.extend(used);
        blocks.push(BlockLife { state: BlockState::TrimFailure, trims: 2 });
        let summary = BlockSummary::of(&blocks, &[1.0, 50.0, 99.0, 100.0]);
        assert_eq!(summary.percentiles, [1, 6, 2, 2]);
        assert_eq!(summary.states, [7, 0, 10, 1, 0]);
        assert_eq!(BlockSummary::of(&blocks[..7], &[50.0]).percentiles, [0; 0]);
    }
}
