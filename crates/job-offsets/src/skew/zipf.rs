//! Zipf's law as fio draws from it.
//!
//! Gray, Sundaresan, Englert, Baclawski and Weinberger, "Quickly Generating Billion-Record
//! Synthetic Databases", SIGMOD 1994, figure 3: the first two ranks have their frequencies, all
//! others those of a continuous distribution in their stead. The sum of all frequencies stops after
//! ten million terms, as in fio.

use super::Spread;
use super::scatter::{self, Scatter};
use crate::generator::{Tausworthe88, to_f64, to_u64};

/// How many terms of the sum are added.
const MOST_TERMS: u64 = 10_000_000;

/// Values under Zipf's law, approximately.
#[derive(Clone, Debug)]
pub struct ApproximateZipf {
    generator: Tausworthe88,
    scatter: Scatter,
    range: f64,
    /// The sum of 1/k^theta.
    zeta: f64,
    /// Up to where rank 1 reaches: its sum of the first two terms.
    second: f64,
    /// The letters are those of the paper.
    alpha: f64,
    eta: f64,
}

impl ApproximateZipf {
    /// Values from 0 to less than `range`. Takes a while for long ranges: it adds a term for each
    /// rank, up to ten million.
    #[must_use]
    pub fn new(range: u64, theta: f64, center: Option<f64>, seed: u32, spread: Spread) -> Self {
        let mut generator = Tausworthe88::new(seed);
        let shift = scatter::shift(range, center, &mut generator);
        let zeta = (1..=range.min(MOST_TERMS))
            .fold(0.0, |sum, rank| sum + (1.0 / to_f64(rank)).powf(theta));
        let second = 1.0 + 0.5_f64.powf(theta);
        let shortened = 1.0 - (2.0 / to_f64(range)).powf(1.0 - theta);
        Self {
            generator,
            scatter: Scatter::new(range, shift, spread),
            range: to_f64(range),
            zeta,
            second,
            alpha: 1.0 / (1.0 - theta),
            eta: shortened / (1.0 - second / zeta),
        }
    }

    /// The next value.
    pub fn draw(&mut self) -> u64 {
        let number = self.generator.draw();
        self.scatter.value(self.rank(number))
    }

    /// The rank that a random number stands for.
    fn rank(&self, number: u32) -> u64 {
        let uniform = f64::from(number) / f64::from(u32::MAX);
        let scaled = uniform * self.zeta;
        if scaled < 1.0 {
            0
        } else if scaled < self.second {
            1
        } else {
            to_u64(self.range * (self.eta * uniform - self.eta + 1.0).powf(self.alpha))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_two_ranks_have_their_share() {
        let theta = 1.2;
        let mut values = ApproximateZipf::new(1000, theta, Some(0.0), 9, Spread::SideBySide);
        let mut counts = [0_u32; 1000];
        for _ in 0..100_000 {
            counts[usize::try_from(values.draw()).unwrap()] += 1;
        }
        let all: f64 = (1..=1000).map(|rank| f64::from(rank).powf(-theta)).sum();
        for (rank, count) in (1..=2).zip(counts) {
            let share = f64::from(rank).powf(-theta) / all;
            assert!((f64::from(count) / 100_000.0 - share).abs() < 0.01);
        }
    }

    /// How many ranks any number stands for. They grow with it, or fall.
    fn ranks_reached(values: &ApproximateZipf) -> u64 {
        let (mut number, mut ranks) = (0_u32, 1);
        loop {
            let rank = values.rank(number);
            // Doubles the step as long as the rank is the same, then halves the interval.
            let mut step = 1_u32;
            while let Some(next) = number.checked_add(step).filter(|at| values.rank(*at) == rank) {
                number = next;
                step = step.saturating_mul(2);
            }
            while step > 0 {
                match number.checked_add(step) {
                    Some(next) if values.rank(next) == rank => number = next,
                    _ => step /= 2,
                }
            }
            match number.checked_add(1) {
                Some(next) => number = next,
                None => return ranks,
            }
            ranks += 1;
        }
    }

    #[test]
    fn short_ranges_are_reached_to_the_last_rank() {
        let values = ApproximateZipf::new(10_000, 1.2, None, 1, Spread::Hashed);
        // One more, which stands for the largest number alone: it comes out as the first rank.
        assert!((10_000..=10_001).contains(&ranks_reached(&values)));
    }

    #[test]
    #[ignore = "takes a minute in a release build"]
    fn long_ranges_are_reached_to_some_extent() {
        for range in [1 << 24, 16_000_000] {
            for theta in [0.5, 0.8, 0.99, 1.1, 1.2, 1.3, 1.5, 2.0] {
                let values = ApproximateZipf::new(range, theta, None, 1, Spread::Hashed);
                let ranks = ranks_reached(&values);
                let mut is_reached = vec![false; usize::try_from(range).unwrap()];
                for rank in 0..range {
                    is_reached[usize::try_from(values.scatter.value(rank)).unwrap()] = true;
                }
                let blocks = is_reached.iter().filter(|one| **one).count();
                println!("{range} blocks, theta {theta}: {ranks} ranks; all reach {blocks} blocks");
            }
        }
    }
}
