//! Which caches are simulated: those of a machine, or those that a run has recorded.

use caches::{
    CacheError, CachePolicy, FirstLevel, Geometry, Hierarchy, HierarchyError, Inclusion,
    LevelReport, LowerLevel, Shape, Simulation,
};
use record::machine::{Cache, CacheKind};
use record::{CachesOrigin, Replacement, RunRecord, SimulatedCache, SimulatedCaches};
use thiserror::Error;

/// Why the caches that a run has recorded cannot be simulated.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RecordedCachesError {
    /// One of them is not a valid cache.
    #[error("the run's manifest has a cache {name} that cannot be simulated: {source}")]
    Cache {
        /// Its name.
        name: String,
        /// Why.
        source: CacheError,
    },
    /// They cannot be stacked.
    #[error("the run's manifest has caches that cannot be simulated: {0}")]
    Hierarchy(#[from] HierarchyError),
    /// Their names are not those of a hierarchy's levels.
    #[error("the run's manifest names its simulated caches {}, which do not form a hierarchy",
        .0.join(", "))]
    Names(Vec<String>),
}

/// The cache hierarchy of a machine. Replacement is assumed to be LRU and no level inclusive,
/// because machines report neither. `None` if the machine does not report the caches' shapes, or
/// they cannot be simulated.
#[must_use]
pub fn caches_of(caches: &[Cache]) -> Option<Hierarchy> {
    let find = |level, kind| {
        let cache = caches.iter().find(|cache| (cache.level, cache.kind) == (level, kind))?;
        let (size_bytes, line_bytes, ways) = (cache.size_bytes?, cache.line_bytes?, cache.ways?);
        Geometry::new(Shape { size_bytes, line_bytes, ways, policy: CachePolicy::Lru }).ok()
    };
    let first = match (find(1, CacheKind::Instruction), find(1, CacheKind::Data)) {
        (Some(instruction), Some(data)) => FirstLevel::Split { instruction, data },
        _ => FirstLevel::Unified(find(1, CacheKind::Unified)?),
    };
    let lower = (2..).map_while(|level| find(level, CacheKind::Unified));
    let lower = lower.map(|geometry| LowerLevel { geometry, inclusion: Inclusion::NonInclusive });
    Hierarchy::new(first, lower.collect()).ok()
}

/// The caches in the form that a run records.
#[must_use]
pub fn recorded(hierarchy: &Hierarchy, origin: CachesOrigin) -> SimulatedCaches {
    let cache = |level: LevelReport| SimulatedCache {
        name: level.name,
        size_bytes: level.size_bytes,
        line_bytes: level.line_bytes,
        ways: level.ways,
        replacement: match level.policy {
            CachePolicy::Lru => Replacement::Lru,
            CachePolicy::TreePlru => Replacement::TreePlru,
            CachePolicy::Random { seed } => Replacement::Random { seed },
        },
        inclusive: level.inclusion == Inclusion::Inclusive,
    };
    let levels = Simulation::new(hierarchy).report().levels;
    SimulatedCaches { origin, caches: levels.into_iter().map(cache).collect() }
}

/// The caches that a run has simulated, or those of its machine if it recorded none.
///
/// # Errors
/// The recorded caches cannot be simulated.
pub fn caches_of_run(
    run: &RunRecord,
    machine: &[Cache],
) -> Result<Option<Hierarchy>, RecordedCachesError> {
    match &run.simulated_caches {
        Some(recorded) => hierarchy(recorded).map(Some),
        None => Ok(caches_of(machine)),
    }
}

