//! From a trace to values.

use std::path::Path;

use caches::Hierarchy;
use footprint::simulated::Warmth;
use footprint::trace::{Completeness, Names, Region};
use footprint_guest::TracedCall;
use footprint_study::{RegionFigures, StudyError, regions};

use crate::metrics;

/// One traced execution of an operation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Measured {
    /// Which operation.
    pub(crate) operation: TracedCall,
    /// Which execution of it that was traced, from 0.
    pub(crate) repetition: u32,
    /// Whether the trace has all of it.
    pub(crate) completeness: Completeness,
    /// The values of [`metrics::definitions`], in their order.
    pub(crate) values: Vec<f64>,
}

/// Measures the operations of a trace, in the order in which they were executed. The simulated
/// caches hold nothing when an operation begins.
///
/// # Errors
/// The trace cannot be read, or is damaged.
pub(crate) fn measure<N: Names>(
    path: &Path,
    names: N,
    caches: Option<&Hierarchy>,
) -> Result<Vec<Measured>, StudyError> {
    // As after an application that has filled them.
    let caches = caches.map(|caches| (caches, Warmth::Empty));
    Ok(regions(path, names, caches)?.iter().filter_map(of_region).collect())
}

/// Nothing of what was executed outside of marks.
fn of_region(of: &RegionFigures) -> Option<Measured> {
    let Region::Marked { operation, repetition, .. } = of.region else { return None };
    let operation = TracedCall::of_number(operation)?;
    let values = metrics::values(&of.figures, of.report.as_ref());
    Some(Measured { operation, repetition, completeness: of.completeness, values })
}
