//! Why something could not be traced.

use std::path::PathBuf;

use footprint_study::StudyError;
use footprint_symbols::SymbolsError;
use footprint_trace::TraceError;
use footprint_trace::reader::CutReason;
use lab::{BootError, LabError};
use record::RecordError;
use thiserror::Error;

/// QEMU's user-mode emulator.
pub(crate) const EMULATOR: &str = "qemu-x86_64";

/// Why a target could not be traced.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TracingError {
    /// The guest did not finish.
    #[error(transparent)]
    Boot(#[from] BootError),
    /// The lab cannot be used.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// The trace is damaged.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// Its addresses could not be named.
    #[error(transparent)]
    Symbols(#[from] SymbolsError),
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// What the guest handed back is not in the expected format.
    #[error("the guest's account of its job is damaged: {0}")]
    Outcome(#[source] serde_json::Error),
    /// The trace cannot be studied.
    #[error(transparent)]
    Study(#[from] StudyError),
    /// The guest's run cannot be read.
    #[error("the guest's run: {0}")]
    Run(#[from] RecordError),
    /// The program cannot be traced.
    #[error(transparent)]
    Program(#[from] ProgramRefusal),
    /// The trace has no end: it reached its size limit, or the disk is full.
    #[error("{} is incomplete: {}", path.display(),
        .cut.map_or_else(|| "it stops early; is the disk full?".to_owned(), |cut| cut.to_string()))]
    Cut {
        /// The trace, which is kept as far as it goes.
        path: PathBuf,
        /// Why it was cut, if the trace says so.
        cut: Option<CutReason>,
    },
    /// The guest could not make the target.
    #[error("{0}")]
    Target(String),
    /// None of the operations applies to the target.
    #[error("{0}: ask for other operations with --op")]
    NoOperation(String),
}

/// Why a program cannot be traced.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ProgramRefusal {
    /// It does not exist.
    #[error("no executable program `{0}` found: give its path")]
    Missing(String),
    /// It is a script, or for another architecture.
    #[error("{} is not an x86-64 program: for a script, trace its interpreter, as in /bin/sh FILE",
        .0.display())]
    Foreign(PathBuf),
    /// The emulator is missing.
    #[error("{EMULATOR}, which runs the program to trace, is not installed: apt install qemu-user")]
    NoEmulator,
    /// The emulator was built without plugins.
    #[error(
        "this {EMULATOR} does not support plugins (Debian 13's does not): install one that was \
             built with --enable-plugins, such as Debian 12's"
    )]
    NoPlugins,
    /// The path of the plugin or the trace contains a comma, which QEMU takes for the end of a
    /// value.
    #[error("QEMU cannot use a path with a comma: {}", .0.display())]
    Comma(PathBuf),
}
