//! Runs of fetches count the same as individual fetches.

use caches::{Access, Purpose};
use caches::{
    CachePolicy, FirstLevel, Geometry, Hierarchy, Inclusion, LevelReport, LowerLevel, Shape,
    Simulation,
};
use proptest::prelude::*;

fn caches(policy: CachePolicy, inclusion: Inclusion) -> Hierarchy {
    let geometry = |size_bytes, ways| {
        Geometry::new(Shape { size_bytes, line_bytes: 64, ways, policy }).expect("a cache")
    };
    let first = FirstLevel::Split { instruction: geometry(256, 2), data: geometry(256, 2) };
    let lower = LowerLevel { geometry: geometry(512, 4), inclusion };
    Hierarchy::new(first, vec![lower]).expect("caches")
}

proptest! {
    #[test]
    fn a_run_of_fetches_is_its_fetches(
        steps in prop::collection::vec((0_u64..16, 0_u64..16, 0_u8..4), 1..300),
        policy in prop_oneof![
            Just(CachePolicy::Lru),
            Just(CachePolicy::TreePlru),
            Just(CachePolicy::Random { seed: 5 }),
        ],
        inclusion in prop_oneof![Just(Inclusion::NonInclusive), Just(Inclusion::Inclusive)],
    ) {
        let caches = caches(policy, inclusion);
        let (mut runs, mut single) = (Simulation::new(&caches), Simulation::new(&caches));
        for (line, count, what) in steps {
            let address = line * 64;
            if what < 2 {
                runs.fetch_run(address, count);
                let purpose = Purpose::Fetch;
                let fetch = |at| Access { purpose, address: address + at * 4, bytes: 4 };
                (0..count).for_each(|at| single.access(fetch(at)));
            } else {
                let purpose = if what == 2 { Purpose::Load } else { Purpose::Store };
                let access = Access { purpose, address: address + count, bytes: 8 };
                runs.access(access);
                single.access(access);
            }
        }
        prop_assert_eq!(runs.report(), single.report());
        let misses: u64 = runs.report().levels.iter().map(LevelReport::misses).sum();
        prop_assert_eq!(runs.missed(), misses);
        runs.empty();
        prop_assert!(runs.report().levels.iter().all(|level| level.resident_lines == 0));
    }
}
