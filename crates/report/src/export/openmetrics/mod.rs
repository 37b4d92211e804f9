//! `OpenMetrics` 1.0, the text format that Prometheus and related tools accept.
//!
//! Every metric of a cell is a family of gauges in base units (seconds, bytes, ratios), and the
//! ends of its interval are two more families: a label for them would make every sum over a family
//! meaningless. Latencies are histograms. Only features of the older Prometheus text format are
//! used, so that `node_exporter` accepts the file; hence no quotes in help texts and no family of
//! type `info`.
//!
//! Source: <https://github.com/prometheus/OpenMetrics>, specification/OpenMetrics.md, version 1.0.

mod buckets;
mod family;

use record::{CellReport, Document, IntervalReport};

use super::latencies::{CellLatencies, Latencies};
use super::names::word;
use super::{Export, NOT_MEASURED, Omissions};
use buckets::cumulative;
use family::{Families, FamilyType, Labels, in_base_unit};

/// All cells, cliffs, and information about the run.
#[must_use]
pub fn render_openmetrics(document: &Document, latencies: &Latencies) -> Export {
    let (mut families, mut omissions) = (Families::default(), Omissions::default());
    let of_run = labels_of_run(document);
    add_run(&mut families, document, &of_run);
    for (index, cell) in document.cells.iter().enumerate() {
        if cell.metrics.is_empty() {
            omissions.add(NOT_MEASURED);
            continue;
        }
        let labels = labels_of(&of_run, cell);
        add_cell(&mut families, cell, &labels);
        if let CellLatencies::Known(known) = latencies.of_cell(index) {
            let help = "Time of single operations, all replicates together.";
            let name = families.open("operation_latency", "seconds", FamilyType::Histogram, help);
            for (bound, count) in cumulative(known) {
                let labels = labels.with("le", &bound);
                families.sample(&name, "_bucket", &labels, count as f64);
            }
            families.sample(&name, "_count", &labels, known.count as f64);
            families.sample(&name, "_sum", &labels, known.sum_ns as f64 / 1e9);
        }
    }
    add_cliffs(&mut families, document, &of_run);
    Export { text: families.text(), left_out: omissions.0 }
}

/// The labels that distinguish the samples of two runs.
fn labels_of_run(document: &Document) -> Labels {
    let version = document.tool.as_ref().map_or("", |tool| tool.version.as_str());
    Labels::default()
        .with("run", &document.run.started)
        .with("tool", format!("fsprism {version}").trim_end())
}

fn labels_of(of_run: &Labels, cell: &CellReport) -> Labels {
    of_run
        .with("target", &cell.target)
        .with("suite", &cell.suite)
        .with("benchmark", &cell.benchmark)
        .with("dimension", cell.dimension.name())
        .with("cache_state", &word(&cell.cache_state))
}

fn add_run(families: &mut Families, document: &Document, of_run: &Labels) {
    let labels = of_run.with("command", &document.run.command).with("suite", &document.run.suite);
    let name =
        families.open("run_info", "", FamilyType::Gauge, "What was run, and when; always 1.");
    families.sample(&name, "", &labels, 1.0);
}

fn add_cell(families: &mut Families, cell: &CellReport, labels: &Labels) {
    let mut add = |base: &str, unit: &str, help: &str, value: f64| {
        let name = families.open(base, unit, FamilyType::Gauge, help);
        families.sample(&name, "", labels, value);
    };
    add("replicates", "", "Replicates that count.", f64::from(cell.replicates));
    for metric in &cell.metrics {
        let (unit, factor) = in_base_unit(&metric.unit);
        let base = family::base_name(&metric.name, unit);
        add(&base, unit, &format!("Median over replicates of {base}."), metric.median * factor);
        let Some(IntervalReport { level, low, high }) = metric.interval else { continue };
        for (end, value) in [("low", low), ("high", high)] {
            let name = format!("{base}_interval_{end}");
            let percent = level * 100.0;
            let help = format!("{end} end of the {percent} % interval of the median of {base}.");
            add(&name, unit, &help, value * factor);
        }
    }
}

fn add_cliffs(families: &mut Families, document: &Document, of_run: &Labels) {
    let mut numbers = std::collections::BTreeMap::new();
    for cliff in &document.cliffs {
        let number: &mut u32 = numbers.entry((&cliff.target, cliff.axis.name())).or_default();
        *number += 1;
        let labels = of_run
            .with("target", &cliff.target)
            .with("axis", cliff.axis.name())
            .with("number", &number.to_string());
        let (unit, factor) = in_base_unit(&cliff.unit);
        for (end, value) in [("low", cliff.low), ("high", cliff.high)] {
            let help = format!("{end} end of the interval in which a curve breaks.");
            let name =
                families.open(&format!("cliff_position_{end}"), unit, FamilyType::Gauge, &help);
            families.sample(&name, "", &labels, value * factor);
        }
    }
}

#[cfg(test)]
mod tests;
