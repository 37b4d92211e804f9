//! Cells whose working set is near the size of a cache, where figures are least repeatable.

use record::machine::{CacheKind, FRAGILE, Machine};
use record::{Cell, Manifest, Warning};

use super::{Gathered, estimates};

/// With fewer replicates, a standard deviation is meaningless.
const REPLICATES_MIN: usize = 3;

/// The warning for a cell in a fragile zone, with the spread of its replicates and that of similar
/// cells outside of any zone: those with the same target, dimension and cache state.
pub(super) fn zone_of(
    gathered: &Gathered<'_>,
    all: &[Gathered<'_>],
    manifest: &Manifest,
) -> Option<Warning> {
    let cell = gathered.cell;
    let (cache, cache_bytes) = nearest_cache(cell, manifest)?;
    let key = |cell: &Cell| (cell.dimension, cell.cache_state);
    let is_beside = |other: &&Gathered<'_>| {
        let other = other.cell;
        other.target == cell.target
            && key(other) == key(cell)
            && other.working_set_bytes.is_some()
            && nearest_cache(other, manifest).is_none()
    };
    let beside: Vec<Vec<f64>> = all.iter().filter(is_beside).map(rates).collect();
    let inside = [rates(gathered)];
    let spread_inside_percent =
        (inside[0].len() >= REPLICATES_MIN).then(|| estimates::pooled_percent(&inside)).flatten();
    Some(Warning::FragileZone {
        working_set_bytes: cell.working_set_bytes?,
        axis: None,
        cache,
        cache_bytes,
        spread_inside_percent,
        spread_outside_percent: estimates::pooled_percent(&beside),
    })
}

/// Operations per second of each replicate.
fn rates(gathered: &Gathered<'_>) -> Vec<f64> {
    gathered.throughput().into_values().collect()
}

/// The cache whose size is closest to the working set, if it is close enough, and its size.
pub(crate) fn nearest_cache(cell: &Cell, manifest: &Manifest) -> Option<(String, u64)> {
    let working_set_bytes = cell.working_set_bytes?;
    let ratio = |cache_bytes: u64| working_set_bytes as f64 / cache_bytes.max(1) as f64;
    caches(cell, manifest)
        .into_iter()
        .filter(|(_, bytes)| FRAGILE.contains(&ratio(*bytes)))
        .min_by(|a, b| ratio(a.1).ln().abs().total_cmp(&ratio(b.1).ln().abs()))
}

/// Everything that a working set may or may not fit into, with its size: processor caches, memory
/// limits, and memory.
pub(crate) fn caches(cell: &Cell, manifest: &Manifest) -> Vec<(String, u64)> {
    let target = manifest.targets.iter().find(|target| target.label == cell.target);
    let mut caches = Vec::new();
    // A cold operation waits for the device, which hides the effect of processor caches.
    if !cell.cache_state.is_cold() {
        caches.extend(processor_caches(&manifest.machine));
    }
    let target_limit = target.and_then(|target| target.conditions.memory_bytes);
    let group_limit = manifest.machine.cgroup.as_ref().and_then(|cgroup| cgroup.memory_limit_bytes);
    let limit = target_limit.into_iter().chain(group_limit).min();
    // What may not be in memory is in no cache either.
    caches.retain(|(_, bytes)| limit.is_none_or(|limit| *bytes <= limit));
    caches.extend(limit.map(|bytes| ("the memory limit".to_owned(), bytes)));
    let total = manifest.machine.memory.total_bytes;
    caches.extend(total.map(|bytes| ("the machine's memory".to_owned(), bytes)));
    caches
}

fn processor_caches(machine: &Machine) -> impl Iterator<Item = (String, u64)> {
    let holds_data = machine
        .caches
        .iter()
        .filter(|cache| cache.level >= 2 && cache.kind != CacheKind::Instruction);
    holds_data.filter_map(|cache| Some((format!("the L{} cache", cache.level), cache.size_bytes?)))
}

#[cfg(test)]
mod tests {
    use record::CacheState;
    use record::machine::Cache;

    use super::*;
    use crate::sample::Sample;

    const MIB: u64 = 1024 * 1024;

    fn warnings(sample: &Sample) -> Vec<Warning> {
        let document = sample.document();
        document.cells[0].warnings.iter().map(|report| report.warning.clone()).collect()
    }

