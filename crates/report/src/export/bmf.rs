//! The Bencher Metric Format, which <https://bencher.dev> accepts with `--adapter json`: an object
//! of benchmarks by name, each an object of measures by slug, each with a value and its bounds.
//!
//! Source: `lib/bencher_adapter/src/adapters/json.rs` and `JsonNewMetric` of bencherdev/bencher.

use std::collections::BTreeMap;

use record::{
    CellReport, CliffReport, Document, IntervalReport, PercentileOf, Run, StandardMetric,
};
use serde::Serialize;
use textual::plain_json;

use super::names::Names;
use super::{Export, NOT_MEASURED, Omissions, SEARCHED};

/// Bencher's built-in measure of times, in nanoseconds. The name is theirs, not ours.
const LATENCY: &str = "latency";

/// A figure, with bounds if it has an interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct Metric {
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lower_value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upper_value: Option<f64>,
}

impl Metric {
    fn new(value: f64, interval: Option<IntervalReport>) -> Self {
        let lower_value = interval.map(|interval| interval.low);
        let upper_value = interval.map(|interval| interval.high);
        Self { value, lower_value, upper_value }
    }
}

type Measures = BTreeMap<String, Metric>;

/// Each planned cell with all its metrics, and each cliff with its position.
///
/// Values are medians, bounds are those of the median's interval. The positions that a search
/// measured on its way are left out, since the next run will take a different path.
#[must_use]
pub fn render_bmf(document: &Document, run: &Run) -> Export {
    let mut benchmarks: BTreeMap<String, Measures> = BTreeMap::new();
    let (mut names, mut omissions) = (Names::default(), Omissions::default());
    for (index, cell) in document.cells.iter().enumerate() {
        if index >= run.manifest.cells.len() {
            omissions.add(SEARCHED);
        } else if cell.metrics.is_empty() {
            omissions.add(NOT_MEASURED);
        } else {
            benchmarks.insert(names.of_cell(cell), measures(cell));
        }
    }
    for cliff in &document.cliffs {
        benchmarks.insert(names.of_cliff(cliff), position(cliff));
    }
    let text = serde_json::to_string_pretty(&benchmarks).expect("all keys are text");
    let mut text = plain_json(text);
    text.push('\n');
    Export { text, left_out: omissions.0 }
}

fn measures(cell: &CellReport) -> Measures {
    let has_latency = cell.metrics.iter().any(|metric| metric.is(StandardMetric::LATENCY));
    let mut measures = Measures::new();
    for metric in &cell.metrics {
        // With operations in flight, the latency differs from the time per operation.
        let is_latency = metric.is(StandardMetric::TIME_PER_OPERATION) && !has_latency;
        let name = if is_latency { LATENCY } else { metric.name.as_str() };
        measures.insert(slug(name), Metric::new(metric.median, metric.interval));
        for percentile in &metric.percentiles {
            // These differ and have different names: a threshold for one does not apply to the
            // other.
            let of = match percentile.of {
                PercentileOf::EachReplicate => "",
                PercentileOf::AllOperations => " of all operations",
            };
            let name = format!("latency-p{}{of}", percentile.percentile);
            measures.insert(slug(&name), Metric::new(percentile.value, percentile.interval));
        }
    }
    measures
}

/// Where the cliff is: the geometric mean of the ends of its interval, or the arithmetic one if it
/// extends down to 0.
fn position(cliff: &CliffReport) -> Measures {
    let (low, high) = (cliff.low, cliff.high);
    let value = if low > 0.0 { (low * high).sqrt() } else { f64::midpoint(low, high) };
    let metric = Metric { value, lower_value: Some(low), upper_value: Some(high) };
    [(slug(&format!("position-{}", cliff.unit)), metric)].into()
}

