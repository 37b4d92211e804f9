//! From a trace to values.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use footprint::simulate::{Hierarchy, Report};
use footprint::simulated::{Simulated, Warmth};
use footprint::touched::{Collector, Figures, Footprint, Repeated, Selection};
use footprint::trace::{Completeness, Context, Names, Region, Walk};
use footprint_guest::Operation;
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
    pub operation: Operation,
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
    #[error("{} has no names of its addresses: trace again", path.display())]
    Nameless {
        /// The trace.
        path: PathBuf,
    },
}

/// The figures of each region of a trace, repetitions apart, in the order in which they began. What
/// is outside of all marks is a region too.
///
/// # Errors
/// The trace cannot be read, or is damaged.
pub fn figures<N: Names>(path: &Path, names: N) -> Result<Vec<(Region, Figures)>, MeasureError> {
    let failed = |source| MeasureError::Trace { path: path.to_owned(), source };
    let mut reader = open(path)?;
    let scope = reader.header().scope;
    let mut walk = Walk::new(*reader.header(), names);
    let mut collector = Collector::new(Selection { warm_up: 0, repeated: Repeated::Apart });
    walk.run(&mut reader, &mut collector).map_err(failed)?;
    let counts = |context: Context| context.counts(scope);
    let of = |footprint: Footprint| {
        (footprint.region, footprint.figures(walk.code(), walk.stacks(), counts))
    };
    Ok(collector.into_footprints().into_iter().map(of).collect())
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
    let failed = |source| MeasureError::Trace { path: path.to_owned(), source };
    let mut reader = open(path)?;
    let header = *reader.header();
    let mut walk = Walk::new(header, names);
    let mut collector = Collector::new(Selection { warm_up: 0, repeated: Repeated::Apart });
    let mut simulated = caches.map(|caches| Simulated::new(header.scope, caches, Warmth::Empty));
    let walked = match &mut simulated {
        Some(simulated) => walk.run(&mut reader, &mut (&mut collector, simulated)),
        None => walk.run(&mut reader, &mut collector),
    };
    walked.map_err(failed)?;
    let outcomes = simulated.map(Simulated::into_outcomes).unwrap_or_default();
    let report_of = |region: Region| -> Option<&Report> {
        outcomes.iter().find(|outcome| outcome.region == region).map(|outcome| &outcome.report)
    };
    let measured = collector.into_footprints().into_iter().filter_map(|footprint| {
        let Region::Marked { operation, repetition, .. } = footprint.region else { return None };
        let counts = |context: Context| context.counts(header.scope);
        let figures = footprint.figures(walk.code(), walk.stacks(), counts);
        Some(Measured {
            operation: Operation::of_number(operation)?,
            repetition,
            completeness: footprint.completeness,
            values: metrics::values(&figures, report_of(footprint.region)),
        })
    });
    Ok(measured.collect())
}