    /// One cell whose operations take 10 us, so that there is no other reason to doubt it.
    fn sample() -> Sample {
        Sample::new(&["ext4"]).benchmark("read", &[&[10_000.0; 6]])
    }

    fn with_cache(working_set_mib: u64) -> Sample {
        let mut sample = sample();
        let cache = |level, kind, mib: u64| Cache {
            level,
            kind,
            size_bytes: Some(mib * MIB),
            line_bytes: None,
            ways: None,
            sets: None,
            shared_by: Vec::new(),
            instances: 1,
        };
        sample.run.manifest.machine.caches =
            vec![cache(1, CacheKind::Data, 1), cache(2, CacheKind::Unified, 4)];
        sample.change("read", |cell| cell.working_set_bytes = Some(working_set_mib * MIB));
        sample
    }

    #[test]
    fn the_fragile_zone_reaches_from_half_the_cache_to_one_and_a_half() {
        for (mib, expected) in [(1, false), (2, true), (4, true), (6, true), (7, false)] {
            assert_eq!(!warnings(&with_cache(mib)).is_empty(), expected, "{mib} MiB");
        }
        let found = Warning::FragileZone {
            working_set_bytes: 6 * MIB,
            axis: None,
            cache: "the L2 cache".to_owned(),
            cache_bytes: 4 * MIB,
            spread_inside_percent: Some(0.0),
            spread_outside_percent: None,
        };
        assert_eq!(warnings(&with_cache(6)), [found]);
    }

    #[test]
    fn the_processor_s_caches_do_not_matter_to_cold_reads_but_memory_does() {
        let mut sample = with_cache(4);
        sample.change("read", |cell| cell.cache_state = CacheState::Cold);
        assert_eq!(warnings(&sample), []);
        sample.run.manifest.targets[0].conditions.memory_bytes = Some(5 * MIB);
        let found = warnings(&sample);
        let [Warning::FragileZone { cache, .. }] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(cache, "the memory limit");
    }

    #[test]
    fn a_cache_is_no_boundary_for_who_may_not_use_as_much_memory() {
        let mut sample = with_cache(4);
        sample.run.manifest.targets[0].conditions.memory_bytes = Some(2 * MIB);
        assert_eq!(warnings(&sample), []);
    }

    #[test]
    fn the_spread_is_that_of_the_cell_and_of_its_likes_outside_of_every_zone() {
        // 10 % and 1 % above and below: standard deviations of 10.95 % and 1.095 % with six values.
        let [wide, narrow] =
            [0.1, 0.01].map(|by| [1.0 - by, 1.0 + by].map(|factor| 10_000.0 * factor).repeat(3));
        let mut sample = Sample::new(&["ext4"])
            .benchmark("inside", &[&wide])
            .benchmark("beside", &[&narrow])
            .benchmark("cold", &[&wide])
            .benchmark("also-inside", &[&wide]);
        sample.run.manifest.targets[0].conditions.memory_bytes = Some(64 * MIB);
        let sizes = [("inside", 60), ("beside", 8), ("cold", 8), ("also-inside", 70)];
        for (name, mib) in sizes {
            sample.change(name, |cell| cell.working_set_bytes = Some(mib * MIB));
        }
        sample.change("cold", |cell| cell.cache_state = CacheState::Cold);
        let found = warnings(&sample);
        let [
            Warning::FragileZone {
                spread_inside_percent: Some(inside),
                spread_outside_percent: Some(outside),
                ..
            },
        ] = found.as_slice()
        else {
            panic!("{found:?}")
        };
        assert!((inside - 10.95).abs() < 0.01, "{inside}");
        assert!((outside - 1.095).abs() < 0.001, "{outside}");
    }

    #[test]
    #[expect(clippy::wildcard_enum_match_arm, reason = "a test looks for one of them")]
    fn of_two_replicates_no_spread_is_told() {
        let mut sample = Sample::new(&["ext4"]).benchmark("read", &[&[9_000.0, 11_000.0]]);
        sample.run.manifest.targets[0].conditions.memory_bytes = Some(64 * MIB);
        sample.change("read", |cell| cell.working_set_bytes = Some(64 * MIB));
        let spread = warnings(&sample).into_iter().find_map(|warning| match warning {
            Warning::FragileZone { spread_inside_percent, .. } => Some(spread_inside_percent),
            _ => None,
        });
        assert_eq!(spread, Some(None));
    }
}
