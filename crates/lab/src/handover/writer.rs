//! The guest's side.

use std::io::{self, Read, Write};

use super::sum::Sum;
use super::{FAILED, FILE, MAGIC, WELL};

/// Writes files, then the end frame.
#[derive(Debug)]
pub struct Writer<W: Write> {
    to: W,
}

impl<W: Write> Writer<W> {
    /// A stream to `to`, with no files yet.
    pub fn new(to: W) -> Self {
        Self { to }
    }

    /// Hands back one file whose content is in memory.
    ///
    /// # Errors
    /// If the stream cannot be written, or the name is longer than 65,535 bytes.
    pub fn file(&mut self, name: &str, content: &[u8]) -> io::Result<()> {
        self.frame(FILE, name, content)
    }

    /// Hands back `length_bytes` of a reader without holding them in memory.
    ///
    /// # Errors
    /// If the stream cannot be written, or the reader cannot be read or has fewer bytes.
    pub(crate) fn file_from(
        &mut self,
        name: &str,
        length_bytes: u64,
        content: impl Read,
    ) -> io::Result<()> {
        let mut sum = self.begin(FILE, name, length_bytes)?;
        let mut content = content.take(length_bytes);
        let mut buffer = vec![0; 1 << 16];
        let mut left = length_bytes;
        while left > 0 {
            let read = content.read(&mut buffer)?;
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            sum.add(&buffer[..read]);
            self.to.write_all(&buffer[..read])?;
            left -= read as u64;
        }
        self.to.write_all(&sum.finish().to_le_bytes())
    }

    /// Ends the stream: the job succeeded, or a sentence says why it did not. Returns the
    /// underlying writer, flushed.
    ///
    /// # Errors
    /// If the stream cannot be written.
    pub fn end(mut self, outcome: Result<(), &str>) -> io::Result<W> {
        match outcome {
            Ok(()) => self.frame(WELL, "", &[])?,
            Err(why) => self.frame(FAILED, "", why.as_bytes())?,
        }
        self.to.flush()?;
        Ok(self.to)
    }

    fn frame(&mut self, kind: u8, name: &str, content: &[u8]) -> io::Result<()> {
        let mut sum = self.begin(kind, name, content.len() as u64)?;
        sum.add(content);
        self.to.write_all(content)?;
        self.to.write_all(&sum.finish().to_le_bytes())
    }

    fn begin(&mut self, kind: u8, name: &str, length_bytes: u64) -> io::Result<Sum> {
        let name_bytes = u16::try_from(name.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
        let mut head = MAGIC.to_vec();
        head.push(kind);
        head.extend(name_bytes.to_le_bytes());
        head.extend(length_bytes.to_le_bytes());
        head.extend(name.as_bytes());
        let mut sum = Sum::new();
        sum.add(&head);
        self.to.write_all(&head)?;
        Ok(sum)
    }
}
