//! Beginning a run's directory: either everything that every run has is made, or nothing.

use std::fs;

use rustix::fs::{AtFlags, unlinkat};

use super::{HISTOGRAMS, JOURNAL, MANIFEST, MANIFEST_PART, manifest_text};
use crate::error::RecordError;
use crate::manifest::Manifest;
use crate::open_directory::OpenDirectory;

/// Makes the files that every run has, and returns the directory for its histograms.
pub(super) fn begun(
    held: &OpenDirectory,
    manifest: &Manifest,
) -> Result<OpenDirectory, RecordError> {
    let histograms = held.make_below(HISTOGRAMS);
    let histograms = histograms.map_err(RecordError::io("make", held.path_of(HISTOGRAMS)))?;
    let text = manifest_text::text_of(manifest);
    let written = held.replace(MANIFEST, MANIFEST_PART, text.as_bytes());
    match written.map_err(RecordError::io("write", held.path_of(MANIFEST))) {
        Ok(()) => Ok(histograms),
        Err(RecordError::DiskFull { path }) => Err(RecordError::NoRoom { path }),
        Err(other) => Err(other),
    }
}

/// Removes what was made in a directory that had been empty.
pub(super) fn undo(held: &OpenDirectory) {
    for (name, flags) in [(HISTOGRAMS, AtFlags::REMOVEDIR), (JOURNAL, AtFlags::empty())] {
        let _already_failing = unlinkat(held, name, flags);
    }
    let _holds_something = fs::remove_dir(held.path());
}
