//! What can go wrong when a run is turned into a report.

use record::RecordError;
use thiserror::Error;

/// A report cannot be made.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The run directory could not be read.
    #[error(transparent)]
    Record(#[from] RecordError),
}
