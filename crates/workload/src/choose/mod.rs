//! Chooses the next position: a resource (a file) and a choice within it (a block, an entry).
//!
//! Each access pattern has its own type, so that the loop is compiled for it. Uniform choices take
//! one 64-bit random number and one multiplication (Lemire, "Fast random integer generation in an
//! interval", ACM TOMACS 29(1), 2019, without the rejection step: the bias is below count / 2^64).
//! Zipf is exact: rejection-inversion from `rand_distr` over ranks, which are then scattered by a
//! fixed permutation.

use std::cmp::Reverse;

use rand::Rng;
mod follow;
mod shuffled;

use rand::SeedableRng;
use rand::distr::Distribution;
use rand_distr::Zipf as ZipfLaw;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::arithmetic::{index, multiply_high, multiply_modulo, whole};
use crate::content::mix;
use crate::error::WorkloadError;

pub(crate) use follow::Follow;
pub(crate) use shuffled::Shuffled;

/// Which block, or which entry of a directory, comes next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Access {
    /// One after the other, wrapping around at the end. Threads that share files start evenly
    /// spaced.
    Sequential,
    /// Each equally likely, independent of the previous ones.
    Uniform,
    /// In random order; none repeats before all have been chosen once. Threads on the same files
    /// divide them among themselves.
    Shuffled,
    /// The k-th hottest has a probability proportional to 1 / k^exponent; hot ones are not
    /// adjacent.
    Zipf {
        /// Finite and at least 0 (which is uniform).
        exponent: f64,
    },
    /// With the given probability the one after the last, wrapping around at the end, otherwise
    /// any, uniformly: the sequential share of Chen and Patterson. Spaced like sequential blocks.
    /// The first is the one whose number is the seed modulo their count.
    Mixed {
        /// The probability of continuing with the next one, in percent: 0 to 100.
        sequential_percent: u8,
    },
}

/// A resource, and one of the choices within it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Position {
    pub(crate) resource: usize,
    pub(crate) choice: u64,
}

/// What there is to choose from, and which thread chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Choices {
    /// The number of resources; at least 1.
    pub(crate) resources: usize,
    /// The number of choices in each; at least 1.
    pub(crate) choices: u64,
    /// This thread's number.
    pub(crate) thread: usize,
    /// How many threads choose from the same resources; sequential ones start evenly spaced.
    pub(crate) sharers: usize,
    pub(crate) seed: u64,
}

impl Choices {
    fn generator(&self) -> Xoshiro256PlusPlus {
        Xoshiro256PlusPlus::seed_from_u64(self.seed ^ mix(self.thread as u64 + 1))
    }

    fn total(&self) -> u64 {
        self.resources as u64 * self.choices
    }
}

/// An endless sequence of positions.
pub(crate) trait Choose: Send {
    fn next_position(&mut self) -> Position;
}

/// One after the other, wrapping around.
#[derive(Debug, Clone)]
pub(crate) struct Sequential {
    next: Position,
    resources: usize,
    choices: u64,
}

impl Sequential {
    pub(crate) fn new(from: &Choices) -> Self {
        let share = from.total() / from.sharers as u64;
        let start = if from.sharers > 1 { share * from.thread as u64 } else { 0 };
        let next = Position { resource: index(start / from.choices), choice: start % from.choices };
        Self { next, resources: from.resources, choices: from.choices }
    }

    /// The same sequence, started `positions` further on, wrapping around.
    pub(crate) fn advanced_by(self, positions: u64) -> Self {
        let Position { resource, choice } = self.next;
        let total = self.resources as u64 * self.choices;
        let at = (resource as u64 * self.choices + choice + positions % total) % total;
        let next = Position { resource: index(at / self.choices), choice: at % self.choices };
        Self { next, ..self }
    }
}

impl Choose for Sequential {
    #[inline]
    fn next_position(&mut self) -> Position {
        let position = self.next;
        self.next.choice += 1;
        if self.next.choice == self.choices {
            self.next.choice = 0;
            self.next.resource += 1;
            if self.next.resource == self.resources {
                self.next.resource = 0;
            }
        }
        position
    }
}

/// Each is equally likely.
#[derive(Debug, Clone)]
pub(crate) struct Uniform {
    generator: Xoshiro256PlusPlus,
    resources: usize,
    choices: u64,
}

impl Uniform {
    pub(crate) fn new(from: &Choices) -> Self {
        Self { generator: from.generator(), resources: from.resources, choices: from.choices }
    }

    #[inline]
    fn below(&mut self, count: u64) -> u64 {
        multiply_high(self.generator.next_u64(), count)
    }
}

