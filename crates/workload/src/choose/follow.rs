//! Some positions follow the one before, the others are uniform: the sequential fraction of Chen
//! and Patterson ("A New Approach to I/O Performance Evaluation", SIGMETRICS 1993, section 4).

use rand::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Choices, Choose, Position, Sequential, Uniform};
use crate::arithmetic::multiply_high;

/// With a given probability the place after the last one, wrapping around; otherwise any position,
/// uniformly. Starts at the position whose number is the seed modulo the number of positions, so
/// that one sequence can continue where another ended.
#[derive(Debug, Clone)]
pub(crate) struct Follow {
    decide: Xoshiro256PlusPlus,
    sequential_percent: u64,
    sequential: Sequential,
    uniform: Uniform,
}

impl Follow {
    pub(crate) fn new(from: &Choices, sequential_percent: u8) -> Self {
        // A random stream independent of the uniform choices.
        let apart = Choices { seed: !from.seed, ..*from };
        let sequential = Sequential::new(from).advanced_by(from.seed);
        Self {
            decide: apart.generator(),
            sequential_percent: u64::from(sequential_percent),
            sequential,
            uniform: Uniform::new(from),
        }
    }
}

impl Choose for Follow {
    #[inline]
    fn next_position(&mut self) -> Position {
        if multiply_high(self.decide.next_u64(), 100) >= self.sequential_percent {
            self.sequential.next = self.uniform.next_position();
        }
        self.sequential.next_position()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arithmetic::index;

    const CHOICES: u64 = 500;

    fn positions(sequential_percent: u8, seed: u64) -> Vec<u64> {
        let from = Choices { resources: 2, choices: CHOICES, thread: 0, sharers: 1, seed };
        let mut follow = Follow::new(&from, sequential_percent);
        let position = |position: Position| position.resource as u64 * CHOICES + position.choice;
        (0..20_000).map(|_| position(follow.next_position())).collect()
    }

    #[test]
    fn so_many_follow_the_one_before_and_the_others_are_uniform() {
        for sequential_percent in [0, 20, 50, 90, 100] {
            let positions = positions(sequential_percent, 3);
            let follows = |pair: &&[u64]| (pair[0] + 1) % (2 * CHOICES) == pair[1];
            let count = positions.windows(2).filter(follows).count();
            let share = f64::from(sequential_percent) / 100.0;
            // One in a thousand of the others happens to follow.
            let expected = 19_999.0 * (share + (1.0 - share) / 1000.0);
            let off = (count as f64 - expected).abs();
            assert!(off <= 5.0 * (19_999.0 * share * (1.0 - share)).sqrt() + 20.0, "{count}");
            let mut seen = vec![0_u32; index(2 * CHOICES)];
            positions.iter().for_each(|position| seen[index(*position)] += 1);
            assert!(seen.iter().all(|times| *times > 0), "{sequential_percent} %");
        }
    }

    #[test]
    fn the_order_is_the_seeds() {
        assert_eq!(positions(50, 1), positions(50, 1));
        assert_ne!(positions(50, 1), positions(50, 2));
    }

    #[test]
    fn what_only_follows_begins_at_the_seed_s_place_so_that_it_can_be_gone_on_with() {
        let total = 2 * CHOICES;
        assert_eq!(positions(100, 7 * total)[..3], [0, 1, 2]);
        assert_eq!(positions(100, 3 * total + 498)[..4], [498, 499, 500, 501]);
        assert_eq!(positions(100, total - 1)[..2], [999, 0]);
        let of = |thread| {
            let from = Choices { resources: 1, choices: 100, thread, sharers: 2, seed: 70 };
            Follow::new(&from, 100).next_position().choice
        };
        assert_eq!((of(0), of(1)), (70, 20));
    }
}
