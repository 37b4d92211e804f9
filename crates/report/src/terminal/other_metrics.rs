//! What benchmarks report besides their primary metric and what is derived from that.

use record::CellReport;

use super::columns::{self, FigureRow};
use super::text::Page;
use super::{beside, names};
use crate::units;

/// One table for the benchmarks that report more: a row per metric, the targets side by side.
pub(super) fn render(page: &mut Page, benchmarks: &[Vec<&CellReport>]) {
    let mut targets: Vec<&str> = Vec::new();
    for cell in benchmarks.iter().flatten() {
        if !targets.contains(&cell.target.as_str()) {
            targets.push(&cell.target);
        }
    }
    let rows: Vec<FigureRow> =
        benchmarks.iter().flat_map(|cells| of_benchmark(cells, &targets)).collect();
    if !rows.is_empty() {
        page.blank();
        let names = targets.iter().map(|target| names::label(target)).collect();
        columns::side_by_side(page, &FigureRow::new("", names), &rows);
    }
}

/// Its title, then its further metrics; empty if it has none.
fn of_benchmark(cells: &[&CellReport], targets: &[&str]) -> Vec<FigureRow> {
    let mut metrics: Vec<&str> = Vec::new();
    for metric in cells.iter().flat_map(|cell| cell.metrics.iter().skip(1)) {
        let name = metric.name.as_str();
        let has_row = !units::is_derived(name) && !beside::NAMES.contains(&name);
        if has_row && !metrics.contains(&name) {
            metrics.push(name);
        }
    }
    let row = |name: &&str| {
        let figure = |target: &&str| {
            let cell = cells.iter().find(|cell| cell.target == **target)?;
            Some(columns::figure(cell.metrics.iter().find(|metric| metric.name == **name)?))
        };
        let figures = targets.iter().map(|target| figure(target).unwrap_or_else(|| "-".to_owned()));
        FigureRow::new(&format!("  {}", units::words(name)), figures.collect())
    };
    let rows: Vec<FigureRow> = metrics.iter().map(row).collect();
    let title = cells.first().filter(|_| !rows.is_empty());
    title.map(|cell| FigureRow::new(&cell.title, Vec::new())).into_iter().chain(rows).collect()
}

#[cfg(test)]
mod tests {
    use record::{Better, Figure, MetricReport};

    use super::*;
    use crate::layout::Options;
    use crate::sample::Sample;

    #[test]
    fn further_metrics_have_a_row_and_derived_ones_have_none() {
        let mut document = Sample::four_targets().document();
        for (cell, pages) in document.cells.iter_mut().zip([32.0, 32.0, 16.0]) {
            cell.metrics.push(MetricReport {
                name: "window_size".to_owned(),
                unit: "bytes".to_owned(),
                better: Better::Neither,
                figure: Figure { value: pages * 4096.0, interval: None },
                median: pages * 4096.0,
                mean: pages * 4096.0,
                interval: None,
                percentiles: Vec::new(),
                values: Vec::new(),
            });
        }
        let cells: Vec<&CellReport> = document.cells.iter().collect();
        let mut page = Page::new(&Options::default());
        render(&mut page, &[cells]);
        let expected = "
                    tmpfs      ext4       xfs     btrfs
  create
    window size   128 KiB   128 KiB  64.0 KiB         -
";
        assert_eq!(page.finish(), expected);
    }

    #[test]
    fn without_further_metrics_there_is_no_table() {
        let document = Sample::four_targets().document();
        let cells: Vec<&CellReport> = document.cells.iter().collect();
        let mut page = Page::new(&Options::default());
        render(&mut page, &[cells]);
        assert_eq!(page.finish(), "");
    }
}
