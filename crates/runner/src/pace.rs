//! How long blocks take compared with the usual turns of their cells.
//!
//! A cell's usual turn, a geometric mean, hides rare long ones. But if a different phase of a
//! sequence takes nearly all of the time in each block, no phase has a usual duration; and a
//! machine that stalls will do so again. So the sum of the usual turns can be far less than what a
//! block takes.

use std::collections::{BTreeMap, BTreeSet};

/// How many of the last blocks are used to predict the next one.
const BLOCKS_SEEN: usize = 5;

/// How long the turns of a block turns.
#[derive(Clone, Debug, Default, PartialEq)]
struct BlockTurns {
    seconds: f64,
    cells: BTreeSet<u32>,
}

/// How many times longer than usual blocks take.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Pace {
    /// The last blocks, by number.
    blocks: BTreeMap<u32, BlockTurns>,
    factor: Option<f64>,
}

impl Pace {
    /// Records that a turn of this cell turns this long.
    pub(crate) fn note(&mut self, block: u32, cell: u32, turn_ns: u64) {
        let turns = self.blocks.entry(block).or_default();
        turns.seconds += turn_ns as f64 / 1e9;
        turns.cells.insert(cell);
        if self.blocks.len() > BLOCKS_SEEN {
            self.blocks.pop_first();
        }
    }

    /// Compares the last blocks with the usual turns of their cells, in seconds.
    pub(crate) fn update(&mut self, usual_s: impl Fn(u32) -> Option<f64>) {
        let ratio = |turns: &BlockTurns| {
            let sum_s: f64 = turns.cells.iter().filter_map(|&cell| usual_s(cell)).sum();
            (sum_s > 0.0).then(|| turns.seconds / sum_s)
        };
        let mut ratios: Vec<f64> = self.blocks.values().filter_map(ratio).collect();
        ratios.sort_by(f64::total_cmp);
        self.factor = ratios.get(ratios.len() / 2).copied();
    }

    /// The median ratio, but at least 1: what the usual turns hide only ever makes blocks longer.
    pub(crate) fn factor(&self) -> f64 {
        self.factor.unwrap_or(1.0).max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_in_which_another_phase_takes_the_time_of_all_take_as_long_as_they_did() {
        let mut pace = Pace::default();
        assert!((pace.factor() - 1.0).abs() < 1e-9);
        for block in 0..9 {
            for cell in 0..3 {
                pace.note(block, cell, if cell == block % 3 { 900_000_000 } else { 1_000 });
            }
        }
        // The geometric mean over one turn of 0.9 s and two of 1 us.
        let usual_s = (0.9_f64.ln() + 2.0 * 1e-6_f64.ln()) / 3.0;
        pace.update(|_| Some(usual_s.exp()));
        let block_s = 3.0 * usual_s.exp() * pace.factor();
        assert!((block_s - 0.9).abs() < 0.01, "{block_s}");
        assert_eq!(pace.blocks.len(), BLOCKS_SEEN);
    }

    #[test]
    fn one_slow_block_says_nothing_of_the_next() {
        let mut pace = Pace::default();
        for block in 0..5 {
            pace.note(block, 0, if block == 4 { 9_000_000_000 } else { 1_000_000_000 });
        }
        pace.update(|_| Some(1.0));
        assert!((pace.factor() - 1.0).abs() < 1e-9);
    }
}
