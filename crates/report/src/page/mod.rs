//! The page: runs and their analysis, as one HTML file that needs no network.
//!
//! [`render_html`] gathers the input of the page's script (`web/`), which is a
//! [`contract::Payload`] and a block of bytes, and puts both into one file with the script.

mod block;
mod cells;
mod changed;
mod command;
mod compared;
pub mod contract;
mod course;
mod footprints;
mod html;

use std::collections::BTreeSet;
use std::path::Path;

use record::{Document, Doubt, DoubtRow, Line};

use crate::AnalysedRun;
use crate::analysis::gather;
use crate::check;
use crate::compare::{self, CompareOptions, NamedRun};
use crate::export::{render_csv, render_json};
use crate::layout::Options;
use crate::network::{network, render_network};
use crate::terminal::{self, render_terminal};
use block::Bulk;
use contract::{Effects, PAGE_VERSION, PageCell, PageDoubt, PageRun, Payload};
use footprints::Footprints;

pub use compared::{ComparedPair, Comparison, render_comparison};
pub use html::HEAD;

/// Width of the text that is shown if no script runs.
const TEXT_COLUMNS: usize = 100;

/// The page of one run, or of several side by side.
#[must_use]
pub fn render_html(analysed_runs: &[AnalysedRun<'_>]) -> String {
    let mut block = Bulk::default();
    let paths: Vec<&Path> = analysed_runs.iter().map(|analysed| analysed.path).collect();
    let runs = analysed_runs.iter().map(|analysed| analysed.run.clone()).collect();
    let named = compare::name_runs(&paths, runs);
    let runs =
        named.iter().zip(analysed_runs).map(|(named, analysed)| page(&mut block, named, analysed));
    let mut runs: Vec<PageRun> = runs.collect();
    let mut footprints = Footprints::default();
    for (index, (run, analysed)) in runs.iter_mut().zip(analysed_runs).enumerate() {
        run.prose.extend(footprints.take(&mut block, index, analysed));
    }
    let (stacks, cachemaps, flame_graphs) = footprints.finish(&mut block);
    let documents: Vec<&Document> =
        analysed_runs.iter().map(|analysed| &analysed.document).collect();
    let payload = Payload {
        page_version: PAGE_VERSION,
        written_by: env!("CARGO_PKG_VERSION").to_owned(),
        runs,
        effects: effects(&named, &documents),
        stacks,
        cachemaps,
        flame_graphs,
        doubts: doubts(&documents),
        compared: None,
    };
    let texts: Vec<String> = analysed_runs.iter().map(plain).collect();
    html::file(&html::Parts {
        title: &title(analysed_runs),
        text: &texts.join("\n\n"),
        payload: &serde_json::to_string(&payload).expect("a payload has text keys only"),
        block: &block.finish(),
    })
}

/// The kinds of warnings that these documents have, each with what it means.
fn doubts(documents: &[&Document]) -> Vec<PageDoubt> {
    let warnings = documents.iter().flat_map(|document| {
        let of_cells = document.cells.iter().flat_map(|cell| &cell.warnings);
        document.warnings.iter().chain(of_cells)
    });
    let kinds: BTreeSet<Doubt> = warnings.map(|report| report.warning.doubt()).collect();
    let meaning = |kind: Doubt| {
        let DoubtRow { title, means, avoid, weight, .. } = *kind.row();
        let means = avoid.map_or(means.to_owned(), |avoid| format!("{means} {avoid}"));
        PageDoubt { kind, title: title.to_owned(), means, weight }
    };
    kinds.into_iter().map(meaning).collect()
}

/// The text that is shown if no script runs.
fn plain(analysed: &AnalysedRun<'_>) -> String {
    let options = Options { width: TEXT_COLUMNS, colour: false };
    match network(analysed.run) {
        Some(network) => render_network(&network, &options),
        None => render_terminal(&analysed.document, &options),
    }
}

/// `survey of tmpfs, ext4 and xfs - fsprism`.
fn title(analysed_runs: &[AnalysedRun<'_>]) -> String {
    let of = |AnalysedRun { document, .. }: &AnalysedRun<'_>| {
        let labels: Vec<&str> =
            document.targets.iter().map(|target| target.label.as_str()).collect();
        format!("{} of {}", document.run.suite, labels.join(", "))
    };
    let runs: Vec<String> = analysed_runs.iter().map(of).collect();
    format!("{} - fsprism", runs.join("; "))
}

fn page(block: &mut Bulk, named: &NamedRun, analysed: &AnalysedRun<'_>) -> PageRun {
    let AnalysedRun { run, document, latencies, .. } = analysed;
    let gathered = gather(run);
    let level = run.manifest.run.confidence_level;
    let cells: Vec<PageCell> = gathered
        .iter()
        .zip(latencies)
        .map(|(one, latencies)| cells::page_cell(block, one, latencies, level))
        .collect();
    let network = network(run);
    let answer = network.as_ref().and_then(|network| network.answers.first().cloned());
    PageRun {
        name: named.name.clone(),
        document: block.text(&render_json(document)),
        csv: block.text(&render_csv(run)),
        command: command::again(&run.manifest.run),
        seed: run.manifest.run.seed.to_string(),
        answer: answer.unwrap_or_else(|| terminal::headline(document)),
        left_out: terminal::left_out(document),
        loads: terminal::load_lines(document),
        mistakes: check::of_classic(analysed),
        network,
        prose: terminal::prose(document),
        cells,
    }
}

/// The comparison of the runs that can be compared: those that are not a search for cliffs.
fn effects(runs: &[NamedRun], documents: &[&Document]) -> Effects {
    let is_search =
        |named: &NamedRun| named.run.lines.iter().any(|line| matches!(line, Line::Search(_)));
    let others: Vec<NamedRun> = runs.iter().filter(|named| !is_search(named)).cloned().collect();
    let runs = if others.is_empty() { runs } else { &others };
    let options = CompareOptions::default();
    match compare::compare(runs, &options) {
        Ok(document) => {
            let changed = changed::answer(&document, documents);
            Effects { comparison: Some(document), refused: None, changed }
        }
        Err(why) => {
            Effects { comparison: None, refused: Some(why.to_string()), changed: Vec::new() }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Sample;

    #[test]
    fn a_page_says_what_each_of_its_warnings_means_once() {
        let mut sample = Sample::new(&["ext4", "xfs"]).benchmark("create", &[&[1.0; 2], &[1.0; 2]]);
        for target in &mut sample.run.manifest.targets {
            (target.scratch, target.loop_direct_io) = (true, Some(false));
        }
        let document = sample.document();
        let all = doubts(&[&document, &document]);
        let kinds: BTreeSet<Doubt> = all.iter().map(|one| one.kind).collect();
        assert_eq!(kinds.len(), all.len());
        // The first is of the run, the second of its cells.
        assert!(kinds.is_superset(&[Doubt::LoopBuffered, Doubt::TooFewReplicates].into()));
        let few = all.iter().find(|one| one.kind == Doubt::TooFewReplicates).expect("it is there");
        assert!(few.means.ends_with("Give a larger --budget."), "{}", few.means);
        assert!(all.iter().all(|one| one.kind != Doubt::Stalls), "only those that it has");
    }
}
