//! A C stdio stream with the library's default buffer.
//!
//! glibc reads and writes whole buffers (`st_blksize` bytes, usually 4096). Its `fseeko` writes
//! back what is buffered and discards what was read; if the stream is readable, it also reads the
//! part of the new block before the new position (`libio/fileops.c`, `_IO_new_file_seekoff`).
#![expect(unsafe_code, reason = "stdio has no safe wrapper that moves single characters")]

use std::ffi::{CStr, c_int};
use std::io;
use std::ptr::NonNull;

use rustix::fd::{IntoRawFd, OwnedFd};
use rustix::io::Errno;

use crate::fault::Fault;
use crate::io_path::StdioLocking;

unsafe extern "C" {
    fn getc_unlocked(stream: *mut libc::FILE) -> c_int;
    fn putc_unlocked(character: c_int, stream: *mut libc::FILE) -> c_int;
}

/// An open stream; dropping it closes it.
#[derive(Debug)]
pub struct Stream {
    file: NonNull<libc::FILE>,
    locking: StdioLocking,
}

// SAFETY: a stream belongs to the process, not to a thread, and only its owner uses it.
unsafe impl Send for Stream {}

fn last_errno() -> Errno {
    Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)
}

impl Stream {
    /// A stream over `descriptor`, which must be open in a way that allows `mode`.
    pub fn open(descriptor: OwnedFd, mode: &CStr, locking: StdioLocking) -> Result<Self, Fault> {
        let number = descriptor.into_raw_fd();
        // SAFETY: `number` is open and owned by us since `into_raw_fd`; `mode` ends in a NUL.
        let file = unsafe { libc::fdopen(number, mode.as_ptr()) };
        match NonNull::new(file) {
            Some(file) => Ok(Self { file, locking }),
            None => {
                let errno = last_errno();
                // SAFETY: no stream was created, so we still own the descriptor.
                unsafe { libc::close(number) };
                Err(Fault::errno("fdopen", errno))
            }
        }
    }

    /// Seeks to `offset_bytes`, whatever that causes to be read, written or discarded.
    pub fn seek(&mut self, offset_bytes: u64) -> Result<(), Fault> {
        let offset = libc::off_t::try_from(offset_bytes)
            .map_err(|_| Fault::errno("fseeko", Errno::OVERFLOW))?;
        // SAFETY: the stream is open until dropped.
        match unsafe { libc::fseeko(self.file.as_ptr(), offset, libc::SEEK_SET) } {
            0 => Ok(()),
            _ => Err(Fault::errno("fseeko", last_errno())),
        }
    }

    /// Reads characters into `buffer` until it is full. Returns how many there were before the end
    /// of the file. Never inlined, so that the engine and the bare loop that it is compared with
    /// run the same code per character.
    #[inline(never)]
    pub fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Fault> {
        let file = self.file.as_ptr();
        let done = match self.locking {
            // SAFETY: the stream is open until dropped.
            StdioLocking::EachCharacter => fill(buffer, || unsafe { libc::fgetc(file) }),
            // SAFETY: the stream is open until dropped, and `&mut self` is its only user.
            StdioLocking::Unlocked => fill(buffer, || unsafe { getc_unlocked(file) }),
        };
        // SAFETY: the stream is open until dropped.
        if done < buffer.len() && unsafe { libc::ferror(file) } != 0 {
            return Err(Fault::errno("getc", last_errno()));
        }
        Ok(done)
    }

