//! The metrics of footprints: what the figures are called in cells of a run.
//!
//! Of all, less is better. A footprint whose repetitions are merged counts instructions, loads and
//! stores of all of them.

use crate::touched::Figures;
use caches::Report;

/// A metric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metric {
    /// Its standard name in snake case.
    pub name: String,
    /// The unit of its values: `count` or `bytes`.
    pub unit: &'static str,
    /// What it counts, in a sentence.
    pub doc: String,
}

/// A metric with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// The metric.
    pub metric: Metric,
    /// In the metric's unit.
    pub value: u64,
}

type Read = fn(&Figures) -> u64;

/// Name, unit, sentence, and where the value is.
const OF_FIGURES: [(&str, &str, &str, Read); 17] = [
    ("instructions", "count", "instructions executed", |f| f.instructions),
    ("instruction_lines", "count", "64-byte lines with bytes of executed instructions", |f| {
        f.instruction_lines
    }),
    ("data_lines", "count", "64-byte lines with bytes that were accessed", |f| f.data_lines),
    ("instruction_bytes", "bytes", "bytes of executed instructions, each counted once", |f| {
        f.instruction_bytes
    }),
    ("data_bytes", "bytes", "bytes that were accessed, each counted once", |f| f.data_bytes),
    (
        "instruction_bytes_unused",
        "bytes",
        "bytes in instruction lines that belong to no executed instruction",
        |f| f.instruction_bytes_unused,
    ),
    ("data_bytes_unused", "bytes", "bytes in data lines that were not accessed", |f| {
        f.data_bytes_unused
    }),
    (
        "instruction_lines_used_once",
        "count",
        "instruction lines in which no byte was executed more than once",
        |f| f.instruction_lines_used_once,
    ),
    ("data_lines_used_once", "count", "data lines touched by exactly one access", |f| {
        f.data_lines_used_once
    }),
    ("data_lines_loaded", "count", "data lines with bytes that were read", |f| f.data_lines_loaded),
    ("data_lines_stored", "count", "data lines with bytes that were written", |f| {
        f.data_lines_stored
    }),
    ("loads", "count", "accesses that read", |f| f.loads),
    ("stores", "count", "accesses that write", |f| f.stores),
    (
        "exception_instructions",
        "count",
        "instructions of page faults and other exceptions, included in the total",
        |f| f.exception_instructions,
    ),
    (
        "interrupt_instructions",
        "count",
        "instructions of interrupts, not included in any other metric",
        |f| f.interrupt_instructions,
    ),
    (
        "other_task_instructions",
        "count",
        "instructions of other tasks, not included in any other metric",
        |f| f.other_task_instructions,
    ),
    (
        "user_instructions",
        "count",
        "instructions of the user side, not included in any other metric of a machine",
        |f| f.user_instructions,
    ),
];

/// The metrics of a footprint.
#[must_use]
pub fn of_figures(figures: &Figures) -> Vec<Value> {
    let value = |&(name, unit, doc, read): &(&str, &'static str, &str, Read)| Value {
        metric: Metric { name: name.to_owned(), unit, doc: doc.to_owned() },
        value: read(figures),
    };
    OF_FIGURES.iter().map(value).collect()
}

/// The metrics of simulated caches: misses of each level, and what was or is to be written back.
#[must_use]
pub fn of_report(report: &Report) -> Vec<Value> {
    let value = |name: String, unit, doc: String, value| Value {
        metric: Metric { name, unit, doc },
        value,
    };
    let misses = report.levels.iter().map(|level| {
        let name = &level.name;
        let doc = format!("lines looked up in {name} and not found");
        value(format!("{name}_misses"), "count", doc, level.misses())
    });
    let last = report.levels.last().map_or(0, |level| level.write_backs);
    let dirty = report.levels.iter().map(|level| level.dirty_bytes).sum();
    let others = [
        ("write_backs", "count", "dirty lines written back from the last level to memory", last),
        ("dirty_bytes", "bytes", "bytes in dirty lines at the end, over all levels", dirty),
        (
            "straddling",
            "count",
            "accesses and fetches that span several lines",
            report.straddling.total(),
        ),
    ];
    let others =
        others.map(|(name, unit, doc, count)| value(name.to_owned(), unit, doc.to_owned(), count));
    misses.chain(others).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_figure_is_a_metric_of_its_name() {
        let figures = serde_json::to_value(Figures::default()).expect("numbers");
        let fields: HashSet<_> = figures.as_object().expect("fields").keys().cloned().collect();
        let names = of_figures(&Figures::default()).into_iter().map(|value| value.metric.name);
        assert_eq!(names.collect::<HashSet<_>>(), fields);
        for value in of_figures(&Figures { data_lines: 7, ..Figures::default() }) {
            assert_eq!(value.value, if value.metric.name == "data_lines" { 7 } else { 0 });
        }
    }
}
