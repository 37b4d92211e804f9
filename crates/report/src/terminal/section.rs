//! One section per dimension: its sentences, and the numbers beside them.

use std::collections::BTreeMap;

use record::{CellReport, Dimension, Document, MetricReport};

use super::ranking::Ranking;
use super::text::Page;
use super::{names, sentence, table};

/// All sections. Speed-ups stand in that of scaling, whatever dimension their benchmark isolates.
pub(super) fn render_all(page: &mut Page, document: &Document) {
    let mut by_dimension: BTreeMap<Dimension, Vec<&CellReport>> = BTreeMap::new();
    for cell in &document.cells {
        by_dimension.entry(cell.dimension).or_default().push(cell);
    }
    let speed_ups = speed_ups(document);
    if !speed_ups.is_empty() {
        by_dimension.entry(Dimension::Scaling).or_default();
    }
    for (dimension, cells) in by_dimension {
        page.heading(names::dimension(dimension));
        let benchmarks: Vec<(&str, Ranking<'_>)> = benchmarks(&cells);
        for (title, ranking) in &benchmarks {
            page.sentence(&sentence::of_benchmark(document, title, ranking));
        }
        if dimension == Dimension::Scaling && !speed_ups.is_empty() {
            page.blank();
            page.sentence("Speed-ups, operations per second against those of the baseline:");
            speed_ups.iter().for_each(|said| page.sentence(said));
        }
        table::render(page, &benchmarks);
    }
}

/// The rankings of `cells` by benchmark, each with its title, in the order of the document.
fn benchmarks<'a>(cells: &[&'a CellReport]) -> Vec<(&'a str, Ranking<'a>)> {
    let mut groups: Vec<Vec<&CellReport>> = Vec::new();
    for cell in cells {
        match groups.iter_mut().find(|group| group[0].benchmark == cell.benchmark) {
            Some(group) => group.push(cell),
            None => groups.push(vec![cell]),
        }
    }
    groups.iter().map(|group| (group[0].title.as_str(), Ranking::new(group))).collect()
}

/// The sentences of all benchmarks with a baseline.
fn speed_ups(document: &Document) -> Vec<String> {
    let mut of_benchmark: Vec<(&CellReport, Vec<(&str, &MetricReport)>)> = Vec::new();
    for cell in &document.cells {
        let Some(metric) = cell.metrics.iter().find(|metric| metric.name == "speed_up") else {
            continue;
        };
        let figure = (cell.target.as_str(), metric);
        match of_benchmark.iter_mut().find(|(first, _)| first.benchmark == cell.benchmark) {
            Some((_, figures)) => figures.push(figure),
            None => of_benchmark.push((cell, vec![figure])),
        }
    }
    let said = |(cell, figures): &(&CellReport, Vec<(&str, &MetricReport)>)| {
        let base = cell.baseline.as_deref().unwrap_or("its baseline");
        sentence::of_speed_up(&cell.title, names::title(document, base), figures)
    };
    of_benchmark.iter().map(said).collect()
}
