//! The plan of a run: what bounds it and what makes it repeatable.

use std::collections::BTreeMap;
use std::time::Duration;

use rand::seq::SliceRandom;
use rand::{Rng as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use record::{Cell, Manifest, Order};

/// Executions of a cell in one block before it goes without a value there; in two successive
/// blocks, before it is given up.
pub(crate) const ATTEMPTS: u32 = 3;

/// What bounds a run and what makes it repeatable.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The cells; journal lines refer to them by index.
    pub cells: Vec<Cell>,
    /// Seed of every random choice.
    pub seed: u64,
    /// Time allowed from the first pilot to the last replicate.
    pub budget: Duration,
    /// The same, if the run was given more than its manifest says.
    pub granted: Option<Duration>,
    /// Whether it ends once it is planned what to measure.
    pub is_dry: bool,
    /// Whether what an earlier budget left out is to be measured now, as far as there is room.
    pub brings_back: bool,
    /// Wanted relative half-width of every cell's interval: 0.02 is 2 %.
    pub precision: f64,
    /// Confidence level of the intervals, between 0 and 1.
    pub confidence_level: f64,
    /// Exactly this many blocks, if the user asked for a number.
    pub blocks: Option<u32>,
    /// The order of the cells of a block.
    pub order: Order,
}

/// Time since the run began, in its own measure. Injected, so that tests do not depend on time.
pub trait Stopwatch {
    /// Time since the stopwatch was started.
    fn elapsed(&self) -> Duration;
}

impl Plan {
    /// The plan that a manifest describes.
    #[must_use]
    pub fn from_manifest(manifest: &Manifest) -> Self {
        let run = &manifest.run;
        Self {
            cells: manifest.cells.clone(),
            seed: run.seed,
            budget: Duration::from_secs_f64(run.budget_s.max(0.0)),
            granted: None,
            is_dry: false,
            brings_back: false,
            precision: run.precision_percent / 100.0,
            confidence_level: run.confidence_level,
            blocks: run.blocks,
            order: run.order,
        }
    }

    /// The same with this budget for the whole run, however many blocks were asked for, and with
    /// what an earlier budget left out.
    #[must_use]
    pub fn with_more(self, budget: Duration) -> Self {
        Self { brings_back: true, ..self.with_budget(budget) }
    }

    /// The same with this budget for the whole run, however many blocks were asked for.
    #[must_use]
    pub fn with_budget(self, budget: Duration) -> Self {
        Self { budget, granted: Some(budget), blocks: None, ..self }
    }

    /// The cells of one block, in its order. The same seed and block give the same random order.
    pub(crate) fn order_of_block(&self, block: u32) -> Vec<u32> {
        let mut declared: Vec<u32> = (0u32..).take(self.cells.len()).collect();
        match self.order {
            Order::Random => self.random_order(block),
            Order::Declared => declared,
            Order::Reversed => {
                declared.reverse();
                declared
            }
        }
    }

    /// Benchmarks in random order, each on all of its targets, in random order too. What disturbs a
    /// machine lasts for tenths of a second: targets that follow each other meet the same, and it
    /// cancels in their comparison.
    fn random_order(&self, block: u32) -> Vec<u32> {
        let mut groups: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        for (index, cell) in (0u32..).zip(&self.cells) {
            groups.entry(&cell.benchmark).or_default().push(index);
        }
        let mut generator = self.generator(u64::from(block) + 1, 0);
        let mut groups: Vec<Vec<u32>> = groups.into_values().collect();
        groups.shuffle(&mut generator);
        for group in &mut groups {
            group.shuffle(&mut generator);
        }
        groups.concat()
    }

    /// The seed of one execution of a cell. Targets of one benchmark share it within a block, so
    /// that they are asked for the same operations: the comparison is paired in this as well. So
    /// does its floor, which is taken away from it.
    pub(crate) fn replicate_seed(&self, cell: u32, block: u32) -> u64 {
        let cell = &self.cells[cell as usize];
        let first_of = |name: &String| self.cells.iter().position(|other| other.benchmark == *name);
        let floor = cell.floor.as_ref().and_then(first_of);
        let first = floor.or_else(|| first_of(&cell.benchmark));
        self.generator(u64::from(block) + 1, first.unwrap_or(0) as u64 + 1).next_u64()
    }

    fn generator(&self, block: u64, stream: u64) -> Xoshiro256PlusPlus {
        // Odd constants of SplitMix64 keep neighbouring blocks and streams apart.
        let mixed = self.seed
            ^ block.wrapping_mul(0x9e37_79b9_7f4a_7c15)
            ^ stream.wrapping_mul(0xbf58_476d_1ce4_e5b9);
        Xoshiro256PlusPlus::seed_from_u64(mixed)
    }
}
