//! A log, line by line.
//!
//! The buffer is filled by one read at a time. A line is parsed where it lies; only the beginning
//! of a line whose end has not been read yet is moved. So it is known what can be had without
//! waiting for more input: [`IologReader::buffered_line`], which reading ahead depends on.

use std::io::{self, Read};
use std::sync::Arc;

use crate::entry::IologVersion;
use crate::error::IologError;
use crate::parse::{Line, NumberError, parse};
use crate::place::Place;
use crate::source::Source;

/// How many bytes one read asks for.
const BUFFER: usize = 256 << 10;

/// The longest line that is read; fio splits those above 4095 bytes.
const LONGEST_LINE: usize = 64 << 10;

/// The magic number of blktrace's records, whose lowest byte is a version.
const BLKTRACE_MAGIC: u32 = 0x6561_7400;

/// Reads a log.
pub struct IologReader {
    bytes: Box<dyn Read + Send>,
    version: IologVersion,
    place: Place,
    buffer: Vec<u8>,
    /// Where the next line begins.
    begin: usize,
    /// Up to where lines are whole: behind the last end of a line, or everything at the end.
    whole: usize,
    /// Up to where the buffer is filled.
    filled: usize,
    at_end: bool,
}

impl IologReader {
    /// Begins to read: the version.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is no log of a version known.
    pub fn new(source: Source) -> Result<Self, IologError> {
        let mut reader = Self {
            bytes: source.bytes,
            version: IologVersion::Three,
            place: Place { file: Arc::from(source.path), line: 0 },
            buffer: vec![0; BUFFER],
            begin: 0,
            whole: 0,
            filled: 0,
            at_end: false,
        };
        reader.version = reader.read_version()?;
        Ok(reader)
    }

    /// Which version it is.
    #[must_use]
    pub fn version(&self) -> IologVersion {
        self.version
    }

    /// Where the line stands that was read last.
    #[must_use]
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// The next line, or none at the end.
    ///
    /// # Errors
    ///
    /// If the log cannot be read, or the line has numbers that fio would misread.
    pub fn next_line(&mut self) -> Result<Option<Line<'_>>, IologError> {
        while self.begin == self.whole {
            if !self.fill()? {
                return Ok(None);
            }
        }
        Ok(self.buffered_line()?.map(|(line, _)| line))
    }

    /// The next line and its place if it has been read, else none.
    pub(crate) fn buffered_line(&mut self) -> Result<Option<(Line<'_>, &Place)>, IologError> {
        let Self { buffer, begin, whole, place, version, .. } = self;
        let Some(line) = take_line(&buffer[..*whole], begin) else { return Ok(None) };
        place.line += 1;
        if line.len() > LONGEST_LINE {
            return Err(long_line(place.clone()));
        }
        match parse(*version, line) {
            Ok(line) => Ok(Some((line, place))),
            Err(error) => Err(number_error(error, place.clone())),
        }
    }

    /// Reads once. False at the end.
    pub(crate) fn fill(&mut self) -> Result<bool, IologError> {
        if self.at_end {
            return Ok(false);
        }
        self.buffer.copy_within(self.begin..self.filled, 0);
        self.filled -= self.begin;
        self.whole -= self.begin;
        self.begin = 0;
        if self.filled - self.whole > LONGEST_LINE {
            let Place { file, line } = self.place.clone();
            return Err(long_line(Place { file, line: line + 1 }));
        }
        let count = self.read_once()?;
        let new = &self.buffer[self.filled..self.filled + count];
        if count == 0 {
            self.at_end = true;
            self.whole = self.filled;
        } else if let Some(end) = memchr::memrchr(b'\n', new) {
            self.whole = self.filled + end + 1;
        }
        self.filled += count;
        Ok(count > 0 || self.whole > 0)
    }

    fn read_once(&mut self) -> Result<usize, IologError> {
        loop {
            match self.bytes.read(&mut self.buffer[self.filled..]) {
                Ok(count) => return Ok(count),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => {
                    let path = self.place.file.to_path_buf();
                    return Err(IologError::Unreadable { path, source });
                }
            }
        }
    }

    fn read_version(&mut self) -> Result<IologVersion, IologError> {
        let longest = IologVersion::Three.header().len();
        while self.whole == 0 && self.filled < longest {
            if !self.fill()? {
                break;
            }
        }
        let path = || self.place.file.to_path_buf();
        let read = &self.buffer[..self.filled];
        if read.is_empty() {
            return Err(IologError::Empty { path: path() });
        }
        if is_blktrace(read) {
            return Err(IologError::Blktrace { path: path() });
        }
        let version = [IologVersion::Two, IologVersion::Three]
            .into_iter()
            .find(|version| read.starts_with(version.header().as_bytes()))
            .ok_or_else(|| IologError::NotALog { path: path() })?;
        while self.whole == 0 && self.fill()? {}
        take_line(&self.buffer[..self.whole], &mut self.begin);
        self.place.line = 1;
        Ok(version)
    }
}

