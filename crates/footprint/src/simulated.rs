//! Simulates caches along a walk: the misses of each region, and which code and stacks cause them.
//!
//! Every executed instruction is fetched once, and every access is looked up. What does not count
//! in footprints ([`Context::counts`](crate::trace::Context::counts)) bypasses the caches, so that
//! a region's cache figures cover the same accesses as its footprint. All vCPUs share one set of
//! caches; a region that begins while another is running on another vCPU ends the counting of that
//! other one.

use std::collections::HashMap;

use footprint_trace::BlockId;
use footprint_trace::event::AccessKind;
use footprint_trace::header::Scope;

use crate::hash::BuildMix;
use crate::line_runs::{LineRun, LineRuns};
use caches::{Access, Hierarchy, Purpose, Report, Simulation};

use crate::trace::{Code, Completeness, Observer, Region, StackId, StackTree, Step, Touch};

/// What the caches contain when a region begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Warmth {
    /// Whatever earlier regions left in them.
    #[default]
    Warm,
    /// Nothing.
    Empty,
}

/// Misses of one block on top of one stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockMisses {
    /// The stack.
    pub stack: StackId,
    /// The block.
    pub block: BlockId,
    /// Lookups that missed in each level, in the order of [`Report::levels`].
    pub misses: Vec<u64>,
}

/// The results of the caches in one region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheOutcome {
    /// The region.
    pub region: Region,
    /// Whether the trace contains all of it.
    pub completeness: Completeness,
    /// All counters.
    pub report: Report,
    /// Misses by block and stack, in the order of the first misses.
    pub missed: Vec<BlockMisses>,
}

/// Caches, and what they contain when a region begins.
#[derive(Clone, Copy, Debug)]
pub struct CachesToSimulate<'a> {
    /// The caches.
    pub hierarchy: &'a Hierarchy,
    /// What they contain.
    pub warmth: Warmth,
}

/// Observes a walk and simulates caches.
#[derive(Clone, Debug)]
pub struct CacheSimulator {
    scope: Scope,
    warmth: Warmth,
    simulation: Simulation,
    /// The region being counted, and the vCPUs that are in it.
    region: Option<Region>,
    vcpus: Vec<u32>,
    missed: Vec<BlockMisses>,
    /// The misses of each level that are already included in `missed`.
    noted: Vec<u64>,
    places: HashMap<(StackId, BlockId), usize, BuildMix>,
    runs: LineRuns,
    outcomes: Vec<CacheOutcome>,
    /// The last stack, and whether its context counts.
    latest: (StackId, bool),
}

impl CacheSimulator {
    /// Starts with empty caches, for traces of a program or a machine.
    #[must_use]
    pub fn new(scope: Scope, caches: &Hierarchy, warmth: Warmth) -> Self {
        Self {
            scope,
            warmth,
            simulation: Simulation::new(caches),
            region: None,
            vcpus: Vec::new(),
            missed: Vec::new(),
            noted: Vec::new(),
            places: HashMap::default(),
            runs: LineRuns::default(),
            outcomes: Vec::new(),
            latest: (StackId(u32::MAX), false),
        }
    }

    /// The results for each region, in the order in which the regions ended.
    #[must_use]
    pub fn into_outcomes(self) -> Vec<CacheOutcome> {
        self.outcomes
    }

    /// Takes the results for the regions that have ended.
    pub(crate) fn take_outcomes(&mut self) -> Vec<CacheOutcome> {
        std::mem::take(&mut self.outcomes)
    }

    #[inline]
    fn counts(&mut self, stacks: &StackTree, stack: StackId) -> bool {
        if self.latest.0 != stack {
            self.latest = (stack, stacks.context(stack).counts(self.scope));
        }
        self.latest.1
    }

    /// Calls `look_up`, and attributes any misses to the step.
    #[inline]
    fn watch(&mut self, step: &Step<'_>, look_up: impl FnOnce(&mut Simulation, &LineRuns)) {
        let before = self.simulation.missed();
        look_up(&mut self.simulation, &self.runs);
        if self.simulation.missed() != before {
            self.note_misses(step);
        }
    }

    /// Attributes the misses since the last call to the step.
    #[cold]
    fn note_misses(&mut self, step: &Step<'_>) {
        let missed = &mut self.missed;
        let place = *self.places.entry((step.stack, step.id)).or_insert_with(|| {
            missed.push(BlockMisses { stack: step.stack, block: step.id, misses: Vec::new() });
            missed.len() - 1
        });
        let misses = &mut self.missed[place].misses;
        misses.resize(self.noted.len(), 0);
        let levels = self.simulation.misses().zip(&mut self.noted);
        for ((now, noted), count) in levels.zip(misses) {
            *count += now - *noted;
            *noted = now;
        }
    }

    fn finish(&mut self, region: Region, completeness: Completeness) {
        self.places.clear();
        let missed = std::mem::take(&mut self.missed);
        let report = self.simulation.report();
        self.outcomes.push(CacheOutcome { region, completeness, report, missed });
    }
}

impl Observer for CacheSimulator {
    fn begin(&mut self, vcpu: u32, region: Region) {
        if self.region == Some(region) {
            self.vcpus.push(vcpu);
            return;
        }
        if let Some(cut) = self.region.replace(region) {
            self.finish(cut, Completeness::Cut);
        }
        self.vcpus = vec![vcpu];
        if self.warmth == Warmth::Empty {
            self.simulation.empty();
        }
        self.simulation.begin_region();
        self.noted = self.simulation.misses().collect();
    }

    #[inline]
    fn execute(&mut self, code: &Code, stacks: &StackTree, step: Step<'_>) {
        if !self.counts(stacks, step.stack) {
            return;
        }
        let line_bytes = self.simulation.instruction_line_bytes().unwrap_or(u32::MAX);
        self.runs.cut(code, &step, u64::from(line_bytes));
        self.watch(&step, |simulation, runs| {
            for &LineRun { address, fetches, bytes } in runs.get(step.id).unwrap_or_default() {
                if fetches > 0 {
                    simulation.fetch_run(address, u64::from(fetches));
                } else {
                    simulation.access(Access { purpose: Purpose::Fetch, address, bytes });
                }
            }
        });
    }

    #[inline]
    fn access(&mut self, _: &Code, stacks: &StackTree, touch: Touch<'_>) {
        let Touch { step, access } = touch;
        if self.counts(stacks, step.stack) {
            let purpose = match access.kind {
                AccessKind::Load => Purpose::Load,
                AccessKind::Store => Purpose::Store,
            };
            let access = Access { purpose, address: access.address, bytes: access.bytes };
            self.watch(&step, |simulation, _| simulation.access(access));
        }
    }

    fn end(&mut self, vcpu: u32, completeness: Completeness) {
        self.vcpus.retain(|&known| known != vcpu);
        if self.vcpus.is_empty()
            && let Some(region) = self.region.take()
        {
            self.finish(region, completeness);
        }
    }
}