fn hierarchy(recorded: &SimulatedCaches) -> Result<Hierarchy, RecordedCachesError> {
    let caches = &recorded.caches[..];
    let names: Vec<&str> = caches.iter().map(|cache| cache.name.as_str()).collect();
    let (first, lower) = match names.as_slice() {
        ["l1i", "l1d", ..] => {
            let (instruction, data) = (geometry(&caches[0])?, geometry(&caches[1])?);
            (FirstLevel::Split { instruction, data }, &caches[2..])
        }
        ["l1", ..] => (FirstLevel::Unified(geometry(&caches[0])?), &caches[1..]),
        ["l1d", ..] => (FirstLevel::Data(geometry(&caches[0])?), &caches[1..]),
        _ => return Err(wrong_names(&names)),
    };
    let is_named = |(level, cache): (u32, &SimulatedCache)| cache.name == format!("l{level}");
    if !(2..).zip(lower).all(is_named) {
        return Err(wrong_names(&names));
    }
    let lower = lower.iter().map(|cache| {
        let inclusion = match cache.inclusive {
            true => Inclusion::Inclusive,
            false => Inclusion::NonInclusive,
        };
        Ok(LowerLevel { geometry: geometry(cache)?, inclusion })
    });
    Ok(Hierarchy::new(first, lower.collect::<Result<_, RecordedCachesError>>()?)?)
}

fn wrong_names(names: &[&str]) -> RecordedCachesError {
    RecordedCachesError::Names(names.iter().map(|&name| name.to_owned()).collect())
}

fn geometry(cache: &SimulatedCache) -> Result<Geometry, RecordedCachesError> {
    let policy = match cache.replacement {
        Replacement::Lru => CachePolicy::Lru,
        Replacement::TreePlru => CachePolicy::TreePlru,
        Replacement::Random { seed } => CachePolicy::Random { seed },
    };
    let SimulatedCache { size_bytes, line_bytes, ways, .. } = *cache;
    let geometry = Geometry::new(Shape { size_bytes, line_bytes, ways, policy });
    geometry.map_err(|source| RecordedCachesError::Cache { name: cache.name.clone(), source })
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn what_is_recorded_is_simulated_again() {
        let shape = |size_bytes, policy| {
            Geometry::new(Shape { size_bytes, line_bytes: 64, ways: 4, policy }).unwrap()
        };
        let geometry = shape(1 << 20, CachePolicy::Random { seed: 7 });
        let (inclusion, data) = (Inclusion::Inclusive, shape(1 << 14, CachePolicy::TreePlru));
        let instruction = shape(1 << 13, CachePolicy::Lru);
        let lower = vec![LowerLevel { geometry, inclusion }];
        for first in [
            FirstLevel::Split { instruction, data },
            FirstLevel::Unified(instruction),
            FirstLevel::Data(data),
        ] {
            let caches = Hierarchy::new(first, lower.clone()).unwrap();
            let kept = recorded(&caches, CachesOrigin::Given);
            let read = serde_json::to_string(&kept).unwrap();
            assert_eq!(serde_json::from_str::<SimulatedCaches>(&read).unwrap(), kept);
            assert_eq!(hierarchy(&kept), Ok(caches));
        }
    }

    #[test]
    fn what_cannot_be_simulated_is_refused() {
        let l1 = Geometry::new(Shape {
            size_bytes: 1 << 13,
            line_bytes: 64,
            ways: 4,
            policy: CachePolicy::Lru,
        });
        let caches = Hierarchy::new(FirstLevel::Unified(l1.unwrap()), Vec::new()).unwrap();
        let kept = recorded(&caches, CachesOrigin::Machine);
        let refused = |change: fn(&mut Vec<SimulatedCache>)| {
            let mut changed = kept.clone();
            change(&mut changed.caches);
            hierarchy(&changed).unwrap_err().to_string()
        };
        assert!(refused(|caches| caches[0].ways = 3).contains("a cache l1 that cannot be"));
        assert!(refused(|caches| caches[0].name = "l1i".to_owned()).contains("caches l1i, which"));
        assert!(refused(|caches| caches.push(caches[0].clone())).contains("caches l1, l1, which"));
        let long = |caches: &mut Vec<SimulatedCache>| {
            caches.push(SimulatedCache {
                name: "l2".to_owned(),
                line_bytes: 32,
                ..caches[0].clone()
            });
        };
        assert!(refused(long).contains("l2 has lines of 32 bytes"));
    }
}
