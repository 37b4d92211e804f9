//! Why a trace cannot be studied.

use std::io;
use std::path::PathBuf;

use footprint_symbols::SymbolsError;
use footprint_trace::TraceError;
use thiserror::Error;

/// A trace, or a question about it, with which nothing can be done.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StudyError {
    /// It cannot be opened.
    #[error("cannot read {}: {source}", path.display())]
    Open {
        /// The trace, or the directory of traces.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The directory holds no trace.
    #[error("{} contains no *.trace file: name a trace or a directory of traces", path.display())]
    NoTraces {
        /// The directory.
        path: PathBuf,
    },
    /// It is none, a newer one, or damaged before anything could be read of it.
    #[error("{}: {source}", path.display())]
    Trace {
        /// The trace.
        path: PathBuf,
        /// Why.
        source: TraceError,
    },
    /// What it says of itself cannot be read.
    #[error("{}: {source}", path.display())]
    Description {
        /// The trace.
        path: PathBuf,
        /// Why.
        source: SymbolsError,
    },
    /// It does not say what its addresses are called.
    #[error("{} has no names for its addresses: trace again", path.display())]
    Nameless {
        /// The trace.
        path: PathBuf,
    },
    /// Nothing is marked in it, or it stops before.
    #[error("{} contains no traced operation: trace again", path.display())]
    Empty {
        /// The trace.
        path: PathBuf,
    },
    /// There is no such operation in it.
    #[error("{} has no operation `{asked}`: give --op one of {}", path.display(), known.join(", "))]
    NoOperation {
        /// The trace.
        path: PathBuf,
        /// What was asked for.
        asked: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// There is no such weight, as no level of the caches is called so.
    #[error("unknown weight `{asked}`: give --weight one of {}", known.join(", "))]
    NoWeight {
        /// What was asked for.
        asked: String,
        /// Those that there are.
        known: Vec<String>,
    },
}
