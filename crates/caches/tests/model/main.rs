//! Compares the simulation with a model written only from the description, and with streams worked
//! out by hand.

mod by_hand;
mod plain;
mod runs;

use caches::{Access, Purpose};
use caches::{
    CachePolicy, FirstLevel, Geometry, Hierarchy, Inclusion, LowerLevel, Report, Shape, Simulation,
};
use plain::Plain;
use proptest::prelude::*;

/// The caches of a case: small enough that everything happens within a few hundred accesses.
fn hierarchies() -> impl Strategy<Value = Hierarchy> {
    let lower = prop::collection::vec((shapes(), inclusions()), 0..=2);
    let first = (0..3_u8, shapes(), shapes());
    (first, lower).prop_map(|((which, one, other), lower)| {
        let instruction = geometry(other, 0);
        let data = geometry(one, 0);
        let first = match which {
            0 => FirstLevel::Split { instruction, data },
            1 => FirstLevel::Unified(data),
            _ => FirstLevel::Data(data),
        };
        let mut line_bits = one.line_bits.max(if which == 0 { other.line_bits } else { 0 });
        let lower = lower.into_iter().map(|(shape, inclusion)| {
            line_bits = line_bits.max(shape.line_bits);
            LowerLevel { geometry: geometry(shape, line_bits), inclusion }
        });
        Hierarchy::new(first, lower.collect()).expect("lines do not shrink")
    })
}

#[derive(Clone, Copy, Debug)]
struct Small {
    line_bits: u32,
    ways: u32,
    sets: u64,
    policy: CachePolicy,
}

fn shapes() -> impl Strategy<Value = Small> {
    let policies = prop_oneof![
        Just(CachePolicy::Lru),
        Just(CachePolicy::TreePlru),
        any::<u64>().prop_map(|seed| CachePolicy::Random { seed }),
    ];
    (4..7_u32, 1..9_u32, 1..6_u64, policies).prop_map(|(line_bits, ways, sets, policy)| {
        let ways = if policy == CachePolicy::TreePlru { ways.next_power_of_two() } else { ways };
        Small { line_bits, ways, sets, policy }
    })
}

fn geometry(small: Small, line_bits_min: u32) -> Geometry {
    let Small { line_bits, ways, sets, policy } = small;
    let line_bytes = 1_u32 << line_bits.max(line_bits_min);
    let size_bytes = u64::from(line_bytes) * u64::from(ways) * sets;
    Geometry::new(Shape { size_bytes, line_bytes, ways, policy }).expect("a cache")
}

fn inclusions() -> impl Strategy<Value = Inclusion> {
    prop_oneof![Just(Inclusion::NonInclusive), Just(Inclusion::Inclusive)]
}

/// Mostly near the start, so that lines are reused; sometimes at the end of the address space.
fn accesses() -> impl Strategy<Value = Vec<Access>> {
    let purposes = prop::sample::select(Purpose::ALL.to_vec());
    let address = prop_oneof![8 => 0..2048_u64, 1 => u64::MAX - 300..=u64::MAX];
    let bytes = prop_oneof![6 => 0..9_u32, 1 => 0..200_u32];
    let one = (purposes, address, bytes);
    let one = one.prop_map(|(purpose, address, bytes)| Access { purpose, address, bytes });
    prop::collection::vec(one, 0..400)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn the_model_counts_the_same(
        hierarchy in hierarchies(),
        first in accesses(),
        second in accesses(),
    ) {
        let mut simulation = Simulation::new(&hierarchy);
        let mut plain = Plain::new(&hierarchy);
        for region in [first, second] {
            simulation.begin_region();
            plain.begin_region();
            for access in region {
                simulation.access(access);
                plain.access(access);
            }
            prop_assert_eq!(plain.report(), simulation.report());
        }
        plain.assert_inclusive();
    }
}

/// Runs a stream through initially empty caches.
fn run(hierarchy: &Hierarchy, stream: &[Access]) -> Report {
    let mut simulation = Simulation::new(hierarchy);
    stream.iter().for_each(|&access| simulation.access(access));
    simulation.report()
}