/// Lower-case letters and digits separated by single hyphens, as Bencher requires of a slug.
fn slug(name: &str) -> String {
    let lower = name.to_lowercase();
    let parts = lower.split(|character: char| !character.is_ascii_alphanumeric());
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use record::Axis;
    use serde_json::{Value, json};

    use super::*;
    use crate::sample::{Sample, around};
    use crate::sample_search::{MIB, of_cache, plan, searched};

    fn exported(sample: &Sample) -> (Document, Value, Export) {
        let document = sample.document();
        let export = render_bmf(&document, &sample.run);
        (document, serde_json::from_str(&export.text).unwrap(), export)
    }

    #[test]
    fn figures_and_bounds_are_those_of_the_document() {
        let (document, value, export) = exported(&Sample::four_targets());
        assert!(export.left_out.is_empty());
        assert_eq!(value.as_object().unwrap().len(), 4);
        for cell in &document.cells {
            let of_cell = &value[format!("{}/survey/create", cell.target)];
            for (slug, metric) in ["latency", "throughput"].iter().zip(&cell.metrics) {
                let interval = metric.interval.unwrap();
                let expected = json!({"value": metric.median, "lower_value": interval.low,
                    "upper_value": interval.high});
                assert_eq!(of_cell[slug], expected);
            }
            assert!(of_cell["latency-p50"]["value"].is_f64());
        }
    }

    #[test]
    fn percentiles_of_all_operations_have_a_name_of_their_own() {
        let sample = Sample::new(&["a"]).operations(50);
        let (document, value, _) = exported(&sample.benchmark("create", &[&around(100.0, 8)]));
        let percentiles = &document.cells[0].metrics[0].percentiles;
        let of_cell = &value["a/survey/create"];
        assert_eq!(of_cell["latency-p90"]["value"], json!(percentiles[1].value));
        assert!(of_cell["latency-p90"]["upper_value"].is_f64());
        let whole = json!({"value": percentiles[3].value});
        assert_eq!(of_cell["latency-p99-of-all-operations"], whole);
        assert_eq!(of_cell.get("latency-p99"), None);
    }

    #[test]
    fn there_are_no_bounds_without_an_interval_and_nothing_of_a_cell_without_a_figure() {
        let sample = Sample::new(&["a", "b"]).benchmark("create", &[&around(100.0, 5)]);
        let (_, value, export) = exported(&sample);
        let latency = value["a/survey/create"]["latency"].as_object().unwrap();
        assert_eq!(latency.keys().collect::<Vec<_>>(), ["value"]);
        assert!(value.get("b/survey/create").is_none());
        assert_eq!(export.left_out[0].to_string(), format!("1 cell is left out: {NOT_MEASURED}"));
    }

    #[test]
    fn a_latency_in_flight_is_not_overwritten_by_the_time_per_operation() {
        let mut sample = Sample::new(&["a"]).benchmark("read", &[&around(100.0, 6)]);
        sample.change("read", |cell| cell.metrics[1].name = "latency".to_owned());
        let (document, value, _) = exported(&sample);
        let of_cell = &value["a/survey/read"];
        let metrics = &document.cells[0].metrics;
        assert_eq!(of_cell["time-per-operation"]["value"], metrics[0].median);
        assert_eq!(of_cell["latency"]["value"], metrics[1].median);
    }

    #[test]
    fn of_a_search_the_cliff_remains() {
        let plan = plan(Axis::WorkingSet, "throughput");
        let (document, value, export) = exported(&searched(&plan, 40, of_cache(64.0 * MIB)));
        let [cliff] = &document.cliffs[..] else { panic!("one cliff") };
        let position = &value["ext4/cliff/working-set/cliff"]["position-bytes"];
        assert_eq!(position["lower_value"], cliff.low);
        assert_eq!(position["upper_value"], cliff.high);
        assert_eq!(value.as_object().unwrap().len(), 1);
        assert_eq!(export.left_out[0].cells, document.cells.len());
    }

    #[test]
    fn hostile_labels_survive() {
        let odd = "a\"b\\c\n</script>\u{1}é";
        let (_, value, _) = exported(&Sample::new(&[odd]).benchmark("create", &[&[1.0]]));
        assert!(value.get(format!("{odd}/survey/create")).is_some());
    }

    #[test]
    fn slugs_are_what_bencher_takes() {
        assert_eq!(slug("time_per_operation"), "time-per-operation");
        assert_eq!(slug("latency-p99.9"), "latency-p99-9");
        assert_eq!(slug("--A  b_"), "a-b");
    }
}
