//! The figures of every region of a trace.

use std::path::Path;

use caches::Report;
use footprint::regions::{RegionQuery, for_each_region};
use footprint::simulated::CachesToSimulate;
use footprint::touched::{Figures, Footprint};
use footprint::trace::{Completeness, Context, Names, Region, Walk};

use crate::StudyError;
use crate::trace_file::open;

/// One region of a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct RegionFigures {
    /// Which operation on which target, and which repetition of it.
    pub region: Region,
    /// Whether the trace contains all of it.
    pub completeness: Completeness,
    /// Counts of what it touched.
    pub figures: Figures,
    /// The results of the simulated caches, if there were any.
    pub report: Option<Report>,
}

/// The figures of each region of a trace, with repetitions kept apart, in the order in which they
/// ended. Everything outside of marks forms one more region, the last.
///
/// # Errors
/// The trace cannot be read, or is damaged.
pub fn regions<N: Names>(
    path: &Path,
    names: N,
    caches: Option<CachesToSimulate<'_>>,
) -> Result<Vec<RegionFigures>, StudyError> {
    let mut reader = open(path)?;
    let mut walk = Walk::new(*reader.header(), names);
    let wanted = RegionQuery { regions: None, caches };
    let mut found = Vec::new();
    for_each_region(&mut walk, &mut reader, wanted, |walk, footprint, outcome| {
        let Footprint { region, completeness, .. } = footprint;
        let figures = figures_of(walk, &footprint);
        let report = outcome.map(|outcome| outcome.report);
        found.push(RegionFigures { region, completeness, figures, report });
    })
    .map_err(|source| StudyError::Trace { path: path.to_owned(), source })?;
    Ok(found)
}

/// The figures of a footprint.
pub(crate) fn figures_of<N: Names>(walk: &Walk<N>, footprint: &Footprint) -> Figures {
    let counts = |context: Context| context.counts(walk.scope());
    footprint.figures(walk.code(), walk.stacks(), counts)
}
