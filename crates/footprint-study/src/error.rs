//! Why a trace cannot be studied.

use std::io;
use std::path::PathBuf;

use footprint_symbols::SymbolsError;
use footprint_trace::TraceError;
use thiserror::Error;

/// A trace that cannot be studied, or a question about it that cannot be answered.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StudyError {
    /// The trace cannot be opened.
    #[error("cannot read {}: {source}", path.display())]
    Open {
        /// The trace, or the directory of traces.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The directory contains no traces.
    #[error("{} contains no *.trace file: name a trace or a directory of traces", path.display())]
    NoTraces {
        /// The directory.
        path: PathBuf,
    },
    /// The file is not a trace, has a newer format, or is damaged so that nothing could be read.
    #[error("{}: {source}", path.display())]
    Trace {
        /// The trace.
        path: PathBuf,
        /// Why.
        source: TraceError,
    },
    /// The trace's description cannot be read.
    #[error("{}: {source}", path.display())]
    Description {
        /// The trace.
        path: PathBuf,
        /// Why.
        source: SymbolsError,
    },
    /// The trace has no names for its addresses.
    #[error("{} has no names for its addresses: trace again", path.display())]
    Nameless {
        /// The trace.
        path: PathBuf,
    },
    /// The trace contains no marked regions, or stops before the first.
    #[error("{} contains no traced operation: trace again", path.display())]
    Empty {
        /// The trace.
        path: PathBuf,
    },
    /// No operation was traced often enough.
    #[error("{} has no operation that was traced at least twice, which it takes to find out what \
        each leaves for the next: trace again with more repetitions", path.display())]
    NotRepeated {
        /// The trace.
        path: PathBuf,
    },
    /// The trace does not contain this operation.
    #[error("{} has no operation `{asked}`: give --op one of {}", path.display(), known.join(", "))]
    NoOperation {
        /// The trace.
        path: PathBuf,
        /// The requested operation.
        asked: String,
        /// The operations in the trace.
        known: Vec<String>,
    },
    /// There is no such weight, because no cache level has this name.
    #[error("unknown weight `{asked}`: give --weight one of {}", known.join(", "))]
    NoWeight {
        /// The requested weight.
        asked: String,
        /// The weights that exist.
        known: Vec<String>,
    },
}
