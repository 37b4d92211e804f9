//! A file that holds a whole trace whenever its writer may be killed, and how traces are opened.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

/// `O_NONBLOCK`.
const WITHOUT_WAITING: i32 = 0o4000;

/// Opens a file that may have come from anywhere: a pipe in its place is not waited for, and a
/// device is not read.
///
/// # Errors
/// The system's, or that it is no regular file.
pub fn open_plain(path: &Path) -> io::Result<File> {
    let file = File::options().read(true).custom_flags(WITHOUT_WAITING).open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::other("it is not a regular file"))
    }
}

/// Bytes after which those written go to the file without waiting for a commit.
const PENDING_BYTES: usize = 1 << 20;

/// Collects what is written and puts it into the file together with an end, over the end before.
#[derive(Debug)]
pub struct TraceFile {
    file: File,
    /// Bytes of the file before its end.
    at_bytes: u64,
    pending: Vec<u8>,
}

impl TraceFile {
    /// Creates the file, or empties it.
    ///
    /// # Errors
    /// The system's.
    pub fn create(path: &Path) -> io::Result<Self> {
        Ok(Self { file: File::create(path)?, at_bytes: 0, pending: Vec::new() })
    }

    /// Writes what is pending and the end behind it, over which the next bytes go. It is one call,
    /// which a signal does not divide.
    pub(crate) fn commit(&mut self, end: &[u8]) -> io::Result<()> {
        let bytes = self.pending.len() as u64;
        self.pending.extend(end);
        self.file.write_all_at(&self.pending, self.at_bytes)?;
        self.at_bytes += bytes;
        self.pending.clear();
        Ok(())
    }
}

impl Write for TraceFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.pending.len() >= PENDING_BYTES {
            self.commit(&[])?;
        }
        self.pending.extend(bytes);
        Ok(bytes.len())
    }

    /// Writes what is pending, behind which the file ends.
    fn flush(&mut self) -> io::Result<()> {
        self.commit(&[])?;
        self.file.set_len(self.at_bytes)
    }
}
