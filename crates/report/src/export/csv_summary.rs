//! The figures of the report as a tidy table: one row per cell and metric, with its interval and
//! its percentiles. Quoting is as in [`super::csv`].

use record::{CellReport, Document, IntervalReport, MetricReport, PercentileOf};

use super::csv::{Parameters, row};
use super::names::word;

/// The percentiles that have columns.
const PERCENTILES: [f64; 5] = [50.0, 90.0, 95.0, 99.0, 99.9];

/// One row per cell and metric, in the document's order; what a cell lacks is empty.
///
/// The column `percentiles_of_all` lists the percentiles that are those of all operations together;
/// the others are those of each replicate.
#[must_use]
pub fn render_csv_summary(document: &Document) -> String {
    let names: Vec<String> =
        PERCENTILES.iter().map(|percentile| format!("p{percentile}")).collect();
    let mut header: Vec<String> =
        ["run", "target", "suite", "benchmark", "title", "dimension", "cache_state"]
            .map(str::to_owned)
            .into();
    let parameters = Parameters::new(document.cells.iter().map(|cell| &cell.parameters));
    header.extend(parameters.columns().map(str::to_owned));
    let figures = ["replicates", "operations", "metric", "unit", "better", "median", "low", "high"];
    header.extend(figures.map(str::to_owned));
    for name in &names {
        header.extend([name.clone(), format!("{name}_low"), format!("{name}_high")]);
    }
    header.push("percentiles_of_all".to_owned());
    let rows = document
        .cells
        .iter()
        .flat_map(|cell| cell.metrics.iter().map(move |metric| (cell, metric)))
        .map(|(cell, metric)| fields(document, cell, metric, &parameters, &names));
    std::iter::once(header).chain(rows).map(|fields| format!("{}\n", row(&fields))).collect()
}

fn fields(
    document: &Document,
    cell: &CellReport,
    metric: &MetricReport,
    parameters: &Parameters<'_>,
    names: &[String],
) -> Vec<String> {
    let ends = |interval: Option<&IntervalReport>| match interval {
        Some(interval) => [interval.low.to_string(), interval.high.to_string()],
        None => [String::new(), String::new()],
    };
    let mut fields = vec![
        document.run.started.clone(),
        cell.target.clone(),
        cell.suite.clone(),
        cell.benchmark.clone(),
        cell.title.clone(),
        word(&cell.dimension),
        word(&cell.cache_state),
    ];
    fields.extend(parameters.values(&cell.parameters));
    fields.extend([
        metric.values.len().to_string(),
        cell.operations.to_string(),
        metric.name.clone(),
        metric.unit.clone(),
        word(&metric.better),
        metric.median.to_string(),
    ]);
    fields.extend(ends(metric.interval.as_ref()));
    let mut of_all = Vec::new();
    for (name, which) in names.iter().zip(PERCENTILES) {
        let is_it = |one: &&record::Percentile| (one.percentile - which).abs() < 1e-9;
        let found = metric.percentiles.iter().find(is_it);
        fields.push(found.map(|one| one.value.to_string()).unwrap_or_default());
        fields.extend(ends(found.and_then(|one| one.interval.as_ref())));
        if found.is_some_and(|one| one.of == PercentileOf::AllOperations) {
            of_all.push(name.as_str());
        }
    }
    fields.push(of_all.join(";"));
    fields
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{Sample, around};

    #[test]
    fn each_metric_has_a_row_with_its_interval() {
        let values = around(6100.0, 8);
        let sample = Sample::new(&["a,b", "ext4"]).benchmark("create", &[&values, &values[..2]]);
        let document = sample.document();
        let text = render_csv_summary(&document);
        let lines: Vec<&str> = text.lines().collect();
        let metrics: usize = document.cells.iter().map(|cell| cell.metrics.len()).sum();
        assert_eq!(lines.len(), 1 + metrics);
        let columns: Vec<&str> = lines[0].split(',').collect();
        assert_eq!(columns.len(), 18 + 3 * PERCENTILES.len() + 1);
        assert_eq!(columns[18..21], ["p50", "p50_low", "p50_high"]);
        assert!(lines[1].contains(",\"a,b\",survey,create,"), "{}", lines[1]);
        let metric = &document.cells[0].metrics[0];
        let interval = metric.interval.as_ref().unwrap();
        let figures = format!(",lower,{},{},{},", metric.median, interval.low, interval.high);
        assert!(lines[1].contains(&figures), "{figures} {}", lines[1]);
        // Two blocks are too few for an interval.
        let last: Vec<&str> = lines[metrics / 2 + 1].split(',').collect();
        assert_eq!((last[10], last[16], last[17]), ("2", "", ""), "{last:?}");
    }
}
