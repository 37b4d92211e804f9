//! Finds and opens trace files.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use footprint_trace::reader::TraceReader;
use footprint_trace::trace_file::open_plain;

use crate::StudyError;

/// The extension of trace files.
pub const EXTENSION: &str = "trace";

/// Size of the read buffer.
const BUFFER_BYTES: usize = 1 << 18;

/// The traces in a directory, sorted by name; or the given file.
///
/// # Errors
/// The directory cannot be read, or contains no traces.
pub fn traces_in(path: &Path) -> Result<Vec<PathBuf>, StudyError> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let open = |source| StudyError::Open { path: path.to_owned(), source };
    let mut traces = Vec::new();
    for entry in std::fs::read_dir(path).map_err(open)? {
        let trace = entry.map_err(open)?.path();
        if trace.extension().is_some_and(|extension| extension == EXTENSION) {
            traces.push(trace);
        }
    }
    traces.sort();
    if traces.is_empty() {
        return Err(StudyError::NoTraces { path: path.to_owned() });
    }
    Ok(traces)
}

/// Opens a trace for reading.
pub(crate) fn open(path: &Path) -> Result<TraceReader<BufReader<File>>, StudyError> {
    let file =
        open_plain(path).map_err(|source| StudyError::Open { path: path.to_owned(), source })?;
    let source = BufReader::with_capacity(BUFFER_BYTES, file);
    TraceReader::new(source).map_err(|source| StudyError::Trace { path: path.to_owned(), source })
}
