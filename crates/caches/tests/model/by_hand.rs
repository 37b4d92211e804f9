//! Streams short enough to work out with a pencil.

use caches::{Access, Purpose};
use caches::{
    CachePolicy, FirstLevel, Geometry, Hierarchy, Inclusion, LevelReport, LowerLevel, Shape,
};

use crate::run;

fn cache(lines: u64, ways: u32, policy: CachePolicy) -> Geometry {
    let shape = Shape { size_bytes: 64 * lines, line_bytes: 64, ways, policy };
    Geometry::new(shape).expect("a cache")
}

fn alone(data: Geometry) -> Hierarchy {
    Hierarchy::new(FirstLevel::Data(data), Vec::new()).expect("one cache")
}

fn above(data: Geometry, lower: Geometry, inclusion: Inclusion) -> Hierarchy {
    let lower = vec![LowerLevel { geometry: lower, inclusion }];
    Hierarchy::new(FirstLevel::Data(data), lower).expect("two caches")
}

/// Lines as letters: lower case is a load, upper case a store.
fn letters(text: &str) -> Vec<Access> {
    let access = |letter: char| {
        let purpose = if letter.is_ascii_uppercase() { Purpose::Store } else { Purpose::Load };
        let line = u64::from(letter.to_ascii_lowercase() as u8 - b'a');
        Access { purpose, address: 64 * line, bytes: 8 }
    };
    text.chars().map(access).collect()
}

/// Hits, misses and write-backs of the level at `at`.
fn figures(hierarchy: &Hierarchy, text: &str, at: usize) -> (u64, u64, u64) {
    let report = run(hierarchy, &letters(text));
    let level = &report.levels[at];
    (level.hits(), level.misses(), level.write_backs)
}

#[test]
fn the_line_used_last_stays_under_lru() {
    let two = alone(cache(2, 2, CachePolicy::Lru));
    assert_eq!(figures(&two, "abacab", 0), (2, 4, 0), "c takes b's place, then b takes c's");
    assert_eq!(figures(&two, "abcabc", 0), (0, 6, 0));
    let direct = alone(cache(2, 1, CachePolicy::Lru));
    assert_eq!(figures(&direct, "acacbb", 0), (1, 5, 0), "a and c share a set, b has its own");
}

#[test]
fn a_tree_errs_where_lru_does_not() {
    // After a, b, c, d and a again, LRU evicts b. The tree points to the half with c and d, of
    // which d was used last, and so to c.
    let tree = alone(cache(4, 4, CachePolicy::TreePlru));
    let lru = alone(cache(4, 4, CachePolicy::Lru));
    assert_eq!(figures(&tree, "abcdaeb", 0), (2, 5, 0));
    assert_eq!(figures(&lru, "abcdaeb", 0), (1, 6, 0));
    assert_eq!(figures(&tree, "abcdaec", 0), (1, 6, 0));
    assert_eq!(figures(&lru, "abcdaec", 0), (2, 5, 0));
}

#[test]
fn a_random_choice_depends_on_its_seed_alone() {
    let stream = "abcdefghijklmnop".repeat(40);
    let misses = |seed| {
        let cache = alone(cache(8, 8, CachePolicy::Random { seed }));
        figures(&cache, &stream, 0).1
    };
    assert_eq!(misses(1), misses(1));
    let all: std::collections::BTreeSet<u64> = (0..20).map(misses).collect();
    assert!(all.len() > 5, "{all:?}");
    // With a loop that does not fit, LRU would never hit.
    assert!(all.iter().all(|misses| (300..600).contains(misses)), "{all:?}");
}

#[test]
fn what_was_written_goes_back_once() {
    let two = alone(cache(2, 2, CachePolicy::Lru));
    assert_eq!(figures(&two, "AAAbcd", 0), (2, 4, 1), "stores allocate, and hit from then on");
    let report = run(&two, &letters("ABcB"));
    assert_eq!((report.levels[0].write_backs, report.levels[0].dirty_bytes), (1, 64));
    assert_eq!((report.accesses.loads, report.accesses.stores), (1, 3));
}

