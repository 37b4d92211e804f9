//! Opening and closing.

use std::path::Path;

use rustix::fd::OwnedFd;
use rustix::fs::{Advice, Mode, OFlags, fadvise, fsync, open};
use rustix::io::Errno;

use super::{FileError, FileKind, JobFile};
use crate::edge::calls::set_write_hint;
use crate::pages::{self, Pages};
use crate::plan::{Fadvise, FilesPlan, JobPlan, SyncFlag, WriteHint};

const BLKFLSBUF: &str = "dropping the cached pages of the device";

/// How a job opens its files.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opening {
    flags: OFlags,
    advice: Option<Advice>,
    invalidates: bool,
    write_hint: Option<WriteHint>,
    pub(crate) needs_no_files: bool,
    syncs_before_close: bool,
}

impl Opening {
    pub(crate) fn new(plan: &JobPlan) -> Self {
        let files = &plan.files;
        let (reads, writes) = (plan.reads(), plan.writes());
        let trims_only = plan.trims() && !reads && !writes;
        let mut flags = if writes || trims_only { OFlags::RDWR } else { OFlags::RDONLY };
        flags.set(OFlags::CREATE, files.may_create && (writes || files.create_on_open));
        if !trims_only && !plan.trims() {
            flags |= durable(files);
            flags.set(OFlags::DIRECT, files.direct);
        }
        let advice = match (files.fadvise, plan.is_random()) {
            (Fadvise::None, _) => None,
            (Fadvise::ByAccess, true) | (Fadvise::Random, _) => Some(Advice::Random),
            (Fadvise::ByAccess, false) | (Fadvise::Sequential, _) => Some(Advice::Sequential),
        };
        Self {
            flags: flags | OFlags::CLOEXEC,
            advice,
            invalidates: files.invalidate,
            write_hint: files.write_hint,
            needs_no_files: plan.engine.needs_no_files(),
            syncs_before_close: plan.syncs.at_close && writes,
        }
    }

    /// Opens a file of the job, drops its pages and advises the kernel, as far as the job wants.
    pub(crate) fn open(&self, file: &mut JobFile) -> Result<(), FileError> {
        if !self.needs_no_files {
            let mut flags = self.flags;
            if file.kind != FileKind::Regular {
                flags.remove(OFlags::CREATE);
                flags |= OFlags::NOATIME;
            }
            file.descriptor = Some(opened(&file.path, flags)?);
            self.prepare(file)?;
            if file.pages.counts_before.is_none() {
                file.pages.counts_before = counted(file);
            }
        }
        file.is_open = true;
        file.is_closing = false;
        file.users = 1;
        file.written = None;
        Ok(())
    }

    /// Marks a file as open that has no descriptor: its operation has been done by its name.
    pub(crate) fn open_by_name(file: &mut JobFile, descriptor: Option<OwnedFd>) {
        file.descriptor = descriptor;
        file.is_open = true;
        file.is_closing = false;
        file.users = 1;
    }

    fn prepare(&self, file: &JobFile) -> Result<(), FileError> {
        if self.invalidates {
            invalidate(file, file.offset, file.io_bytes)?;
        }
        let is_cached = matches!(file.kind, FileKind::Regular | FileKind::BlockDevice);
        if let (Some(advice), Some(descriptor), true) = (self.advice, file.descriptor(), is_cached)
        {
            let length = std::num::NonZeroU64::new(file.io_bytes);
            // Advice is not needed for the job to be right.
            let _advised = fadvise(descriptor, file.offset, length, advice);
        }
        if let (Some(hint), Some(descriptor), true) =
            (self.write_hint, file.descriptor(), is_cached)
        {
            let is_direct = self.flags.contains(OFlags::DIRECT);
            set_write_hint(descriptor, hint as u64, is_direct)
                .map_err(|source| FileError::new(&file.path, "fcntl write hint", source))?;
        }
        Ok(())
    }

    /// Closes a file that no operation uses.
    pub(crate) fn close(&self, file: &mut JobFile) -> Result<(), FileError> {
        debug_assert_eq!(file.users, 0, "no operation uses it");
        file.pages.counts_after = counted(file);
        let wrong = |source: Errno| FileError::new(&file.path, "fsync before closing", source);
        let must = self.syncs_before_close && file.written.is_some();
        let synced = match (&file.descriptor, must) {
            (Some(descriptor), true) => fsync(descriptor).map_err(wrong),
            (Some(_) | None, _) => Ok(()),
        };
        file.descriptor = None;
        file.is_open = false;
        file.is_closing = false;
        synced
    }
}

fn counted(file: &JobFile) -> Option<Pages> {
    let is_cached = matches!(file.kind, FileKind::Regular | FileKind::BlockDevice);
    let descriptor = file.descriptor().filter(|_| is_cached)?;
    pages::count(descriptor, file.offset, file.io_bytes)
}

fn durable(files: &FilesPlan) -> OFlags {
    match files.sync {
        SyncFlag::None => OFlags::empty(),
        SyncFlag::Sync => OFlags::SYNC,
        // rustix calls by this name what is `O_SYNC`.
        SyncFlag::DataSync => OFlags::from_bits_retain(libc::O_DSYNC.cast_unsigned()),
    }
}

fn opened(path: &Path, flags: OFlags) -> Result<OwnedFd, FileError> {
    let mode = Mode::RUSR | Mode::WUSR;
    let first = open(path, flags, mode);
    let opened = match first {
        // Only the owner may leave the time of access alone.
        Err(Errno::PERM) if flags.contains(OFlags::NOATIME) => {
            open(path, flags - OFlags::NOATIME, mode)
        }
        Ok(_) | Err(_) => first,
    };
    opened.map_err(|source| FileError::new(path, "open", source))
}

/// Opens a file to ask for its size.
pub(crate) fn open_to_size(path: &Path) -> Result<OwnedFd, FileError> {
    opened(path, OFlags::RDONLY | OFlags::CLOEXEC)
}

/// Drops cached pages. That it cannot be done does not matter to fio.
pub(crate) fn invalidate(file: &JobFile, offset: u64, length: u64) -> Result<(), FileError> {
    let Some(descriptor) = file.descriptor() else { return Ok(()) };
    match file.kind {
        FileKind::Regular => {
            let length = std::num::NonZeroU64::new(length);
            fadvise(descriptor, offset, length, Advice::DontNeed)
                .map_err(|source| FileError::new(&file.path, "posix_fadvise", source))
        }
        FileKind::BlockDevice => system_calls::block_flush_buffers(descriptor)
            .map_err(|source| FileError::new(&file.path, BLKFLSBUF, source)),
        FileKind::CharacterDevice | FileKind::Pipe => Ok(()),
    }
}
