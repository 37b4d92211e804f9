//! What the processor counted in the phases of a run, as text.

use record::{CellReport, Document, MetricReport, ProcessorCount, RunKind};
use textual::{Columns, paragraph};

use crate::units::{self, Wording};

/// What the processor counted in each phase of a run; empty if it was not asked to count.
#[must_use]
pub fn counted_by_processor(document: &Document, width: usize) -> String {
    // The traffic of simulated caches has metrics with the same names.
    let is_simulated = document.run.kind == RunKind::Traffic;
    let tables: String = ProcessorCount::ALL.map(|count| table(document, count)).concat();
    if is_simulated || tables.is_empty() {
        return String::new();
    }
    let what = "Counted by the processor in each phase, the kernel's work included: medians over \
                blocks, with their intervals.";
    format!("\n{}{tables}", paragraph("", "", what, width))
}

/// One kind of count in all phases, on their targets; empty if no phase has it.
fn table(document: &Document, count: ProcessorCount) -> String {
    let of = |cell: &'_ CellReport| -> Option<MetricReport> {
        cell.metrics.iter().find(|one| one.name == count.metric()).cloned()
    };
    let mut titles: Vec<&str> = Vec::new();
    for cell in &document.cells {
        if of(cell).is_some() && !titles.contains(&cell.title.as_str()) {
            titles.push(&cell.title);
        }
    }
    if titles.is_empty() {
        return String::new();
    }
    let mut columns = Columns::headed([count.words(), "target", "median", "interval"]);
    for title in titles {
        let cells = document.cells.iter().filter(|cell| cell.title == title);
        let counted = cells.filter_map(|cell| Some((cell, of(cell)?)));
        for (at, (cell, metric)) in counted.enumerate() {
            let MetricReport { unit, median, interval, .. } = &metric;
            let figure = units::figure(unit, *median, interval.as_ref(), Wording::Full);
            columns.row([
                if at == 0 { title.to_owned() } else { String::new() },
                cell.target.clone(),
                figure.value,
                figure.interval.unwrap_or_else(|| "too few blocks".to_owned()),
            ]);
        }
    }
    format!("\n{}", columns.render())
}

#[cfg(test)]
mod tests {
    use record::ProcessorCount;

    use super::*;
    use crate::check::sample::Phases;

    #[test]
    fn each_count_has_a_table_of_its_phases() {
        let mut phases = Phases::published();
        assert_eq!(counted_by_processor(&phases.sample().document(), 80), "");
        phases.counts = vec![
            (ProcessorCount::L2BytesOut, [0.0, 230.0 * 1024.0, 0.0, 66.0 * 1024.0, 0.0]),
            (ProcessorCount::MisalignedLoads, [0.0, 0.0, 0.0, 16_000.0, 0.0]),
        ];
        let document = phases.sample().document();
        let text = counted_by_processor(&document, 80);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        let line = |words: &[&str]| {
            assert!(
                text.lines().any(|line| words.iter().all(|word| line.contains(word))),
                "{words:?}: {text}"
            );
        };
        line(&["moved out of L2", "target", "median", "interval"]);
        line(&["the sequential-read", "tmpfs", "230 KiB", "["]);
        line(&["the random-read", "16,000 accesses"]);
        assert!(!text.contains("moved into L2"), "it was not counted: {text}");
        // A simulated cache has the same metric, and its own table.
        let mut simulated = document;
        simulated.run.kind = RunKind::Traffic;
        assert_eq!(counted_by_processor(&simulated, 80), "");
    }
}
