//! A file that contains a whole trace whenever its writer may be killed; and how traces are opened.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

/// `O_NONBLOCK`.
const WITHOUT_WAITING: i32 = 0o4000;
/// `O_NOFOLLOW`.
const NO_LINK: i32 =
    if cfg!(any(target_arch = "aarch64", target_arch = "arm")) { 0o100_000 } else { 0o400_000 };

/// Opens an untrusted path for reading, which may not be a regular file: does not block on a pipe,
/// and refuses devices.
///
/// # Errors
/// The system's, or that it is not a regular file.
pub fn open_plain(path: &Path) -> io::Result<File> {
    let file = File::options().read(true).custom_flags(WITHOUT_WAITING).open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::other("it is not a regular file"))
    }
}

/// Opens a trace for reading and writing, and creates it if `is_new`. Refuses symbolic links and
/// files with several hard links, which others may have placed in a directory that they can write
/// to.
pub(crate) fn open_to_write(path: &Path, is_new: bool) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true).create(is_new).custom_flags(WITHOUT_WAITING | NO_LINK);
    let file = options.open(path)?;
    let metadata = file.metadata()?;
    match metadata.is_file() && metadata.nlink() <= 1 {
        true => Ok(file),
        false => Err(io::Error::other("it is not a regular file with one name")),
    }
}

/// Once this many bytes are pending, they are written without waiting for a commit.
const PENDING_BYTES: usize = 1 << 20;

/// Buffers what is written, and writes it to the file together with an end, over the previous end.
#[derive(Debug)]
pub struct TraceFile {
    file: File,
    /// Where the end begins in the file.
    at_bytes: u64,
    pending: Vec<u8>,
}

impl TraceFile {
    /// Creates the file, or truncates it.
    ///
    /// # Errors
    /// The system's, or that the path is not a regular file with a single name.
    pub fn create(path: &Path) -> io::Result<Self> {
        let file = open_to_write(path, true)?;
        file.set_len(0)?;
        Ok(Self { file, at_bytes: 0, pending: Vec::new() })
    }

    /// Writes the pending bytes followed by the end, which the next commit overwrites. This is a
    /// single write, which a signal does not split.
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

    /// Writes the pending bytes and truncates the file after them.
    fn flush(&mut self) -> io::Result<()> {
        self.commit(&[])?;
        self.file.set_len(self.at_bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn nothing_is_written_through_a_link() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        let theirs = |name: &str| {
            fs::write(path(name), "theirs").unwrap();
            path(name)
        };
        symlink(theirs("one"), path("link")).unwrap();
        fs::hard_link(theirs("other"), path("twin")).unwrap();
        for (name, of) in [("link", "one"), ("twin", "other")] {
            TraceFile::create(&path(name)).unwrap_err();
            open_to_write(&path(name), false).unwrap_err();
            assert_eq!(fs::read(path(of)).unwrap(), b"theirs");
        }
        fs::write(path("ours"), "before").unwrap();
        TraceFile::create(&path("ours")).unwrap();
        assert_eq!(fs::read(path("ours")).unwrap(), b"");
        open_to_write(&path("none"), false).unwrap_err();
    }
}
