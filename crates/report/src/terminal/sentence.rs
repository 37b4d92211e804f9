//! What a storage engineer would say about one benchmark.

use record::{Better, CellReport, Document, MetricReport, StandardMetric, Verdict, Warning};

use super::ranking::{RankedTarget, Ranking, Relation, Slowdown, has_too_few_blocks, relation};
use super::{names, ranking, story};
use crate::analysis::BLOCKS_MIN;
use crate::units::{self, Comparatives, Figure, Wording};
use textual::{list, p_equation, plural, unbroken};

/// The sentence of one benchmark, for example `create: tmpfs 6.1 us [6.0, 6.2]; ext4 4.3x slower
/// [4.1, 4.6], xfs 4.4x slower [4.2, 4.7]; ext4 and xfs cannot be told apart (p = 0.41)`.
pub(super) fn of_benchmark(document: &Document, title: &str, ranking: &Ranking<'_>) -> String {
    let mut clauses = Vec::new();
    // If neither direction is better, as for a window, nothing is slower and the figures are
    // enough.
    let describes = |entry: &RankedTarget<'_>| entry.metric.better == Better::Neither;
    if ranking.entries.iter().any(describes) {
        clauses.push(described(&ranking.entries));
    } else if let Some((best, others)) = ranking.entries.split_first() {
        clauses.push(own_figure(*best));
        let related: Vec<(RankedTarget<'_>, Relation)> =
            others.iter().map(|other| (*other, relation(document, *best, *other))).collect();
        clauses.extend(differences(&related));
        clauses.extend(alike_the_best(*best, &related));
        clauses.extend(not_enough(document, &related));
        clauses.extend(alike_neighbours(document, &related));
        clauses.extend(story::clause(document, *best, others));
        clauses.extend(without_start(document, &ranking.entries));
    }
    clauses.extend(absent(&ranking.absent));
    clauses.extend(on_busy_machine(&ranking.entries));
    clauses.extend(depends_on_volume_size(&ranking.entries));
    format!("{title}: {}", clauses.join("; "))
}

/// Says that other programs kept the machine busy while some of this was measured: no difference is
/// claimed without that caveat.
fn on_busy_machine(entries: &[RankedTarget<'_>]) -> Option<String> {
    let mut busy = Vec::new();
    for report in entries.iter().flat_map(|entry| &entry.cell.warnings) {
        if let Warning::BusyMachine { replicates, of, .. } = report.warning {
            busy.push((replicates, of));
        }
    }
    let (replicates, of) =
        busy.into_iter().fold((0, 0), |sum: (u32, u32), one| (sum.0 + one.0, sum.1 + one.1));
    (replicates > 0).then(|| {
        let replicates = match replicates == of {
            true => "all".to_owned(),
            false => format!("{replicates} of {of}"),
        };
        format!("on a BUSY MACHINE in {replicates} replicates")
    })
}

/// Says that a difference depends on the size of the volume, and which targets' volumes.
fn depends_on_volume_size(entries: &[RankedTarget<'_>]) -> Option<String> {
    let depending = entries.iter().filter(|entry| is_of_volume_size(entry.cell));
    let labels: Vec<String> = depending.map(|entry| label(*entry)).collect();
    (!labels.is_empty()).then(|| format!("depends on the volume's size ({})", list(&labels, "and")))
}

/// Whether a difference of this cell depends on the volume's size.
pub(super) fn is_of_volume_size(cell: &CellReport) -> bool {
    let mut warnings = cell.warnings.iter().map(|report| &report.warning);
    warnings.any(|warning| matches!(warning, Warning::DependsOnVolumeSize { .. }))
}

/// `without the start, densefs 14 ms [12, 15], tmpfs 1.7x slower [1.5, 1.9]`: of whole programs.
fn without_start(document: &Document, entries: &[RankedTarget<'_>]) -> Option<String> {
    let cells: Vec<&CellReport> = entries.iter().map(|entry| entry.cell).collect();
    let ranking = Ranking::of(StandardMetric::WITHOUT_START, &cells)?;
    let (best, others) = ranking.entries.split_first()?;
    let relation = |other| ranking::without_start(document, *best, other);
    let related: Vec<(RankedTarget<'_>, Relation)> =
        others.iter().map(|other| (*other, relation(*other))).collect();
    let said: Vec<String> =
        differences(&related).into_iter().chain(alike_the_best(*best, &related)).collect();
    (!said.is_empty())
        .then(|| format!("without the start, {}, {}", own_figure(*best), said.join(", ")))
}

/// `window 2.5 MiB on ext4 and xfs, 4 MiB on btrfs`: the measured values, and which are equal.
fn described(entries: &[RankedTarget<'_>]) -> String {
    let mut figures: Vec<(String, Vec<String>)> = Vec::new();
    for entry in entries {
        let figure = units::of_metric(entry.metric, Wording::Full);
        let text = match figure.interval.as_ref().filter(|interval| !has_no_width(interval)) {
            Some(interval) => format!("{} {}", unbroken(&figure.value), unbroken(interval)),
            None => unbroken(&figure.value),
        };
        match figures.iter_mut().find(|(other, _)| *other == text) {
            Some((_, labels)) => labels.push(label(*entry)),
            None => figures.push((text, vec![label(*entry)])),
        }
    }
    let said = figures.iter().map(|(text, labels)| format!("{text} on {}", list(labels, "and")));
    let said: Vec<String> = said.collect();
    let what = entries.first().map(|entry| units::words(&entry.metric.name));
    format!("{} {}", what.unwrap_or_default(), said.join(", "))
}

/// Whether both ends of an interval are written the same, as in `[100, 100]`.
fn has_no_width(interval: &str) -> bool {
    let ends = interval.trim_matches(['[', ']']).split_once(", ");
    ends.is_some_and(|(low, high)| low == high)
}

/// `tmpfs 6.1 us [6.0, 6.2]`.
pub(super) fn own_figure(entry: RankedTarget<'_>) -> String {
    labelled(&label(entry), &units::of_metric(entry.metric, Wording::Full))
}

/// A figure after its label, which may be broken only before the interval.
fn labelled(label: &str, figure: &Figure) -> String {
    let colon = if figure.is_none() { ":" } else { "" };
    let own = unbroken(&format!("{label}{colon} {}", figure.value));
    match &figure.interval {
        Some(interval) => format!("{own} {}", unbroken(interval)),
        None => own,
    }
}

/// `ext4 4.3x slower [4.1, 4.6], xfs 4.4x slower [4.2, 4.7]`: those that certainly differ.
fn differences(related: &[(RankedTarget<'_>, Relation)]) -> Option<String> {
    let said: Vec<String> = related
        .iter()
        .filter(|(_, relation)| relation.verdict.is_different())
        .filter_map(|(other, relation)| {
            let said = slower(*other, relation.slower?);
            let is_known = relation.verdict == Verdict::Real;
            Some(if is_known { said } else { format!("{said}, perhaps by under 2 %") })
        })
        .collect();
    (!said.is_empty()).then(|| said.join(", "))
}

/// Medians and pairs can rank two targets in opposite order; the pairs are right.
fn slower(other: RankedTarget<'_>, slower: Slowdown) -> String {
    let Slowdown { ratio, low, high } = slower;
    let MetricReport { name, unit, better, .. } = other.metric;
    let words = Comparatives::new(name, unit, *better);
    let (ratio, word) = if ratio >= 1.0 {
        (units::ratio(ratio, low, high), words.worse)
    } else {
        (units::ratio(1.0 / ratio, 1.0 / high, 1.0 / low), words.better)
    };
    let own = unbroken(&format!("{} {} {word}", words.subject(&label(other)), ratio.value));
    format!("{own} {}", unbroken(&ratio.interval))
}

/// `xfs and f2fs the same; tmpfs and ext4 cannot be told apart (0.98x to 1.05x, p = 0.41)`.
pub(super) fn alike_the_best(
    best: RankedTarget<'_>,
    related: &[(RankedTarget<'_>, Relation)],
) -> Option<String> {
    let alike = related.iter().filter(|(_, relation)| relation.verdict == Verdict::NotToldApart);
    let mut alike: Vec<&(RankedTarget<'_>, Relation)> = alike.collect();
    let same: Vec<String> = alike
        .extract_if(.., |(_, relation)| is_same(relation))
        .map(|(other, _)| label(*other))
        .collect();
    let same = (!same.is_empty()).then(|| format!("{} the same", list(&same, "and")));
    let parts: Vec<String> = same.into_iter().chain(not_told_apart(best, &alike)).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Whether there is no difference in any block, as between counts.
fn is_same(relation: &Relation) -> bool {
    relation.slower.is_some_and(|slower| slower.low >= 1.0 && slower.high <= 1.0)
}

fn not_told_apart(
    best: RankedTarget<'_>,
    alike: &[&(RankedTarget<'_>, Relation)],
) -> Option<String> {
    if let [(other, relation)] = alike {
        let possible = possible(relation);
        return Some(format!(
            "{} and {} cannot be told apart{possible}",
            label(best),
            label(*other)
        ));
    }
    let named = |(other, relation): &&(RankedTarget<'_>, Relation)| {
        format!("{}{}", label(*other), possible(relation))
    };
    let said: Vec<String> = alike.iter().map(named).collect();
    (!said.is_empty())
        .then(|| format!("{} cannot be told apart from {}", list(&said, "and"), label(best)))
}

/// How large the difference can still be: the interval, which contains 1.
fn possible(relation: &Relation) -> String {
    let Some((slower, p)) = relation.slower.zip(relation.p) else { return String::new() };
    let range = units::ratio(slower.ratio, slower.low, slower.high).range;
    format!(" {}", unbroken(&format!("({range}, {})", p_equation(p))))
}

/// Neighbours in rank after the best that cannot be told apart from each other.
pub(super) fn alike_neighbours(
    document: &Document,
    related: &[(RankedTarget<'_>, Relation)],
) -> Vec<String> {
    // Those that cannot be told apart from the best have already been named.
    let behind: Vec<RankedTarget<'_>> = related
        .iter()
        .filter(|(_, relation)| relation.verdict.is_different())
        .map(|(entry, _)| *entry)
        .collect();
    let alike = |pair: &[RankedTarget<'_>]| {
        let relation = relation(document, pair[0], pair[1]);
        let (first, second) = (label(pair[0]), label(pair[1]));
        (relation.verdict == Verdict::NotToldApart).then(|| {
            if is_same(&relation) {
                return format!("{first} and {second} are the same");
            }
            let p = relation.p.map(|p| format!(" ({})", unbroken(&p_equation(p))));
            format!("{first} and {second} cannot be told apart{}", p.unwrap_or_default())
        })
    };
    behind.windows(2).filter_map(alike).collect()
}

/// `xfs 27 us, btrfs 31 us (3 common blocks are too few to compare)`. If that is the case in the
/// whole run, it has already been said.
fn not_enough(document: &Document, related: &[(RankedTarget<'_>, Relation)]) -> Option<String> {
    let without: Vec<&(RankedTarget<'_>, Relation)> =
        related.iter().filter(|(_, relation)| relation.verdict == Verdict::NotEnoughData).collect();
    let blocks = without.iter().map(|(_, relation)| relation.blocks).min()?;
    let figures: Vec<String> = without.iter().map(|(entry, _)| own_figure(*entry)).collect();
    if has_too_few_blocks(document) {
        return Some(figures.join(", "));
    }
    let why = why_not_compared(blocks);
    Some(format!("{} ({why})", figures.join(", ")))
}

/// What prevents a comparison over this many common blocks.
pub(super) fn why_not_compared(blocks: u32) -> String {
    if blocks >= BLOCKS_MIN {
        return "their ratio varies too much to state, the machine was too busy, or some values are \
                0; a larger --budget, for more blocks, may narrow it"
            .to_owned();
    }
    let verb = if blocks == 1 { "is" } else { "are" };
    format!("{} {verb} too few to compare", plural(blocks as usize, "common block"))
}

/// Targets without a figure, with the reason.
pub(super) fn absent(cells: &[&CellReport]) -> Vec<String> {
    let named = |is_it: fn(&CellReport) -> bool, what: &str| {
        let cells = cells.iter().filter(|cell| is_it(cell));
        let labels: Vec<String> = cells.map(|cell| names::label(&cell.target)).collect();
        (!labels.is_empty()).then(|| format!("{} {what}", list(&labels, "and")))
    };
    let clauses = [
        named(|cell| cell.failed.is_some(), "failed (see below)"),
        named(|cell| cell.failed.is_none() && cell.metrics.is_empty(), "not reached"),
        named(|cell| cell.failed.is_none() && !cell.metrics.is_empty(), "without a baseline"),
    ];
    clauses.into_iter().flatten().collect()
}

/// The target's name.
pub(super) fn label(entry: RankedTarget<'_>) -> String {
    names::label(&entry.cell.target)
}

#[cfg(test)]
mod tests {
    use crate::sample::{Sample, around, swaying};
    use crate::sample_search::replicates;
    use record::Document;

    use super::*;

    fn sentence(document: &Document) -> String {
        let cells: Vec<_> = document.cells.iter().collect();
        of_benchmark(document, "create", &Ranking::new(&cells)).replace('\u{a0}', " ")
    }

    #[test]
    fn what_describes_and_does_not_judge_is_said_without_a_comparison() {
        let values = [4000.0, 4000.0, 8000.0].map(|value| [value; 6]);
        let mut document = Sample::new(&["ext4", "xfs", "btrfs"])
            .benchmark("read", &[&values[0], &values[1], &values[2]])
            .document();
        for metric in document.cells.iter_mut().map(|cell| &mut cell.metrics[0]) {
            metric.better = Better::Neither;
            metric.name = "window".to_owned();
        }
        let text = sentence(&document);
        assert_eq!(text, "create: window 4.00 us on ext4 and xfs, 8.00 us on btrfs");
        document.cells[2].metrics[0].figure.interval =
            Some(record::IntervalReport { level: 0.95, low: 7900.0, high: 8100.0 });
        assert!(sentence(&document).ends_with("8.0 us [7.9, 8.1] on btrfs"));
    }

    #[test]
    fn one_target_has_its_own_figure_only() {
        let sample = Sample::new(&["tmpfs"]).benchmark("create", &[&around(6100.0, 12)]);
        assert_eq!(sentence(&sample.document()), "create: tmpfs 6.10 us [6.05, 6.15]");
    }

    #[test]
    fn the_slower_target_has_a_ratio_wherever_it_stands() {
        let expected = "create: tmpfs 6.10 us [6.05, 6.15]; ext4 4.30x slower [4.30, 4.30]";
        for order in [[0, 1], [1, 0]] {
            let all = [("tmpfs", around(6100.0, 12)), ("ext4", around(6100.0 * 4.3, 12))];
            let [a, b] = order.map(|index| &all[index]);
            let sample = Sample::new(&[a.0, b.0]).benchmark("create", &[&a.1, &b.1]);
            assert_eq!(sentence(&sample.document()), expected);
        }
    }

    #[test]
    fn a_rate_is_said_as_slower_too() {
        let sample = Sample::new(&["slow", "fast"])
            .throughput_first()
            .benchmark("create", &[&around(20_000.0, 12), &swaying(10_000.0, 12)]);
        let text = sentence(&sample.document());
        assert!(
            text.contains("fast 100 k operations/s [99, 102]; slow 2.00x slower [1.98, 2.02]"),
            "{text}"
        );
    }

    #[test]
    fn what_slows_something_does_so_more() {
        let values = [around(1.5, 12), around(3.0, 12)];
        let mut document = Sample::new(&["densefs", "xfs"])
            .benchmark("create", &[&values[0], &values[1]])
            .document();
        for metric in document.cells.iter_mut().map(|cell| &mut cell.metrics[0]) {
            (metric.name, metric.unit) = ("code_slowdown".to_owned(), "x".to_owned());
        }
        document.comparisons[0].metric = "code_slowdown".to_owned();
        let text = sentence(&document);
        assert!(text.ends_with("; xfs slows the code 2.00x more [2.00, 2.00]"), "{text}");
    }

    #[test]
    fn programs_are_compared_without_their_start_as_well() {
        let mut sample = Sample::new(&["tmpfs", "densefs"])
            .benchmark("grep", &[&around(6000.0, 12), &around(9000.0, 12)]);
        sample.change("grep", |cell| {
            cell.metrics.push(StandardMetric::WITHOUT_START.definition());
        });
        for one in replicates(&mut sample) {
            one.metrics.push(if one.cell == 0 { 4000.0 } else { 2000.0 });
        }
        let text = sentence(&sample.document());
        assert!(text.contains("; densefs 1.50x slower [1.50, 1.50]"), "{text}");
        let without = "; without the start, densefs 2.00 us";
        let (_, rest) = text.split_once(without).unwrap_or_else(|| panic!("{text}"));
        assert!(rest.ends_with(", tmpfs 2.00x slower [2.00, 2.00]"), "{text}");
    }

    #[test]
    fn four_targets_of_which_two_cannot_be_told_apart() {
        let sample = Sample::four_targets();
        assert_eq!(
            sentence(&sample.document()),
            "create: tmpfs 6.10 us [6.05, 6.15]; ext4 4.29x slower [4.24, 4.33], \
             xfs 4.29x slower [4.25, 4.33], btrfs 9.00x slower [8.90, 9.10]; \
             ext4 and xfs cannot be told apart (p = 0.60)"
        );
    }

    #[test]
    fn a_throttled_target_is_a_hundred_times_slower() {
        let sample = Sample::new(&["ext4", "throttled"])
            .benchmark("read", &[&around(100e3, 8), &swaying(10.4e6, 8)]);
        let text = sentence(&sample.document());
        assert!(text.contains("; throttled 104x slower [10"), "{text}");
    }

    #[test]
    fn two_that_cannot_be_told_apart_say_what_the_difference_can_be() {
        let sample = Sample::new(&["a", "b"])
            .benchmark("create", &[&around(6100.0, 12), &swaying(6110.0, 12)]);
        let text = sentence(&sample.document());
        assert!(
            text.contains("; b and a cannot be told apart (0.99x to 1.01x, p = 0.98)"),
            "{text}"
        );
    }

    #[test]
    fn equal_counts_are_the_same() {
        let count = vec![33.0; 8];
        let sample = Sample::new(&["a", "b", "c"]).benchmark("create", &[&count, &count, &count]);
        let text = sentence(&sample.document());
        assert!(text.ends_with("; b and c the same"), "{text}");
    }

    #[test]
    fn several_that_cannot_be_told_from_the_best_are_one_clause() {
        let (a, b) = (around(6080.0, 12), swaying(6110.0, 12));
        let c: Vec<f64> = swaying(6100.0, 12).into_iter().rev().collect();
        let sample = Sample::new(&["a", "b", "c"]).benchmark("create", &[&a, &b, &c]);
        let text = sentence(&sample.document());
        assert!(
            text.contains("; c (0.9") && text.ends_with(") cannot be told apart from a"),
            "{text}"
        );
    }

    #[test]
    fn too_few_blocks_are_said_in_words() {
        let of = |blocks: usize| {
            let (tmpfs, ext4) = (around(6100.0, blocks), around(26_000.0, 3));
            let sample = Sample::new(&["tmpfs", "ext4"]).benchmark("create", &[&tmpfs, &ext4]);
            sentence(&sample.document())
        };
        assert_eq!(
            of(6),
            "create: tmpfs 6.08 us [6.04, 6.16]; ext4 26.0 us \
             (3 common blocks are too few to compare)"
        );
        // Said at the top of the report, since it applies to the whole run.
        assert_eq!(of(3), "create: tmpfs 6.10 us; ext4 26.0 us");
    }

    #[test]
    fn failed_and_unreached_targets_are_named() {
        let sample = Sample::new(&["tmpfs", "ext4", "xfs"])
            .benchmark("create", &[&around(6100.0, 12)])
            .failed("create", "ext4", "no space");
        let text = sentence(&sample.document());
        assert!(text.ends_with("; ext4 failed (see below); xfs not reached"), "{text}");
        let nothing = Sample::new(&["tmpfs"]).benchmark("create", &[]);
        assert_eq!(sentence(&nothing.document()), "create: tmpfs not reached");
    }
}
