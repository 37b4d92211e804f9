//! The sentences of the report, each with what it is about. The page shows the same sentences
//! beside its charts.

use record::{Better, CellReport, Comparison, Dimension, Document, Verdict};

use super::{
    beside, cliffs, closing, curve, durable, fit, footprint, heading, policies, section, warnings,
};
use crate::sentences::{Sentence, SentenceKind};

/// The subject of the sentence about the simulated caches, by which the page finds it.
const SIMULATED_CACHES: &str = "simulated caches";

/// All sentences, in the order of the report.
pub(crate) fn prose(document: &Document) -> Vec<Sentence> {
    let mut said: Vec<Sentence> = conditions(document);
    if document.searches.is_empty() {
        said.extend(benchmarks(document));
        said.extend(curves(document));
        said.extend(laws(document));
    }
    for search in &document.searches {
        let of_search = cliffs::sentences(document, search).into_iter();
        said.extend(of_search.map(|text| Sentence {
            subject: Some(search.plan.axis.title().to_owned()),
            targets: vec![search.plan.target.clone()],
            ..plain(SentenceKind::Cliff, text)
        }));
    }
    let doubts = warnings::doubts(document).into_iter();
    said.extend(doubts.map(|text| plain(SentenceKind::Warning, text)));
    let refused = [warnings::not_measured(document), warnings::failed(document)].concat();
    said.extend(refused.into_iter().map(|text| plain(SentenceKind::Refused, text)));
    let sure = match document.searches.is_empty() {
        true => closing::items(document, true),
        false => cliffs::closing_items(document),
    };
    said.extend(sure.into_iter().map(|text| plain(SentenceKind::Sureness, text)));
    said
}

fn plain(kind: SentenceKind, text: String) -> Sentence {
    Sentence { kind, dimension: None, subject: None, targets: Vec::new(), text }
}

fn conditions(document: &Document) -> Vec<Sentence> {
    let mut texts = vec![heading::place(document), heading::extent(document)];
    texts.extend(heading::spending(document));
    texts.extend(heading::too_few(document));
    if !footprint::is_counted(document) {
        texts.push(heading::clock(document));
    }
    let mut said: Vec<Sentence> =
        texts.into_iter().map(|text| plain(SentenceKind::Condition, text)).collect();
    said.extend(footprint::caches(document).map(|text| Sentence {
        subject: Some(SIMULATED_CACHES.to_owned()),
        ..plain(SentenceKind::Condition, text)
    }));
    said.extend(document.targets.iter().map(|target| {
        let description = heading::description(target, &target.label, document);
        let targets = vec![target.label.clone()];
        Sentence { targets, ..plain(SentenceKind::Condition, description) }
    }));
    said
}

/// The sentences about benchmarks that are not points of a curve.
fn benchmarks(document: &Document) -> Vec<Sentence> {
    let single: Vec<&CellReport> =
        document.cells.iter().filter(|cell| cell.curve.is_none()).collect();
    let of_benchmark = |cells: &Vec<&CellReport>| {
        let kind = standing(document, &[&cells[0].benchmark]);
        let texts = std::iter::once((kind, section::of_benchmark(document, cells)));
        let policies = policies::sentences(cells).into_iter();
        let texts = texts.chain(policies.map(|text| (SentenceKind::Described, text)));
        texts.map(|(kind, text)| about(cells, &cells[0].benchmark, kind, text)).collect::<Vec<_>>()
    };
    let mut said: Vec<Sentence> =
        section::by_benchmark(&single).iter().flat_map(of_benchmark).collect();
    for dimension in Dimension::TIMED {
        let is_of_it = |cell: &&&CellReport| cell.dimension == dimension;
        let cells: Vec<&CellReport> = single.iter().filter(is_of_it).copied().collect();
        let texts = beside::sentences(&section::by_benchmark(&cells)).into_iter();
        let of_it = |text| about(&cells, dimension.heading(), SentenceKind::Described, text);
        said.extend(texts.map(of_it));
    }
    let durable = durable::cells(document);
    let texts = durable::sentences(document).into_iter();
    let of_it = |text| about(&durable, Dimension::Io.heading(), SentenceKind::Described, text);
    said.extend(texts.map(of_it));
    let counted: Vec<&CellReport> =
        single.into_iter().filter(|cell| cell.dimension == Dimension::CpuFootprint).collect();
    if let Some(text) = footprint::sentence(&counted) {
        said.push(about(&counted, "footprint", SentenceKind::Described, text));
    }
    // By dimension, as in the report.
    said.sort_by_key(|one| one.dimension.map(|dimension: Dimension| dimension as u8));
    said
}

