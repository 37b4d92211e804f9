//! A linear feedback shift register that visits every block once, in an order that looks random.
//!
//! Of maximal length, with XNOR feedback (Golomb, "Shift Register Sequences", 1967, chapter 3): all
//! states but "all ones" follow each other in one cycle. States that are not blocks are skipped.
//! The taps, on which the order depends, are those of Alfke, "Efficient Shift Registers, LFSR
//! Counters, and Long Pseudo-Random Sequence Generators", Xilinx XAPP 052, 1996, table 3.

/// A register for some number of blocks.
#[derive(Clone, Debug)]
pub struct Lfsr {
    blocks: u64,
    taps: u64,
    top_bit: u64,
    state: u64,
    given: u64,
    /// The first number of all is the second of the register's.
    skips_one: bool,
}

/// The taps below the highest, which is the length of the register itself; for registers of 3 to 63
/// bits.
const TAPS: [&[u8]; 61] = [
    &[2],
    &[3],
    &[3],
    &[5],
    &[6],
    &[6, 5, 4],
    &[5],
    &[7],
    &[9],
    &[6, 4, 1],
    &[4, 3, 1],
    &[5, 3, 1],
    &[14],
    &[15, 13, 4],
    &[14],
    &[11],
    &[6, 2, 1],
    &[17],
    &[19],
    &[21],
    &[18],
    &[23, 22, 17],
    &[22],
    &[6, 2, 1],
    &[5, 2, 1],
    &[25],
    &[27],
    &[6, 4, 1],
    &[28],
    &[31, 29, 1],
    &[20],
    &[27, 2, 1],
    &[33],
    &[25],
    &[5, 4, 3, 2, 1],
    &[6, 5, 1],
    &[35],
    &[38, 21, 19],
    &[38],
    &[41, 20, 19],
    &[42, 38, 37],
    &[43, 18, 17],
    &[44, 42, 41],
    &[45, 26, 25],
    &[42],
    &[47, 21, 20],
    &[40],
    &[49, 24, 23],
    &[50, 36, 35],
    &[49],
    &[52, 38, 37],
    &[53, 18, 17],
    &[31],
    &[55, 35, 34],
    &[50],
    &[39],
    &[58, 38, 37],
    &[59],
    &[60, 46, 45],
    &[61, 6, 5],
    &[62],
];

impl Lfsr {
    /// The shortest register with a state for each block. `None` if there is none, or if the seed
    /// is "all ones" in its low bits, from which the register never moves.
    #[must_use]
    pub fn new(blocks: u64, seed: u64) -> Option<Self> {
        let (bits, taps) = (3..).zip(TAPS).find(|(bits, _)| 1_u64 << bits > blocks)?;
        let top_bit = 1 << (bits - 1);
        let taps = taps.iter().fold(top_bit, |mask, tap| mask | 1 << (tap - 1));
        let mut lfsr = Self { blocks, taps, top_bit, state: 0, given: 0, skips_one: true };
        lfsr.restart(seed);
        (blocks > 0 && lfsr.state != lfsr.all_ones()).then_some(lfsr)
    }

    /// Starts over, from the state that a seed gives.
    pub fn restart(&mut self, seed: u64) {
        self.given = 0;
        self.state = seed & self.all_ones();
    }

    /// The next block. `None` when each has been given.
    #[expect(clippy::should_implement_trait, reason = "it can start over")]
    pub fn next(&mut self) -> Option<u64> {
        self.given += 1;
        if self.given > self.blocks {
            return None;
        }
        if std::mem::take(&mut self.skips_one) {
            self.shift();
        }
        loop {
            self.shift();
            if self.state < self.blocks {
                return Some(self.state);
            }
        }
    }

    fn all_ones(&self) -> u64 {
        (self.top_bit << 1) - 1
    }

    /// One step of the register in Galois' form, in which all taps change at once.
    fn shift(&mut self) {
        let is_odd = self.state & 1 == 1;
        let shifted = (self.state >> 1) | self.top_bit;
        self.state = if is_odd { shifted } else { shifted ^ self.taps };
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_block_is_given_once() {
        for blocks in [1, 2, 7, 8, 9, 63, 64, 255, 256, 257, 1000, 5000, 65_535, 65_536] {
            for seed in [0, 1, 12_345] {
                let Some(mut lfsr) = Lfsr::new(blocks, seed) else { continue };
                for pass in 0..2 {
                    let mut all = BTreeSet::new();
                    while let Some(block) = lfsr.next() {
                        assert!(block < blocks);
                        assert!(all.insert(block), "{blocks} blocks, seed {seed}, pass {pass}");
                    }
                    assert_eq!(all.len() as u64, blocks);
                    lfsr.restart(seed);
                }
            }
        }
    }

    #[test]
    fn long_registers_have_long_cycles() {
        // A wrong tap shows in a short cycle, if it is short enough to be seen.
        for bits in 17..63 {
            let mut lfsr = Lfsr::new(1 << bits, 1).unwrap();
            let start = lfsr.state;
            let is_back = (0..100_000).any(|_| {
                lfsr.shift();
                lfsr.state == start
            });
            assert!(!is_back, "{bits} bits");
        }
    }

    #[test]
    fn a_register_that_would_not_move_is_refused() {
        assert!(Lfsr::new(1000, 0x3ff).is_none());
        assert!(Lfsr::new(1000, 0x7ff).is_none());
        assert!(Lfsr::new(1000, 0x3fe).is_some());
        assert!(Lfsr::new(0, 1).is_none());
        assert!(Lfsr::new(1 << 63, 1).is_none());
    }
}
