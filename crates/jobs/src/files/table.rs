//! The open files of a job, as the chooser of offsets sees them.

use std::path::PathBuf;

use job_offsets::{FileTable, Openness};
use measure::{Clock, SystemClock};
use rustix::fd::{AsRawFd, RawFd};

use super::by_name::{act, other_name};
use super::open::Opening;
use super::{FileError, JobFile};
use crate::engines::ByName;

/// Files that are opened when their turn comes, and closed when no operation uses them.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) files: Vec<JobFile>,
    opening: Opening,
    open: usize,
    most_open: usize,
    /// Files that were opened although it is not their turn.
    beside: Vec<usize>,
    by_name: Option<ByName>,
    clock: SystemClock,
    /// Why a file could not be opened or closed.
    pub(crate) error: Option<FileError>,
    /// Files that have been opened and closed since somebody looked.
    pub(crate) changes: Vec<Change>,
    /// What operations by name took, in nanoseconds.
    pub(crate) timed_ns: Vec<u64>,
}

/// What has happened to a file of this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// It has been opened.
    Opened(usize),
    /// It has been closed.
    Closed(usize),
}

impl Table {
    pub(crate) fn new(
        files: Vec<JobFile>,
        opening: Opening,
        most_open: Option<u32>,
        by_name: Option<ByName>,
        clock: SystemClock,
    ) -> Self {
        let most_open = most_open.map_or(usize::MAX, |most| most as usize);
        Self {
            files,
            opening,
            open: 0,
            most_open,
            beside: Vec::new(),
            by_name,
            clock,
            error: None,
            changes: Vec::new(),
            timed_ns: Vec::new(),
        }
    }

    /// Adds a file.
    pub(crate) fn add(&mut self, file: JobFile) {
        self.files.push(file);
    }

    /// How many are open.
    pub(crate) fn open_count(&self) -> u32 {
        u32::try_from(self.open).unwrap_or(u32::MAX)
    }

    /// An operation uses a file.
    pub(crate) fn take(&mut self, file: usize) {
        self.files[file].users += 1;
    }

    /// An operation no longer uses a file.
    pub(crate) fn release(&mut self, file: usize) {
        let own = &mut self.files[file];
        own.users -= 1;
        if own.users == 0 {
            self.close_now(file);
        }
    }

    fn close_now(&mut self, file: usize) {
        self.open -= 1;
        self.changes.push(Change::Closed(file));
        if let Err(error) = self.opening.close(&mut self.files[file]) {
            self.error.get_or_insert(error);
        }
    }

    /// Closes all that are open and unused.
    pub(crate) fn close_all(&mut self) {
        for file in 0..self.files.len() {
            self.close(file);
        }
    }

    /// Opens all files, and answers their descriptors.
    pub(crate) fn open_all(&mut self) -> Result<Vec<RawFd>, FileError> {
        (0..self.files.len())
            .map(|file| {
                self.open_file(file)?;
                self.open += 1;
                let open = self.files[file].descriptor();
                Ok(open.map_or(-1, |open| open.as_raw_fd()))
            })
            .collect()
    }

    /// Opens a file that is closed, however many are open. It is closed by
    /// [`close_beside`](Self::close_beside).
    pub(crate) fn open_beside(&mut self, file: usize) -> job_offsets::Opening {
        let opened = self.open_counted(file);
        if opened == job_offsets::Opening::Opened {
            self.beside.push(file);
        }
        opened
    }

    /// Closes what was opened beside those whose turn it is, so that it is theirs again.
    #[inline]
    pub(crate) fn close_beside(&mut self) {
        while let Some(file) = self.beside.pop() {
            self.close(file);
        }
    }

    fn open_counted(&mut self, file: usize) -> job_offsets::Opening {
        match self.open_file(file) {
            Ok(()) => {
                self.open += 1;
                self.changes.push(Change::Opened(file));
                job_offsets::Opening::Opened
            }
            Err(error) => {
                self.error.get_or_insert(error);
                job_offsets::Opening::Failed
            }
        }
    }

    fn open_file(&mut self, file: usize) -> Result<(), FileError> {
        let own = &mut self.files[file];
        let Some(by_name) = self.by_name else { return self.opening.open(own) };
        let is_renamed = by_name == ByName::Rename;
        let other = if is_renamed { other_name(&own.path) } else { PathBuf::new() };
        let started = self.clock.start();
        let done = act(by_name, &own.path, &other);
        let ended = self.clock.end();
        let created = done?;
        if is_renamed {
            own.path = other;
        }
        self.timed_ns.push(self.clock.nanos(ended.saturating_sub(started)));
        Opening::open_by_name(own, created);
        Ok(())
    }
}

impl FileTable for Table {
    fn openness(&self, file: usize) -> Openness {
        let file = &self.files[file];
        match (file.is_open(), file.is_closing) {
            (false, _) => Openness::Closed,
            (true, false) => Openness::Open,
            (true, true) => Openness::Closing,
        }
    }

    fn open(&mut self, file: usize) -> job_offsets::Opening {
        if self.files[file].is_closing {
            self.files[file].is_closing = false;
            self.files[file].users += 1;
            return job_offsets::Opening::Opened;
        }
        if self.open >= self.most_open {
            return job_offsets::Opening::TooManyOpen;
        }
        self.open_counted(file)
    }

    fn close(&mut self, file: usize) {
        let own = &mut self.files[file];
        if !own.is_open() || own.is_closing {
            return;
        }
        own.is_closing = true;
        self.release(file);
    }
}
