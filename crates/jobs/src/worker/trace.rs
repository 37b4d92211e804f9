//! The log of what a job does, for `read_iolog` (`write_iolog`).

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use job_iologs::{IoKind, IologWriter, LoggedFile};
use job_offsets::Direction;
use measure::{Clock, SystemClock};

use super::Failure;
use crate::engines::Call;
use crate::files::{Change, FileError, JobFile};

/// Writes a job's log.
pub(super) struct Trace {
    path: String,
    writer: IologWriter<File>,
    files: Vec<LoggedFile>,
    clock: SystemClock,
    began: u64,
    /// Syncs have the offset of the operation before them.
    last_offset: u64,
    failure: Option<Failure>,
}

impl Trace {
    /// Begins a log at the end of a file.
    pub(super) fn new(
        path: Option<&String>,
        files: &[JobFile],
        clock: SystemClock,
    ) -> Result<Option<Box<Self>>, Failure> {
        let Some(path) = path else { return Ok(None) };
        let wrong = |source| Failure::from(FileError::new(Path::new(path), "write_iolog", source));
        let mut writer = IologWriter::append_to(Path::new(path)).map_err(wrong)?;
        let files = files.iter().map(|file| writer.add(Duration::ZERO, file.path.as_os_str()));
        let files = files.collect::<Result<Vec<_>, _>>().map_err(wrong)?;
        Ok(Some(Box::new(Self {
            path: path.clone(),
            writer,
            files,
            clock,
            began: clock.ticks(),
            last_offset: 0,
            failure: None,
        })))
    }

    fn now(&self) -> Duration {
        Duration::from_nanos(self.clock.nanos(self.clock.ticks().saturating_sub(self.began)))
    }

    fn keep(&mut self, written: std::io::Result<()>) {
        if let Err(source) = written {
            let error = FileError::new(Path::new(&self.path), "write_iolog", source);
            self.failure.get_or_insert(error.into());
        }
    }

    /// A file has been opened or closed.
    pub(super) fn changed(&mut self, change: Change) {
        let now = self.now();
        let written = match change {
            Change::Opened(file) => self.writer.open(now, self.files[file]),
            Change::Closed(file) => self.writer.close(now, self.files[file]),
        };
        self.keep(written);
    }

    /// An operation is about to be executed.
    pub(super) fn issues(&mut self, file: usize, call: Call, offset: u64, length: usize) {
        let (kind, offset, length) = match call {
            Call::Transfer(Direction::Read) => (IoKind::Read, offset, length),
            Call::Transfer(Direction::Write) => (IoKind::Write, offset, length),
            Call::Transfer(Direction::Trim) => (IoKind::Trim, offset, length),
            Call::Sync => (IoKind::Sync, self.last_offset, 0),
            Call::DataSync => (IoKind::Datasync, self.last_offset, 0),
            // fio has no word for it in its logs, and writes that of fsync.
            Call::SyncRange { .. } => (IoKind::Sync, self.last_offset, 0),
        };
        self.last_offset = offset;
        let (now, file) = (self.now(), self.files[file]);
        let written = self.writer.io(now, file, kind, offset, length as u64);
        self.keep(written);
    }

    /// Writes what is kept.
    pub(super) fn finish(mut self) -> Result<(), Failure> {
        let flushed = self.writer.flush();
        self.keep(flushed);
        self.failure.map_or(Ok(()), Err)
    }
}
