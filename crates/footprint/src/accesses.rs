//! The accesses of regions in the order in which they happened, to be simulated again among others.

use std::io::Read;

use caches::{Access, Purpose};
use footprint_trace::TraceError;
use footprint_trace::event::AccessKind;
use footprint_trace::header::Scope;
use footprint_trace::reader::TraceReader;

use crate::line_runs::LineRuns;
use crate::touched::LINE_BYTES;
use crate::trace::{Code, Completeness, Names, Observer, Region, StackTree, Step, Touch, Walk};

/// What a region accessed, as far as it counts in footprints: instructions in one line are one
/// fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegionAccesses {
    /// The region.
    pub region: Region,
    /// Whether the trace contains all of it.
    pub completeness: Completeness,
    /// The accesses, in order.
    pub accesses: Vec<Access>,
}

/// Walks to the trace's end. When one of the wanted regions ends, what it accessed is passed to
/// `each`.
///
/// # Errors
/// The trace stops or is damaged. Everything before that has been passed on.
pub fn for_each_accesses<N: Names, R: Read>(
    walk: &mut Walk<N>,
    reader: &mut TraceReader<R>,
    wanted: impl Fn(Region) -> bool,
    mut each: impl FnMut(&Walk<N>, RegionAccesses),
) -> Result<(), TraceError> {
    let mut recorder = Recorder {
        scope: walk.scope(),
        wanted,
        open: Vec::new(),
        ended: Vec::new(),
        runs: LineRuns::default(),
    };
    loop {
        let result = walk.run_region(reader, &mut recorder);
        for ended in std::mem::take(&mut recorder.ended) {
            each(walk, ended);
        }
        if !matches!(result, Ok(true)) {
            return result.map(|_| ());
        }
    }
}

/// Keeps what the wanted regions access.
struct Recorder<W> {
    scope: Scope,
    wanted: W,
    /// Regions that have begun, by vCPU.
    open: Vec<(u32, Region, Vec<Access>)>,
    ended: Vec<RegionAccesses>,
    runs: LineRuns,
}

impl<W> Recorder<W> {
    /// The accesses of the region that a step belongs to, if it counts.
    fn accesses(&mut self, stacks: &StackTree, step: &Step<'_>) -> Option<&mut Vec<Access>> {
        let open = self.open.iter_mut().find(|(vcpu, ..)| *vcpu == step.vcpu)?;
        stacks.context(step.stack).counts(self.scope).then_some(&mut open.2)
    }
}

impl<W: Fn(Region) -> bool> Observer for Recorder<W> {
    fn begin(&mut self, vcpu: u32, region: Region) {
        if (self.wanted)(region) {
            self.open.push((vcpu, region, Vec::new()));
        }
    }

    fn execute(&mut self, code: &Code, stacks: &StackTree, step: Step<'_>) {
        if self.accesses(stacks, &step).is_none() {
            return;
        }
        self.runs.cut(code, &step, LINE_BYTES);
        let runs = self.runs.get(step.id).unwrap_or_default();
        let fetches: Vec<Access> = runs
            .iter()
            .map(|run| {
                let bytes = if run.fetches > 0 { 1 } else { run.bytes };
                Access { purpose: Purpose::Fetch, address: run.address, bytes }
            })
            .collect();
        if let Some(accesses) = self.accesses(stacks, &step) {
            accesses.extend(fetches);
        }
    }

    fn access(&mut self, _: &Code, stacks: &StackTree, touch: Touch<'_>) {
        let Touch { step, access } = touch;
        let purpose = match access.kind {
            AccessKind::Load => Purpose::Load,
            AccessKind::Store => Purpose::Store,
        };
        if let Some(accesses) = self.accesses(stacks, &step) {
            accesses.push(Access { purpose, address: access.address, bytes: access.bytes });
        }
    }

    fn end(&mut self, vcpu: u32, completeness: Completeness) {
        if let Some(at) = self.open.iter().position(|(one, ..)| *one == vcpu) {
            let (_, region, accesses) = self.open.swap_remove(at);
            self.ended.push(RegionAccesses { region, completeness, accesses });
        }
    }
}
