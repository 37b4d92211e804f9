//! Reasons to doubt figures, what was not measured, and what failed: each mentioned once, with the
//! list of what it applies to.

use std::mem::discriminant;

use file_system::FileSystem;
use record::{CellReport, Document, Skipped, Warning, WarningReport};

use super::names;
use super::text::{Page, Style};
use textual::{list, plural};

/// The beginning of the reason why a benchmark is left out if the budget has no time for it.
const TOO_LONG: &str = "it does not fit into ";
/// Number of benchmarks that are named before the rest are only counted.
const NAMED_MAX: usize = 3;

/// The sections of warnings, of what was skipped, and of what failed.
pub(super) fn render(page: &mut Page, document: &Document) {
    let sections = [
        ("Warnings", doubts(document), Style::Plain),
        ("Not measured", not_measured(document), Style::Plain),
        ("Failed", failed(document), Style::Failure),
    ];
    for (heading, texts, style) in sections {
        if !texts.is_empty() {
            page.heading(heading);
        }
        texts.iter().for_each(|text| page.item(text, style));
    }
}

/// Reasons to doubt figures.
pub(super) fn doubts(document: &Document) -> Vec<String> {
    let caveats = by_caveat(document).into_iter();
    let caveats = caveats.map(|(text, labels)| format!("{}: {text}", list(&labels, "and")));
    let of_run = document.warnings.iter();
    let of_run = of_run.map(|report| format!("{}{}", capitalised(&report.message), source(report)));
    // What applies to the whole run is not repeated for its cells.
    let mut kinds = kinds(document);
    kinds.retain(|kind| !matches!(kind.worst.warning, Warning::BusyMachine { .. }));
    caveats.chain(of_run).chain(kinds.iter().map(|kind| kind.sentence(document))).collect()
}

/// What limits do not do on this machine, each with the targets to which that applies.
fn by_caveat(document: &Document) -> Vec<(&str, Vec<String>)> {
    let mut by_caveat: Vec<(&str, Vec<String>)> = Vec::new();
    for target in &document.targets {
        let label = names::label(&target.label);
        for caveat in &target.condition_caveats {
            match by_caveat.iter_mut().find(|(other, _)| other == caveat) {
                Some((_, labels)) => labels.push(label.clone()),
                None => by_caveat.push((caveat, vec![label.clone()])),
            }
        }
    }
    by_caveat
}

/// What was skipped, with the reason.
pub(super) fn not_measured(document: &Document) -> Vec<String> {
    reasons(&document.skipped)
}

/// What was skipped, grouped by reason.
#[must_use]
pub fn reasons(skipped: &[Skipped]) -> Vec<String> {
    let reasons = by_reason(skipped).into_iter();
    reasons.map(|(what, why)| format!("{}: {why}", what.join("; "))).collect()
}

/// The same in fewer words: only the number if several were skipped for the same reason, or because
/// a target is in memory.
pub(super) fn not_measured_in_short(document: &Document) -> Vec<String> {
    let (of_memory, others): (Vec<&Skipped>, Vec<&Skipped>) =
        document.skipped.iter().partition(|one| in_memory(document, one).is_some());
    let mut labels: Vec<&str> =
        of_memory.iter().filter_map(|one| in_memory(document, one)).collect();
    let all = labels.len();
    labels.sort_unstable();
    labels.dedup();
    let labels: Vec<String> = labels.into_iter().map(names::label).collect();
    let of_memory = (all > 1).then(|| {
        let have = if labels.len() == 1 { "has" } else { "have" };
        format!("{all} benchmarks that need a device ({} {have} none)", list(&labels, "and"))
    });
    let others: Vec<Skipped> = match of_memory {
        Some(_) => others.into_iter().cloned().collect(),
        None => document.skipped.clone(),
    };
    let reasons = by_reason(&others).into_iter();
    let reasons: Vec<String> = reasons
        .map(|(what, why)| match what.as_slice() {
            [only] => format!("{only}: {why}"),
            several => match why.strip_prefix(TOO_LONG).and_then(|rest| rest.split_once(':')) {
                Some((time, _)) => format!("{} that do not fit into {time}", several.len()),
                None => format!("{} and {} more: {why}", several[0], several.len() - 1),
            },
        })
        .collect();
    of_memory.into_iter().chain(reasons).collect()
}

/// The target on which something was left out, if it is in memory.
fn in_memory<'a>(document: &'a Document, skipped: &Skipped) -> Option<&'a str> {
    let of_memory = document.targets.iter().filter(|target| {
        FileSystem::named(&target.file_system).is_some_and(FileSystem::lives_in_memory)
    });
    let mut labels = of_memory.map(|target| target.label.as_str());
    labels.find(|label| {
        let rest = skipped.target.strip_prefix(label);
        rest.is_some_and(|rest| rest.starts_with(": "))
    })
}

