//! One execution of an operation, prepared: its files are there, its descriptors open.

use std::ffi::CString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::Operation;
use crate::marked::{Call, Gives, MarkedCall};

/// Bytes of a read or a write.
const BYTES: usize = 4096;

/// Bytes that a directory's entries are read into, as libc does.
const ENTRIES_BYTES: usize = 32 << 10;

/// A system call with all that it points to.
#[derive(Debug)]
pub(crate) struct Prepared {
    operation: Operation,
    call: Call,
    /// Names that the call's arguments point to.
    _names: Vec<CString>,
    /// Memory that they point to.
    _buffer: Vec<u8>,
    /// The descriptor that they name, which `close` takes itself.
    descriptor: Option<OwnedFd>,
    /// What is there once the operation has been executed, to be removed.
    left: Option<PathBuf>,
}

/// An argument of a call.
enum Argument {
    Number(u64),
    Name(PathBuf),
    Buffer,
    Descriptor,
}

use Argument::{Buffer, Descriptor, Name, Number};

/// The directory descriptor which makes a relative path begin at the working directory, and is
/// not looked at for an absolute one.
const AT_FDCWD: Argument = Number((libc::AT_FDCWD as i64).cast_unsigned());

impl Prepared {
    /// Prepares the `number`th execution in a directory: each has names of its own.
    pub(crate) fn new(operation: Operation, directory: &Path, number: u32) -> io::Result<Self> {
        let path = directory.join(format!("file-{number:05}"));
        let other = directory.join(format!("other-{number:05}"));
        let mode = Number(0o644);
        let bytes = Number(BYTES as u64);
        let (system_call, arguments, file, left) = match operation {
            Operation::Create => {
                (libc::SYS_creat, vec![Name(path.clone()), mode], None, Some(path))
            }
            Operation::Write => {
                let file = File::create_new(&path)?;
                let arguments = vec![Descriptor, Buffer, bytes, Number(0)];
                (libc::SYS_pwrite64, arguments, Some(file), Some(path))
            }
            Operation::Overwrite | Operation::Read => {
                full(&path)?;
                let file = OpenOptions::new().read(true).write(true).open(&path)?;
                let arguments = vec![Descriptor, Buffer, bytes, Number(0)];
                let is_read = operation == Operation::Read;
                let call = if is_read { libc::SYS_pread64 } else { libc::SYS_pwrite64 };
                (call, arguments, Some(file), Some(path))
            }
            Operation::Stat => {
                full(&path)?;
                let arguments = vec![AT_FDCWD, Name(path.clone()), Buffer, Number(0)];
                (libc::SYS_newfstatat, arguments, None, Some(path))
            }
            Operation::Open => {
                full(&path)?;
                (libc::SYS_open, vec![Name(path.clone()), Number(0)], None, Some(path))
            }
            Operation::Close => {
                full(&path)?;
                (libc::SYS_close, vec![Descriptor], Some(File::open(&path)?), Some(path))
            }
            Operation::Rename => {
                full(&path)?;
                (libc::SYS_rename, vec![Name(path), Name(other.clone())], None, Some(other))
            }
            Operation::Unlink => {
                full(&path)?;
                (libc::SYS_unlink, vec![Name(path)], None, None)
            }
            Operation::Mkdir => (libc::SYS_mkdir, vec![Name(path.clone()), mode], None, Some(path)),
            Operation::Rmdir => {
                fs::create_dir(&path)?;
                (libc::SYS_rmdir, vec![Name(path)], None, None)
            }
            Operation::Link => {
                let existing = directory.join("entry-00");
                (libc::SYS_link, vec![Name(existing), Name(path.clone())], None, Some(path))
            }
            Operation::Symlink => {
                let names = vec![Name(PathBuf::from("entry-00")), Name(path.clone())];
                (libc::SYS_symlink, names, None, Some(path))
            }
            Operation::Readdir => {
                let arguments = vec![Descriptor, Buffer, Number(ENTRIES_BYTES as u64)];
                (libc::SYS_getdents64, arguments, Some(File::open(directory)?), None)
            }
            Operation::Truncate => {
                full(&path)?;
                (libc::SYS_truncate, vec![Name(path.clone()), Number(0)], None, Some(path))
            }
            Operation::Fsync => {
                let file = full(&path)?;
                (libc::SYS_fsync, vec![Descriptor], Some(file), Some(path))
            }
            Operation::GetPpid => (libc::SYS_getppid, vec![], None, None),
        };
        Self::with(operation, system_call, arguments, file, left)
    }

    fn with(
        operation: Operation,
        system_call: libc::c_long,
        arguments: Vec<Argument>,
        file: Option<File>,
        left: Option<PathBuf>,
    ) -> io::Result<Self> {
        let mut buffer = vec![0x5a; ENTRIES_BYTES];
        let mut names = Vec::new();
        let mut call = [0; 7];
        call[0] = u64::try_from(system_call).unwrap_or(u64::MAX);
        for (slot, argument) in call[1..].iter_mut().zip(arguments) {
            *slot = match argument {
                Number(number) => number,
                Name(path) => {
                    let name = CString::new(path.as_os_str().as_bytes())?;
                    let address = name.as_ptr().expose_provenance() as u64;
                    names.push(name);
                    address
                }
                Buffer => buffer.as_mut_ptr().expose_provenance() as u64,
                Descriptor => match &file {
                    Some(file) => u64::try_from(file.as_raw_fd()).unwrap_or(u64::MAX),
                    None => u64::MAX,
                },
            };
        }
        let descriptor = file.map(OwnedFd::from);
        Ok(Self { operation, call, _names: names, _buffer: buffer, descriptor, left })
    }

    /// Does again what dropping the kernel's caches has undone: a file that is to be written back
    /// must have something to be written.
    pub(crate) fn after_drop(&self) -> io::Result<()> {
        match &self.descriptor {
            Some(file) if self.operation == Operation::Fsync => {
                rustix::io::pwrite(file, &[0x5a; BYTES], 0)?;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Executes the operation, and removes what it left.
    pub(crate) fn execute(mut self, code: &MarkedCall) -> io::Result<()> {
        if self.operation == Operation::Close {
            // The call closes it.
            self.descriptor.take().map(IntoRawFd::into_raw_fd);
        }
        let gives = match self.operation {
            Operation::Create | Operation::Open => Gives::Descriptor,
            _ => Gives::Number,
        };
        code.execute(&self.call, gives)?;
        drop(self.descriptor.take());
        match &self.left {
            Some(path) if self.operation == Operation::Mkdir => fs::remove_dir(path),
            Some(path) => fs::remove_file(path),
            None => Ok(()),
        }
    }
}

/// A file of 4 KiB.
fn full(path: &Path) -> io::Result<File> {
    let mut file = File::create_new(path)?;
    file.write_all(&[0x5a; BYTES])?;
    Ok(file)
}
