//! `fsprism runs`: the runs in a directory.

use std::fs;
use std::path::{Path, PathBuf};

use record::{EndReason, Line, Run};
use serde::{Serialize, Serializer};
use textual::{Layout, plain_text, widest};

use crate::arguments::RunsOptions;
use crate::exit::{OrInputError, Outcome};
use crate::output;
use crate::session::runs::{MANIFEST, in_group};

/// The runs in a directory, oldest first.
#[derive(Debug, Serialize)]
struct Runs {
    runs: Vec<ListedRun>,
}

/// A run directory.
#[derive(Debug, Serialize)]
struct ListedRun {
    #[serde(serialize_with = "as_text")]
    path: PathBuf,
    /// When it began, in UTC; `None` if it cannot be read.
    started: Option<String>,
    suite: Option<String>,
    targets: Vec<String>,
    /// Blocks in which something was measured.
    blocks: usize,
    state: State,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
enum State {
    Finished,
    /// It was cut off, or is still being measured.
    Unfinished,
    /// Some of its records could not be used.
    Damaged,
    Unreadable(String),
}

impl ListedRun {
    fn read(path: PathBuf) -> Self {
        match Run::read(&path) {
            Ok(run) => Self {
                started: Some(run.manifest.run.started.clone()),
                suite: Some(run.manifest.run.suite.clone()),
                targets: run.manifest.targets.iter().map(|one| one.label.clone()).collect(),
                blocks: blocks(&run),
                state: match run.damage.is_empty() {
                    true if is_finished(&run) => State::Finished,
                    true => State::Unfinished,
                    false => State::Damaged,
                },
                path,
            },
            Err(error) => Self {
                path,
                started: None,
                suite: None,
                targets: Vec::new(),
                blocks: 0,
                state: State::Unreadable(error.to_string()),
            },
        }
    }

    /// Its row in the table: path, suite, targets, state, blocks.
    fn row(&self) -> [String; 5] {
        let state = match &self.state {
            State::Finished => "finished",
            State::Unfinished => "unfinished",
            State::Damaged => "damaged",
            State::Unreadable(_) => "unreadable",
        };
        let suite = plain_text(self.suite.as_deref().unwrap_or_default()).into_owned();
        let targets = plain_text(&self.targets.join(" ")).into_owned();
        let path = plain_text(&self.path.to_string_lossy()).into_owned();
        [path, suite, targets, state.to_owned(), self.blocks.to_string()]
    }
}

/// Lists the runs in a directory.
pub(crate) fn runs(options: &RunsOptions) -> anyhow::Result<Outcome> {
    let runs = Runs { runs: list(&options.directory).or_input_error()? };
    output::print_answer(options.output.format, &runs, |_| text(&runs, &options.directory))
}

/// The directories in `directory` that have a manifest, and the runs in directories of runs.
fn list(directory: &Path) -> anyhow::Result<Vec<ListedRun>> {
    let entries = fs::read_dir(directory).map_err(|error| {
        anyhow::anyhow!("cannot list {}: {error}; name a directory of runs", directory.display())
    })?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    let paths = paths.collect::<Result<Vec<PathBuf>, _>>()?;
    let runs = |path: PathBuf| match path.join(MANIFEST).symlink_metadata() {
        Ok(_) => vec![path],
        Err(_) => in_group(&path).unwrap_or_default(),
    };
    let mut found: Vec<ListedRun> = paths.into_iter().flat_map(runs).map(ListedRun::read).collect();
    found.sort_by(|a, b| (&a.started, &a.path).cmp(&(&b.started, &b.path)));
    Ok(found)
}

/// Serializes a path lossily: one that is not UTF-8 must not keep the other runs from being listed.
fn as_text<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

fn blocks(run: &Run) -> usize {
    let block = |line: &Line| if let Line::Replicate(one) = line { Some(one.block) } else { None };
    let mut blocks: Vec<u32> = run.lines.iter().filter_map(block).collect();
    blocks.sort_unstable();
    blocks.dedup();
    blocks.len()
}

fn is_finished(run: &Run) -> bool {
    let end = |line: &Line| if let Line::End(end) = line { Some(end.reason) } else { None };
    run.lines.last().and_then(end).is_some_and(|reason| reason != EndReason::Interrupted)
}

fn text(runs: &Runs, directory: &Path) -> String {
    if runs.runs.is_empty() {
        let directory = plain_text(&directory.to_string_lossy()).into_owned();
        let how = format!("`fsprism survey` makes one, in ./{}", runner::RUNS);
        return format!("no runs in {directory}; {how}\n");
    }
    let heading = ["run", "suite", "targets", "state", "blocks"].map(str::to_owned);
    let rows: Vec<_> =
        std::iter::once(heading).chain(runs.runs.iter().map(ListedRun::row)).collect();
    let widths = (0..5).map(|column| widest(rows.iter().map(|row| &row[column]))).collect();
    let layout = Layout { left: 4, widths };
    let table: String = rows.iter().map(|row| layout.line(row) + "\n").collect();
    let why = runs.runs.iter().filter_map(|one| match &one.state {
        State::Unreadable(why) => Some(format!("! {}\n", plain_text(why))),
        State::Finished | State::Unfinished | State::Damaged => None,
    });
    table + &why.collect::<String>()
}
