//! One section per dimension: its sentences, and the numbers next to them; then its curves, and
//! other observations.
//!
//! The sentence about a benchmark with a baseline is about its speed-up; the table has its
//! throughput.

use std::collections::BTreeMap;

use record::{CellReport, Dimension, Document, StandardMetric};

use super::curve::Curve;
use super::ranking::Ranking;
use super::text::Page;
use super::{
    beside, curve, durable, footprint, observed, other_metrics, plane, policies, sentence,
    speed_up, table,
};

/// All sections.
pub(super) fn render_all(page: &mut Page, document: &Document) {
    let mut by_dimension: BTreeMap<Dimension, Vec<&CellReport>> = BTreeMap::new();
    for cell in &document.cells {
        by_dimension.entry(cell.dimension).or_default().push(cell);
    }
    for (dimension, cells) in by_dimension {
        page.heading(dimension.heading());
        let mut benchmarks: Vec<(&str, Ranking<'_>)> = Vec::new();
        let (points, single): (Vec<_>, Vec<_>) =
            cells.into_iter().partition(|cell| cell.curve.is_some());
        let groups = by_benchmark(&single);
        for cells in &groups {
            let (title, ranking) = (cells[0].title.as_str(), Ranking::new(cells));
            page.sentence(&of_benchmark(document, cells));
            policies::sentences(cells).iter().for_each(|text| page.sentence(text));
            benchmarks.push((title, ranking));
        }
        table::render(page, &benchmarks);
        if dimension == Dimension::CpuFootprint {
            footprint::render(page, &groups);
            footprint::sentence(&single).iter().for_each(|text| page.sentence(text));
        } else {
            beside::render(page, &groups);
            if dimension == Dimension::Io {
                durable::sentences(document).iter().for_each(|text| page.sentence(text));
            }
            other_metrics::render(page, &groups);
        }
        let curves = curve::curves(&points);
        plane::render(page, &curves);
        curves.iter().for_each(|curve| curve::render(page, document, curve));
        let last = curves.iter().map(Curve::last_point);
        let over_time = last.filter(|cells| cells.iter().any(|cell| observed::is_over_time(cell)));
        observed::render(page, &groups.into_iter().chain(over_time).collect::<Vec<_>>());
    }
}

/// The sentence about one benchmark's `cells`.
pub(super) fn of_benchmark(document: &Document, cells: &[&CellReport]) -> String {
    let title = &cells[0].title;
    match Ranking::of(StandardMetric::SPEED_UP, cells) {
        Some(speed_ups) => speed_up::sentence(document, title, &speed_ups),
        None => sentence::of_benchmark(document, title, &Ranking::new(cells)),
    }
}

/// `cells` by benchmark, in the order of the document.
pub(super) fn by_benchmark<'a>(cells: &[&'a CellReport]) -> Vec<Vec<&'a CellReport>> {
    let mut groups: Vec<Vec<&CellReport>> = Vec::new();
    for cell in cells {
        match groups.iter_mut().find(|group| group[0].benchmark == cell.benchmark) {
            Some(group) => group.push(cell),
            None => groups.push(vec![cell]),
        }
    }
    groups
}
