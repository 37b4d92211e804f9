//! From ranks, the most frequent first, to values.

use super::Spread;
use crate::generator::{Tausworthe88, to_f64, to_u64};

/// 2^64 divided by the square of the golden ratio: Knuth, "The Art of Computer Programming",
/// volume 3, section 6.4, on Fibonacci hashing.
const GOLDEN: u64 = 0x61c8_8646_80b5_83eb;

/// fio's mapping: ranks are hashed to 64 bits, moved, and brought into the range. Two ranks can
/// come out as the same value, unless the range is a power of two.
#[derive(Clone, Debug)]
pub(super) struct Scatter {
    range: u64,
    shift: u64,
    spread: Spread,
}

/// A mapping in which every rank has a value of its own: a step of about the golden ratio that has
/// no factor in common with the range.
#[derive(Clone, Debug)]
pub(super) struct Permutation {
    range: u64,
    shift: u64,
    step: u64,
}

impl Scatter {
    pub(super) const fn new(range: u64, shift: u64, spread: Spread) -> Self {
        Self { range, shift, spread }
    }

    pub(super) const fn value(&self, rank: u64) -> u64 {
        let hashed = match self.spread {
            Spread::Hashed => rank.wrapping_mul(GOLDEN),
            Spread::SideBySide => rank,
        };
        hashed.wrapping_add(self.shift) % self.range
    }
}

impl Permutation {
    pub(super) fn new(range: u64, shift: u64, spread: Spread) -> Self {
        let step = match spread {
            Spread::Hashed => step_through(range),
            Spread::SideBySide => 1,
        };
        Self { range, shift: shift % range, step }
    }

    pub(super) fn value(&self, rank: u64) -> u64 {
        if let (Ok(rank), Ok(step)) = (u32::try_from(rank), u32::try_from(self.step)) {
            let hashed = u64::from(rank) * u64::from(step) % self.range;
            return (hashed + self.shift) % self.range;
        }
        let hashed = u128::from(rank) * u128::from(self.step) + u128::from(self.shift);
        u64::try_from(hashed % u128::from(self.range)).expect("below a number of 64 bits")
    }
}

/// How far a distribution is moved: by a random number, which is drawn in any case, or so that the
/// first rank is at the center.
pub(super) fn shift(range: u64, center: Option<f64>, generator: &mut Tausworthe88) -> u64 {
    let random = u64::from(generator.draw());
    center.map_or(random, |center| to_u64(to_f64(range) * center))
}

fn step_through(range: u64) -> u64 {
    let golden = (u128::from(range) * u128::from(GOLDEN)) >> 64;
    let golden = u64::try_from(golden).expect("less than the range").max(1);
    let mut steps = golden..=range.max(golden);
    steps.find(|step| greatest_common_divisor(*step, range) == 1).unwrap_or(1)
}

const fn greatest_common_divisor(mut one: u64, mut other: u64) -> u64 {
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_rank_of_a_permutation_has_a_value_of_its_own() {
        for range in [1, 2, 3, 4, 10, 255, 256, 1000, 4099, 65_537, 100_000] {
            for spread in [Spread::Hashed, Spread::SideBySide] {
                let permutation = Permutation::new(range, 0xdead_beef, spread);
                let values: BTreeSet<u64> =
                    (0..range).map(|rank| permutation.value(rank)).collect();
                assert_eq!(values.len() as u64, range, "{range} {spread:?}");
                assert!(values.iter().all(|value| *value < range));
            }
        }
    }

    #[test]
    fn long_ranges_are_permuted_alike() {
        let range = (1 << 40) + 6;
        let permutation = Permutation::new(range, 17, Spread::Hashed);
        assert_eq!(greatest_common_divisor(permutation.step, range), 1);
        assert_eq!(permutation.value(0), 17);
        let last = permutation.value(range - 1);
        assert_eq!((last + permutation.step) % range, 17);
    }

    #[test]
    fn hashing_reaches_all_values_only_if_they_are_a_power_of_two() {
        let reached = |range| {
            let scatter = Scatter::new(range, 5, Spread::Hashed);
            (0..range).map(|rank| scatter.value(rank)).collect::<BTreeSet<_>>().len()
        };
        assert_eq!(reached(1 << 16), 1 << 16);
        let share = f64::from(u32::try_from(reached(100_003)).unwrap()) / 100_003.0;
        assert!((0.5..0.8).contains(&share), "{share}");
    }
}
