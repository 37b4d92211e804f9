//! Measures how many accesses per second are simulated. It asserts nothing; run it with `cargo test
//! --release -p fsprism-caches --test model -- --ignored --nocapture`.

use std::time::Instant;

use caches::synthetic::{Extent, Pattern, Stream};
use caches::{Access, Purpose};
use caches::{CachePolicy, First, Geometry, Hierarchy, Inclusion, Lower, Shape, Simulation};

const ROUNDS: usize = 7;
const FETCHES: u64 = 1_000_000;

/// Like a program: one load or store per three fetches, which are in loops with occasional jumps.
fn program() -> Vec<Access> {
    let extent = |accesses, bytes| Extent { accesses, bytes, seed: 3 };
    let fetches = Stream { pattern: Pattern::Loop(24 << 10), purpose: Purpose::Fetch };
    let mut fetches = fetches.accesses(extent(FETCHES, 4)).expect("a stream");
    let near = Stream { pattern: Pattern::Loop(16 << 10), purpose: Purpose::Load };
    let mut near = near.accesses(extent(FETCHES, 8)).expect("a stream").map(|access| Access {
        address: access.address + (1 << 30),
        purpose: if access.address % 64 == 0 { Purpose::Store } else { Purpose::Load },
        ..access
    });
    let far = Stream { pattern: Pattern::Random(2 << 20), purpose: Purpose::Load };
    let far = far.accesses(extent(FETCHES, 8)).expect("a stream");
    let mut far = far.map(|access| Access { address: access.address + (2 << 30), ..access });
    let mut stream = Vec::new();
    while let Some(fetch) = fetches.next() {
        stream.push(fetch);
        stream.extend(fetches.next());
        stream.extend(fetches.next());
        // One in twenty data accesses goes far.
        let is_far = stream.len() % 80 < 4;
        stream.extend(if is_far { far.next() } else { near.next() });
    }
    stream
}

fn caches(policy: CachePolicy) -> Hierarchy {
    let geometry = |size_bytes, ways| {
        Geometry::new(Shape { size_bytes, line_bytes: 64, ways, policy }).expect("a cache")
    };
    let l1 = geometry(32 << 10, 8);
    let lower = Lower { geometry: geometry(1 << 20, 16), inclusion: Inclusion::Inclusive };
    Hierarchy::new(First::Split { instruction: l1, data: l1 }, vec![lower]).expect("caches")
}

#[test]
#[ignore = "it measures, and asserts nothing"]
fn accesses_per_second() {
    let program = program();
    let random = Stream { pattern: Pattern::Random(8 << 20), purpose: Purpose::Load };
    let extent = Extent { accesses: FETCHES, bytes: 8, seed: 3 };
    let random: Vec<Access> = random.accesses(extent).expect("a stream").collect();
    for (name, stream) in [("like a program", &program), ("random in 8 MiB", &random)] {
        for policy in [CachePolicy::Lru, CachePolicy::TreePlru, CachePolicy::Random { seed: 1 }] {
            let mut rates: Vec<f64> = (0..ROUNDS).map(|_| rate(policy, stream)).collect();
            rates.sort_by(f64::total_cmp);
            let [low, middle, high] = [rates[0], rates[ROUNDS / 2], rates[ROUNDS - 1]];
            println!("{name}, {policy}: {middle:.1} M/s [{low:.1}, {high:.1}]");
        }
    }
}

/// Millions of accesses per second through L1i, L1d and L2.
fn rate(policy: CachePolicy, stream: &[Access]) -> f64 {
    let mut simulation = Simulation::new(&caches(policy));
    let began = Instant::now();
    stream.iter().for_each(|&access| simulation.access(access));
    std::hint::black_box(simulation.report());
    #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
    let millions = stream.len() as f64 / 1e6;
    millions / began.elapsed().as_secs_f64()
}
