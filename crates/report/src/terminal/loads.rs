//! What is said of loads: which target is the quickest for each, by how much, and why.

use record::{Document, LoadComparison, LoadCost, LoadReport, Verdict};
use textual::{Indent, list};

use super::names;
use super::ranking::{Slower, has_too_few_blocks};
use super::text::{Page, Style, shortened};
use super::units::{self, Wording};
use crate::page::contract::LoadLine;

/// How large a part of a difference one kind of operation must be to be named alone.
const MOST: f64 = 0.5;
/// Under the sentence of a load.
const DETAIL: Indent = Indent { first: 4, rest: 6 };

/// The section of the full report: each load with where it is from and what it lacks.
pub(super) fn render(page: &mut Page, document: &Document) {
    if document.loads.is_empty() {
        return;
    }
    page.heading("Loads, estimated from the times of their operations");
    for load in &document.loads {
        page.sentence(&sentence(load, Detail::All));
        notes(load).iter().for_each(|note| page.paragraph(note, DETAIL, Style::Dim));
    }
}

/// The same for the page.
pub(crate) fn lines(document: &Document) -> Vec<LoadLine> {
    let line = |load: &LoadReport| LoadLine {
        title: load.title.clone(),
        answer: answer(load, Detail::All),
        notes: notes(load),
    };
    document.loads.iter().map(line).collect()
}

/// What the line of a load rests on.
fn notes(load: &LoadReport) -> Vec<String> {
    let mut notes = vec![format!("A unit is {}.", load.unit), format!("Mix: {}.", load.source)];
    if !load.leaves_out.is_empty() {
        notes.push(format!("Left out: {}.", load.leaves_out));
    }
    notes.extend(
        load.missing
            .iter()
            .map(|missing| format!("Not for {}: {}.", names::label(&missing.target), missing.why)),
    );
    notes
}

/// One line for each load.
pub(super) fn render_lines(page: &mut Page, document: &Document) {
    if document.loads.is_empty() || has_too_few_blocks(document) {
        return;
    }
    page.heading("Loads, estimated from their operations");
    for load in &document.loads {
        let room = page.width().saturating_sub(2);
        let texts = [Detail::All, Detail::First, Detail::Ratios, Detail::Least]
            .map(|detail| sentence(load, detail));
        let text = texts.iter().find(|text| text.chars().count() <= room);
        let text = text.map_or_else(|| shortened(&texts[3], room), Clone::clone);
        page.line(&format!("  {text}"), Style::Plain);
    }
}

/// How much is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detail {
    /// Every interval, and why.
    All,
    /// The interval of the next best only, and why.
    First,
    /// Ratios, and why.
    Ratios,
    /// Ratios.
    Least,
}

/// `For a mail server: ext4; xfs 1.2x [1.1, 1.4] slower, mostly fsync`.
fn sentence(load: &LoadReport, detail: Detail) -> String {
    format!("For {}: {}", load.title, answer(load, detail))
}