fn curves(document: &Document) -> Vec<Sentence> {
    let points: Vec<&CellReport> =
        document.cells.iter().filter(|cell| cell.curve.is_some()).collect();
    let of_curve = |curve: &curve::Curve<'_>| {
        let benchmarks: Vec<&str> =
            curve.cells.iter().map(|cell| cell.benchmark.as_str()).collect();
        let kind = standing(document, &benchmarks);
        let point = curve.cells.first().and_then(|cell| cell.curve.as_ref());
        let title = point.map(curve::title).unwrap_or_default();
        let said = |(metric, sentence): (String, String)| {
            let text = format!("{title}, {metric}: {sentence}");
            about(&curve.cells, curve.name, kind, text)
        };
        curve::sentences(document, curve).into_iter().map(said).collect::<Vec<_>>()
    };
    curve::curves(&points).iter().flat_map(of_curve).collect()
}

fn laws(document: &Document) -> Vec<Sentence> {
    let fitted = document.fits.iter().filter(|fit| fit.law.is_some()).map(|one| Sentence {
        dimension: Some(Dimension::Scaling),
        subject: Some(one.curve.clone()),
        targets: vec![one.target.clone()],
        ..plain(SentenceKind::Law, fit::sentence(one))
    });
    let without = fit::without_law(&document.fits).into_iter();
    fitted.chain(without.map(|text| plain(SentenceKind::Law, text))).collect()
}

/// A sentence about `cells`, which belong to one benchmark or to one curve.
fn about(cells: &[&CellReport], subject: &str, kind: SentenceKind, text: String) -> Sentence {
    let mut targets: Vec<String> = Vec::new();
    for cell in cells {
        if !targets.contains(&cell.target) {
            targets.push(cell.target.clone());
        }
    }
    let (dimension, subject) = (Some(cells[0].dimension), Some(subject.to_owned()));
    Sentence { kind, dimension, subject, targets, text }
}

/// What may be said about targets on these benchmarks: that some differ, that none can be told
/// apart, or neither. Descriptive metrics are not compared.
fn standing(document: &Document, benchmarks: &[&str]) -> SentenceKind {
    let of_those = |cell: &&CellReport| benchmarks.contains(&cell.benchmark.as_str());
    let primary = document.cells.iter().filter(of_those).find_map(|cell| cell.metrics.first());
    if primary.is_some_and(|metric| metric.better == Better::Neither) {
        return SentenceKind::Described;
    }
    let those = document.comparisons.iter();
    let those = those.filter(|it| benchmarks.contains(&it.benchmark.as_str()));
    let kind = |one: &Comparison| match one.verdict {
        Verdict::Real | Verdict::RealSizeUnknown => SentenceKind::Real,
        Verdict::NotToldApart => SentenceKind::NotToldApart,
        Verdict::NotEnoughData => SentenceKind::Described,
    };
    let kinds: Vec<SentenceKind> = those.map(kind).collect();
    let ranked = [SentenceKind::Real, SentenceKind::NotToldApart];
    ranked.into_iter().find(|kind| kinds.contains(kind)).unwrap_or(SentenceKind::Described)
}

#[cfg(test)]
mod tests {
    use crate::sample::{Sample, around};
    use crate::{Options, render_terminal};

    use super::*;

    fn said_of(sample: &Sample, kind: SentenceKind) -> Vec<Sentence> {
        prose(&sample.document()).into_iter().filter(|one| one.kind == kind).collect()
    }

    fn without_breaks(text: &str) -> String {
        text.replace('\u{a0}', " ").split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn every_sentence_is_one_of_the_terminal_s_report() {
        let sample = Sample::four_targets().skipped("f2fs", "no mkfs").ended();
        let document = sample.document();
        let options = Options { width: 120, colour: false };
        let text = without_breaks(&render_terminal(&document, &options));
        let all = prose(&document);
        assert!(all.len() > 8, "{all:#?}");
        // The text explains the mark of percentiles only if there are marks.
        for said in all.iter().filter(|said| !said.text.contains("percentile marked *")) {
            let sentence = without_breaks(&said.text);
            assert!(text.contains(&sentence), "{sentence} is not in {text}");
        }
    }

    #[test]
    fn what_is_said_of_targets_stands_where_its_verdict_puts_it() {
        let (low, high, alike) = (around(1000.0, 8), around(2000.0, 8), around(1000.0, 8));
        let mut sample = Sample::new(&["a", "b"])
            .benchmark("apart", &[&low, &high])
            .benchmark("alike", &[&low, &alike])
            .benchmark("alone", &[&low])
            .benchmark("window", &[&low, &high])
            .skipped("f2fs", "no mkfs");
        sample.change("window", |cell| cell.metrics[0].better = Better::Neither);
        let subjects = |kind| -> Vec<String> {
            said_of(&sample, kind).into_iter().filter_map(|one| one.subject).collect()
        };
        assert_eq!(subjects(SentenceKind::Real), ["apart"]);
        assert_eq!(subjects(SentenceKind::NotToldApart), ["alike"]);
        assert_eq!(subjects(SentenceKind::Described), ["alone", "window"]);
        assert_eq!(said_of(&sample, SentenceKind::Refused)[0].text, "f2fs: no mkfs");
    }
}
