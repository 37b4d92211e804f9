//! A file that is written completely or not at all, in the directory where it was checked.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, fstat, open, openat, renameat, statat, unlinkat,
};
use rustix::io::Errno;

use crate::exit::OrInputError;

/// A file to write, as a name in an open directory. The directory stays open from the check to the
/// write, so that it makes no difference if something else takes its path in between.
pub(crate) struct Destination {
    path: PathBuf,
    name: OsString,
    directory: OwnedFd,
    /// Whether the check found a terminal or a pipe, which is written to instead of being replaced.
    is_stream: bool,
}

impl Destination {
    /// The file at a path. Its directory must exist.
    pub(crate) fn new(path: &Path) -> anyhow::Result<Self> {
        Self::check(path).or_input_error()
    }

    /// Its path, for messages.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The first `length` bytes of a file that is already there; `None` if there is none.
    pub(crate) fn beginning(&self, length: usize) -> io::Result<Option<Vec<u8>>> {
        let mut beginning = Vec::new();
        // Do not wait for a pipe, which has nothing to read.
        match self.open(OFlags::RDONLY | OFlags::NONBLOCK) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file?.take(length as u64).read_to_end(&mut beginning)?,
        };
        Ok(Some(beginning))
    }

    fn check(path: &Path) -> anyhow::Result<Self> {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let parent = parent.unwrap_or(Path::new("."));
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = open(parent, flags, Mode::empty()).map_err(|error| {
            let (file, parent) = (path.display(), parent.display());
            if matches!(error, Errno::NOENT | Errno::NOTDIR) {
                let why = format!("the directory {parent} does not exist");
                return anyhow::anyhow!("{file} cannot be written: {why}");
            }
            anyhow::anyhow!("{file} cannot be written: {parent}: {error}")
        })?;
        let name = path.file_name().unwrap_or_default().to_owned();
        let mut found = Self { path: path.to_owned(), name, directory, is_stream: false };
        let kind = found.kind(AtFlags::empty());
        let is_directory = path.file_name().is_none() || kind == Some(FileType::Directory);
        anyhow::ensure!(!is_directory, "{} is a directory: name a file in it", path.display());
        let is_disk = kind == Some(FileType::BlockDevice);
        anyhow::ensure!(!is_disk, "{} is a disk: name a file", path.display());
        found.is_stream = kind.is_some_and(is_stream);
        Ok(found)
    }

    /// Writes the whole file under a temporary name, then renames it, so that nothing is ever
    /// written through a file or link that waits at either name. A terminal or pipe that the check
    /// found is written to directly. A symbolic link to a file, as /dev/stdout may be, is refused.
    pub(crate) fn write(&self, content: &[u8]) -> anyhow::Result<()> {
        let written =
            if self.is_stream { self.write_through(content) } else { self.replace(content) };
        written.map_err(|error| anyhow::anyhow!("cannot write {}: {error}", self.path.display()))
    }

    fn write_through(&self, content: &[u8]) -> io::Result<()> {
        let mut file = self.open(OFlags::WRONLY | OFlags::NOCTTY)?;
        // What the check found may have been replaced since.
        let stat = fstat(&file)?;
        if !is_stream(FileType::from_raw_mode(stat.st_mode)) {
            return Err(io::Error::other("another process has just put something else there"));
        }
        file.write_all(content)
    }

    fn replace(&self, content: &[u8]) -> io::Result<()> {
        if self.kind(AtFlags::SYMLINK_NOFOLLOW) == Some(FileType::Symlink) {
            return Err(io::Error::other("it is a symbolic link; name the file it points to"));
        }
        let mut part = self.name.clone();
        part.push(format!(".{}.part", std::process::id()));
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(0o666);
        // Left behind if an earlier process with this id was killed here.
        let _seldom_there = unlinkat(&self.directory, &part, AtFlags::empty());
        let mut file = File::from(openat(&self.directory, &part, flags, mode)?);
        let written = file
            .write_all(content)
            .and_then(|()| file.sync_all())
            .and_then(|()| Ok(renameat(&self.directory, &part, &self.directory, &self.name)?));
        if written.is_err() {
            let _already_failing = unlinkat(&self.directory, &part, AtFlags::empty());
        }
        written
    }

    /// The type of the file that is there.
    fn kind(&self, flags: AtFlags) -> Option<FileType> {
        let stat = statat(&self.directory, &self.name, flags).ok()?;
        Some(FileType::from_raw_mode(stat.st_mode))
    }

    fn open(&self, how: OFlags) -> io::Result<File> {
        Ok(openat(&self.directory, &self.name, how | OFlags::CLOEXEC, Mode::empty())?.into())
    }
}

/// Whether files of this type pass on what is written to them instead of keeping it.
fn is_stream(kind: FileType) -> bool {
    matches!(kind, FileType::CharacterDevice | FileType::Fifo | FileType::Socket)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn it_is_written_where_it_was_found_and_never_through_a_link() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let at = |name: &str| place.path().join(name);
        fs::create_dir(at("directory")).expect("ours");
        fs::create_dir(at("theirs")).expect("ours");
        fs::write(at("theirs/file"), "theirs").expect("ours");
        let destination = Destination::new(&at("directory/file")).expect("its directory is there");
        fs::rename(at("directory"), at("moved")).expect("ours");
        symlink(at("theirs"), at("directory")).expect("ours");
        destination.write(b"first").expect("it is held");
        assert_eq!(fs::read(at("moved/file")).expect("ours"), b"first");
        fs::remove_file(at("moved/file")).expect("ours");
        symlink(at("theirs/file"), at("moved/file")).expect("ours");
        let refused = destination.write(b"second").expect_err("a link lies there").to_string();
        assert!(refused.contains("symbolic link"), "{refused}");
        assert_eq!(fs::read(at("theirs/file")).expect("theirs"), b"theirs");
        assert_eq!(fs::read_dir(at("moved")).expect("ours").count(), 1, "no part is left");
    }

    #[test]
    fn what_was_a_file_or_nothing_when_it_was_checked_is_no_stream_later() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let at = |name: &str| place.path().join(name);
        let destination = Destination::new(&at("page")).expect("nothing is there");
        symlink("/dev/null", at("page")).expect("ours");
        let refused = destination.write(b"page").expect_err("it is a link now").to_string();
        assert!(refused.contains("symbolic link"), "{refused}");
        let stream = Destination::new(&at("page")).expect("it leads to a stream");
        stream.write(b"page").expect("it takes everything");
        fs::remove_file(at("page")).expect("ours");
        fs::write(at("page"), "theirs").expect("ours");
        stream.write(b"page").expect_err("it is no stream any more");
        assert_eq!(fs::read(at("page")).expect("ours"), b"theirs");
    }

    #[test]
    fn what_cannot_hold_a_file_is_refused_at_once() {
        let place = tempfile::tempdir().expect("a temporary directory");
        for path in ["none/file", ".", "sub/.."] {
            fs::create_dir_all(place.path().join("sub")).expect("ours");
            assert!(Destination::new(&place.path().join(path)).is_err(), "{path}");
        }
    }
}