/// `ext4; xfs 1.2x [1.1, 1.4] slower, mostly fsync`.
fn answer(load: &LoadReport, detail: Detail) -> String {
    let mut costs: Vec<&LoadCost> = load.costs.iter().collect();
    costs.sort_by(|left, right| left.time_ns.total_cmp(&right.time_ns));
    let Some((&best, others)) = costs.split_first() else {
        let why = load.missing.first().map_or("nothing was measured", |missing| &missing.why);
        return why.to_owned();
    };
    if others.is_empty() {
        return alone(best, detail);
    }
    let related: Vec<(&LoadCost, &LoadComparison)> = others
        .iter()
        .filter_map(|&other| Some((other, comparison(load, &best.target, &other.target)?)))
        .collect();
    if related.iter().all(|(_, found)| found.verdict == Verdict::NotEnoughData) {
        return "too few blocks to tell".to_owned();
    }
    let of = |verdicts: &[Verdict]| -> Vec<&(&LoadCost, &LoadComparison)> {
        related.iter().filter(|(_, found)| verdicts.contains(&found.verdict)).collect()
    };
    let alike: Vec<String> = std::iter::once(best)
        .chain(of(&[Verdict::NotToldApart, Verdict::NotEnoughData]).iter().map(|(cost, _)| *cost))
        .map(|cost| names::label(&cost.target))
        .collect();
    let slower = of(&[Verdict::Real, Verdict::RealSizeUnknown]);
    if slower.is_empty() {
        return format!("{} cannot be told apart", list(&alike, "and"));
    }
    let quickest = list(&alike, "or");
    let behind: Vec<String> = slower
        .iter()
        .enumerate()
        .filter_map(|(at, (cost, found))| {
            let by = slowness(found, &cost.target)?;
            let ratio = units::ratio(by.ratio, by.low, by.high);
            let label = names::label(&cost.target);
            let has_interval = detail == Detail::All || (detail == Detail::First && at == 0);
            let interval =
                if has_interval { format!(" {}", ratio.interval) } else { String::new() };
            Some(format!("{label} {}{interval}", ratio.value))
        })
        .collect();
    let why = match detail {
        Detail::Least => None,
        Detail::All | Detail::First | Detail::Ratios => {
            slower.first().and_then(|(cost, _)| why(best, cost))
        }
    };
    let why = why.map(|why| format!(", {why}")).unwrap_or_default();
    format!("{quickest}; {} slower{why}", behind.join(", "))
}

/// What a unit takes where there is one target only.
fn alone(cost: &LoadCost, detail: Detail) -> String {
    let text = units::figure("ns", cost.time_ns, cost.interval.as_ref(), Wording::Short);
    let interval = text.interval.map(|interval| format!(" {interval}")).unwrap_or_default();
    let most = cost.parts.iter().max_by(|left, right| left.time_ns.total_cmp(&right.time_ns));
    let why = most
        .filter(|part| detail != Detail::Least && part.time_ns >= MOST * cost.time_ns)
        .map(|part| format!(", mostly {}", part.kind));
    format!("{}{interval} a unit{}", text.value.trim_end(), why.unwrap_or_default())
}

fn comparison<'a>(load: &'a LoadReport, one: &str, other: &str) -> Option<&'a LoadComparison> {
    load.comparisons.iter().find(|found| {
        let pair = (found.first.as_str(), found.second.as_str());
        pair == (one, other) || pair == (other, one)
    })
}

/// How many times as long `target` takes as the other of the comparison.
fn slowness(found: &LoadComparison, target: &str) -> Option<Slower> {
    let (ratio, interval) = found.ratio.zip(found.interval)?;
    let (low, high) = (interval.low, interval.high);
    Some(if found.second == target {
        Slower { ratio, low, high }
    } else {
        Slower { ratio: 1.0 / ratio, low: 1.0 / high, high: 1.0 / low }
    })
}

/// Of which operations the difference is made: `mostly fsync`, `from reads and opens`.
fn why(best: &LoadCost, other: &LoadCost) -> Option<String> {
    let mut parts: Vec<(&str, f64)> = other
        .parts
        .iter()
        .filter_map(|part| {
            let same = best.parts.iter().find(|one| one.kind == part.kind)?;
            Some((part.kind.as_str(), part.time_ns - same.time_ns))
        })
        .filter(|(_, more)| *more > 0.0)
        .collect();
    parts.sort_by(|left, right| right.1.total_cmp(&left.1));
    let all: f64 = parts.iter().map(|(_, more)| more).sum();
    match parts.as_slice() {
        [(kind, _)] => Some(format!("all from {kind}")),
        [(kind, more), ..] if *more >= MOST * all => Some(format!("mostly {kind}")),
        [(first, _), (second, _), ..] => Some(format!("from {first} and {second}")),
        [] => None,
    }
}