#[test]
fn a_line_that_is_written_back_is_used_below_and_brought_in_there() {
    let (one, two) = (cache(1, 1, CachePolicy::Lru), cache(2, 2, CachePolicy::Lru));
    let caches = above(one, two, Inclusion::NonInclusive);
    // A, b: l2 gets A (from memory), then b; l1 writes A back: l2 holds A and b, of which A is now
    // the more recent. c: l2 evicts b, not A. a: found in l2.
    assert_eq!(figures(&caches, "Abca", 1), (1, 3, 0));
    // b, a, B, c: l2 evicts b's line on c, then l1 writes back B, which takes a's place.
    let report = run(&caches, &letters("baaBcc"));
    assert_eq!((report.levels[1].misses(), report.levels[1].hits()), (3, 1));
    assert_eq!((report.levels[0].write_backs, report.levels[1].dirty_bytes), (1, 64));
}

#[test]
fn an_inclusive_level_takes_the_lines_above_with_it() {
    let (two, one) = (cache(2, 2, CachePolicy::Lru), cache(2, 1, CachePolicy::Lru));
    // a and c fit in l1, but compete for one way of l2.
    let inclusive = run(&above(two, one, Inclusion::Inclusive), &letters("Aca"));
    let (l1, l2) = (&inclusive.levels[0], &inclusive.levels[1]);
    assert_eq!((l1.misses(), l1.back_invalidations, l1.write_backs), (3, 2, 0));
    assert_eq!((l2.misses(), l2.write_backs, l2.dirty_bytes), (3, 1, 0));
    assert_eq!((l1.resident_lines, l1.dirty_bytes), (1, 0));
    let other = run(&above(two, one, Inclusion::NonInclusive), &letters("Aca"));
    let (l1, l2) = (&other.levels[0], &other.levels[1]);
    assert_eq!((l1.misses(), l1.hits(), l1.back_invalidations), (2, 1, 0));
    assert_eq!((l2.misses(), l2.write_backs, l1.dirty_bytes), (2, 0, 64));
}

#[test]
fn accesses_that_straddle_lines_are_told() {
    let caches = alone(cache(8, 8, CachePolicy::Lru));
    let access = |purpose, address, bytes| Access { purpose, address, bytes };
    let stream = [
        access(Purpose::Load, 60, 4),
        access(Purpose::Load, 60, 5),
        access(Purpose::Store, 120, 200),
        access(Purpose::Load, u64::MAX, 8),
        access(Purpose::Load, 0, 0),
        access(Purpose::Fetch, 0, 4),
    ];
    let report = run(&caches, &stream);
    assert_eq!((report.straddling.loads, report.straddling.stores), (1, 1));
    assert_eq!((report.accesses.loads, report.accesses.stores), (3, 1));
    assert_eq!(report.fetches_left_out, 1);
    let level = &report.levels[0];
    let (loads, stores) = (level.lookups.loads, level.lookups.stores);
    assert_eq!((loads.hits, loads.misses, loads.accesses_missed), (1, 3, 3));
    // 120 to 319: lines 1 to 4, of which line 1 is present.
    assert_eq!((stores.hits, stores.misses, stores.accesses_missed), (1, 3, 1));
    assert_eq!(level.dirty_bytes, 4 * 64);
}

#[test]
fn instructions_and_data_share_what_lies_below() {
    let one = cache(1, 1, CachePolicy::Lru);
    let first = FirstLevel::Split { instruction: one, data: one };
    let lower =
        LowerLevel { geometry: cache(4, 4, CachePolicy::Lru), inclusion: Inclusion::Inclusive };
    let caches = Hierarchy::new(first, vec![lower]).expect("three caches");
    let access = |purpose, line: u64| Access { purpose, address: 64 * line, bytes: 4 };
    let stream = [access(Purpose::Fetch, 0), access(Purpose::Load, 0), access(Purpose::Fetch, 1)];
    let report = run(&caches, &stream);
    let names: Vec<&str> = report.levels.iter().map(|level| level.name.as_str()).collect();
    assert_eq!(names, ["l1i", "l1d", "l2"]);
    let misses: Vec<u64> = report.levels.iter().map(LevelReport::misses).collect();
    assert_eq!(misses, [2, 1, 2]);
    assert_eq!(report.levels[2].lookups.loads.hits, 1);
}
