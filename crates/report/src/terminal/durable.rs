//! The cost of durability: operations that wait for the device, compared with writing the same
//! amount to memory, and how long single ones of the former take.

use record::{CellReport, Document, MetricReport, Percentile, StandardMetric};
use serde_json::Value;
use textual::{grouped, unbroken};

use super::names;
use crate::units::{self, Wording};

/// The operation that ends on the device.
const DURABLE: &str = "append+fsync";
/// Operations that write as much and end in memory: an append if that was measured, otherwise a
/// write to existing pages, preferably in sequential order.
const CACHED: [(&str, Option<&str>); 3] =
    [("append", None), ("write", Some("sequential")), ("write", None)];
/// The percentiles that are shown for single operations.
const PERCENTILES: [f64; 3] = [50.0, 99.0, 99.9];

/// The cells whose operations end on the device.
pub(super) fn cells(document: &Document) -> Vec<&CellReport> {
    let is_durable = |cell: &&CellReport| {
        cell.curve.is_none()
            && text(cell, "operation") == Some(DURABLE)
            && is_of_one_thread(cell)
            && throughput(cell).is_some()
    };
    document.cells.iter().filter(is_durable).collect()
}

/// A sentence about both throughputs, and one about single operations.
pub(super) fn sentences(document: &Document) -> Vec<String> {
    let durable = cells(document);
    let Some(first) = durable.first() else { return Vec::new() };
    let pairs: Vec<(&CellReport, &CellReport)> =
        durable.iter().filter_map(|&cell| Some((cell, cached(document, cell)?))).collect();
    let beside = pairs.first().map(|(durable, cached)| {
        let each: Vec<String> = pairs.iter().filter_map(|pair| both(pair.0, pair.1)).collect();
        let (durable, cached) = (&durable.title, &cached.title);
        format!("Durable beside cached ({durable}; {cached}): {}.", each.join("; "))
    });
    let singles: Vec<String> = durable.iter().filter_map(|cell| single(cell)).collect();
    let singles = (!singles.is_empty())
        .then(|| format!("Single operations ({}): {}.", first.title, singles.join("; ")));
    beside.into_iter().chain(singles).collect()
}

/// The cell that writes the same amount to memory, on the same target.
fn cached<'a>(document: &'a Document, durable: &CellReport) -> Option<&'a CellReport> {
    let is_beside = |cell: &&CellReport, (operation, access): (&str, Option<&str>)| {
        cell.target == durable.target
            && cell.curve.is_none()
            && text(cell, "operation") == Some(operation)
            && access.is_none_or(|access| text(cell, "access") == Some(access))
            && !cell.cache_state.is_cold()
            && !cell.parameters.contains_key("io_path")
            && cell.parameters.get("request_bytes") == durable.parameters.get("request_bytes")
            && is_of_one_thread(cell)
            && throughput(cell).is_some()
    };
    CACHED.iter().find_map(|&what| document.cells.iter().find(|cell| is_beside(cell, what)))
}

/// `ext4: 1,900 operations/s durable, 480 k operations/s cached, 250x`.
fn both(durable: &CellReport, cached: &CellReport) -> Option<String> {
    let (slow, fast) = (throughput(durable)?, throughput(cached)?);
    let ratio = fast.figure.value / slow.figure.value;
    let times = if ratio < 10.0 { format!("{ratio:.1}") } else { grouped(ratio.round()) };
    let text = format!(
        "{} {} durable, {} cached, {times}x",
        names::label(&durable.target),
        with_interval(units::of_metric(slow, Wording::Short)),
        with_interval(units::of_metric(fast, Wording::Short)),
    );
    (slow.figure.value > 0.0).then(|| unbroken(&text))
}

