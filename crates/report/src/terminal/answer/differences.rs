//! The largest differences that are real.

use file_system::FileSystem;
use record::{Better, CellReport, Document, StandardMetric, Warning, WarningReport};

use super::super::ranking::{
    RankedTarget, Ranking, Relation, Slowdown, has_too_few_blocks, relation, without_start,
};
use super::super::sentence::is_of_volume_size;
use super::super::story::Story;
use super::super::text::{HANGING, Page, SENTENCE, Style};
use super::super::{names, section};
use crate::units::{self, Comparatives};
use textual::{list, unbroken, wrap};

const SHOWN: usize = 2;

/// Heading and lines; empty if no two targets were compared.
pub(super) fn render(page: &mut Page, document: &Document) {
    let is_empty = document.cells.iter().all(|cell| cell.replicates == 0);
    if document.comparisons.is_empty() || is_empty || has_too_few_blocks(document) {
        return;
    }
    let (kept, aside) = persistent_targets(document);
    let mut all: Vec<Difference<'_>> = differences(document, &kept);
    all.sort_by(|left, right| right.slower.low.total_cmp(&left.slower.low));
    let without = match aside.as_slice() {
        [] => String::new(),
        aside => format!(" (apart from {})", list(aside, "and")),
    };
    if all.is_empty() {
        page.heading(&format!("No benchmark shows a real difference{without}"));
        return;
    }
    page.heading(&format!("Largest real differences{without}"));
    for one in all.iter().take(SHOWN) {
        let mark = if one.depends_on_volume_size() { "*" } else { " " };
        let lines = wrap(&one.sentence(), SENTENCE, page.width());
        for (number, line) in lines.iter().enumerate() {
            let mark = if number == 0 { mark } else { " " };
            page.line(&format!("{mark}{}", &line[1..]), Style::Plain);
        }
    }
    if all.iter().take(SHOWN).any(Difference::depends_on_volume_size) {
        let text = "* depends on the volume's size: on a larger one it may be gone";
        page.paragraph(text, HANGING, Style::Doubt);
    }
}

/// Targets whose differences are shown, and the labels of the others: compared with file systems
/// that keep their files, one in memory would come first in everything.
fn persistent_targets(document: &Document) -> (Vec<&str>, Vec<String>) {
    let (in_memory, kept): (Vec<_>, Vec<_>) = document.targets.iter().partition(|target| {
        FileSystem::named(&target.file_system).is_some_and(FileSystem::lives_in_memory)
    });
    let labels = |targets: &[&'_ record::TargetRecord]| -> Vec<String> {
        targets.iter().map(|target| names::label(&target.label)).collect()
    };
    if kept.len() < 2 {
        return (document.targets.iter().map(|target| target.label.as_str()).collect(), Vec::new());
    }
    (kept.iter().map(|target| target.label.as_str()).collect(), labels(&in_memory))
}

/// Two targets that really differ.
struct Difference<'a> {
    better: RankedTarget<'a>,
    worse: RankedTarget<'a>,
    slower: Slowdown,
    /// What is compared of a benchmark, after its title; empty for the benchmark as such.
    what: &'static str,
    /// What the median says, if that is different.
    story: Option<Story<'a>>,
}

/// The largest difference of each benchmark, and of programs that without their start.
fn differences<'a>(document: &'a Document, targets: &[&str]) -> Vec<Difference<'a>> {
    let cells: Vec<&CellReport> = document
        .cells
        .iter()
        .filter(|cell| targets.contains(&cell.target.as_str()) && cell.baseline.is_none())
        .collect();
    let largest = |ranking: &Ranking<'a>, what, relation: RelationOf| {
        let (&better, others) = ranking.entries.split_first()?;
        if better.metric.better == Better::Neither {
            return None;
        }
        let related = others.iter().filter_map(|&worse| {
            let found = relation(document, better, worse);
            let is_real = found.verdict.is_different();
            let slower = found.slower.filter(|by| is_real && by.low > 1.0)?;
            let story = Story::new(document, better, worse);
            Some(Difference { better, worse, slower, what, story })
        });
        related.max_by(|left, right| left.slower.low.total_cmp(&right.slower.low))
    };
    let of_benchmark = |cells: &Vec<&'a CellReport>| {
        let programs = Ranking::of(StandardMetric::WITHOUT_START, cells);
        let programs = programs.map(|all| largest(&all, ", without the start", without_start));
        [largest(&Ranking::new(cells), "", relation), programs.flatten()]
    };
    section::by_benchmark(&cells).iter().flat_map(of_benchmark).flatten().collect()
}

/// How the second of two targets compares with the first.
type RelationOf = fn(&Document, RankedTarget<'_>, RankedTarget<'_>) -> Relation;

impl Difference<'_> {
    fn depends_on_volume_size(&self) -> bool {
        [self.better, self.worse].iter().any(|entry| is_of_volume_size(entry.cell))
    }

    /// `random write 4 KiB, warm: ext4 3.49x [3.41, 3.58] slower than xfs`, and whether a few long
    /// operations account for much of that, or the median says otherwise.
    fn sentence(&self) -> String {
        let Slowdown { ratio, low, high } = self.slower;
        let ratio = units::ratio(ratio, low, high);
        let metric = self.better.metric;
        let words = Comparatives::new(&metric.name, &metric.unit, metric.better);
        let [one, other] = [self.worse, self.better].map(|entry| names::label(&entry.cell.target));
        let is_stall = |report: &WarningReport| matches!(report.warning, Warning::Stalls { .. });
        let has_stalls = self.worse.cell.warnings.iter().any(is_stall);
        let stalls = has_stalls.then(|| "by a few long operations".to_owned());
        let notes: Vec<String> = stalls.into_iter().chain(self.story.map(|it| it.note())).collect();
        let notes = match notes.as_slice() {
            [] => String::new(),
            notes => format!(" ({})", notes.join("; ")),
        };
        let one = words.subject(&one);
        let ratio = unbroken(&format!("{one} {} {}", ratio.value, ratio.interval));
        let (title, what, worse) = (&self.better.cell.title, self.what, words.worse);
        format!("{title}{what}: {ratio} {worse} than {other}{notes}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Options;
    use crate::sample::{Sample, around, swaying};

    fn lines(sample: &Sample, width: usize) -> String {
        let mut page = Page::new(&Options { width, colour: false });
        render(&mut page, &sample.document());
        page.finish()
    }

    #[test]
    fn a_median_with_another_story_stands_within_the_line() {
        let title = "append 4 KiB and fsync, with a title that is long";
        let (p50, other) = (around(9000.0, 12), swaying(18_900.0, 12));
        let mut sample = Sample::new(&["xfs", "ext4"])
            .operations(1000)
            .benchmark("fsync", &[&around(10_000.0, 12), &swaying(440_000.0, 12)])
            .quantiles("fsync", "xfs", &p50, &p50)
            .quantiles("fsync", "ext4", &other, &other)
            .stalled("fsync", "ext4", 10, 40_000_000);
        sample.change("fsync", |cell| cell.title = title.to_owned());
        let text = lines(&sample, 80);
        assert!(text.contains(title) && !text.contains('~'), "{text}");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            text.contains(" slower than xfs (by a few long operations; median 2.10x)"),
            "{text}"
        );
        assert!(lines(&sample, 120).contains(&format!("{title}: ext4 43.9x")));
    }
}