/// What was abandoned, with the reason.
pub(super) fn failed(document: &Document) -> Vec<String> {
    let failures = failures(document).into_iter();
    failures.map(|(why, cells)| format!("{}: {why}", places(document, &cells))).collect()
}

/// A kind of warning and the cells that have it.
struct WarningGroup<'a> {
    worst: &'a WarningReport,
    cells: Vec<&'a CellReport>,
    /// Whether all cells have the same numbers.
    is_same: bool,
}

impl WarningGroup<'_> {
    fn sentence(&self, document: &Document) -> String {
        let worst = if self.is_same {
            String::new()
        } else {
            format!(" (worst of {})", plural(self.cells.len(), "cell"))
        };
        let message = capitalised(&self.worst.message);
        let places = places(document, &self.cells);
        format!("{message}{worst}: {places}{}", source(self.worst))
    }
}

/// The paper that describes the problem; fsprism's own warnings need no reference.
fn source(report: &WarningReport) -> String {
    if report.source.starts_with("fsprism") {
        String::new()
    } else {
        format!(" [{}]", report.source)
    }
}

fn kinds(document: &Document) -> Vec<WarningGroup<'_>> {
    let mut kinds: Vec<WarningGroup<'_>> = Vec::new();
    for cell in &document.cells {
        for report in &cell.warnings {
            let of_same_kind = |kind: &&mut WarningGroup<'_>| {
                discriminant(&kind.worst.warning) == discriminant(&report.warning)
            };
            let Some(kind) = kinds.iter_mut().find(of_same_kind) else {
                kinds.push(WarningGroup { worst: report, cells: vec![cell], is_same: true });
                continue;
            };
            kind.cells.push(cell);
            kind.is_same &= kind.worst.message == report.message;
            if report.warning.severity() > kind.worst.warning.severity() {
                kind.worst = report;
            }
        }
    }
    kinds
}

/// `create, directory of 100 (ext4 and xfs), stat and 3 other benchmarks`.
fn places(document: &Document, cells: &[&CellReport]) -> String {
    if cells.len() == document.cells.len() && cells.len() > 1 {
        return "all cells".to_owned();
    }
    let mut benchmarks: Vec<(&str, Vec<&CellReport>)> = Vec::new();
    for cell in cells {
        match benchmarks.iter_mut().find(|(name, _)| *name == cell.benchmark) {
            Some((_, group)) => group.push(cell),
            None => benchmarks.push((&cell.benchmark, vec![cell])),
        }
    }
    // Targets are listed after each benchmark only if they are not the same throughout.
    let targets = |group: &[&CellReport]| {
        let labels: Vec<String> = group.iter().map(|cell| names::label(&cell.target)).collect();
        let is_all = labels.len() == document.targets.len();
        if is_all { String::new() } else { format!(" ({})", list(&labels, "and")) }
    };
    let mut each: Vec<String> = benchmarks.iter().map(|(_, group)| targets(group)).collect();
    let common = each.first().filter(|first| each.iter().all(|one| one == *first)).cloned();
    if common.is_some() {
        each.iter_mut().for_each(String::clear);
    }
    let titles =
        benchmarks.iter().zip(&each).map(|((_, group), on)| format!("{}{on}", group[0].title));
    let mut named: Vec<String> = titles.take(NAMED_MAX).collect();
    if benchmarks.len() > NAMED_MAX + 1 {
        named.push(format!("{} other benchmarks", benchmarks.len() - NAMED_MAX));
    } else if let Some((_, group)) = benchmarks.get(NAMED_MAX) {
        named.push(format!("{}{}", group[0].title, each[NAMED_MAX]));
    }
    // Titles contain commas, so they are separated by semicolons.
    format!("{}{}", named.join("; "), common.unwrap_or_default())
}

fn failures(document: &Document) -> Vec<(&str, Vec<&CellReport>)> {
    let mut by_reason: Vec<(&str, Vec<&CellReport>)> = Vec::new();
    for cell in &document.cells {
        let Some(why) = cell.failed.as_deref() else { continue };
        match by_reason.iter_mut().find(|(known, _)| *known == why) {
            Some((_, cells)) => cells.push(cell),
            None => by_reason.push((why, vec![cell])),
        }
    }
    by_reason
}

fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    let Some(first) = characters.next() else { return String::new() };
    // A sentence that begins with a label is not capitalised.
    let is_label = text.split(' ').next().is_some_and(|word| word.ends_with(':'));
    let first = if is_label { first } else { first.to_ascii_uppercase() };
    std::iter::once(first).chain(characters).collect()
}

