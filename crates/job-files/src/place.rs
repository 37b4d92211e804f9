//! Where something was written.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A line of a job file, or the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A line, counted from 1.
    Line {
        /// The file.
        file: Arc<PathBuf>,
        /// The line's number.
        line: usize,
    },
    /// An argument.
    CommandLine,
}

impl Place {
    /// The file, if it is in one.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::Line { file, .. } => Some(file),
            Self::CommandLine => None,
        }
    }
}

impl fmt::Display for Place {
    /// `jobs/read.fio, line 12`
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line { file, line } => write!(formatter, "{}, line {line}", file.display()),
            Self::CommandLine => formatter.write_str("the command line"),
        }
    }
}
