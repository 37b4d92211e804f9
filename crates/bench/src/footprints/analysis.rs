//! How many trace events are analysed per second, on one processor.
//!
//! An event is an execution of a block, or an access; a lookup is an instruction fetch, or an
//! access.

use std::path::Path;
use std::time::Instant;

use caches::synthetic::{Extent, Pattern, Stream};
use caches::{Access, Purpose};
use caches::{
    CachePolicy, FirstLevel, Geometry, Hierarchy, Inclusion, LowerLevel, Shape, Simulation,
};
use footprint::description::Description;
use footprint::simulated::{CacheSimulator, Warmth};
use footprint::touched::{Collector, Selection};
use footprint::trace::{Code, Completeness, Observer, Region, StackTree, Step, Touch, Walk};
use footprint_trace::event::{Access as Touched, AccessKind, EventEncoder};
use footprint_trace::header::{Coverage, Header, Scope};
use footprint_trace::reader::TraceReader;
use footprint_trace::writer::TraceWriter;
use footprint_trace::{BlockId, TracedBlock};

use crate::table::Table;

const ROUNDS: usize = 6;
/// Minimum number of events in a round; real traces are analysed repeatedly to reach it.
const EVENTS: u64 = 20_000_000;
const EVENTS_BOUND: &str = ">= 20 M/s";
const LOOKUPS_BOUND: &str = ">= 15 M/s";

/// A trace in memory, with its names.
struct Trace {
    bytes: Vec<u8>,
    names: Description,
}

/// The counts of a walk.
#[derive(Default)]
struct Counts {
    events: u64,
    lookups: u64,
}

/// Adds the rows of the analysis, for the traces in a directory and for a long synthetic one.
pub(super) fn measure(table: &mut Table, real: Option<&Path>) -> anyhow::Result<()> {
    let made = [Trace { bytes: long_trace()?, names: Description::default() }];
    rows(table, "a long loop", &made)?;
    match real {
        Some(directory) => rows(table, "five file systems", &traces(directory)?)?,
        None => {
            let why = "there are no traces because nothing was traced".to_owned();
            table.row("analysis of real traces, events", why, EVENTS_BOUND);
        }
    }
    let (stream, caches) = (accesses()?, caches()?);
    let rate = || {
        let mut simulation = Simulation::new(&caches);
        let began = Instant::now();
        stream.iter().for_each(|&access| simulation.access(access));
        std::hint::black_box(simulation.report());
        stream.len() as f64 / began.elapsed().as_secs_f64()
    };
    let rates: Vec<f64> = (0..ROUNDS).map(|_| rate()).collect();
    table.per_second("simulation of L1i, L1d and L2, accesses made up", LOOKUPS_BOUND, &rates);
    Ok(())
}

fn traces(directory: &Path) -> anyhow::Result<Vec<Trace>> {
    let mut traces = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        let names = footprint_symbols::read_description(&path)?.unwrap_or_default();
        traces.push(Trace { bytes: std::fs::read(&path)?, names });
    }
    Ok(traces)
}

fn rows(table: &mut Table, what: &str, traces: &[Trace]) -> anyhow::Result<()> {
    let mut counts = Counts::default();
    for trace in traces {
        walk(trace, &mut counts)?;
    }
    let times = EVENTS.div_ceil(counts.events.max(1));
    let caches = caches()?;
    let (mut footprints, mut simulations) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let seconds = repeated(traces, times, || Collector::new(Selection::default()))?;
        footprints.push((counts.events * times) as f64 / seconds);
        let simulated = || CacheSimulator::new(Scope::Machine, &caches, Warmth::Warm);
        let seconds = repeated(traces, times, simulated)?;
        simulations.push((counts.lookups * times) as f64 / seconds);
    }
    table.per_second(&format!("analysis of {what}, events"), EVENTS_BOUND, &footprints);
    let what = format!("simulation of L1i, L1d and L2 on {what}, lookups");
    table.per_second(&what, LOOKUPS_BOUND, &simulations);
    Ok(())
}

/// Seconds for walking through all traces `times` times, each with a new observer.
fn repeated<O: Observer>(
    traces: &[Trace],
    times: u64,
    observer: impl Fn() -> O,
) -> anyhow::Result<f64> {
    let mut seconds = 0.0;
    for _ in 0..times {
        for trace in traces {
            seconds += walk(trace, &mut observer())?;
        }
    }
    Ok(seconds)
}

