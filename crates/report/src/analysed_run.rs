//! A run together with its analysis: the input of every report, check, export and page.

use std::path::Path;

use measure::Bucket;
use record::{Document, Run};

use crate::analysis::{Analysis, Load, analyse, known_loads};

/// A run, where it was read from, and the results of its analysis, shared by all kinds of output.
#[derive(Clone, Debug)]
pub struct AnalysedRun<'a> {
    /// The run directory.
    pub path: &'a Path,
    /// What was read from it.
    pub run: &'a Run,
    /// What the analysis derived from it.
    pub document: Document,
    /// A histogram of the operation times of each cell.
    pub(crate) latencies: Vec<Vec<Bucket>>,
}

impl<'a> AnalysedRun<'a> {
    /// Analyses a run that was read from `path`, which also contains its latency logs.
    #[must_use]
    pub fn new(run: &'a Run, path: &'a Path) -> Self {
        let mut analysed = Self::under(run, path, &known_loads());
        analysed.document.loads.retain(|load| !load.costs.is_empty());
        analysed
    }

    /// Like [`Self::new`], but for these loads, and including those that cannot be estimated.
    #[must_use]
    pub fn under(run: &'a Run, path: &'a Path, loads: &[Load]) -> Self {
        let Analysis { document, latencies } = analyse(run, path, loads);
        Self { path, run, document, latencies }
    }
}
