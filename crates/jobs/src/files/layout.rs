//! Making files: space, size and content, by the calls that fio makes.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use job_offsets::Direction;
use rustix::fd::OwnedFd;
use rustix::fs::{FallocateFlags, Mode, OFlags, fallocate, fsync, ftruncate, open, unlink};
use rustix::io::{Errno, write};

use super::open::invalidate;
use super::{FileError, JobFile};
use crate::plan::{EngineChoice, Fallocate, JobPlan};

/// What files are filled with.
pub(crate) trait LayoutContent {
    /// Fills a buffer.
    fn fill(&mut self, buffer: &mut [u8]);
}

/// Makes a file that is smaller than the job needs, or is not there.
pub(super) fn extend(
    plan: &JobPlan,
    file: &mut JobFile,
    content: &mut dyn LayoutContent,
    stop: &AtomicBool,
) -> Result<(), FileError> {
    let (old, new) = (file.bytes.unwrap_or(0), file.offset + file.io_bytes);
    file.bytes = Some(new);
    let files = &plan.files;
    let keeps_writing = plan.writes() && !files.append;
    let is_filled =
        plan.reads() || (keeps_writing && (files.overwrite || plan.engine == EngineChoice::Mmap));
    let path = file.path.clone();
    if is_filled || (keeps_writing && !files.overwrite && !plan.reads()) {
        match unlink(&path) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(source) => return Err(FileError::new(&path, "unlink", source)),
        }
    }
    let mut flags = OFlags::WRONLY | OFlags::CLOEXEC;
    flags.set(OFlags::CREATE, files.may_create);
    flags.set(OFlags::TRUNC, is_filled);
    let mode = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::ROTH;
    let made = open(&path, flags, mode).map_err(|source| FileError::new(&path, "open", source))?;
    if !files.fill_device {
        allocate(files.fallocate, &made, &path, new)?;
    }
    if is_filled {
        fill(plan, &made, &path, new, content, stop)?;
    }
    file.descriptor = Some(made);
    let length = if files.fill_device { 0 } else { new - old };
    if !plan.engine.is_by_name() {
        // fio drops what it has just written, and goes on if it cannot.
        let _dropped = invalidate(file, old, length);
    }
    file.descriptor = None;
    Ok(())
}

fn allocate(how: Fallocate, file: &OwnedFd, path: &Path, bytes: u64) -> Result<(), FileError> {
    let wrong = |what| move |source: Errno| FileError::new(path, what, source);
    match how {
        Fallocate::None => Ok(()),
        // Some file systems cannot, and then go without.
        Fallocate::Native => {
            let _allocated = fallocate(file, FallocateFlags::empty(), 0, bytes);
            Ok(())
        }
        Fallocate::Posix => match fallocate(file, FallocateFlags::empty(), 0, bytes) {
            Ok(()) => Ok(()),
            Err(_) => ftruncate(file, bytes).map_err(wrong("posix_fallocate")),
        },
        Fallocate::Keep => {
            fallocate(file, FallocateFlags::KEEP_SIZE, 0, bytes).map_err(wrong("fallocate"))
        }
        Fallocate::Truncate => ftruncate(file, bytes).map_err(wrong("ftruncate")),
    }
}

fn fill(
    plan: &JobPlan,
    file: &OwnedFd,
    path: &Path,
    bytes: u64,
    content: &mut dyn LayoutContent,
    stop: &AtomicBool,
) -> Result<(), FileError> {
    let wrong = |what| move |source: Errno| FileError::new(path, what, source);
    let fills_device = plan.files.fill_device;
    if !fills_device {
        match ftruncate(file, bytes) {
            Ok(()) | Err(Errno::FBIG) => {}
            Err(source) => return Err(wrong("ftruncate")(source)),
        }
    }
    let block =
        usize::try_from(plan.offsets.spec.block_sizes[Direction::Write].max_bytes.min(bytes))
            .unwrap_or(usize::MAX);
    let mut buffer = vec![0; block.min(1 << 30)];
    let mut left = bytes;
    while left > 0 && !stop.load(Ordering::Relaxed) {
        let length = usize::try_from(left).map_or(buffer.len(), |left| left.min(buffer.len()));
        content.fill(&mut buffer[..length]);
        match write(file, &buffer[..length]) {
            Ok(0) => return Err(wrong("write")(Errno::IO)),
            Ok(count) => left -= count as u64,
            Err(Errno::NOSPC | Errno::DQUOT) if fills_device => break,
            Err(Errno::INTR) => {}
            Err(source) => return Err(wrong("write")(source)),
        }
    }
    if stop.load(Ordering::Relaxed) {
        // A file that is not complete must not look as if it were.
        let _removed = unlink(path);
        return Ok(());
    }
    if plan.files.create_fsync { fsync(file).map_err(wrong("fsync")) } else { Ok(()) }
}