/// Takes a line off the beginning, without its end. The last one need not have an end.
fn take_line<'bytes>(bytes: &'bytes [u8], begin: &mut usize) -> Option<&'bytes [u8]> {
    let rest = &bytes[*begin..];
    if rest.is_empty() {
        return None;
    }
    let length = memchr::memchr(b'\n', rest);
    *begin = length.map_or(bytes.len(), |length| *begin + length + 1);
    Some(&rest[..length.unwrap_or(rest.len())])
}

/// Whether a file begins with a record of blktrace, of this machine or of one with the other order
/// of bytes.
fn is_blktrace(bytes: &[u8]) -> bool {
    let is_magic = |number: u32| number & 0xffff_ff00 == BLKTRACE_MAGIC;
    bytes.first_chunk().is_some_and(|&first| {
        is_magic(u32::from_le_bytes(first)) || is_magic(u32::from_be_bytes(first))
    })
}

fn long_line(place: Place) -> IologError {
    IologError::LongLine { place, limit: LONGEST_LINE }
}

fn number_error(error: NumberError, place: Place) -> IologError {
    match error {
        NumberError::Unclear(text) => IologError::UnclearNumber { place, text },
        NumberError::Large { text, largest } => IologError::LargeNumber { place, text, largest },
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Read};
    use std::path::Path;

    use super::{IologReader, LONGEST_LINE};
    use crate::entry::{EntryAction, IologVersion};
    use crate::error::IologError;
    use crate::parse::Line;
    use crate::source::Source;

    /// Gives so many bytes at a time.
    struct Pieces {
        bytes: io::Cursor<Vec<u8>>,
        size: usize,
    }

    impl Read for Pieces {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let size = self.size.min(buffer.len());
            self.bytes.read(&mut buffer[..size])
        }
    }

    fn reader(bytes: &[u8], size: usize) -> Result<IologReader, IologError> {
        let bytes = Box::new(Pieces { bytes: io::Cursor::new(bytes.to_vec()), size });
        IologReader::new(Source::new(Path::new("a.log"), bytes))
    }

    fn message(bytes: &[u8]) -> String {
        match reader(bytes, 10) {
            Ok(_) => panic!("an error was expected"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn lines_do_not_depend_on_how_much_is_read_at_once() {
        let log = b"fio version 2 iolog\r\n/f add\n\n/f wait 5 0\n/f open";
        for size in 1..=log.len() {
            let mut reader = reader(log, size).expect("a log");
            assert_eq!(reader.version(), IologVersion::Two);
            let mut lines = Vec::new();
            while let Some(line) = reader.next_line().expect("lines") {
                let action = match line {
                    Line::Entry(entry) => Some(entry.action),
                    Line::Unusable(_) => None,
                };
                lines.push((action, reader.place().line));
            }
            let wait = EntryAction::Wait { until_ms: 5 };
            let expected = [
                (Some(EntryAction::Add), 2),
                (None, 3),
                (Some(wait), 4),
                (Some(EntryAction::Open), 5),
            ];
            assert_eq!(lines, expected, "{size}");
        }
    }

    #[test]
    fn what_is_no_log() {
        assert!(message(b"").contains("is empty"));
        assert!(message(b"fio version 1 iolog\n").contains("neither `fio version 2 iolog` nor"));
        assert!(message(b"fio version 3 iol").contains("is not an I/O log"));
        assert!(message(b"\x07tae and so on").contains("binary trace of blktrace"));
        assert!(message(b"eat\x07 and so on").contains("blkparse -q -i -"));
        assert!(reader(b"fio version 3 iolog and more", 3).is_ok());
    }

    #[test]
    fn errors_say_where() {
        let mut reader =
            reader(b"fio version 3 iolog\n0 f add\n0 f read 0 4k\n", 100).expect("a log");
        reader.next_line().expect("a line");
        let error = reader.next_line().expect_err("no number").to_string();
        assert_eq!(
            error,
            "a.log, line 3: `4k` begins with a number but is not one; write digits alone"
        );
    }

    #[test]
    fn lines_end_somewhere() {
        for end in ["", "\n"] {
            let log = format!("fio version 3 iolog\n{}{end}", "x".repeat(LONGEST_LINE + 1));
            for size in [1_000, usize::MAX] {
                let mut reader = reader(log.as_bytes(), size).expect("a log");
                let error = reader.next_line().expect_err("too long").to_string();
                assert_eq!(error, "a.log, line 2: the line has more than 65536 bytes");
            }
        }
    }
}
