//! Why something could not be traced.

use std::path::PathBuf;

use footprint_study::StudyError;
use footprint_symbols::SymbolsError;
use footprint_trace::TraceError;
use footprint_trace::reader::Cut;
use lab::{BootError, LabError};
use record::RecordError;
use thiserror::Error;

/// The emulator of processes.
pub(crate) const EMULATOR: &str = "qemu-x86_64";

/// Why a target could not be traced.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TracingError {
    /// The guest did not come to its end.
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
    /// What the guest handed back is not what this program's guests do.
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
    /// The trace lacks its end: it has reached its limit, or the disk is full.
    #[error("{} is incomplete: {}", path.display(),
        .cut.map_or_else(|| "it stops early; is the disk full?".to_owned(), |cut| cut.to_string()))]
    Cut {
        /// The trace, which is kept as far as it goes.
        path: PathBuf,
        /// Why, if it says so.
        cut: Option<Cut>,
    },
    /// The guest could not make the target.
    #[error("{0}")]
    Target(String),
    /// None of the operations means anything on the target.
    #[error("{0}: ask for other operations with --op")]
    NoOperation(String),
}

/// Why a program cannot be traced.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ProgramRefusal {
    /// It is not there.
    #[error("no executable program `{0}` found: give its path")]
    Missing(String),
    /// It is a script, or of another architecture.
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
    /// The path of the plugin or the trace has a comma, which ends a value in QEMU's options.
    #[error("QEMU cannot use a path with a comma: {}", .0.display())]
    Comma(PathBuf),
}