    /// Writes all of `bytes`, character by character, into the stream's buffer, which is written
    /// out whenever it is full.
    #[inline(never)]
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        let file = self.file.as_ptr();
        let is_done = match self.locking {
            StdioLocking::EachCharacter => {
                // SAFETY: the stream is open until dropped.
                drain(bytes, |character| unsafe { libc::fputc(character, file) })
            }
            StdioLocking::Unlocked => {
                // SAFETY: the stream is open until dropped, and `&mut self` is its only user.
                drain(bytes, |character| unsafe { putc_unlocked(character, file) })
            }
        };
        if is_done { Ok(()) } else { Err(Fault::errno("putc", last_errno())) }
    }

    /// Writes what is buffered to the file.
    pub fn flush(&mut self) -> Result<(), Fault> {
        // SAFETY: the stream is open until dropped.
        match unsafe { libc::fflush(self.file.as_ptr()) } {
            0 => Ok(()),
            _ => Err(Fault::errno("fflush", last_errno())),
        }
    }
}

/// Stores characters until one is EOF. Returns how many there were.
#[inline(always)]
fn fill(buffer: &mut [u8], mut next: impl FnMut() -> c_int) -> usize {
    for (done, byte) in buffer.iter_mut().enumerate() {
        match u8::try_from(next()) {
            Ok(character) => *byte = character,
            // EOF is the only value that is not a character.
            Err(_) => return done,
        }
    }
    buffer.len()
}

/// Returns whether all characters were accepted.
#[inline(always)]
fn drain(bytes: &[u8], mut put: impl FnMut(c_int) -> c_int) -> bool {
    bytes.iter().all(|&character| put(c_int::from(character)) != libc::EOF)
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: the stream is open, and this is its only owner. Callers that need to know whether
        // the last characters were written must flush first.
        unsafe { libc::fclose(self.file.as_ptr()) };
    }
}

#[cfg(test)]
mod tests {
    use rustix::fs::{CWD, Mode, OFlags, memfd_create, openat};

    use super::*;

    const BOTH: [StdioLocking; 2] = [StdioLocking::EachCharacter, StdioLocking::Unlocked];

    #[test]
    fn what_cannot_be_read_or_written_is_an_error_and_the_end_is_none() {
        for locking in BOTH {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let directory = openat(CWD, "/", flags, Mode::empty()).expect("it is there");
            let mut stream = Stream::open(directory, c"r", locking).expect("it can be opened");
            let failed = Err(Fault::errno("getc", Errno::ISDIR));
            assert_eq!(stream.read(&mut [0; 3]), failed);

            let full = openat(CWD, "/dev/full", OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty());
            let full = full.expect("every Linux has it");
            let mut stream = Stream::open(full, c"w", locking).expect("it can be opened");
            assert_eq!(stream.write(&[1; 10]), Ok(()), "the buffer takes it");
            assert_eq!(stream.flush(), Err(Fault::errno("fflush", Errno::NOSPC)));
            assert_eq!(stream.write(&[1; 1 << 20]), Err(Fault::errno("putc", Errno::NOSPC)));

            let nothing = memfd_create("nothing", rustix::fs::MemfdFlags::CLOEXEC);
            let nothing = nothing.expect("there is room for nothing");
            let mut stream = Stream::open(nothing, c"r", locking).expect("it can be opened");
            assert_eq!(stream.read(&mut [0; 3]), Ok(0));
        }
    }

    #[test]
    fn all_characters_pass_as_they_are() {
        for locking in BOTH {
            let file = memfd_create("all", rustix::fs::MemfdFlags::CLOEXEC).expect("room");
            let mut stream = Stream::open(file, c"r+", locking).expect("it can be opened");
            let all: Vec<u8> = (0..=255).collect();
            assert_eq!(stream.write(&all), Ok(()));
            assert_eq!(stream.seek(0), Ok(()));
            let mut found = [0; 300];
            assert_eq!(stream.read(&mut found), Ok(256));
            assert_eq!(found[..256], all);
        }
    }

    #[test]
    fn a_descriptor_that_is_open_otherwise_is_refused() {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let file = openat(CWD, "/dev/null", flags, Mode::empty()).expect("every Linux has it");
        let opened = Stream::open(file, c"w", StdioLocking::Unlocked);
        assert_eq!(opened.map(drop), Err(Fault::errno("fdopen", Errno::INVAL)));
    }
}
