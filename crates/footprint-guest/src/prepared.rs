//! A call ready to be made: its files exist, its descriptors are open, and its arguments point to
//! memory that it owns.

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::TracedCall;
use crate::door::Door;
use crate::marked::{Call, MarkedCall, ReturnValue};
use crate::unresolved_call::{Argument, CallPaths, ENTRIES_BYTES, Leftover, OpenFile};

/// A system call and everything that its arguments point to.
#[derive(Debug)]
pub(crate) struct PreparedCall {
    traced: TracedCall,
    door: Door,
    call: Call,
    /// Names that the call's arguments point to.
    _names: Vec<CString>,
    /// Memory that the call's arguments point to.
    _buffer: Vec<u8>,
    file: Option<OpenFile>,
    /// What the call leaves behind, to be removed.
    left: Option<PathBuf>,
}

impl PreparedCall {
    /// Prepares a call in a directory; `number` makes its paths unique.
    pub(crate) fn new(
        traced: TracedCall,
        door: Door,
        directory: &Path,
        number: u32,
    ) -> io::Result<Self> {
        let path = directory.join(format!("file-{number:05}"));
        let other = directory.join(format!("other-{number:05}"));
        let parts = (traced.row().prepare)(&CallPaths { door, directory, path, other })?;
        let mut buffer = vec![0x5a; ENTRIES_BYTES];
        let mut names = Vec::new();
        let mut call = [0; 7];
        call[0] = u64::try_from(door.number(parts.system_call)).unwrap_or(u64::MAX);
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
                    Some(file) => file.descriptor.number(),
                    None => u64::MAX,
                },
            };
        }
        let (file, left) = (parts.file, parts.left);
        Ok(Self { traced, door, call, _names: names, _buffer: buffer, file, left })
    }

    /// Redoes what dropping the kernel's caches has undone: a file to be synced must be dirty.
    pub(crate) fn after_drop(&self) -> io::Result<()> {
        if let Some(file) = self.file.as_ref().filter(|file| file.is_dirty) {
            self.door.write_at_start(&file.descriptor)?;
        }
        Ok(())
    }

    /// Makes the call, and removes what it leaves behind.
    pub(crate) fn execute(mut self, code: &MarkedCall) -> io::Result<()> {
        if let Some(file) = self.file.take_if(|file| file.is_closed_by_call) {
            file.descriptor.leave();
        }
        let row = self.traced.row();
        let given = code.execute(&self.call, self.door.returns(row.returns))?;
        if row.returns == ReturnValue::Descriptor {
            self.door.close_number(given);
        }
        drop(self.file.take());
        match (&self.left, row.leftover) {
            (Some(path), Leftover::Directory) => self.door.remove_directory(path),
            (Some(path), Leftover::File) => self.door.remove_file(path),
            (None, Leftover::File | Leftover::Directory) => Ok(()),
        }
    }
}
