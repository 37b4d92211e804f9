//! The caches of a machine, as they are simulated.

use footprint::simulate::{First, Geometry, Hierarchy, Inclusion, Lower, Policy, Shape};
use record::machine::{Cache, CacheKind};

/// The caches of a machine below each other: least recently used leaves, and nothing is inclusive,
/// as no machine tells. None where it does not tell their shapes, or has shapes that cannot be
/// simulated.
#[must_use]
pub fn caches_of(caches: &[Cache]) -> Option<Hierarchy> {
    let find = |level, kind| {
        let cache = caches.iter().find(|cache| (cache.level, cache.kind) == (level, kind))?;
        let (size_bytes, line_bytes, ways) = (cache.size_bytes?, cache.line_bytes?, cache.ways?);
        Geometry::new(Shape { size_bytes, line_bytes, ways, policy: Policy::Lru }).ok()
    };
    let first = match (find(1, CacheKind::Instruction), find(1, CacheKind::Data)) {
        (Some(instruction), Some(data)) => First::Split { instruction, data },
        _ => First::Unified(find(1, CacheKind::Unified)?),
    };
    let lower = (2..).map_while(|level| find(level, CacheKind::Unified));
    let lower = lower.map(|geometry| Lower { geometry, inclusion: Inclusion::NonInclusive });
    Hierarchy::new(first, lower.collect()).ok()
}

#[cfg(test)]
mod tests {
    use footprint::simulate::Simulation;

    use super::*;

    fn cache(level: u32, kind: CacheKind, size_bytes: u64) -> Cache {
        let (line_bytes, ways, sets) = (Some(64), Some(8), None);
        let (size_bytes, shared_by, instances) = (Some(size_bytes), Vec::new(), 1);
        Cache { level, kind, size_bytes, line_bytes, ways, sets, shared_by, instances }
    }

    #[test]
    fn levels_lie_below_each_other_as_far_as_they_are_told() {
        let mut caches = vec![
            cache(1, CacheKind::Data, 48 << 10),
            cache(1, CacheKind::Instruction, 32 << 10),
            cache(2, CacheKind::Unified, 1 << 20),
            cache(4, CacheKind::Unified, 1 << 26),
        ];
        caches[0].ways = Some(12);
        let levels = |caches: &[Cache]| {
            let report = Simulation::new(&caches_of(caches)?).report();
            Some(report.levels.into_iter().map(|level| level.name).collect::<Vec<_>>())
        };
        assert_eq!(levels(&caches).unwrap(), ["l1i", "l1d", "l2"]);
        assert_eq!(levels(&caches[..1]), None, "no instructions");
        assert_eq!(levels(&[]), None);
    }
}