impl Choose for Uniform {
    #[inline]
    fn next_position(&mut self) -> Position {
        let resource =
            if self.resources == 1 { 0 } else { index(self.below(self.resources as u64)) };
        Position { resource, choice: self.below(self.choices) }
    }
}

/// The k-th hottest has a probability proportional to 1 / k^exponent.
#[derive(Debug, Clone)]
pub(crate) struct Zipf {
    generator: Xoshiro256PlusPlus,
    law: ZipfLaw<f64>,
    scatter: Scatter,
    choices: u64,
}

impl Zipf {
    pub(crate) fn new(from: &Choices, exponent: f64) -> Result<Self, WorkloadError> {
        let law = ZipfLaw::new(from.total() as f64, exponent)
            .map_err(|_| WorkloadError::ZipfExponent(exponent))?;
        let scatter = Scatter::new(from.total());
        Ok(Self { generator: from.generator(), law, scatter, choices: from.choices })
    }
}

impl Choose for Zipf {
    #[inline]
    fn next_position(&mut self) -> Position {
        // Ranks are whole numbers from 1; rounding may push the last one past the end.
        let rank = whole(self.law.sample(&mut self.generator)).clamp(1, self.scatter.count);
        let position = self.scatter.position(rank - 1);
        Position { resource: index(position / self.choices), choice: position % self.choices }
    }
}

/// A fixed permutation of 0..count that puts hot ranks far apart: multiplication by a number
/// coprime to count.
///
/// Multiples of count divided by the golden ratio are spread best (Knuth, TAOCP volume 3, section
/// 6.4, theorem S), but that is not an integer, and not every nearby integer is coprime to count or
/// spreads well. So the best of those around it is taken: the one that keeps the hottest ranks
/// furthest apart.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scatter {
    count: u64,
    step: u64,
}

impl Scatter {
    /// The most ranks whose distances are compared. With fewer than 20 times as many positions,
    /// only the hottest 1 in 20 are.
    const HOT: u64 = 64;
    /// How many numbers on either side of the golden one are tried.
    const REACH: u64 = 64;

    pub(crate) fn new(count: u64) -> Self {
        // 2^64 divided by the golden ratio, as a fixed-point fraction.
        let golden = multiply_high(0x9e37_79b9_7f4a_7c15, count);
        let around = golden.saturating_sub(Self::REACH)..=golden.saturating_add(Self::REACH);
        around
            .filter(|&step| step < count && greatest_common_divisor(step, count) == 1)
            .map(|step| Self { count, step })
            .max_by_key(|scatter| {
                (scatter.least_distance(), Reverse(scatter.step.abs_diff(golden)))
            })
            // Only a count of 1 has no coprime below it.
            .unwrap_or(Self { count, step: 1 })
    }

    /// The smallest cyclic distance between any two of the hottest ranks. Two ranks that differ by
    /// k are as far apart as rank k and rank 0.
    fn least_distance(&self) -> u64 {
        let hot = (self.count / 20).clamp(2, Self::HOT).min(self.count);
        let distance = |rank| {
            let position = self.position(rank);
            position.min(self.count - position)
        };
        (1..hot).map(distance).min().unwrap_or(0)
    }

    #[inline]
    pub(crate) fn position(&self, rank: u64) -> u64 {
        multiply_modulo(rank, self.step, self.count)
    }
}

fn greatest_common_divisor(first: u64, second: u64) -> u64 {
    if second == 0 { first } else { greatest_common_divisor(second, first % second) }
}

/// Any pattern, for callers where one more branch does not matter beside the call that follows.
#[derive(Debug, Clone)]
pub(crate) enum AnyChooser {
    Sequential(Sequential),
    Uniform(Uniform),
    Shuffled(Shuffled),
    Zipf(Zipf),
    Follow(Follow),
}

impl AnyChooser {
    pub(crate) fn new(access: Access, from: &Choices) -> Result<Self, WorkloadError> {
        Ok(match access {
            Access::Sequential => Self::Sequential(Sequential::new(from)),
            Access::Uniform => Self::Uniform(Uniform::new(from)),
            Access::Shuffled => Self::Shuffled(Shuffled::new(from)),
            Access::Zipf { exponent } => Self::Zipf(Zipf::new(from, exponent)?),
            Access::Mixed { sequential_percent } => {
                Self::Follow(Follow::new(from, sequential_percent))
            }
        })
    }
}

impl Choose for AnyChooser {
    #[inline]
    fn next_position(&mut self) -> Position {
        match self {
            Self::Sequential(chooser) => chooser.next_position(),
            Self::Uniform(chooser) => chooser.next_position(),
            Self::Shuffled(chooser) => chooser.next_position(),
            Self::Zipf(chooser) => chooser.next_position(),
            Self::Follow(chooser) => chooser.next_position(),
        }
    }
}

#[cfg(test)]
mod tests;
