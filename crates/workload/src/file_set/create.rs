//! Making a file set.
//!
//! A million empty files must cost little more than a million bare calls. So the loop over entries
//! only writes digits into a reused name, makes the call relative to the open directory, and checks
//! the stop flag.

use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::{DirectorySet, FileSet, open_directory, sources};
use crate::arithmetic::index;
use crate::calls::{Calls, Kernel, write_on, write_whole};
use crate::content::{Content, mix};
use crate::error::EngineError;
use crate::fault::Fault;
use crate::names::{EntryName, NameForm, NameKind, STEP_NAME};
use crate::processors::near;
use crate::role::Role;

/// The directories below the root of a file set.
pub(super) const PARTS: [&str; 4] = ["read", "write", "growing", "entries"];

/// Content is generated and written in pieces of this size: large enough to hide the cost of the
/// calls, small enough for a cache.
const CHUNK_BYTES: usize = 1 << 20;

pub(super) fn create<K: Calls>(
    calls: &K,
    file_set: &FileSet,
    stop: &AtomicBool,
) -> Result<(), EngineError> {
    for part in PARTS {
        make_directory(calls, &file_set.root.join(part))?;
    }
    let mut buffer = vec![0; CHUNK_BYTES];
    for role in [Role::Read, Role::Write] {
        for number in 0..file_set.data_files(role).count {
            near_thread(file_set, number, || {
                write_content(calls, file_set, role, number, &mut buffer, stop)
            })?;
        }
    }
    let directories = file_set.spec.directories;
    let of_entries = content_of_entries(file_set);
    for number in 0..directories.count {
        let path = file_set.directory(number);
        near_thread(file_set, number, || {
            let mut step = file_set.directory_start(number);
            make_directory(calls, &step)?;
            for _ in 1..directories.depth {
                step.push(STEP_NAME);
                make_directory(calls, &step)?;
            }
            let form = directories.name_form();
            fill(calls, &path, 0..directories.entries, form, &of_entries, stop)
        })?;
    }
    let tree = file_set.spec.sources;
    if tree.files > 0 {
        sources::create(calls, &file_set.sources(), tree, file_set.seed, stop)?;
    }
    Ok(())
}

/// The content of every entry of the directory set, which is incompressible.
fn content_of_entries(file_set: &FileSet) -> Vec<u8> {
    let mut all = vec![0; index(file_set.spec.directories.entry_bytes)];
    Content::new(mix(file_set.seed), 0).fill(&mut all, 0);
    all
}

/// Runs `make` such that new pages come from the memory near the thread with this number.
fn near_thread(
    file_set: &FileSet,
    number: usize,
    make: impl FnOnce() -> Result<(), EngineError>,
) -> Result<(), EngineError> {
    near(number, make).unwrap_or_else(|error| {
        let errno = Errno::from_io_error(&error).unwrap_or(Errno::IO);
        Err(EngineError::from_errno("sched_setaffinity", &file_set.root, errno))
    })
}

/// Makes empty files in an existing directory: entries with these numbers, named as in a directory
/// set with the default name length.
///
/// # Errors
/// The first call that failed, or [`EngineError::Stopped`] when `stop` was raised.
pub fn create_empty_files(
    path: &Path,
    numbers: Range<u64>,
    stop: &AtomicBool,
) -> Result<(), EngineError> {
    fill(&Kernel, path, numbers, DirectorySet::default().name_form(), &[], stop)
}

fn fill<K: Calls>(
    calls: &K,
    path: &Path,
    numbers: Range<u64>,
    form: NameForm,
    content: &[u8],
    stop: &AtomicBool,
) -> Result<(), EngineError> {
    let directory = open_directory(calls, path)?;
    let mut maker = Maker::default();
    let mut name = EntryName::new(form);
    for number in numbers {
        if stop.load(Ordering::Relaxed) {
            return Err(EngineError::Stopped);
        }
        name.set(NameKind::Entry, number);
        let made = if content.is_empty() {
            maker.make(calls, &directory, &name)
        } else {
            make_full(calls, &directory, &name, content)
        };
        made.map_err(|fault| fault.into_error(path))?;
    }
    Ok(())
}

/// Makes a file with this content.
fn make_full<K: Calls>(
    calls: &K,
    directory: &K::Open,
    name: &EntryName,
    content: &[u8],
) -> Result<(), Fault> {
    let made = calls.creat(directory, name).map_err(|errno| Fault::errno("openat", errno))?;
    let written = write_on(calls, &made, content);
    calls.close(made);
    written.map(drop)
}

/// Makes empty files by the cheapest call that the file system supports.
#[derive(Debug, Default)]
pub(crate) struct Maker {
    /// Whether to use open instead: vfat and some FUSE file systems have no mknod, or not for
    /// everyone.
    opens: bool,
}

impl Maker {
    #[inline(always)]
    pub(crate) fn make<K: Calls>(
        &mut self,
        calls: &K,
        directory: &K::Open,
        name: &EntryName,
    ) -> Result<(), Fault> {
        if !self.opens {
            match calls.mknodat(directory, name) {
                Ok(()) => return Ok(()),
                Err(Errno::PERM | Errno::NOSYS | Errno::OPNOTSUPP) => self.opens = true,
                Err(errno) => return Err(Fault::errno("mknodat", errno)),
            }
        }
        calls
            .creat(directory, name)
            .map(|descriptor| calls.close(descriptor))
            .map_err(|errno| Fault::errno("openat", errno))
    }
}

/// The size of the next piece when `rest_bytes` are left.
fn chunk(rest_bytes: u64) -> usize {
    usize::try_from(rest_bytes).map_or(CHUNK_BYTES, |rest| rest.min(CHUNK_BYTES))
}

fn write_content<K: Calls>(
    calls: &K,
    file_set: &FileSet,
    role: Role,
    number: usize,
    buffer: &mut [u8],
    stop: &AtomicBool,
) -> Result<(), EngineError> {
    let path = file_set.data_file(role, number);
    let new = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
    let opened = calls.open(&path, new);
    let file = opened.map_err(|errno| EngineError::from_errno("openat", &path, errno))?;
    let content = file_set.content(role, number);
    let size_bytes = file_set.data_files(role).size_bytes;
    let mut offset_bytes = 0;
    while offset_bytes < size_bytes {
        if stop.load(Ordering::Relaxed) {
            return Err(EngineError::Stopped);
        }
        let length = chunk(size_bytes - offset_bytes);
        let part = &mut buffer[..length];
        content.fill(part, offset_bytes);
        write_whole(calls, &file, part, offset_bytes).map_err(|fault| fault.into_error(&path))?;
        offset_bytes += length as u64;
    }
    Ok(())
}

pub(crate) fn make_directory(calls: &impl Calls, path: &Path) -> Result<(), EngineError> {
    calls.mkdir(path).map_err(|errno| EngineError::from_errno("mkdirat", path, errno))
}