/// `ext4: p50 480 us [470, 500], p99 ...`.
fn single(cell: &CellReport) -> Option<String> {
    let time = cell.metric(StandardMetric::TIME_PER_OPERATION)?;
    let found = |which: f64| {
        let is_it = |one: &&Percentile| (one.percentile - which).abs() < 1e-9;
        let one = time.percentiles.iter().find(is_it)?;
        let value = with_interval(units::figure(
            &time.unit,
            one.value,
            one.interval.as_ref(),
            Wording::Short,
        ));
        let without = match one.operations_needed {
            Some(needed) => format!(" (its interval takes {} operations)", grouped(needed as f64)),
            None => String::new(),
        };
        Some(unbroken(&format!("p{which} {value}{without}")))
    };
    let each: Vec<String> = PERCENTILES.into_iter().filter_map(found).collect();
    (!each.is_empty()).then(|| format!("{} {}", names::label(&cell.target), each.join(", ")))
}

fn with_interval(figure: units::Figure) -> String {
    let interval = figure.interval.map(|interval| format!(" {interval}"));
    format!("{}{}", figure.value, interval.unwrap_or_default())
}

fn throughput(cell: &CellReport) -> Option<&MetricReport> {
    cell.metric(StandardMetric::THROUGHPUT)
}

fn is_of_one_thread(cell: &CellReport) -> bool {
    cell.parameters.get("threads").and_then(Value::as_u64) == Some(1)
}

fn text<'a>(cell: &'a CellReport, name: &str) -> Option<&'a str> {
    cell.parameters.get(name).and_then(Value::as_str)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::sample::{Sample, around};

    /// Commits of 500 us and writes of 2 us on two targets, and reads.
    fn sample(operations: u64) -> Sample {
        let times = |centre| around(centre, 8);
        let (slow, fast) = (times(500_000.0), times(2_000.0));
        let mut sample = Sample::new(&["ext4", "xfs"])
            .operations(operations)
            .benchmark("commit", &[&slow, &slow])
            .benchmark("write", &[&fast, &fast])
            .benchmark("read", &[&fast, &fast]);
        for (name, operation) in [("commit", DURABLE), ("write", "write"), ("read", "read")] {
            sample.change(name, |cell| {
                cell.parameters.insert("operation".to_owned(), json!(operation));
                cell.parameters.insert("access".to_owned(), json!("sequential"));
                cell.parameters.insert("request_bytes".to_owned(), json!(4096));
            });
        }
        sample
    }

    fn said(sample: &Sample) -> Vec<String> {
        let said = sentences(&sample.document());
        said.into_iter().map(|text| text.replace(textual::UNBREAKABLE, " ")).collect()
    }

    #[test]
    fn what_is_durable_stands_beside_what_is_cached() {
        let [beside, singles] = &said(&sample(1000))[..] else { panic!("two sentences") };
        let begin = "Durable beside cached (commit; write): ext4 2.00 k op/s [";
        assert!(beside.starts_with(begin), "{beside}");
        assert!(beside.contains("] durable, 500 k op/s ["), "{beside}");
        assert!(beside.contains("] cached, 250x; xfs 2.00 k op/s ["), "{beside}");
        assert!(singles.starts_with("Single operations (commit): ext4 p50 501 us ["), "{singles}");
        assert!(singles.contains("p99.9 "), "{singles}");
    }

    #[test]
    fn a_percentile_without_an_interval_says_what_it_takes() {
        let [_, singles] = &said(&sample(400))[..] else { panic!("two sentences") };
        assert!(singles.contains("(its interval takes 16,800 operations)"), "{singles}");
    }

    #[test]
    fn nothing_is_set_beside_another_amount_or_said_without_commits() {
        let mut other = sample(400);
        other.change("write", |cell| {
            cell.parameters.insert("request_bytes".to_owned(), json!(1 << 20));
        });
        assert_eq!(said(&other).len(), 1, "single operations alone");
        other.change("commit", |cell| {
            cell.parameters.insert("operation".to_owned(), json!("append"));
        });
        assert_eq!(said(&other), Vec::<String>::new());
    }
}
