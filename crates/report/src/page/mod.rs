//! The page: runs and what follows from them, as one HTML file that needs no network.
//!
//! [`render_html`] gathers what the page's script (`web/`) is given, a [`contract::Payload`] and a
//! block of bytes, and puts both with the script into one file.

mod block;
mod cells;
mod changed;
mod command;
mod compared;
pub mod contract;
mod course;
mod footprints;
mod html;

use std::path::Path;

use measure::Bucket;
use record::{Document, Line, Run};

use crate::analysis::{Analysis, Load, analyse, gather, known_loads};
use crate::check;
use crate::compare::{self, CompareOptions, NamedRun};
use crate::export::{render_csv, render_json};
use crate::network::{network, render_network};
use crate::{Options, render_terminal, terminal};
use block::Bulk;
use contract::{Effects, PAGE_VERSION, PageCell, PageRun, Payload};
use footprints::Footprints;

pub use compared::{ComparedPair, Comparison, render_comparison};
pub use html::HEAD;

/// Columns of the text that stands where no script runs.
const TEXT_COLUMNS: usize = 100;

/// A run, where it was read from, and what is derived from it, once for all forms of its report.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    /// The run directory.
    pub path: &'a Path,
    /// What was read from it.
    pub run: &'a Run,
    /// What is derived from that.
    pub document: Document,
    /// The operations of each cell by the time they took.
    latencies: Vec<Vec<Bucket>>,
}

impl<'a> Source<'a> {
    /// Analyses a run that was read from `path`, where the logs of its latencies lie.
    #[must_use]
    pub fn new(run: &'a Run, path: &'a Path) -> Self {
        let mut source = Self::under(run, path, &known_loads());
        source.document.loads.retain(|load| !load.costs.is_empty());
        source
    }

    /// The same for these loads, whether or not they can be estimated.
    #[must_use]
    pub fn under(run: &'a Run, path: &'a Path, loads: &[Load]) -> Self {
        let Analysis { document, latencies } = analyse(run, path, loads);
        Self { path, run, document, latencies }
    }
}

/// The page of one run, or of several side by side.
#[must_use]
pub fn render_html(sources: &[Source<'_>]) -> String {
    let mut block = Bulk::default();
    let paths: Vec<&Path> = sources.iter().map(|source| source.path).collect();
    let runs = sources.iter().map(|source| source.run.clone()).collect();
    let named = compare::name_runs(&paths, runs);
    let runs = named.iter().zip(sources).map(|(named, source)| page(&mut block, named, source));
    let mut runs: Vec<PageRun> = runs.collect();
    let mut footprints = Footprints::default();
    for (index, (run, source)) in runs.iter_mut().zip(sources).enumerate() {
        run.prose.extend(footprints.take(&mut block, index, source));
    }
    let (stacks, cachemaps, flame_graphs) = footprints.finish(&mut block);
    let documents: Vec<&Document> = sources.iter().map(|source| &source.document).collect();
    let payload = Payload {
        page_version: PAGE_VERSION,
        written_by: env!("CARGO_PKG_VERSION").to_owned(),
        runs,
        effects: effects(&named, &documents),
        stacks,
        cachemaps,
        flame_graphs,
        compared: None,
    };
    let texts: Vec<String> = sources.iter().map(plain).collect();
    html::file(&html::Parts {
        title: &title(sources),
        text: &texts.join("\n\n"),
        payload: &serde_json::to_string(&payload).expect("a payload has text keys only"),
        block: &block.finish(),
    })
}

/// What stands where no script runs.
fn plain(source: &Source<'_>) -> String {
    let options = Options { width: TEXT_COLUMNS, colour: false };
    match network(source.run) {
        Some(network) => render_network(&network, &options),
        None => render_terminal(&source.document, &options),
    }
}

/// `survey of tmpfs, ext4 and xfs - fsprism`.
fn title(sources: &[Source<'_>]) -> String {
    let of = |Source { document, .. }: &Source<'_>| {
        let labels: Vec<&str> =
            document.targets.iter().map(|target| target.label.as_str()).collect();
        format!("{} of {}", document.run.suite, labels.join(", "))
    };
    let runs: Vec<String> = sources.iter().map(of).collect();
    format!("{} - fsprism", runs.join("; "))
}

fn page(block: &mut Bulk, named: &NamedRun, source: &Source<'_>) -> PageRun {
    let Source { run, document, latencies, .. } = source;
    let gathered = gather(run);
    let level = run.manifest.run.confidence_level;
    let cells: Vec<PageCell> = gathered
        .iter()
        .zip(latencies)
        .map(|(one, latencies)| cells::of(block, one, latencies, level))
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
        mistakes: check::of_classic(source),
        network,
        prose: terminal::prose(document),
        cells,
    }
}

/// Of the runs that can be compared: beside a search for cliffs the others still are.
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
        Err(why) => Effects { comparison: None, refused: Some(why.to_string()), changed: None },
    }
}
