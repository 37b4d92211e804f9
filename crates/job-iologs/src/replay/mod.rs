//! What a job with `read_iolog` executes.

mod clock;
mod event;
mod feed;
mod files;
mod interpreter;
mod options;
mod remark;
#[cfg(test)]
mod tests;
mod totals;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::mpsc::Receiver;
use std::time::Duration;
use std::vec;

pub use event::{Extent, FileIndex, ReplayAction, ReplayEvent};
pub use options::{ReplayOptions, ReplaySkip, TrimReplay, UnknownSkip};
pub use remark::{Remark, RemarkReason, Remarks};
pub use totals::{Access, DirectionTotals, Totals};

use self::interpreter::Batch;
use crate::error::IologError;
use crate::source::Source;

/// What a job with `read_iolog` executes, step by step.
///
/// Unless it is chunked, the log has been read before the first step, and is known to be possible:
/// no file is used that isn't open. If it is chunked, a thread reads ahead of the replay, whose
/// steps can then be errors, and [`files`](Self::files), [`totals`](Self::totals) and
/// [`remarks`](Self::remarks) grow with it. After an error there are no more steps.
///
/// fio makes no file as long as a log needs it: a read behind a file's end fails. Whoever wants
/// them longer finds out how long from [`ReplayFile::end`].
#[derive(Debug)]
pub struct Replay {
    path: PathBuf,
    events: vec::IntoIter<ReplayEvent>,
    /// Where more events come from.
    later: Option<Receiver<Result<Batch, IologError>>>,
    is_chunked: bool,
    files: Vec<ReplayFile>,
    totals: Totals,
    remarks: Remarks,
}

/// A file of a replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayFile {
    /// Its name in the log, or `replay_redirect`.
    pub name: OsString,
    /// The largest end of a read, write or trim, in bytes.
    pub end: u64,
    /// How long it must be before the replay: the largest end of a read that no write came up to
    /// before, in bytes.
    pub needed: u64,
    written: u64,
}

impl ReplayFile {
    fn new(name: OsString) -> Self {
        Self { name, end: 0, needed: 0, written: 0 }
    }
}

impl Replay {
    /// Reads a log, or begins to.
    ///
    /// # Errors
    ///
    /// If the log cannot be read, is no log, has nothing to replay, or uses files wrongly.
    pub fn new(source: Source, options: &ReplayOptions) -> Result<Self, IologError> {
        let mut replay = Self {
            path: source.path.clone(),
            events: Vec::new().into_iter(),
            later: None,
            is_chunked: options.chunked,
            files: Vec::new(),
            totals: Totals::default(),
            remarks: Remarks::default(),
        };
        if options.chunked {
            replay.later = Some(feed::read_ahead(source, options)?);
            replay.begin()?;
        } else {
            let batch = feed::read_whole(source, options)?;
            replay.absorb(batch);
            replay.count_all()?;
        }
        Ok(replay)
    }

    /// The files, each at its [`FileIndex`].
    #[must_use]
    pub fn files(&self) -> &[ReplayFile] {
        &self.files
    }

    /// How much there is to do. If chunked: of the steps that have been handed out.
    #[must_use]
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// How long it takes by the times in its log, as far as that has been read.
    #[must_use]
    pub fn duration(&self) -> Duration {
        self.events.as_slice().iter().rev().find_map(|event| event.at).unwrap_or_default()
    }

    /// The lines that were ignored.
    #[must_use]
    pub fn remarks(&self) -> &Remarks {
        &self.remarks
    }

    /// What fio opens the files for.
    #[must_use]
    pub fn access(&self) -> Access {
        let Totals { reads, writes, trims, .. } = self.totals;
        let is_written = writes.operations + trims.operations > 0;
        match (reads.operations > 0, is_written) {
            _ if self.is_chunked => Access::ReadWrite,
            (true, false) => Access::Read,
            (false, true) => Access::Write,
            (true, true) | (false, false) => Access::ReadWrite,
        }
    }

    fn absorb(&mut self, batch: Batch) {
        let Batch { events, new_files, remarks } = batch;
        self.events = events.into_iter();
        self.files.extend(new_files.into_iter().map(ReplayFile::new));
        self.remarks.append(remarks);
    }

    fn count(totals: &mut Totals, files: &mut [ReplayFile], event: &ReplayEvent) {
        if let Some(extent) = totals.add(event) {
            let file = &mut files[extent.file.get()];
            file.end = file.end.max(extent.end());
            if matches!(event.action, ReplayAction::Write(_)) {
                file.written = file.written.max(extent.end());
            } else if extent.end() > file.written {
                file.needed = file.needed.max(extent.end());
            }
        }
    }

    /// Counts a log that has been read as a whole. As in fio, syncs alone are nothing to replay.
    fn count_all(&mut self) -> Result<(), IologError> {
        let Self { events, files, totals, .. } = self;
        for event in events.as_slice() {
            Self::count(totals, files, event);
        }
        let Totals { reads, writes, trims, waits, .. } = totals;
        if reads.operations + writes.operations + trims.operations + *waits == 0 {
            return Err(IologError::NothingToReplay { path: self.path.clone() });
        }
        Ok(())
    }

    /// Waits for the first step or file of a log that is read ahead. As in fio, syncs alone are
    /// enough: it is not known yet what else comes.
    fn begin(&mut self) -> Result<(), IologError> {
        while self.events.as_slice().is_empty() && self.files.is_empty() {
            if !self.receive()? {
                return Err(IologError::NothingToReplay { path: self.path.clone() });
            }
        }
        Ok(())
    }

    /// Waits for more of a log that is read ahead. False at the end.
    fn receive(&mut self) -> Result<bool, IologError> {
        let Some(later) = &self.later else { return Ok(false) };
        match later.recv() {
            Ok(Ok(batch)) => {
                self.absorb(batch);
                Ok(true)
            }
            Ok(Err(error)) => {
                self.later = None;
                Err(error)
            }
            Err(_) => {
                self.later = None;
                Ok(false)
            }
        }
    }
}

impl Iterator for Replay {
    type Item = Result<ReplayEvent, IologError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(event) = self.events.next() {
                if self.is_chunked {
                    Self::count(&mut self.totals, &mut self.files, &event);
                }
                return Some(Ok(event));
            }
            match self.receive() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
    }
}
