//! Which requests are reads and which are writes.

use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::arithmetic::multiply_high;
use crate::content::mix;

/// The direction of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Direction {
    /// Out of the file.
    #[default]
    Read,
    /// Into the file.
    Write,
}

/// Chooses the direction of each request.
pub(crate) trait Mix: Send + std::fmt::Debug {
    /// The direction of all requests, if there is only one: the loop is compiled for it.
    const ALWAYS: Option<Direction>;

    fn next_direction(&mut self) -> Direction;
}

/// Only reads.
#[derive(Debug)]
pub(crate) struct ReadsOnly;

impl Mix for ReadsOnly {
    const ALWAYS: Option<Direction> = Some(Direction::Read);

    #[inline(always)]
    fn next_direction(&mut self) -> Direction {
        Direction::Read
    }
}

/// Only writes.
#[derive(Debug)]
pub(crate) struct WritesOnly;

impl Mix for WritesOnly {
    const ALWAYS: Option<Direction> = Some(Direction::Write);

    #[inline(always)]
    fn next_direction(&mut self) -> Direction {
        Direction::Write
    }
}

/// Reads with a given probability, independent of earlier requests.
#[derive(Debug)]
pub(crate) struct ReadShare {
    generator: Xoshiro256PlusPlus,
    read_percent: u64,
}

impl ReadShare {
    /// The mix for one thread. Its random numbers are independent of those that choose its places.
    pub(crate) fn new(read_percent: u8, seed: u64, thread: usize) -> Self {
        let seed = mix(seed.rotate_left(32) ^ mix(thread as u64 + 1));
        let generator = Xoshiro256PlusPlus::seed_from_u64(seed);
        Self { generator, read_percent: u64::from(read_percent) }
    }
}

impl Mix for ReadShare {
    const ALWAYS: Option<Direction> = None;

    #[inline(always)]
    fn next_direction(&mut self) -> Direction {
        if multiply_high(self.generator.next_u64(), 100) < self.read_percent {
            Direction::Read
        } else {
            Direction::Write
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads(read_percent: u8, seed: u64, thread: usize) -> Vec<bool> {
        let mut share = ReadShare::new(read_percent, seed, thread);
        (0..10_000).map(|_| share.next_direction() == Direction::Read).collect()
    }

    #[test]
    fn the_share_of_reads_is_the_one_asked_for() {
        for read_percent in [0, 1, 30, 50, 99, 100] {
            let count = reads(read_percent, 7, 0).iter().filter(|is_read| **is_read).count();
            let share = f64::from(read_percent) / 100.0;
            // Five standard deviations of a binomial, which are 0 if there is only one direction.
            let most_off = 5.0 * (10_000.0 * share * (1.0 - share)).sqrt();
            let off = (count as f64 - 10_000.0 * share).abs();
            assert!(off <= most_off, "{count} of 10,000 at {read_percent} %");
        }
    }

    #[test]
    fn seeds_and_threads_have_sequences_of_their_own() {
        let first = reads(50, 7, 0);
        assert_eq!(first, reads(50, 7, 0));
        for other in [reads(50, 8, 0), reads(50, 7, 1)] {
            let same = first.iter().zip(&other).filter(|(a, b)| a == b).count();
            assert!((4500..5500).contains(&same), "{same} of 10,000 are the same");
        }
    }
}
