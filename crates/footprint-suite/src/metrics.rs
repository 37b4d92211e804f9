//! The metrics of an operation's footprint.

use caches::{Hierarchy, LevelReport, Report};
use footprint::touched::Figures;
use record::{Better, MetricDefinition};

/// A metric that is counted from a trace.
struct CountedMetric {
    name: &'static str,
    unit: &'static str,
    better: Better,
    count: fn(&Figures) -> u64,
}

const fn cost(name: &'static str, unit: &'static str, count: fn(&Figures) -> u64) -> CountedMetric {
    CountedMetric { name, unit, better: Better::Lower, count }
}

/// A count that is kept separate from the operation. Neither lower nor higher values are better.
const fn separate(name: &'static str, count: fn(&Figures) -> u64) -> CountedMetric {
    CountedMetric { name, unit: "instructions", better: Better::Neither, count }
}

/// All metrics that are counted; the first is the primary one. [`Figures`] describes each.
const COUNTED: [CountedMetric; 16] = [
    cost("instruction_lines", "lines", |one| one.instruction_lines),
    cost("data_lines", "lines", |one| one.data_lines),
    cost("instructions", "instructions", |one| one.instructions),
    cost("instruction_bytes", "bytes", |one| one.instruction_bytes),
    cost("data_bytes", "bytes", |one| one.data_bytes),
    cost("instruction_bytes_unused", "bytes", |one| one.instruction_bytes_unused),
    cost("data_bytes_unused", "bytes", |one| one.data_bytes_unused),
    cost("instruction_lines_used_once", "lines", |one| one.instruction_lines_used_once),
    cost("data_lines_used_once", "lines", |one| one.data_lines_used_once),
    cost("data_lines_loaded", "lines", |one| one.data_lines_loaded),
    cost("data_lines_stored", "lines", |one| one.data_lines_stored),
    cost("loads", "accesses", |one| one.loads),
    cost("stores", "accesses", |one| one.stores),
    separate("exception_instructions", |one| one.exception_instructions),
    separate("interrupt_instructions", |one| one.interrupt_instructions),
    separate("other_task_instructions", |one| one.other_task_instructions),
];

/// The metrics of every cell, including the misses and write-backs of the simulated caches, if any.
pub(crate) fn definitions(caches: Option<&Hierarchy>) -> Vec<MetricDefinition> {
    let counted = COUNTED.iter().map(|one| MetricDefinition::new(one.name, one.unit, one.better));
    let levels = caches.map(level_names).unwrap_or_default();
    let simulated = levels.iter().flat_map(|level| {
        let lines =
            |what: &str| MetricDefinition::new(&format!("{level}_{what}"), "lines", Better::Lower);
        [lines("misses"), lines("write_backs")]
    });
    counted.chain(simulated).collect()
}

/// The values of [`definitions`], in the same order, for one execution of an operation.
pub(crate) fn values(figures: &Figures, simulated: Option<&Report>) -> Vec<f64> {
    let counted = COUNTED.iter().map(|one| (one.count)(figures));
    let levels = simulated.map(|report| report.levels.as_slice()).unwrap_or_default();
    let simulated = levels.iter().flat_map(|level| [level.misses(), level.write_backs]);
    counted.chain(simulated).map(as_value).collect()
}

/// Converts a count. Counts of one operation are far below 2^53, up to which all are exact.
#[expect(clippy::cast_precision_loss, reason = "exact up to 2^53")]
fn as_value(count: u64) -> f64 {
    count as f64
}

fn level_names(caches: &Hierarchy) -> Vec<String> {
    let empty = caches::Simulation::new(caches).report();
    empty.levels.iter().map(|level: &LevelReport| level.name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use caches::{CachePolicy, FirstLevel, Geometry, Inclusion, LowerLevel, Shape, Simulation};

    use super::*;

    #[test]
    fn there_is_a_value_for_every_metric() {
        let geometry = |size_bytes| {
            let policy = CachePolicy::Lru;
            Geometry::new(Shape { size_bytes, line_bytes: 64, ways: 8, policy }).unwrap()
        };
        let first = FirstLevel::Split { instruction: geometry(32 << 10), data: geometry(32 << 10) };
        let lower = LowerLevel { geometry: geometry(1 << 20), inclusion: Inclusion::NonInclusive };
        let caches = Hierarchy::new(first, vec![lower]).unwrap();
        let figures = Figures { instruction_lines: 3, data_lines: 4, ..Figures::default() };
        for caches in [None, Some(&caches)] {
            let report = caches.map(|caches| Simulation::new(caches).report());
            let (names, values) = (definitions(caches), values(&figures, report.as_ref()));
            assert_eq!(names.len(), values.len());
            assert_eq!(values[..2], [3.0, 4.0]);
        }
        let names: Vec<String> =
            definitions(Some(&caches)).into_iter().map(|metric| metric.name).collect();
        assert_eq!(names[0], "instruction_lines");
        assert!(names.contains(&"l1i_misses".to_owned()), "{names:?}");
        assert!(names.contains(&"l2_write_backs".to_owned()), "{names:?}");
    }
}
