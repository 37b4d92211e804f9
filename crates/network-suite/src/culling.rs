//! What came of a cache that is too small, for the closing tables.

use record::{Cell, Replicate};
use textual::paragraph;

use crate::metrics::{CACHE_HIT, CULLED, HELD, OBJECTS};
use crate::plan::NetworkBenchmark;
use crate::table::{counted, values};

/// How many files the cache removed and held, and what it had; nothing for other benchmarks.
pub(crate) fn text(cell: &Cell, replicates: &[&Replicate], width: usize) -> String {
    if cell.benchmark != NetworkBenchmark::Cull.name() || replicates.is_empty() {
        return String::new();
    }
    let count = |name: &str| counted(&values(cell, replicates, name));
    let rounded = |value: &f64| (value * 10.0).round() / 10.0;
    let hit: Vec<f64> = values(cell, replicates, CACHE_HIT).iter().map(rounded).collect();
    let held = values(cell, replicates, HELD);
    let megabytes: Vec<f64> = held.iter().map(|bytes| rounded(&(bytes / 1e6))).collect();
    let line = format!(
        "{}: {} % of the bytes came from the cache; it culled {} files and held {} in the end, \
         with {} MB of content",
        cell.target,
        counted(&hit),
        count(CULLED),
        count(OBJECTS),
        counted(&megabytes),
    );
    paragraph("  ", "  ", &line, width)
}
