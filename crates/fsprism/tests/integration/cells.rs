//! The cells of a document, and their metrics.

use serde_json::Value;

/// All cells.
pub(crate) fn cells(document: &Value) -> &[Value] {
    document["cells"].as_array().expect("a document has cells")
}

/// A metric of a cell, if it has it.
pub(crate) fn metric<'a>(cell: &'a Value, name: &str) -> Option<&'a Value> {
    let metrics = cell["metrics"].as_array().expect("a cell has metrics");
    metrics.iter().find(|metric| metric["name"] == name)
}

/// The median of a metric that the cell has.
#[track_caller]
pub(crate) fn median(cell: &Value, name: &str) -> f64 {
    let metric = metric(cell, name).unwrap_or_else(|| panic!("no {name}: {cell}"));
    metric["median"].as_f64().expect("there are replicates")
}
