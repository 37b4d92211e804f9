//! From a trace to values.

use std::path::Path;

use caches::Hierarchy;
use footprint::simulated::{CachesToSimulate, Warmth};
use footprint::trace::{Completeness, Names, Region};
use footprint_guest::TracedCall;
use footprint_study::{RegionFigures, StudyError, regions};

use crate::metrics;

/// One traced execution of an operation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MeasuredExecution {
    /// The operation.
    pub(crate) operation: TracedCall,
    /// Which of its traced executions, from 0.
    pub(crate) repetition: u32,
    /// Whether all of it is in the trace.
    pub(crate) completeness: Completeness,
    /// The values of [`metrics::definitions`], in the same order.
    pub(crate) values: Vec<f64>,
}

/// Measures the operations of a trace, in the order in which they were executed. The simulated
/// caches are empty when an operation starts.
///
/// # Errors
/// If the trace cannot be read or is damaged.
pub(crate) fn measure<N: Names>(
    path: &Path,
    names: N,
    caches: Option<&Hierarchy>,
) -> Result<Vec<MeasuredExecution>, StudyError> {
    // Empty, as if an application had filled the caches with its own data.
    let warmth = Warmth::Empty;
    let caches = caches.map(|hierarchy| CachesToSimulate { hierarchy, warmth });
    Ok(regions(path, names, caches)?.iter().filter_map(measured_execution).collect())
}

/// The values of a region; `None` for what was executed outside of marks.
fn measured_execution(region: &RegionFigures) -> Option<MeasuredExecution> {
    let Region::Marked { operation, repetition, .. } = region.region else { return None };
    let operation = TracedCall::from_number(operation)?;
    let values = metrics::values(&region.figures, region.report.as_ref());
    Some(MeasuredExecution { operation, repetition, completeness: region.completeness, values })
}
