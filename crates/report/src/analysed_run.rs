//! A run with what is derived from it: what every report, check and page starts from.

use std::path::Path;

use measure::Bucket;
use record::{Document, Run};

use crate::analysis::{Analysis, Load, analyse, known_loads};

/// A run, where it was read from, and what is derived from it, once for all forms of its report.
#[derive(Clone, Debug)]
pub struct AnalysedRun<'a> {
    /// The run directory.
    pub path: &'a Path,
    /// What was read from it.
    pub run: &'a Run,
    /// What is derived from that.
    pub document: Document,
    /// The operations of each cell by the time they took.
    pub(crate) latencies: Vec<Vec<Bucket>>,
}

impl<'a> AnalysedRun<'a> {
    /// Analyses a run that was read from `path`, where the logs of its latencies lie.
    #[must_use]
    pub fn new(run: &'a Run, path: &'a Path) -> Self {
        let mut analysed = Self::under(run, path, &known_loads());
        analysed.document.loads.retain(|load| !load.costs.is_empty());
        analysed
    }

    /// The same for these loads, whether or not they can be estimated.
    #[must_use]
    pub fn under(run: &'a Run, path: &'a Path, loads: &[Load]) -> Self {
        let Analysis { document, latencies } = analyse(run, path, loads);
        Self { path, run, document, latencies }
    }
}
