//! Single characters through a buffer, as stdio's macros `putc` and `getc` move them.
//!
//! Each call does what `putc_unlocked` and `getc_unlocked` of a C library compile to: it loads the
//! position, compares it with the end, moves one byte and stores the position. The position is
//! atomic, with relaxed ordering, so that it goes through memory for every character, as it does in
//! C, where a stored byte might alias the stream. With the position in a register, a loop over a
//! buffer would be a copy rather than stdio. Locks are left out, as they were in Bonnie's day. The
//! buffer is as large as the C library makes it: what `st_blksize` says.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::classic::calls;

/// The smallest buffer, in case a file system prefers less.
const BUFFER_MIN: usize = 512;

/// A file being written character by character.
#[derive(Debug)]
pub(super) struct CharacterWriter {
    file: File,
    buffer: Box<[u8]>,
    /// Where the next character goes.
    next: AtomicUsize,
    /// The first error; nothing is written after it.
    error: Option<io::Error>,
}

/// A file being read character by character.
#[derive(Debug)]
pub(super) struct CharacterReader {
    buffer: Box<[u8]>,
    source: CharacterSource,
}

/// Where characters come from. Separate from the buffer, so that only what C keeps in memory is
/// there: the position and the end.
#[derive(Debug)]
struct CharacterSource {
    file: File,
    /// Where the next character is.
    next: AtomicUsize,
    /// How much of the buffer is filled.
    end: AtomicUsize,
    /// The first error; nothing is read after it.
    error: Option<io::Error>,
}

/// Size of the buffer that a C library gives to a stream on this file.
fn buffer_bytes(file: &File) -> io::Result<usize> {
    let preferred_bytes = usize::try_from(file.metadata()?.blksize()).unwrap_or(BUFFER_MIN);
    Ok(preferred_bytes.max(BUFFER_MIN))
}

impl CharacterWriter {
    /// A stream that writes to `file` from its current position.
    pub(super) fn new(file: File) -> io::Result<Self> {
        let buffer = vec![0; buffer_bytes(&file)?].into_boxed_slice();
        Ok(Self { file, buffer, next: AtomicUsize::new(0), error: None })
    }

    /// Bytes written by one system call.
    pub(super) fn buffer_bytes(&self) -> u64 {
        self.buffer.len() as u64
    }

    /// Puts characters one by one: the low seven bits of each number.
    ///
    /// # Errors
    /// The first error in writing them.
    #[inline(never)]
    pub(super) fn put_all(&mut self, numbers: Range<u64>) -> io::Result<()> {
        for number in numbers {
            self.put((number & 0x7f) as u8);
        }
        self.error.take().map_or(Ok(()), Err)
    }

    /// `putc_unlocked(3)`; an error is kept, as for `ferror(3)`.
    #[inline(always)]
    fn put(&mut self, character: u8) {
        let next = self.next.load(Ordering::Relaxed);
        if let Some(place) = self.buffer.get_mut(next) {
            *place = character;
            self.next.store(next + 1, Ordering::Relaxed);
        } else {
            self.overflow(character);
        }
    }

    /// Writes out the full buffer and starts the next one.
    #[cold]
    #[inline(never)]
    fn overflow(&mut self, character: u8) {
        if self.error.is_some() {
            return;
        }
        match self.flush() {
            Ok(()) => {
                self.buffer[0] = character;
                self.next.store(1, Ordering::Relaxed);
            }
            Err(error) => {
                self.error = Some(error);
                self.next.store(self.buffer.len(), Ordering::Relaxed);
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        let filled = self.next.swap(0, Ordering::Relaxed);
        calls::write_all(&self.file, &self.buffer[..filled])
    }

    /// Writes out everything and gives the file back.
    pub(super) fn into_file(mut self) -> io::Result<File> {
        self.flush()?;
        Ok(self.file)
    }
}

impl CharacterReader {
    /// A stream that reads `file` from its current position.
    pub(super) fn new(file: File) -> io::Result<Self> {
        let buffer = vec![0; buffer_bytes(&file)?].into_boxed_slice();
        let (next, end) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Ok(Self { buffer, source: CharacterSource { file, next, end, error: None } })
    }

    /// Bytes read by one system call.
    pub(super) fn buffer_bytes(&self) -> u64 {
        self.buffer.len() as u64
    }

    /// Gets characters one by one and counts how often each occurs, as Bonnie does "to fool
    /// optimizers".
    ///
    /// # Errors
    /// The first error in reading them, including an early end of the file.
    #[inline(never)]
    pub(super) fn get_all(&mut self, characters: u64, counts: &mut [u32; 256]) -> io::Result<()> {
        let Self { buffer, source } = self;
        let buffer: &mut [u8] = buffer;
        for _ in 0..characters {
            let count = &mut counts[usize::from(source.get(buffer))];
            *count = count.wrapping_add(1);
        }
        source.error.take().map_or(Ok(()), Err)
    }

    /// Gives the file back.
    pub(super) fn into_file(self) -> File {
        self.source.file
    }
}

impl CharacterSource {
    /// `getc_unlocked(3)`; an error is kept, as for `ferror(3)` and `feof(3)`.
    #[inline(always)]
    fn get(&mut self, buffer: &mut [u8]) -> u8 {
        let next = self.next.load(Ordering::Relaxed);
        if next >= self.end.load(Ordering::Relaxed) {
            return self.underflow(buffer);
        }
        self.next.store(next + 1, Ordering::Relaxed);
        buffer[next]
    }

    /// Reads the next buffer.
    #[cold]
    #[inline(never)]
    fn underflow(&mut self, buffer: &mut [u8]) -> u8 {
        if self.error.is_some() {
            return 0;
        }
        let read = match calls::read(&self.file, buffer) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            read => read,
        };
        match read {
            Ok(read) => {
                self.end.store(read, Ordering::Relaxed);
                self.next.store(1, Ordering::Relaxed);
                buffer[0]
            }
            Err(error) => {
                self.error = Some(error);
                self.next.store(0, Ordering::Relaxed);
                self.end.store(0, Ordering::Relaxed);
                0
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn characters_come_back_in_their_order() {
        let path = std::env::temp_dir().join(format!("fsprism-characters-{}", std::process::id()));
        let file = File::options().read(true).write(true).create(true).truncate(true).open(&path);
        let mut output = CharacterWriter::new(file.expect("it is ours")).expect("it has a size");
        let length = 2 * output.buffer_bytes() + 7;
        output.put_all(0..length).expect("there is room");
        drop(output.into_file().expect("there is room"));
        let written = fs::read(&path).expect("it is there");
        let expected: Vec<u8> = (0..length).map(|number| (number & 0x7f) as u8).collect();
        assert_eq!(written, expected);
        let mut input =
            CharacterReader::new(File::open(&path).expect("it is there")).expect("it has a size");
        let mut counts = [0; 256];
        input.get_all(length, &mut counts).expect("it was written");
        let counted = |character: u8| written.iter().filter(|&&one| one == character).count();
        assert!((0..128).all(|one: u8| counts[usize::from(one)] as usize == counted(one)));
        assert!(input.get_all(1, &mut counts).is_err(), "the file ends here");
        fs::remove_file(&path).expect("it is ours");
    }

    #[test]
    fn what_cannot_be_written_is_an_error_and_ends_the_writing() {
        let full = File::options().write(true).open("/dev/full").expect("Linux has it");
        let mut output = CharacterWriter::new(full).expect("it has a size");
        let length = 3 * output.buffer_bytes();
        let error = output.put_all(0..length).expect_err("it is full");
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }
}