/// What was skipped, grouped by reason, in the order of the document.
fn by_reason(skipped: &[Skipped]) -> Vec<(Vec<&str>, &str)> {
    let mut reasons: Vec<(Vec<&str>, &str)> = Vec::new();
    for one in skipped {
        match reasons.iter_mut().find(|(_, why)| *why == one.why) {
            Some((what, _)) => what.push(&one.target),
            None => reasons.push((vec![&one.target], &one.why)),
        }
    }
    reasons
}

#[cfg(test)]
mod tests {
    use record::{CacheEvidence, Discarded, Line};

    use crate::sample::{Sample, around};
    use crate::{Options, render_terminal};

    /// The sections of warnings and after, without line breaks.
    fn text(sample: &Sample) -> String {
        let text = render_terminal(&sample.document(), &Options::default());
        let words: Vec<&str> = text.split_whitespace().collect();
        let joined = words.join(" ");
        joined.split_once("Warnings - ").map_or(joined.clone(), |(_, after)| after.to_owned())
    }

    fn sample() -> Sample {
        let values = around(10_000.0, 6);
        let all: [&[f64]; 2] = [&values, &values];
        let names = ["a", "b", "c", "d", "e"];
        names
            .iter()
            .fold(Sample::new(&["ext4", "xfs"]), |sample, name| sample.benchmark(name, &all))
    }

    #[test]
    fn what_is_left_out_is_counted_by_what_it_lacks() {
        let too_long = "it does not fit into 120 s: an interval takes 6 blocks; give --budget";
        let mut sample = sample()
            .skipped("ext4: cold reads", "it lies in memory")
            .skipped("ext4: fsync", "it has no device")
            .skipped("rmdir", too_long)
            .skipped("mkdir", too_long)
            .skipped("f2fs", "mkfs.f2fs is not installed");
        let said = |sample: &Sample| super::not_measured_in_short(&sample.document());
        assert_eq!(said(&sample).len(), 4, "each target has a device: {:?}", said(&sample));
        sample.run.manifest.targets[0].file_system = "tmpfs".to_owned();
        let expected = [
            "2 benchmarks that need a device (ext4 has none)",
            "2 that do not fit into 120 s",
            "f2fs: mkfs.f2fs is not installed",
        ];
        assert_eq!(said(&sample), expected);
    }

    fn discard(sample: &mut Sample, cell: u32) {
        let why = "2 pages were resident".to_owned();
        let evidence = CacheEvidence::default();
        sample.run.lines.push(Line::Discarded(Discarded {
            cell,
            block: 0,
            attempt: 1,
            turn_ns: None,
            why,
            evidence,
        }));
    }

    #[test]
    fn one_cell_is_named_with_its_target() {
        let mut sample = sample();
        discard(&mut sample, 3);
        let expected = "1 replicate was thrown away (2 pages were resident): b (xfs) [It IS";
        assert!(text(&sample).starts_with(expected), "{}", text(&sample));
    }

    #[test]
    fn the_same_warning_on_many_cells_is_said_once_with_its_worst_numbers() {
        let mut sample = sample();
        for cell in [0, 1, 2, 2, 4, 6, 8] {
            discard(&mut sample, cell);
        }
        let expected = "2 replicates were thrown away (the last time: 2 pages were resident) \
            (worst of 6 cells): a; b (ext4); c (ext4); 2 other benchmarks [It IS";
        assert!(text(&sample).starts_with(expected), "{}", text(&sample));
    }

    #[test]
    fn what_concerns_every_cell_is_said_of_all() {
        let mut sample = sample();
        (0..10).for_each(|cell| discard(&mut sample, cell));
        let expected = "1 replicate was thrown away (2 pages were resident): all cells [It IS";
        assert!(text(&sample).starts_with(expected), "{}", text(&sample));
    }

    #[test]
    fn one_reason_for_many_failures_is_said_once() {
        let sample = sample().failed("a", "xfs", "no space").failed("c", "xfs", "no space");
        let text = text(&sample);
        assert!(text.contains("Failed - a; c (xfs): no space How sure"), "{text}");
    }

    #[test]
    fn what_was_skipped_for_the_same_reason_is_said_together() {
        let sample = sample().skipped("create: 100", "no room").skipped("stat: 100", "no room");
        let text = text(&sample.skipped("f2fs", "no mkfs"));
        assert!(text.contains("- create: 100; stat: 100: no room"), "{text}");
        assert!(text.contains("- f2fs: no mkfs"), "{text}");
    }

    #[test]
    fn what_was_skipped_is_said_with_why() {
        let text = text(&sample().skipped("f2fs", "install the package f2fs-tools"));
        assert!(text.contains("Not measured - f2fs: install the package f2fs-tools How"), "{text}");
    }
}
