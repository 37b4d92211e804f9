//! Records what a job does: `write_iolog`.
//!
//! Several jobs may write one log, each with a writer of its own. fio's lines then break where its
//! buffers do; here a buffer only has whole lines, and goes out by one call, to the end of the
//! file.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use crate::entry::{IoKind, IologVersion};

/// How many bytes are kept before they go out.
const BUFFER: usize = 64 << 10;

/// A file of a log that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoggedFile(usize);

/// Records what a job does, in version 3. What has not gone out does when it is dropped; who wants
/// to know of errors calls [`flush`](Self::flush) before.
///
/// fio's order: all files of the job are added when it begins, each file is opened before its first
/// operation, operations are recorded before they are executed, and a file is closed after its
/// last. Syncs have the offset of the operation before them, and length 0.
#[derive(Debug)]
pub struct IologWriter<W: Write> {
    out: W,
    buffer: Vec<u8>,
    names: Vec<Box<[u8]>>,
}

impl IologWriter<File> {
    /// Appends to a file, which is made if it doesn't exist, a log with no lines but the first.
    ///
    /// # Errors
    ///
    /// If the file cannot be opened.
    pub fn append_to(path: &Path) -> io::Result<Self> {
        Ok(Self::new(File::options().append(true).create(true).open(path)?))
    }
}

impl<W: Write> IologWriter<W> {
    /// Begins a log.
    pub fn new(out: W) -> Self {
        let mut buffer = Vec::with_capacity(BUFFER);
        buffer.extend_from_slice(IologVersion::Three.header().as_bytes());
        buffer.push(b'\n');
        Self { out, buffer, names: Vec::new() }
    }

    /// Where it goes.
    pub fn out(&self) -> &W {
        &self.out
    }

    /// Makes a file known. `at` is since the log was begun, here and below.
    ///
    /// # Errors
    ///
    /// If writing fails.
    pub fn add(&mut self, at: Duration, name: &OsStr) -> io::Result<LoggedFile> {
        let file = LoggedFile(self.names.len());
        self.names.push(Box::from(name.as_bytes()));
        self.file_action(at, file, b" add\n")?;
        Ok(file)
    }

    /// Records that a file was opened.
    ///
    /// # Errors
    ///
    /// If writing fails.
    pub fn open(&mut self, at: Duration, file: LoggedFile) -> io::Result<()> {
        self.file_action(at, file, b" open\n")
    }

    /// Records that a file was closed.
    ///
    /// # Errors
    ///
    /// If writing fails.
    pub fn close(&mut self, at: Duration, file: LoggedFile) -> io::Result<()> {
        self.file_action(at, file, b" close\n")
    }

    /// Records an operation.
    ///
    /// # Errors
    ///
    /// If writing fails.
    pub fn io(
        &mut self,
        at: Duration,
        file: LoggedFile,
        kind: IoKind,
        offset: u64,
        length: u64,
    ) -> io::Result<()> {
        let mut digits = itoa::Buffer::new();
        self.begin_line(at, file, &mut digits)?;
        self.buffer.push(b' ');
        self.buffer.extend_from_slice(kind.name().as_bytes());
        self.buffer.push(b' ');
        self.buffer.extend_from_slice(digits.format(offset).as_bytes());
        self.buffer.push(b' ');
        self.buffer.extend_from_slice(digits.format(length).as_bytes());
        self.buffer.push(b'\n');
        Ok(())
    }

    /// Writes what is kept.
    ///
    /// # Errors
    ///
    /// If writing fails. What was kept is lost then.
    pub fn flush(&mut self) -> io::Result<()> {
        let written = self.out.write_all(&self.buffer);
        self.buffer.clear();
        written?;
        self.out.flush()
    }

    fn file_action(&mut self, at: Duration, file: LoggedFile, action: &[u8]) -> io::Result<()> {
        self.begin_line(at, file, &mut itoa::Buffer::new())?;
        self.buffer.extend_from_slice(action);
        Ok(())
    }

    fn begin_line(
        &mut self,
        at: Duration,
        LoggedFile(file): LoggedFile,
        digits: &mut itoa::Buffer,
    ) -> io::Result<()> {
        /// Three numbers, an action, blanks and the end of a line.
        const REST: usize = 3 * 20 + 16 + 5;
        if self.buffer.len() + self.names[file].len() + REST > BUFFER {
            self.flush()?;
        }
        let time_us = at.as_secs() * 1_000_000 + u64::from(at.subsec_micros());
        self.buffer.extend_from_slice(digits.format(time_us).as_bytes());
        self.buffer.push(b' ');
        self.buffer.extend_from_slice(&self.names[file]);
        Ok(())
    }
}

impl<W: Write> Drop for IologWriter<W> {
    fn drop(&mut self) {
        // Whoever wants to know of errors has called it before.
        let _ = self.flush();
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::io::{self, Write};
    use std::time::Duration;

    use super::{BUFFER, IologWriter};
    use crate::entry::IoKind;

    /// Keeps what it was given by each call.
    #[derive(Default)]
    struct Calls(Vec<Vec<u8>>);

    impl Write for &mut Calls {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.push(bytes.to_vec());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn lines_are_those_of_fio() {
        let mut calls = Calls::default();
        let mut log = IologWriter::new(&mut calls);
        let at = Duration::from_nanos;
        let file = log.add(at(19_999), OsStr::new("b")).expect("memory");
        log.open(at(146_000), file).expect("memory");
        log.io(at(148_500), file, IoKind::Write, 4_096, 4_096).expect("memory");
        log.io(at(181_000), file, IoKind::Datasync, 4_096, 0).expect("memory");
        log.io(at(2_000_181_000), file, IoKind::Trim, u64::MAX, u64::MAX).expect("memory");
        log.close(at(2_015_795_000), file).expect("memory");
        drop(log);
        let expected = "fio version 3 iolog\n19 b add\n146 b open\n148 b write 4096 4096\n\
                        181 b datasync 4096 0\n\
                        2000181 b trim 18446744073709551615 18446744073709551615\n\
                        2015795 b close\n";
        assert_eq!(calls.0, [expected.as_bytes()]);
    }

    #[test]
    fn calls_have_whole_lines() {
        let mut calls = Calls::default();
        let mut log = IologWriter::new(&mut calls);
        let file = log.add(Duration::ZERO, OsStr::new("file")).expect("memory");
        for block in 0..20_000 {
            log.io(Duration::ZERO, file, IoKind::Read, block * 4_096, 4_096).expect("memory");
        }
        drop(log);
        assert!(calls.0.len() > 5);
        assert!(calls.0.iter().all(|call| call.len() <= BUFFER && call.ends_with(b"\n")));
        assert_eq!(calls.0.concat().iter().filter(|&&byte| byte == b'\n').count(), 20_002);
    }
}
