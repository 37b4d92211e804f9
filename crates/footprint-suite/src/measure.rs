//! From a trace to values.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use footprint::regions::{Wanted, for_each_region};
use footprint::simulate::Hierarchy;
use footprint::simulated::Warmth;
use footprint::touched::{Figures, Footprint};
use footprint::trace::{Completeness, Context, Names, Region, Walk};
use footprint_guest::TracedCall;
use footprint_symbols::SymbolsError;
use footprint_trace::TraceError;
use footprint_trace::reader::TraceReader;
use thiserror::Error;

use crate::metrics;

/// Bytes that are read at once.
const BUFFER_BYTES: usize = 1 << 18;

/// One traced execution of an operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Which operation.
    pub operation: TracedCall,
    /// Which execution of it that was traced, from 0.
    pub repetition: u32,
    /// Whether the trace has all of it.
    pub completeness: Completeness,
    /// The values of [`metrics::definitions`], in their order.
    pub values: Vec<f64>,
}

/// Why a trace could not be measured.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MeasureError {
    /// It cannot be opened.
    #[error("cannot read {}: {source}", path.display())]
    Open {
        /// The trace.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is none, or is damaged.
    #[error("{}: {source}", path.display())]
    Trace {
        /// The trace.
        path: PathBuf,
        /// Why.
        source: TraceError,
    },
    /// The names inside it cannot be understood.
    #[error("{}: {source}", path.display())]
    Names {
        /// The trace.
        path: PathBuf,
        /// Why.
        source: SymbolsError,
    },
    /// It has no names inside.
    #[error("{} has no names for its addresses: trace again", path.display())]
    Nameless {
        /// The trace.
        path: PathBuf,
    },
}

/// The figures of each region of a trace, repetitions apart, in the order in which they ended. What
/// is outside of all marks is a region too, the last.
///
/// # Errors
/// The trace cannot be read, or is damaged.
pub fn figures<N: Names>(path: &Path, names: N) -> Result<Vec<(Region, Figures)>, MeasureError> {
    let mut reader = open(path)?;
    let mut walk = Walk::new(*reader.header(), names);
    let mut found = Vec::new();
    for_each_region(&mut walk, &mut reader, Wanted::default(), |walk, footprint, _| {
        found.push((footprint.region, figures_of(walk, &footprint)));
    })
    .map_err(|source| MeasureError::Trace { path: path.to_owned(), source })?;
    Ok(found)
}

fn figures_of<N: Names>(walk: &Walk<N>, footprint: &Footprint) -> Figures {
    let counts = |context: Context| context.counts(walk.scope());
    footprint.figures(walk.code(), walk.stacks(), counts)
}

pub(crate) fn open(path: &Path) -> Result<TraceReader<BufReader<File>>, MeasureError> {
    let file =
        File::open(path).map_err(|source| MeasureError::Open { path: path.to_owned(), source })?;
    let source = BufReader::with_capacity(BUFFER_BYTES, file);
    TraceReader::new(source).map_err(|source| MeasureError::Trace { path: path.to_owned(), source })
}

/// Measures the operations of a trace, in the order in which they were executed. The simulated
/// caches hold nothing when an operation begins, as after an application that has filled them.
///
/// # Errors
/// The trace cannot be read, or is damaged.
pub fn measure<N: Names>(
    path: &Path,
    names: N,
    caches: Option<&Hierarchy>,
) -> Result<Vec<Measured>, MeasureError> {
    let mut reader = open(path)?;
    let mut walk = Walk::new(*reader.header(), names);
    let caches = caches.map(|caches| (caches, Warmth::Empty));
    let mut measured = Vec::new();
    let wanted = Wanted { regions: None, caches };
    for_each_region(&mut walk, &mut reader, wanted, |walk, footprint, outcome| {
        let Region::Marked { operation, repetition, .. } = footprint.region else { return };
        let Some(operation) = TracedCall::of_number(operation) else { return };
        let report = outcome.as_ref().map(|outcome| &outcome.report);
        let values = metrics::values(&figures_of(walk, &footprint), report);
        let completeness = footprint.completeness;
        measured.push(Measured { operation, repetition, completeness, values });
    })
    .map_err(|source| MeasureError::Trace { path: path.to_owned(), source })?;
    Ok(measured)
}
