//! The parts of a system call before it is made: its number, its arguments, the open file that they
//! name, and what it leaves behind.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// Bytes of a read or a write.
pub(crate) const BYTES: usize = 4096;

/// Bytes that a directory's entries are read into, as libc does.
pub(crate) const ENTRIES_BYTES: usize = 32 << 10;

/// An argument of a call.
pub(crate) enum Argument {
    Number(u64),
    Name(PathBuf),
    Buffer,
    Descriptor,
}

/// The directory descriptor which makes a relative path begin at the working directory, and is
/// not looked at for an absolute one.
pub(crate) const AT_FDCWD: Argument = Argument::Number((libc::AT_FDCWD as i64).cast_unsigned());

/// The permissions of what is made.
pub(crate) const MODE: Argument = Argument::Number(0o644);

/// Where a call is made: each has names of its own.
pub(crate) struct At<'a> {
    pub(crate) directory: &'a Path,
    pub(crate) path: PathBuf,
    pub(crate) other: PathBuf,
}

/// Makes what a call needs, and says what the call is.
pub(crate) type Prepare = fn(&At<'_>) -> io::Result<Parts>;

/// How what a call leaves is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Removed {
    File,
    Directory,
}

/// The file that a call's descriptor names.
#[derive(Debug)]
pub(crate) struct OpenFile {
    pub(crate) descriptor: OwnedFd,
    /// The call closes it.
    pub(crate) is_closed_by_call: bool,
    /// It must have something to be written back.
    pub(crate) is_dirty: bool,
}

/// A call that is not yet in the form of one.
pub(crate) struct Parts {
    pub(crate) system_call: libc::c_long,
    pub(crate) arguments: Vec<Argument>,
    pub(crate) file: Option<OpenFile>,
    /// What the call leaves, to be removed.
    pub(crate) left: Option<PathBuf>,
}

impl Parts {
    pub(crate) fn of(system_call: libc::c_long, arguments: Vec<Argument>) -> Self {
        Self { system_call, arguments, file: None, left: None }
    }

    /// It is given the file's descriptor.
    pub(crate) fn on(self, file: File) -> Self {
        let (is_closed_by_call, is_dirty) = (false, false);
        let file = OpenFile { descriptor: file.into(), is_closed_by_call, is_dirty };
        Self { file: Some(file), ..self }
    }

    /// It is given the file's descriptor, and closes it.
    pub(crate) fn closes(self, file: File) -> Self {
        let file = OpenFile { descriptor: file.into(), is_closed_by_call: true, is_dirty: false };
        Self { file: Some(file), ..self }
    }

    /// The file has something to be written back.
    pub(crate) fn dirty(mut self) -> Self {
        self.file.iter_mut().for_each(|file| file.is_dirty = true);
        self
    }

    /// This is there afterwards.
    pub(crate) fn leaves(self, path: &Path) -> Self {
        Self { left: Some(path.to_owned()), ..self }
    }
}

/// A file of 4 KiB.
pub(crate) fn full(path: &Path) -> io::Result<File> {
    let mut file = File::create_new(path)?;
    file.write_all(&[0x5a; BYTES])?;
    Ok(file)
}
