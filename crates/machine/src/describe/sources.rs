//! Where facts are read from: the machine itself, or a directory that looks like one.
//!
//! Every reader takes a [`Sources`], so that machines we do not have can be described from a copy
//! of their files. Describing never fails: a missing file yields nothing, and one that exists but
//! cannot be read or parsed is recorded in [`record::machine::Machine::unread`].

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use record::machine::Unread;

/// How much of a file is read at most: `modules.alias`, the largest, has 1 to 2 MiB.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// How many unreadable files are recorded; on a large machine one cause can affect every CPU's
/// files.
const UNREAD_MAX: usize = 64;

/// The file trees and tools that a description is taken from.
#[derive(Clone, Debug)]
pub struct Sources {
    /// The directory that contains `proc`, `sys`, `etc` and `dev`.
    root: PathBuf,
    /// Where tools are looked for, in order.
    tool_directories: Vec<PathBuf>,
    /// How long a tool may take to print its version.
    tool_timeout: Duration,
}

impl Default for Sources {
    /// The machine that this process runs on. Tools are looked for in `PATH`, then in the
    /// administrators' directories, which the `PATH` of ordinary users lacks.
    fn default() -> Self {
        let mut tool_directories = programs::directories();
        tool_directories.retain(|directory| directory.is_absolute());
        Self { root: PathBuf::from("/"), tool_directories, tool_timeout: Duration::from_secs(2) }
    }
}

impl Sources {
    /// A machine whose files are under `root` and whose tools are in `root/usr/sbin`.
    #[cfg(test)]
    pub(crate) fn rooted_at(root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        let tool_directories = vec![root.join("usr/sbin")];
        Self { root, tool_directories, ..Self::default() }
    }

    /// Sets how long a tool may take to print its version (default: 2 s).
    #[cfg(test)]
    pub(crate) fn with_tool_timeout(self, timeout: Duration) -> Self {
        Self { tool_timeout: timeout, ..self }
    }

    /// The real location of `path`, which is absolute on the described machine.
    pub(crate) fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// Whether this is the machine that the process runs on, so that system calls describe it too.
    pub(crate) fn is_this_machine(&self) -> bool {
        self.root == Path::new("/")
    }

    pub(crate) fn tool_directories(&self) -> &[PathBuf] {
        &self.tool_directories
    }

    pub(crate) fn tool_timeout(&self) -> Duration {
        self.tool_timeout
    }

    /// The text of a file; a missing file is an error.
    pub(crate) fn read(&self, path: impl AsRef<Path>) -> io::Result<String> {
        let mut bytes = Vec::new();
        File::open(self.path(path))?.take(FILE_BYTES_MAX).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// Reads facts, and records the files that should have provided one and did not.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    sources: &'a Sources,
    unread: RefCell<Vec<Unread>>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(sources: &'a Sources) -> Self {
        Self { sources, unread: RefCell::default() }
    }

    pub(crate) fn sources(&self) -> &'a Sources {
        self.sources
    }

    /// The files that were recorded as unreadable.
    pub(crate) fn into_unread(self) -> Vec<Unread> {
        self.unread.into_inner()
    }

    /// The text of a file without surrounding white space; `None` if it is missing or empty.
    pub(crate) fn text(&self, path: impl AsRef<Path>) -> Option<String> {
        let path = path.as_ref();
        match self.sources.read(path) {
            Ok(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
            Err(error) if is_absence(&error) => None,
            Err(error) => {
                self.note(path, error.to_string());
                None
            }
        }
    }

    /// A file that contains a single value, such as a number.
    pub(crate) fn value<T: FromStr>(&self, path: impl AsRef<Path>) -> Option<T> {
        self.parsed(path, |text| text.parse().ok())
    }

    /// A file that `parse` understands.
    pub(crate) fn parsed<T>(
        &self,
        path: impl AsRef<Path>,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let path = path.as_ref();
        let text = self.text(path)?;
        let value = parse(&text);
        if value.is_none() {
            let start: String = text.chars().take(40).collect();
            self.note(path, format!("unexpected content: {start:?}"));
        }
        value
    }

    /// The names in a directory, sorted; empty if it is missing.
    pub(crate) fn names(&self, path: impl AsRef<Path>) -> Vec<String> {
        let path = path.as_ref();
        let mut names: Vec<String> = match std::fs::read_dir(self.sources.path(path)) {
            Ok(entries) => {
                entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect()
            }
            Err(error) if is_absence(&error) => Vec::new(),
            Err(error) => {
                self.note(path, error.to_string());
                Vec::new()
            }
        };
        names.sort();
        names
    }

    pub(crate) fn exists(&self, path: impl AsRef<Path>) -> bool {
        self.sources.path(path).exists()
    }

    fn note(&self, path: &Path, reason: String) {
        let mut unread = self.unread.borrow_mut();
        if unread.len() < UNREAD_MAX {
            unread.push(Unread { source: path.display().to_string(), reason });
        }
    }
}

/// Whether the error means that the kernel does not have this file or, for a file of `sysfs` or a
/// control group, that it does not have the value.
fn is_absence(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound};
    let absent = [libc::ENODEV, libc::ENXIO, libc::EOPNOTSUPP, libc::ENODATA];
    matches!(error.kind(), NotFound | NotADirectory)
        || error.raw_os_error().is_some_and(|code| absent.contains(&code))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::describe::fixture::Fixture;

    #[test]
    fn what_is_missing_is_silent_and_what_is_malformed_is_noted() {
        let machine =
            Fixture::new(&[("sys/good", " 12\n"), ("sys/bad", "twelve\n"), ("sys/e", "")]);
        let sources = machine.sources();
        let reader = Reader::new(&sources);
        assert_eq!(reader.value::<u32>("/sys/good"), Some(12));
        assert_eq!(reader.value::<u32>("/sys/bad"), None);
        assert_eq!(reader.value::<u32>("/sys/e"), None);
        assert_eq!(reader.value::<u32>("/sys/missing"), None);
        assert_eq!(reader.value::<u32>("/sys/good/below"), None);
        assert_eq!(reader.names("/sys"), ["bad", "e", "good"]);
        let unread = reader.into_unread();
        assert_eq!(unread.len(), 1, "{unread:?}");
        assert_eq!(unread[0].source, "/sys/bad");
        assert!(unread[0].reason.contains("twelve"), "{unread:?}");
    }

    #[test]
    fn a_directory_in_place_of_a_file_is_noted() {
        let machine = Fixture::new(&[("proc/stat/x", "1")]);
        let sources = machine.sources();
        let reader = Reader::new(&sources);
        assert_eq!(reader.text("/proc/stat"), None);
        assert_eq!(reader.into_unread().len(), 1);
    }

    #[test]
    fn notes_are_bounded() {
        let machine = Fixture::new(&[("a", "x")]);
        let sources = machine.sources();
        let reader = Reader::new(&sources);
        for _ in 0..1000 {
            assert_eq!(reader.value::<u8>("/a"), None);
        }
        assert_eq!(reader.into_unread().len(), UNREAD_MAX);
    }
}
