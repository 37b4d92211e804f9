//! What searches for cliffs found: a section per target, with its curve and a sentence per cliff.

mod closing;
mod curve;
mod seen;
mod sentence;

use record::{CliffReport, Document, SearchReport};

use super::names;
use super::text::{Page, SENTENCE, Style};

pub(super) use closing::{items as closing_items, render as render_closing};

/// All sections.
pub(super) fn render_all(page: &mut Page, document: &Document) {
    for search in &document.searches {
        let plan = &search.plan;
        let (label, axis) = (names::label(&plan.target), plan.axis.title());
        page.heading(&format!("{label}: {} by {axis}", metric(&plan.metric)));
        if !plan.workload.is_empty() {
            page.paragraph(&format!("Measured: {}.", plan.workload), SENTENCE, Style::Dim);
        }
        let cliffs: Vec<&CliffReport> =
            document.cliffs.iter().filter(|cliff| belongs(cliff, search)).collect();
        curve::render(page, document, search, &cliffs);
        page.blank();
        cliffs.iter().flat_map(|cliff| of_cliff(cliff)).for_each(|text| page.sentence(&text));
        if let Some(text) = sentence::of_absence(search, &cliffs) {
            page.paragraph(&text, SENTENCE, Style::Plain);
        }
        if let Some(text) = sentence::of_end(search) {
            page.paragraph(&text, SENTENCE, Style::Doubt);
        }
    }
}

/// The sentences about one search, besides its curve.
pub(super) fn sentences(document: &Document, search: &SearchReport) -> Vec<String> {
    let cliffs: Vec<&CliffReport> =
        document.cliffs.iter().filter(|cliff| belongs(cliff, search)).collect();
    let mut sentences: Vec<String> = cliffs.iter().flat_map(|cliff| of_cliff(cliff)).collect();
    sentences.extend(sentence::of_absence(search, &cliffs));
    sentences.extend(sentence::of_end(search));
    sentences
}

/// Where a cliff is, what causes it, and how much values spread there.
fn of_cliff(cliff: &CliffReport) -> Vec<String> {
    let further = [sentence::of_cause(cliff), sentence::of_zone(cliff)];
    std::iter::once(sentence::of_cliff(cliff)).chain(further.into_iter().flatten()).collect()
}

fn belongs(cliff: &CliffReport, search: &SearchReport) -> bool {
    cliff.target == search.plan.target && cliff.axis == search.plan.axis
}

/// A metric's name in words.
fn metric(name: &str) -> String {
    name.replace('_', " ")
}

/// A position on an axis: exact if it is a whole number of its unit, otherwise with four digits, as
/// an interval of 1 % needs.
fn position(unit: &str, value: f64) -> String {
    if unit == "percent" {
        return format!("{value} %");
    }
    if unit != "bytes" {
        let is_one = (value - 1.0).abs() < f64::EPSILON;
        return format!("{value} {}", if is_one { unit.trim_end_matches('s') } else { unit });
    }
    textual::size(value, 4)
}

#[cfg(test)]
mod tests;
