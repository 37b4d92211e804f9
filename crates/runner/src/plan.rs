//! The plan of a run: what limits it and what makes it repeatable.

use std::collections::BTreeMap;
use std::time::Duration;

use rand::seq::SliceRandom;
use rand::{Rng as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use record::{Cell, Manifest, Order};

/// Number of attempts at a cell in one block before it goes without a value there.
pub const ATTEMPTS: u32 = 3;

/// What limits a run and what makes it repeatable.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The cells; journal lines refer to them by index.
    pub cells: Vec<Cell>,
    /// Seed of every random choice.
    pub seed: u64,
    /// Time allowed from the first pilot to the last replicate.
    pub budget: Duration,
    /// The budget, if the run was given more than its manifest says.
    pub granted: Option<Duration>,
    /// Whether the run ends as soon as it has been planned.
    pub is_dry: bool,
    /// Whether to measure what an earlier budget left out, as far as there is room.
    pub brings_back: bool,
    /// Desired relative half-width of every cell's interval: 0.02 is 2 %.
    pub precision: f64,
    /// Confidence level of the intervals, between 0 and 1.
    pub confidence_level: f64,
    /// Exact number of blocks, if the user asked for one.
    pub blocks: Option<u32>,
    /// The order of the cells within a block.
    pub order: Order,
}

/// Time since the run began. Injected, so that tests do not depend on real time.
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

    /// The same plan with this budget for the whole run, whatever number of blocks was requested,
    /// and with what an earlier budget left out.
    #[must_use]
    pub fn with_more(self, budget: Duration) -> Self {
        Self { brings_back: true, ..self.with_budget(budget) }
    }

    /// The same plan with this budget for the whole run, whatever number of blocks was requested.
    #[must_use]
    pub fn with_budget(self, budget: Duration) -> Self {
        Self { budget, granted: Some(budget), blocks: None, ..self }
    }

    /// All cells in the order of this block. The same seed and block give the same random order.
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

    /// Benchmarks in random order, each on all of its targets, also in random order. Disturbances
    /// of a machine last for tenths of a second: targets measured right after each other meet the
    /// same one, so it cancels out in their comparison.
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

    /// The seed of one execution of a cell. Within a block, the targets of a benchmark share it, so
    /// that they are given the same operations and the comparison is paired in this respect too. A
    /// benchmark also shares it with its floor, whose time is subtracted.
    pub(crate) fn replicate_seed(&self, cell: u32, block: u32) -> u64 {
        let cell = &self.cells[cell as usize];
        let first_of = |name: &String| self.cells.iter().position(|other| other.benchmark == *name);
        let floor = cell.floor.as_ref().and_then(first_of);
        let first = floor.or_else(|| first_of(&cell.benchmark));
        self.generator(u64::from(block) + 1, first.unwrap_or(0) as u64 + 1).next_u64()
    }

    fn generator(&self, block: u64, stream: u64) -> Xoshiro256PlusPlus {
        // The odd constants of SplitMix64 decorrelate neighbouring blocks and streams.
        let mixed = self.seed
            ^ block.wrapping_mul(0x9e37_79b9_7f4a_7c15)
            ^ stream.wrapping_mul(0xbf58_476d_1ce4_e5b9);
        Xoshiro256PlusPlus::seed_from_u64(mixed)
    }
}
