//! Reads and writes by the system calls themselves: in a program with several threads, the C
//! library makes each call a point where a thread can be cancelled, which takes 50 ns.

use std::fs::File;
use std::io::{self, IoSliceMut};

use rustix::io::retry_on_intr;

/// Reads once.
pub(super) fn read(file: &File, buffer: &mut [u8]) -> io::Result<usize> {
    Ok(retry_on_intr(|| rustix::io::read(file, &mut *buffer))?)
}

/// Fills the buffer.
pub(super) fn read_exact(file: &File, buffer: &mut [u8]) -> io::Result<()> {
    let mut done = 0;
    while done < buffer.len() {
        match read(file, &mut buffer[done..])? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            bytes => done += bytes,
        }
    }
    Ok(())
}

/// Reads into several buffers with one call.
pub(super) fn read_vectored(file: &File, buffers: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
    Ok(retry_on_intr(|| rustix::io::readv(file, buffers))?)
}

/// Writes all of the buffer.
pub(super) fn write_all(file: &File, buffer: &[u8]) -> io::Result<()> {
    let mut done = 0;
    while done < buffer.len() {
        match retry_on_intr(|| rustix::io::write(file, &buffer[done..]))? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            bytes => done += bytes,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::{Seek, Write};

    use super::*;

    #[test]
    fn all_is_moved_or_it_is_an_error() {
        let mut file = tempfile::tempfile().expect("a file");
        write_all(&file, b"twelve bytes").expect("it can be written");
        file.rewind().expect("it is a file");
        let mut buffer = [0; 12];
        read_exact(&file, &mut buffer).expect("it can be read");
        assert_eq!(&buffer, b"twelve bytes");
        file.rewind().expect("it is a file");
        let (mut one, mut two) = ([0; 6], [0; 9]);
        let mut both = [IoSliceMut::new(&mut one), IoSliceMut::new(&mut two)];
        assert_eq!(read_vectored(&file, &mut both).expect("it can be read"), 12);
        assert_eq!((&one, &two[..6]), (b"twelve", &b" bytes"[..]));
        let error = read_exact(&file, &mut buffer).expect_err("it is at its end");
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
        let full = File::options().write(true).open("/dev/full").expect("Linux has it");
        assert_eq!(write_all(&full, b"x").expect_err("it is full").raw_os_error(), Some(28));
        file.flush().expect("nothing is buffered");
    }
}