/// Seconds for reading the trace and observing.
fn walk(trace: &Trace, observer: &mut impl Observer) -> anyhow::Result<f64> {
    let mut reader = TraceReader::new(&trace.bytes[..])?;
    let mut walk = Walk::new(*reader.header(), trace.names.clone());
    let began = Instant::now();
    walk.run(&mut reader, observer)?;
    Ok(began.elapsed().as_secs_f64())
}

impl Observer for Counts {
    fn begin(&mut self, _: u32, _: Region) {}

    fn execute(&mut self, _: &Code, _: &StackTree, step: Step<'_>) {
        self.events += 1;
        self.lookups += u64::from(step.block.instructions);
    }

    fn access(&mut self, _: &Code, _: &StackTree, _: Touch<'_>) {
        self.events += 1;
        self.lookups += 1;
    }

    fn end(&mut self, _: u32, _: Completeness) {}
}

/// A loop of eight instructions through a buffer, two of which access memory, long enough for a
/// round.
fn long_trace() -> anyhow::Result<Vec<u8>> {
    let (scope, coverage) = (Scope::Program, Coverage::Whole);
    let header = Header { architecture: 62, scope, coverage, limit_bytes: 1 << 34 };
    let mut writer = TraceWriter::new(Vec::new(), &header)?;
    // nop; nop; nop; mov (%rdi),%rax, and then the same with a store, in which the last nop is
    // replaced by a jump to the beginning.
    let first = [0x90, 0x90, 0x90, 0x48, 0x8b, 0x07];
    let second = [0x90, 0x48, 0x89, 0x07];
    let third = [0x90, 0xeb, 0xf3];
    let mut describe = |address, lengths: &[u8], code: &[u8]| -> std::io::Result<BlockId> {
        writer.describe(&TracedBlock { address, lengths, code })
    };
    let load = describe(0x1000, &[1, 1, 1, 3], &first)?;
    let store = describe(0x1006, &[1, 3], &second)?;
    let jump = describe(0x100a, &[1, 2], &third)?;
    let mut events = EventEncoder::new();
    for round in 0..EVENTS / 5 {
        let offset = round * 8 % 16_384;
        events.execute(load);
        events.access(Touched { kind: AccessKind::Load, address: 0x10_0000 + offset, bytes: 8 });
        events.execute(store);
        events.access(Touched { kind: AccessKind::Store, address: 0x20_0000 + offset, bytes: 8 });
        events.execute(jump);
        if events.is_full() {
            writer.write_events(0, &mut events)?;
        }
    }
    writer.write_events(0, &mut events)?;
    Ok(writer.finish(None, 0)?)
}

/// Like a program: three fetches in a loop for every load or store, one in twenty of which is far
/// away.
fn accesses() -> anyhow::Result<Vec<Access>> {
    const FETCHES: u64 = 3_000_000;
    let stream = |pattern, purpose, bytes, base: u64| -> anyhow::Result<_> {
        let extent = Extent { accesses: FETCHES, bytes, seed: 3 };
        let accesses = Stream { pattern, purpose }.accesses(extent)?;
        Ok(accesses.map(move |access| Access { address: access.address + base, ..access }))
    };
    let mut fetches = stream(Pattern::Loop(24 << 10), Purpose::Fetch, 4, 0)?;
    let mut near = stream(Pattern::Loop(16 << 10), Purpose::Load, 8, 1 << 30)?;
    let mut far = stream(Pattern::Random(2 << 20), Purpose::Store, 8, 2 << 30)?;
    let mut all = Vec::new();
    while let Some(fetch) = fetches.next() {
        all.push(fetch);
        all.extend(fetches.next());
        all.extend(fetches.next());
        all.extend(if all.len() % 80 < 4 { far.next() } else { near.next() });
    }
    Ok(all)
}

fn caches() -> anyhow::Result<Hierarchy> {
    let geometry = |size_bytes, ways| {
        Geometry::new(Shape { size_bytes, line_bytes: 64, ways, policy: CachePolicy::Lru })
    };
    let first = geometry(32 << 10, 8)?;
    let lower = LowerLevel { geometry: geometry(1 << 20, 16)?, inclusion: Inclusion::NonInclusive };
    Ok(Hierarchy::new(FirstLevel::Split { instruction: first, data: first }, vec![lower])?)
}
