//! How many events are analysed per second. Asserts nothing; run it with `cargo test --release -p
//! fsprism-footprint --test analysis -- --ignored --nocapture`.

use std::time::Instant;

use caches::{CachePolicy, First, Geometry, Hierarchy, Inclusion, Lower, Shape};
use footprint::simulated::{Simulated, Warmth};
use footprint::touched::{Collector, Selection};
use footprint::trace::{
    Code, Completeness, Nameless, Observer, Region, StackTree, Step, Touch, Walk,
};
use footprint_trace::header::{Coverage, Scope};

use crate::made::{MOV, Made, NOP, reader};

const ROUNDS: usize = 5;

/// A simple loop of eight instructions, two of which access memory, with a call in every eighth
/// iteration; similar to code that scans a buffer.
fn plain_loop(iterations: u64) -> Vec<u8> {
    let mut made = Made::new(Scope::Program, Coverage::Whole);
    for round in 0..iterations {
        made.run(0x1000, &[NOP, NOP, NOP, MOV]).load(0x10_0000 + round * 8 % 16_384, 8);
        made.run(0x1006, &[NOP, MOV]).store(0x20_0000 + round * 8 % 16_384, 8);
        if round % 8 == 0 {
            made.call(0x100a, 0x2000, 0x7000);
            made.run(0x2000, &[NOP, NOP]);
            made.ret(0x2002, 0x7000);
        }
        made.run(0x100f, &[NOP, &[0xeb, 0xee]]);
    }
    made.trace()
}

/// Counts what it sees: the cheapest possible observer.
#[derive(Default)]
struct Counter {
    executions: u64,
    instructions: u64,
    accesses: u64,
}

impl Observer for Counter {
    fn begin(&mut self, _: u32, _: Region) {}

    fn execute(&mut self, _: &Code, _: &StackTree, step: Step<'_>) {
        self.executions += 1;
        self.instructions += u64::from(step.block.instructions);
    }

    fn access(&mut self, _: &Code, _: &StackTree, _: Touch<'_>) {
        self.accesses += 1;
    }

    fn end(&mut self, _: u32, _: Completeness) {}
}

fn caches() -> Hierarchy {
    let geometry = |size_bytes, ways| {
        let shape = Shape { size_bytes, line_bytes: 64, ways, policy: CachePolicy::Lru };
        Geometry::new(shape).expect("a cache")
    };
    let l1 = geometry(32 << 10, 8);
    let lower = Lower { geometry: geometry(1 << 20, 16), inclusion: Inclusion::NonInclusive };
    Hierarchy::new(First::Split { instruction: l1, data: l1 }, vec![lower]).expect("caches")
}

fn walk(trace: &[u8], observer: &mut impl Observer) -> f64 {
    let began = Instant::now();
    let mut reader = reader(trace);
    Walk::new(*reader.header(), Nameless).run(&mut reader, observer).expect("a whole trace");
    began.elapsed().as_secs_f64()
}

fn report(name: &str, millions: f64, mut seconds: impl FnMut() -> f64) {
    let mut rates: Vec<f64> = (0..ROUNDS).map(|_| millions / seconds()).collect();
    rates.sort_by(f64::total_cmp);
    let [low, middle, high] = [rates[0], rates[ROUNDS / 2], rates[ROUNDS - 1]];
    println!("{name}: {middle:.1} M/s [{low:.1}, {high:.1}]");
}

fn measure(name: &str, trace: &[u8]) {
    let mut counter = Counter::default();
    walk(trace, &mut counter);
    let Counter { executions, instructions, accesses } = counter;
    let events = (executions + accesses) as f64 / 1e6;
    let lookups = (instructions + accesses) as f64 / 1e6;
    println!("{name}: {events:.1} M events, {lookups:.1} M fetches, loads and stores");
    report("  walked, events", events, || walk(trace, &mut Counter::default()));
    report("  footprints, events", events, || {
        walk(trace, &mut Collector::new(Selection::default()))
    });
    report("  simulated, accesses", lookups, || {
        walk(trace, &mut Simulated::new(Scope::Program, &caches(), Warmth::Warm))
    });
    report("  both, events", events, || {
        let mut simulated = Simulated::new(Scope::Program, &caches(), Warmth::Warm);
        walk(trace, &mut (&mut Collector::new(Selection::default()), &mut simulated))
    });
}

#[test]
#[ignore = "it measures, and asserts nothing"]
fn events_per_second() {
    measure("plain loop in memory", &plain_loop(4_000_000));
    if let Ok(path) = std::env::var("FSPRISM_TRACE") {
        measure(&path, &std::fs::read(&path).expect("a trace"));
    }
}
