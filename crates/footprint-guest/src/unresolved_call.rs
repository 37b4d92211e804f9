//! The parts of a system call before it is made: its number, its arguments, the open file that they
//! name, and what it leaves behind.

use std::io;
use std::path::{Path, PathBuf};

use crate::door::{Descriptor, Door};

/// Size of the buffer for a directory's entries in bytes, as in libc.
pub(crate) const ENTRIES_BYTES: usize = 32 << 10;

/// An argument of a call.
pub(crate) enum Argument {
    Number(u64),
    Name(PathBuf),
    Buffer,
    Descriptor,
}

/// The descriptor that makes a relative path start at the working directory; the kernel ignores it
/// for an absolute one.
pub(crate) const AT_FDCWD: Argument = Argument::Number((libc::AT_FDCWD as i64).cast_unsigned());

/// The permissions of new files and directories.
pub(crate) const MODE: Argument = Argument::Number(0o644);

/// The paths that a call can use. Each call has its own.
pub(crate) struct CallPaths<'a> {
    /// How the call, and what makes its files, reaches them.
    pub(crate) door: Door,
    pub(crate) directory: &'a Path,
    pub(crate) path: PathBuf,
    pub(crate) other: PathBuf,
}

/// Makes the files that a call needs, and returns the parts of the call.
pub(crate) type Prepare = fn(&CallPaths<'_>) -> io::Result<UnresolvedCall>;

/// How to remove what a call leaves behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leftover {
    File,
    Directory,
}

/// The file that a call's descriptor refers to.
#[derive(Debug)]
pub(crate) struct OpenFile {
    pub(crate) descriptor: Descriptor,
    /// The call closes it.
    pub(crate) is_closed_by_call: bool,
    /// It must have data to write back.
    pub(crate) is_dirty: bool,
}

/// A call whose arguments are not yet addresses and numbers.
pub(crate) struct UnresolvedCall {
    pub(crate) system_call: libc::c_long,
    pub(crate) arguments: Vec<Argument>,
    pub(crate) file: Option<OpenFile>,
    /// What the call leaves, to be removed.
    pub(crate) left: Option<PathBuf>,
}

impl UnresolvedCall {
    pub(crate) fn new(system_call: libc::c_long, arguments: Vec<Argument>) -> Self {
        Self { system_call, arguments, file: None, left: None }
    }

    /// The call gets the file's descriptor.
    pub(crate) fn on(self, descriptor: Descriptor) -> Self {
        let (is_closed_by_call, is_dirty) = (false, false);
        let file = OpenFile { descriptor, is_closed_by_call, is_dirty };
        Self { file: Some(file), ..self }
    }

    /// The call gets the file's descriptor and closes it.
    pub(crate) fn closes(self, descriptor: Descriptor) -> Self {
        let file = OpenFile { descriptor, is_closed_by_call: true, is_dirty: false };
        Self { file: Some(file), ..self }
    }

    /// The file must have data to write back.
    pub(crate) fn dirty(mut self) -> Self {
        self.file.iter_mut().for_each(|file| file.is_dirty = true);
        self
    }

    /// The call leaves this path behind, to be removed afterwards.
    pub(crate) fn leaves(self, path: &Path) -> Self {
        Self { left: Some(path.to_owned()), ..self }
    }
}
