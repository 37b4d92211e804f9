//! Where something stands in a log.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// A line of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The log.
    pub file: Arc<Path>,
    /// The line's number, from 1.
    pub line: u64,
}

impl fmt::Display for Place {
    /// `traces/mail.log, line 12`
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}, line {}", self.file.display(), self.line)
    }
}
