//! One replicate: prepared, run, restored.

mod any_step;
mod gate;
mod outcome;
mod paths;
pub(crate) mod pin;
mod prepare;
mod processes;
mod restore;
mod rewrite;
mod run;

use std::path::{Path, PathBuf};

use crate::description::Workload;
use crate::error::EngineError;
use crate::file_set::FileSet;

pub use outcome::{Outcome, ThreadOutcome};
pub use prepare::{prepare, prepare_on_device};
pub(crate) use run::SLICE_NS;

pub(crate) use any_step::AnyStep;
pub(crate) use prepare::Plan;

/// A workload ready to run once over a file set.
///
/// While it lives, the file set holds what the session added to it. [`Session::restore`] takes that
/// away and says what went wrong; dropping the session does the same and says nothing.
#[derive(Debug)]
pub struct Session {
    workload: Workload,
    file_set: FileSet,
    touched: Vec<PathBuf>,
    /// Until run: one for each thread.
    steps: Vec<AnyStep>,
    is_restored: bool,
}

impl Session {
    /// The files, or for operations on names the directories, that the operations will touch.
    #[must_use]
    pub fn touched(&self) -> &[PathBuf] {
        &self.touched
    }

    /// How many bytes of each touched data file, counted from its first, the operations range over.
    /// None: all.
    #[must_use]
    pub fn span_bytes(&self) -> Option<u64> {
        self.workload.span_bytes
    }

    /// The root of the file set.
    #[must_use]
    pub fn root(&self) -> &Path {
        self.file_set.root()
    }

    /// Closes everything, removes what was made, gives back changed names, and counts the entries
    /// of each directory touched. Does nothing after an operation that changes none of that.
    ///
    /// # Errors
    /// The first thing that could not be put right, or a directory with other entries than the file
    /// set says.
    pub fn restore(mut self) -> Result<(), EngineError> {
        self.put_back()
    }

    fn put_back(&mut self) -> Result<(), EngineError> {
        self.is_restored = true;
        self.steps.clear();
        restore::put_back(self.workload.operation, &self.file_set, &self.touched)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if !self.is_restored {
            // There is nobody to tell; the next session on these directories will.
            drop(self.put_back());
        }
    }
}
