//! One call, prepared: its files are there, its descriptors open.

use std::ffi::CString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::TracedCall;
use crate::marked::{Call, MarkedCall};

/// Bytes of a read or a write.
pub(crate) const BYTES: usize = 4096;

/// Bytes that a directory's entries are read into, as libc does.
pub(crate) const ENTRIES_BYTES: usize = 32 << 10;

/// A system call with all that it points to.
#[derive(Debug)]
pub(crate) struct Prepared {
    traced: TracedCall,
    call: Call,
    /// Names that the call's arguments point to.
    _names: Vec<CString>,
    /// Memory that they point to.
    _buffer: Vec<u8>,
    file: Option<OpenFile>,
    /// What is there once the call has been made, to be removed.
    left: Option<PathBuf>,
}

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
struct OpenFile {
    descriptor: OwnedFd,
    /// The call closes it.
    is_closed_by_call: bool,
    /// It must have something to be written back.
    is_dirty: bool,
}

/// A call that is not yet in the form of one.
pub(crate) struct Parts {
    system_call: libc::c_long,
    arguments: Vec<Argument>,
    file: Option<OpenFile>,
    left: Option<PathBuf>,
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

impl Prepared {
    /// Prepares the `number`th call in a directory.
    pub(crate) fn new(traced: TracedCall, directory: &Path, number: u32) -> io::Result<Self> {
        let path = directory.join(format!("file-{number:05}"));
        let other = directory.join(format!("other-{number:05}"));
        let parts = (traced.row().prepare)(&At { directory, path, other })?;
        let mut buffer = vec![0x5a; ENTRIES_BYTES];
        let mut names = Vec::new();
        let mut call = [0; 7];
        call[0] = u64::try_from(parts.system_call).unwrap_or(u64::MAX);
        for (slot, argument) in call[1..].iter_mut().zip(parts.arguments) {
            *slot = match argument {
                Argument::Number(number) => number,
                Argument::Name(path) => {
                    let name = CString::new(path.as_os_str().as_bytes())?;
                    let address = name.as_ptr().expose_provenance() as u64;
                    names.push(name);
                    address
                }
                Argument::Buffer => buffer.as_mut_ptr().expose_provenance() as u64,
                Argument::Descriptor => match &parts.file {
                    Some(file) => u64::try_from(file.descriptor.as_raw_fd()).unwrap_or(u64::MAX),
                    None => u64::MAX,
                },
            };
        }
        let (file, left) = (parts.file, parts.left);
        Ok(Self { traced, call, _names: names, _buffer: buffer, file, left })
    }

    /// Does again what dropping the kernel's caches has undone: a file that is to be written back
    /// must have something to be written.
    pub(crate) fn after_drop(&self) -> io::Result<()> {
        if let Some(file) = self.file.as_ref().filter(|file| file.is_dirty) {
            rustix::io::pwrite(&file.descriptor, &[0x5a; BYTES], 0)?;
        }
        Ok(())
    }

    /// Makes the call, and removes what it left.
    pub(crate) fn execute(mut self, code: &MarkedCall) -> io::Result<()> {
        if let Some(file) = self.file.take_if(|file| file.is_closed_by_call) {
            let _the_calls = file.descriptor.into_raw_fd();
        }
        let row = self.traced.row();
        code.execute(&self.call, row.gives)?;
        drop(self.file.take());
        match (&self.left, row.removed) {
            (Some(path), Removed::Directory) => fs::remove_dir(path),
            (Some(path), Removed::File) => fs::remove_file(path),
            (None, Removed::File | Removed::Directory) => Ok(()),
        }
    }
}

/// A file of 4 KiB.
pub(crate) fn full(path: &Path) -> io::Result<File> {
    let mut file = File::create_new(path)?;
    file.write_all(&[0x5a; BYTES])?;
    Ok(file)
}
