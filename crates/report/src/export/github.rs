//! The custom JSON of the GitHub action `benchmark-action/github-action-benchmark`: an array of
//! results with name, unit and value, all of one direction, which the action's `tool` input names.
//!
//! Source: `BenchmarkResult` in its `src/extract.ts`, `src/extractRangeInfo.ts`.

use record::{Better, CellReport, Document, IntervalReport, MetricReport, Run};
use serde::Serialize;
use textual::plain_json;

use super::names::{Names, word};
use super::{Export, NOT_MEASURED, Omissions, SEARCHED};

const NO_SUCH_METRIC: &str = "no metric is better in this direction";

/// Which direction is better for all results of a file; the action accepts one per file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// `tool: customSmallerIsBetter`.
    Smaller,
    /// `tool: customBiggerIsBetter`.
    Bigger,
}

#[derive(Debug, Serialize)]
struct BenchmarkResult {
    name: String,
    unit: String,
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<String>,
    extra: String,
}

/// One result per planned cell: its first metric of this direction. Most cells have one of each, so
/// either file is complete, and a project uses the one whose alerts it wants.
#[must_use]
pub fn render_github(document: &Document, run: &Run, direction: Direction) -> Export {
    let better = match direction {
        Direction::Smaller => Better::Lower,
        Direction::Bigger => Better::Higher,
    };
    let (mut results, mut names, mut omissions) =
        (Vec::new(), Names::default(), Omissions::default());
    for (index, cell) in document.cells.iter().enumerate() {
        let metric = cell.metrics.iter().find(|metric| metric.better == better);
        match metric {
            _ if index >= run.manifest.cells.len() => omissions.add(SEARCHED),
            None if cell.metrics.is_empty() => omissions.add(NOT_MEASURED),
            None => omissions.add(NO_SUCH_METRIC),
            Some(metric) => results.push(result(&names.of_cell(cell), cell, metric)),
        }
    }
    let text = serde_json::to_string_pretty(&results).expect("all keys are text");
    let mut text = plain_json(text);
    text.push('\n');
    Export { text, left_out: omissions.0 }
}

/// The name includes the metric, because the action compares results of the same name, and results
/// of different directions must not be compared.
fn result(name: &str, cell: &CellReport, metric: &MetricReport) -> BenchmarkResult {
    BenchmarkResult {
        name: format!("{name}: {}", metric.name),
        unit: metric.unit.clone(),
        value: metric.median,
        range: metric.interval.map(|interval| range(metric.median, interval)),
        extra: extra(cell, metric),
    }
}

/// The action only supports symmetric ranges, so this is the longer side; `extra` has both ends.
fn range(median: f64, interval: IntervalReport) -> String {
    format!("± {}", (interval.high - median).max(median - interval.low))
}

fn extra(cell: &CellReport, metric: &MetricReport) -> String {
    let state = word(&cell.cache_state);
    let replicates = cell.replicates;
    let interval = match metric.interval {
        Some(IntervalReport { level, low, high }) => {
            format!("{} % interval {low} to {high}", level * 100.0)
        }
        None => "too few replicates for an interval".to_owned(),
    };
    format!("median of {replicates}; {interval}; cache state: {state}")
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::sample::{Sample, around};

    fn exported(sample: &Sample, direction: Direction) -> (Document, Vec<Value>, Export) {
        let document = sample.document();
        let export = render_github(&document, &sample.run, direction);
        (document, serde_json::from_str(&export.text).unwrap(), export)
    }

    #[test]
    fn each_direction_has_its_metric_of_each_cell() {
        let sample = Sample::four_targets();
        for (direction, position) in [(Direction::Smaller, 0), (Direction::Bigger, 1)] {
            let (document, results, export) = exported(&sample, direction);
            assert!(export.left_out.is_empty());
            assert_eq!(results.len(), document.cells.len());
            for (result, cell) in results.iter().zip(&document.cells) {
                let metric = &cell.metrics[position];
                let name = format!("{}/survey/create: {}", cell.target, metric.name);
                assert_eq!(result["name"], name);
                assert_eq!(result["unit"], metric.unit);
                assert_eq!(result["value"], metric.median);
            }
        }
    }

    #[test]
    fn the_range_holds_the_whole_interval() {
        let (document, results, _) = exported(&Sample::four_targets(), Direction::Smaller);
        for (result, cell) in results.iter().zip(&document.cells) {
            let (metric, range) = (&cell.metrics[0], result["range"].as_str().unwrap());
            let half: f64 = range.strip_prefix("± ").unwrap().parse().unwrap();
            let interval = metric.interval.unwrap();
            let ends = [interval.low - metric.median + half, metric.median + half - interval.high];
            assert!(ends.iter().all(|gap| *gap > -1e-6), "{range} about {}", metric.median);
            assert!(ends.iter().any(|gap| gap.abs() < 1e-6), "{range} about {}", metric.median);
        }
    }

    #[test]
    fn the_range_is_the_longer_side() {
        let of = |low: f64, high: f64| range(100.0, IntervalReport { level: 0.95, low, high });
        assert_eq!([of(90.0, 130.0), of(60.0, 110.0)], ["± 30", "± 40"]);
    }

    #[test]
    fn too_few_replicates_have_no_range_and_metrics_without_a_direction_no_result() {
        let mut sample = Sample::new(&["a", "b"])
            .benchmark("window", &[&around(100.0, 3)])
            .benchmark("create", &[&around(100.0, 3)]);
        sample.change("window", |cell| {
            cell.metrics.iter_mut().for_each(|metric| metric.better = Better::Neither);
        });
        let (_, results, export) = exported(&sample, Direction::Smaller);
        assert_eq!(results.len(), 1);
        assert!(results[0].get("range").is_none());
        assert!(results[0]["extra"].as_str().unwrap().contains("too few replicates"));
        let reasons: Vec<_> = export.left_out.iter().map(|one| (one.cells, one.why)).collect();
        assert_eq!(reasons, [(1, NO_SUCH_METRIC), (2, NOT_MEASURED)]);
    }
}
