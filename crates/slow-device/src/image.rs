//! The image: read and written at offsets, as whole requests.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

use rustix::fs::{FallocateFlags, OFlags, fallocate, fdatasync, fstat, ftruncate};
use rustix::io::{Errno, pread, pwrite};

/// The alignment of buffers: that of pages.
const ALIGNMENT: usize = 4096;
/// The smallest unit that a loop device may ask for.
const SECTOR_BYTES: usize = 512;

/// Opens an image again so that reads and writes bypass the page cache, if that works for single
/// sectors; otherwise, it is duplicated. Also returns whether it does bypass the cache.
pub(crate) fn reopen(image: &File) -> io::Result<(File, bool)> {
    let path = format!("/proc/self/fd/{}", image.as_raw_fd());
    let flags = OFlags::DIRECT.bits().cast_signed();
    let direct = File::options().read(true).write(true).custom_flags(flags).open(path);
    if let Ok(direct) = direct {
        let mut room = Buffer::new(SECTOR_BYTES);
        if pread(&direct, room.bytes(), SECTOR_BYTES as u64).is_ok() {
            return Ok((direct, true));
        }
    }
    Ok((image.try_clone()?, false))
}

/// An image that requests are done on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Image<'fd>(pub(crate) BorrowedFd<'fd>);

impl Image<'_> {
    pub(crate) fn size_bytes(self) -> Result<u64, Errno> {
        Ok(fstat(self.0)?.st_size.cast_unsigned())
    }

    pub(crate) fn resize(self, size_bytes: u64) -> Result<(), Errno> {
        ftruncate(self.0, size_bytes)
    }

    /// Fills `bytes` from `offset` on, less what is beyond the image's end; returns how many.
    pub(crate) fn read(self, bytes: &mut [u8], offset: u64) -> Result<usize, Errno> {
        let mut done = 0;
        while done < bytes.len() {
            match pread(self.0, &mut bytes[done..], offset + done as u64) {
                Ok(0) => break,
                Ok(read) => done += read,
                Err(Errno::INTR) => {}
                Err(why) => return Err(why),
            }
        }
        Ok(done)
    }

    pub(crate) fn write(self, bytes: &[u8], offset: u64) -> Result<usize, Errno> {
        let mut done = 0;
        while done < bytes.len() {
            match pwrite(self.0, &bytes[done..], offset + done as u64) {
                Ok(0) => return Err(Errno::IO),
                Ok(written) => done += written,
                Err(Errno::INTR) => {}
                Err(why) => return Err(why),
            }
        }
        Ok(done)
    }

    /// Returns when everything written is on the device that holds the image.
    pub(crate) fn flush(self) -> Result<(), Errno> {
        fdatasync(self.0)
    }

    /// What fallocate(2) does: this is how a loop device discards, and writes zeros.
    pub(crate) fn change_space(self, mode: u32, offset: u64, bytes: u64) -> Result<(), Errno> {
        fallocate(self.0, FallocateFlags::from_bits_retain(mode), offset, bytes)
    }
}

impl AsFd for Image<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0
    }
}

/// Memory that begins on a page, as reads and writes that bypass the cache need it.
#[derive(Debug)]
pub(crate) struct Buffer {
    memory: Vec<u8>,
    start: usize,
    length: usize,
}

impl Buffer {
    pub(crate) fn new(length: usize) -> Self {
        // Written to, so that the kernel has provided the memory.
        let mut memory = vec![0; length + ALIGNMENT];
        memory.fill(1);
        let start = memory.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
        Self { memory, start, length }
    }

    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..self.start + self.length]
    }
}
