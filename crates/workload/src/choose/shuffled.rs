//! Every position once, in random order, without a table of the positions already chosen.
//!
//! Positions are encrypted by a four-round Feistel network on the smallest even number of bits that
//! can represent them. A result out of range is encrypted again until it is in range, which makes
//! the cipher a permutation of the range (Black & Rogaway, "Ciphers with Arbitrary Finite Domains",
//! CT-RSA 2002, section 3, cycle walking). This takes fewer than four steps on average.

use super::{Choices, Choose, Position};
use crate::arithmetic::index;
use crate::content::mix;

const ROUNDS: u32 = 4;

/// Every position once, in random order; then again in the same order.
#[derive(Debug, Clone)]
pub(crate) struct Shuffled {
    seed: u64,
    half_bits: u32,
    next: u64,
    step: u64,
    total: u64,
    choices: u64,
}

impl Shuffled {
    /// Threads on the same resources take turns in one common order, so that none repeats another's
    /// positions.
    pub(crate) fn new(from: &Choices) -> Self {
        let total = from.total();
        let bits = u64::BITS - (total - 1).leading_zeros();
        Self {
            seed: from.seed,
            half_bits: bits.div_ceil(2).max(1),
            next: from.thread as u64 % from.sharers as u64 % total,
            step: from.sharers as u64,
            total,
            choices: from.choices,
        }
    }

    #[inline]
    fn encipher(&self, position: u64) -> u64 {
        let mask = (1 << self.half_bits) - 1;
        let (mut left, mut right) = (position >> self.half_bits, position & mask);
        for round in 0..ROUNDS {
            let scrambled =
                mix(right ^ self.seed.rotate_left(16 * round) ^ (u64::from(round) << 56));
            (left, right) = (right, left ^ (scrambled & mask));
        }
        left << self.half_bits | right
    }
}

impl Choose for Shuffled {
    #[inline]
    fn next_position(&mut self) -> Position {
        let mut position = self.encipher(self.next);
        while position >= self.total {
            position = self.encipher(position);
        }
        self.next += self.step;
        if self.next >= self.total {
            self.next %= self.total;
        }
        Position { resource: index(position / self.choices), choice: position % self.choices }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn from(choices: u64, seed: u64) -> Choices {
        Choices { resources: 2, choices, thread: 0, sharers: 1, seed }
    }

    fn order(choices: u64, seed: u64) -> Vec<(usize, u64)> {
        let mut shuffled = Shuffled::new(&from(choices, seed));
        let position = |position: Position| (position.resource, position.choice);
        (0..2 * choices).map(|_| position(shuffled.next_position())).collect()
    }

    #[test]
    fn every_place_comes_once_before_any_comes_again() {
        for choices in [1, 2, 3, 50, 127, 128, 129, 8192] {
            let seen: BTreeSet<_> = order(choices, 7).into_iter().collect();
            assert_eq!(seen.len() as u64, 2 * choices, "{choices} choices");
        }
    }

    #[test]
    fn the_order_is_another_for_another_seed() {
        assert_eq!(order(1000, 1), order(1000, 1));
        let same = order(1000, 1).iter().zip(order(1000, 2)).filter(|(a, b)| **a == *b).count();
        assert!(same < 20, "{same} of 2000 places are the same");
    }

    #[test]
    fn neighbours_in_the_order_are_no_neighbours_in_the_file() {
        let order = order(10_000, 3);
        let near = order
            .windows(2)
            .filter(|pair| pair[0].0 == pair[1].0 && pair[0].1.abs_diff(pair[1].1) <= 2)
            .count();
        // 19,999 pairs, each adjacent by chance with probability 5 in 20,000: about 5.
        assert!(near < 20, "{near} neighbouring pairs");
    }

    #[test]
    fn threads_on_the_same_file_share_the_places_out() {
        let mut seen = BTreeSet::new();
        for thread in 0..4 {
            let choices = Choices { thread, sharers: 4, ..from(500, 9) };
            let mut shuffled = Shuffled::new(&choices);
            for _ in 0..250 {
                let position = shuffled.next_position();
                assert!(seen.insert((position.resource, position.choice)), "a place came twice");
            }
        }
        assert_eq!(seen.len(), 1000);
    }
}
