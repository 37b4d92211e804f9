//! Simulates caches along a walk, and counts misses by whose code they befall.

use std::io::Read;

use caches::{Access, Hierarchy, Purpose, Simulation};
use footprint_trace::TraceError;
use footprint_trace::event::AccessKind;
use footprint_trace::reader::TraceReader;

use super::{CodeOwner, MappedNames};
use crate::line_runs::{LineRun, LineRuns};
use crate::trace::{
    Code, Completeness, Context, FunctionId, Names, Observer, Region, StackId, StackTree, Step,
    Touch, Walk,
};

/// What was executed and missed in one region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnerFigures {
    /// The region.
    pub region: Region,
    /// Whether the trace contains all of it.
    pub completeness: Completeness,
    /// Instructions, in the order of [`CodeOwner::ALL`].
    pub instructions: [u64; 4],
    /// Lookups that missed in each level, from the first down, in the same order.
    pub misses: [Vec<u64>; 4],
    /// What the program misses in each level if nobody else uses the caches.
    pub misses_alone: Vec<u64>,
}

impl OwnerFigures {
    /// The instructions of an owner, and its misses in each level.
    #[must_use]
    pub fn of(&self, owner: CodeOwner) -> (u64, &[u64]) {
        (self.instructions[owner.index()], &self.misses[owner.index()])
    }
}

/// Simulates caches that are empty when a region begins. Only for machines with one processor.
#[derive(Debug)]
pub struct OwnerSimulator {
    /// The functions that are a file system.
    file_system: Vec<FunctionId>,
    /// The owner of the code on top of each stack.
    owners: Vec<Option<CodeOwner>>,
    shared: Simulation,
    alone: Simulation,
    runs: LineRuns,
    /// What has been counted before in the levels of `shared`.
    noted: Vec<u64>,
    current: Option<OwnerFigures>,
    ended: Vec<OwnerFigures>,
}

impl OwnerSimulator {
    /// For a walk with these names.
    #[must_use]
    pub fn new<N>(names: &MappedNames<N>, caches: &Hierarchy) -> Self {
        let shared = Simulation::new(caches);
        Self {
            file_system: names.file_system(),
            owners: Vec::new(),
            alone: shared.clone(),
            noted: shared.misses().collect(),
            shared,
            runs: LineRuns::default(),
            current: None,
            ended: Vec::new(),
        }
    }

    /// Walks to the trace's end, and returns the figures of all regions in order.
    ///
    /// # Errors
    /// The trace stops or is damaged.
    pub fn run<N: Names, R: Read>(
        mut self,
        walk: &mut Walk<N>,
        reader: &mut TraceReader<R>,
    ) -> Result<Vec<OwnerFigures>, TraceError> {
        walk.run(reader, &mut self)?;
        Ok(self.ended)
    }

    #[inline]
    fn owner(&mut self, stacks: &StackTree, stack: StackId) -> CodeOwner {
        let known = self.owners.get(stack.0 as usize).copied().flatten();
        known.unwrap_or_else(|| self.find_owner(stacks, stack))
    }

    #[cold]
    fn find_owner(&mut self, stacks: &StackTree, stack: StackId) -> CodeOwner {
        let owner = match stacks.context(stack) {
            Context::User => {
                let is_file_system =
                    |frame: StackId| self.file_system.contains(&stacks.function(frame));
                match stacks.frames(stack).any(is_file_system) {
                    true => CodeOwner::FileSystemLibrary,
                    false => CodeOwner::Program,
                }
            }
            Context::Operation | Context::Exception => CodeOwner::Kernel,
            Context::Interrupt | Context::OtherTask => CodeOwner::Others,
        };
        if self.owners.len() < stacks.len() {
            self.owners.resize(stacks.len(), None);
        }
        self.owners[stack.0 as usize] = Some(owner);
        owner
    }

    /// Counts the misses since the last call as the owner's.
    #[cold]
    fn note(&mut self, owner: CodeOwner) {
        let Some(current) = &mut self.current else { return };
        let counts = &mut current.misses[owner.index()];
        for ((now, noted), count) in self.shared.misses().zip(&mut self.noted).zip(counts) {
            *count += now - *noted;
            *noted = now;
        }
    }
}

impl Observer for OwnerSimulator {
    fn begin(&mut self, _: u32, region: Region) {
        for simulation in [&mut self.shared, &mut self.alone] {
            simulation.empty();
            simulation.begin_region();
        }
        self.noted.fill(0);
        let none = vec![0; self.noted.len()];
        self.current = Some(OwnerFigures {
            region,
            completeness: Completeness::Cut,
            instructions: [0; 4],
            misses: std::array::from_fn(|_| none.clone()),
            misses_alone: none,
        });
    }

    #[inline]
    fn execute(&mut self, code: &Code, stacks: &StackTree, step: Step<'_>) {
        let owner = self.owner(stacks, step.stack);
        let Some(current) = &mut self.current else { return };
        current.instructions[owner.index()] += u64::from(step.block.instructions);
        let line_bytes = self.shared.instruction_line_bytes().unwrap_or(u32::MAX);
        self.runs.cut(code, &step, u64::from(line_bytes));
        let before = self.shared.missed();
        for run in self.runs.get(step.id).unwrap_or_default() {
            fetch(&mut self.shared, run);
            if owner == CodeOwner::Program {
                fetch(&mut self.alone, run);
            }
        }
        if self.shared.missed() != before {
            self.note(owner);
        }
    }

    #[inline]
    fn access(&mut self, _: &Code, stacks: &StackTree, touch: Touch<'_>) {
        let owner = self.owner(stacks, touch.step.stack);
        let purpose = match touch.access.kind {
            AccessKind::Load => Purpose::Load,
            AccessKind::Store => Purpose::Store,
        };
        let access = Access { purpose, address: touch.access.address, bytes: touch.access.bytes };
        let before = self.shared.missed();
        self.shared.access(access);
        if owner == CodeOwner::Program {
            self.alone.access(access);
        }
        if self.shared.missed() != before {
            self.note(owner);
        }
    }

    fn end(&mut self, _: u32, completeness: Completeness) {
        if let Some(mut ended) = self.current.take() {
            ended.completeness = completeness;
            ended.misses_alone = self.alone.misses().collect();
            self.ended.push(ended);
        }
    }
}

#[inline]
fn fetch(simulation: &mut Simulation, run: &LineRun) {
    let &LineRun { address, fetches, bytes } = run;
    if fetches > 0 {
        simulation.fetch_run(address, u64::from(fetches));
    } else {
        simulation.access(Access { purpose: Purpose::Fetch, address, bytes });
    }
}
