//! How large files are, which part of them a job uses, and the making of those that are too small.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use job_offsets::{Amount, ExtentOptions, Extents, Generator, OffsetError, PresentFile};

use super::by_name::make_directories;
use super::layout::{LayoutContent, extend};
use super::{FileError, FileKind, JobFile, open_to_size, paths};
use crate::plan::JobPlan;

/// Files that are ready, and how much of them the job accesses.
#[derive(Debug)]
pub(crate) struct SetUp {
    pub(crate) files: Vec<JobFile>,
    pub(crate) extents: Extents,
}

/// Why files cannot be as a job needs them.
#[derive(Debug)]
pub(crate) enum SetUpError {
    /// Something cannot be done to a file.
    File(FileError),
    /// The job does not say enough, or too much.
    Job(OffsetError),
}

impl From<FileError> for SetUpError {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}

/// Makes the files of the job of this number, of several by the same plan, ready.
///
/// `sizes` draws sizes of files. `announce` is called before files are made, with how many and
/// their bytes.
pub(crate) fn set_up(
    plan: &JobPlan,
    number: u32,
    content: &mut dyn LayoutContent,
    sizes: &mut Generator,
    announce: &mut dyn FnMut(usize, u64),
    stop: &AtomicBool,
) -> Result<SetUp, SetUpError> {
    let mut files: Vec<JobFile> = paths(plan, number).into_iter().map(JobFile::new).collect();
    let mut present = Vec::with_capacity(files.len());
    let count = files.len() as u64;
    for file in &mut files {
        make_parents(plan, file)?;
        measure(plan, file, count)?;
        present.push(PresentFile {
            name: file.path.as_os_str().as_bytes().to_owned(),
            bytes: file.bytes.unwrap_or(0),
            can_grow: file.kind == FileKind::Regular,
        });
    }
    if plan.engine.needs_directories() {
        make_directories(&files)?;
    }
    let options = ExtentOptions { clone_index: u64::from(number), ..plan.offsets.extents.clone() };
    let extents = options.place(&present, sizes).map_err(SetUpError::Job)?;
    for (file, extent) in files.iter_mut().zip(&extents.files) {
        (file.offset, file.io_bytes) = (extent.offset_bytes, extent.size_bytes);
    }
    make(plan, &mut files, content, announce, stop)?;
    Ok(SetUp { files, extents })
}

/// The files of a replayed log. Those that are shorter than what is read of them are made, if the
/// plan wants that. Nothing is known of the parts that the job uses.
pub(crate) fn found(
    plan: &JobPlan,
    paths: Vec<PathBuf>,
    needed: &[u64],
    content: &mut dyn LayoutContent,
    announce: &mut dyn FnMut(usize, u64),
    stop: &AtomicBool,
) -> Result<SetUp, SetUpError> {
    let files: Result<Vec<JobFile>, _> =
        paths.into_iter().map(|path| present(plan, path)).collect();
    let mut files = files?;
    if plan.replay.as_ref().is_some_and(|replay| replay.makes_files) {
        for (file, needed) in files.iter_mut().zip(needed) {
            file.io_bytes = *needed;
        }
        make(plan, &mut files, content, announce, stop)?;
        files.iter_mut().for_each(|file| file.io_bytes = 0);
    }
    Ok(SetUp { files, extents: Extents { files: Vec::new(), size_bytes: 0 } })
}

/// A file of a replayed log, as it is.
pub(crate) fn present(plan: &JobPlan, path: PathBuf) -> Result<JobFile, FileError> {
    let mut file = JobFile::new(path);
    make_parents(plan, &file)?;
    measure(plan, &mut file, 1)?;
    Ok(file)
}

fn make_parents(plan: &JobPlan, file: &JobFile) -> Result<(), FileError> {
    let parent = file.path.parent().filter(|parent| !parent.as_os_str().is_empty());
    match parent {
        Some(parent) if !plan.engine.needs_no_files() || plan.engine.is_by_name() => {
            fs::create_dir_all(parent).map_err(|source| FileError::new(parent, "mkdir", source))
        }
        Some(_) | None => Ok(()),
    }
}

/// Finds out how large a file is.
fn measure(plan: &JobPlan, file: &mut JobFile, count: u64) -> Result<(), FileError> {
    if plan.engine.needs_no_files() {
        file.kind = FileKind::Regular;
        let is_made_by_it = plan.engine.is_by_name() && !plan.engine.needs_directories();
        file.bytes = is_made_by_it.then(|| plan.offsets.block_bytes_min());
    } else {
        file.bytes = match file.kind {
            FileKind::Regular => match fs::metadata(&file.path) {
                Ok(metadata) => Some(metadata.len()),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Some(0),
                Err(source) => return Err(FileError::new(&file.path, "stat", source)),
            },
            FileKind::BlockDevice => {
                let device = open_to_size(&file.path)?;
                let size = system_calls::block_device_size_bytes(&device);
                Some(size.map_err(|source| FileError::new(&file.path, "its size", source))?)
            }
            FileKind::CharacterDevice | FileKind::Pipe => None,
        };
    }
    if file.bytes.is_none()
        && let Some(Amount::Bytes(given)) = plan.offsets.extents.size
    {
        file.bytes = Some(given / count);
    }
    Ok(())
}

/// Makes the files that are too small.
fn make(
    plan: &JobPlan,
    files: &mut [JobFile],
    content: &mut dyn LayoutContent,
    announce: &mut dyn FnMut(usize, u64),
    stop: &AtomicBool,
) -> Result<(), SetUpError> {
    let is_short = |file: &JobFile| {
        let real = file.bytes.unwrap_or(u64::MAX);
        file.kind == FileKind::Regular && file.offset.saturating_add(file.io_bytes) > real
    };
    if plan.engine.needs_no_files() || plan.files.create_on_open {
        for file in files.iter_mut().filter(|file| is_short(file)) {
            file.bytes = Some(file.offset.saturating_add(file.io_bytes));
        }
        return Ok(());
    }
    let short: Vec<u64> =
        files.iter().filter(|file| is_short(file)).map(|one| one.offset + one.io_bytes).collect();
    let made = (short.len(), short.iter().sum());
    if made.0 > 0 {
        announce(made.0, made.1);
        for file in files.iter_mut().filter(|file| is_short(file)) {
            extend(plan, file, content, stop)?;
        }
    }
    Ok(())
}
