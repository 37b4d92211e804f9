//! The files of a run, opened so that no other files can be read or written in their place.
//!
//! A run directory may come from anywhere, and its parent may belong to another user while root
//! measures. So it is held by its descriptor, and names are looked up relative to that, even if
//! something else takes its place at its path. No link is followed, only regular files are opened,
//! and a file that is written must not have a second name through which it could be somebody
//! else's.

use std::ffi::OsString;
use std::fs::{File, create_dir_all};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, fstat, fsync, mkdirat, open, openat, renameat, stat,
    unlinkat,
};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::error::RecordError;

/// Flags for opening any name: do not follow links, and do not block on a pipe.
const AS_IT_IS: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);
const FILE_MODE: Mode = Mode::from_raw_mode(0o666);
const DIRECTORY_MODE: Mode = Mode::from_raw_mode(0o777);
/// Applied whatever the umask or the default ACL of the parent directory (acl(5)).
const OWN_DIRECTORY_MODE: Mode = Mode::from_raw_mode(0o755);

/// An open directory, whatever its path may lead to by now.
#[derive(Debug)]
pub(crate) struct OpenDirectory {
    fd: OwnedFd,
    path: PathBuf,
}

impl OpenDirectory {
    /// Opens the directory at a path given by the user, which may go through links.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self { fd: open(path, flags, Mode::empty())?, path: path.to_owned() })
    }

    /// Opens the directory at the end of a route; `path` is its usual path.
    pub(crate) fn at(route: &Path, path: &Path) -> io::Result<Self> {
        Ok(Self { path: path.to_owned(), ..Self::open(route)? })
    }

    /// Makes `name` in the directory `parent`, which is made if it does not exist; none if `name`
    /// already exists.
    pub(crate) fn make_new_in(parent: &Path, name: &str) -> Result<Option<Self>, RecordError> {
        create_dir_all(parent).map_err(RecordError::io("make", parent))?;
        let parent = Self::open(parent).map_err(RecordError::io("open", parent))?;
        match parent.make_new_below(name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(None),
            made => made.map(Some).map_err(RecordError::io("make", parent.path_of(name))),
        }
    }

    /// Opens a subdirectory.
    pub(crate) fn below(&self, name: &str) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | AS_IT_IS;
        Ok(Self { fd: openat(&self.fd, name, flags, Mode::empty())?, path: self.path_of(name) })
    }

    /// Opens a subdirectory, making it if it does not exist.
    pub(crate) fn make_below(&self, name: &str) -> io::Result<Self> {
        match mkdirat(&self.fd, name, DIRECTORY_MODE) {
            Ok(()) | Err(Errno::EXIST) => self.below(name),
            Err(error) => Err(error.into()),
        }
    }

    /// Makes a subdirectory, which must not exist yet, and opens it. If somebody replaces it by a
    /// link, the link is not followed.
    pub(crate) fn make_new_below(&self, name: &str) -> io::Result<Self> {
        mkdirat(&self.fd, name, DIRECTORY_MODE)?;
        self.below(name)
    }

    /// Makes a subdirectory, which must not exist yet and nobody else may own: other users cannot
    /// redirect what programs write below it.
    pub(crate) fn make_own_below(&self, name: &str) -> io::Result<Self> {
        mkdirat(&self.fd, name, OWN_DIRECTORY_MODE)?;
        let made = self.below(name)?;
        let owner = fstat(&made.fd)?.st_uid;
        if owner != geteuid().as_raw() {
            return Err(another_users(owner));
        }
        Ok(made)
    }

    /// A path that leads to it, in other processes too, even if something else takes its place at
    /// its own path, for as long as this process holds it open.
    pub(crate) fn route(&self) -> io::Result<PathBuf> {
        let route = format!("/proc/{}/fd/{}", std::process::id(), self.fd.as_raw_fd());
        let (there, here) = (stat(route.as_str())?, fstat(&self.fd)?);
        // In another PID namespace, the process of this number would be a different one.
        if (there.st_dev, there.st_ino) != (here.st_dev, here.st_ino) {
            return Err(io::Error::other("/proc is that of other processes"));
        }
        Ok(route.into())
    }

    /// Replaces the route in a message by the usual path.
    pub(crate) fn shown(&self, message: &str) -> String {
        let Ok(route) = self.route() else { return message.to_owned() };
        let (route, path) = (route.display().to_string(), self.path.display().to_string());
        let mut parts = message.split(route.as_str());
        let mut shown = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            // This may be the beginning of the route through another descriptor with a longer
            // number.
            let is_another = part.starts_with(|c: char| c.is_ascii_digit());
            shown.push_str(if is_another { &route } else { &path });
            shown.push_str(part);
        }
        shown
    }

    /// Removes a subdirectory with everything in it, if it exists.
    pub(crate) fn remove_below(&self, name: &str) -> io::Result<()> {
        match std::fs::remove_dir_all(self.route()?.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// The path where it was found, for messages.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The path of a name in it, for messages.
    pub(crate) fn path_of(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The names in it.
    pub(crate) fn names(&self) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.fd)? {
            let name = entry?.file_name().to_bytes().to_vec();
            if name != b"." && name != b".." {
                names.push(OsString::from_vec(name));
            }
        }
        Ok(names)
    }

    /// Opens a file for reading.
    pub(crate) fn to_read(&self, name: &str) -> io::Result<File> {
        let file = openat(&self.fd, name, OFlags::RDONLY | AS_IT_IS, Mode::empty())?;
        plain(file)
    }

    /// The content of a file, which must not be larger than `bytes_max`.
    pub(crate) fn read(&self, name: &str, bytes_max: u64) -> io::Result<Vec<u8>> {
        read_at_most(&self.to_read(name)?, bytes_max)
    }

    /// Opens a file for reading and writing, making it if it does not exist.
    pub(crate) fn to_write(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | AS_IT_IS;
        let file = plain(openat(&self.fd, name, flags, FILE_MODE)?)?;
        let (stat, directory) = (fstat(&file)?, fstat(&self.fd)?);
        if stat.st_nlink > 1 {
            return Err(io::Error::other("it also has another name (a hard link)"));
        }
        let own = geteuid().as_raw();
        if own == 0 && stat.st_uid != own && stat.st_uid != directory.st_uid {
            return Err(another_users(stat.st_uid));
        }
        Ok(file)
    }

    /// Replaces the file `name` atomically by way of `part`, which is always removed.
    pub(crate) fn replace(&self, name: &str, part: &str, content: &[u8]) -> io::Result<()> {
        match unlinkat(&self.fd, part, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | AS_IT_IS;
        let mut file = File::from(openat(&self.fd, part, flags, FILE_MODE)?);
        let written = file
            .write_all(content)
            .and_then(|()| file.sync_all())
            .and_then(|()| Ok(renameat(&self.fd, part, &self.fd, name)?));
        if written.is_err() {
            // On a full disk, it would take up space that others need.
            let _already_failing = unlinkat(&self.fd, part, AtFlags::empty());
        }
        written?;
        self.sync()
    }

    /// Makes sure that the names in it survive a power failure.
    pub(crate) fn sync(&self) -> io::Result<()> {
        Ok(fsync(&self.fd)?)
    }
}

impl AsFd for OpenDirectory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// The rest of a file's content from its current position, which must not be larger than
/// `bytes_max`.
pub(crate) fn read_at_most(file: &File, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    file.take(bytes_max + 1).read_to_end(&mut content)?;
    if content.len() as u64 > bytes_max {
        return Err(io::Error::other(format!("it has more than {bytes_max} bytes")));
    }
    Ok(content)
}

fn another_users(uid: u32) -> io::Error {
    io::Error::other(format!("it belongs to another user (uid {uid})"))
}

fn plain(file: OwnedFd) -> io::Result<File> {
    if let FileType::RegularFile = FileType::from_raw_mode(fstat(&file)?.st_mode) {
        Ok(File::from(file))
    } else {
        Err(io::Error::other("it is not a regular file"))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use rustix::process::umask;

    use super::*;

    fn held() -> (tempfile::TempDir, OpenDirectory) {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let held = OpenDirectory::open(directory.path()).expect("it was just made");
        (directory, held)
    }

    #[test]
    fn what_is_no_plain_file_is_neither_read_nor_written() {
        let (directory, held) = held();
        let path = |name: &str| directory.path().join(name);
        fs::write(path("other"), "theirs").expect("ours");
        symlink(path("other"), path("link")).expect("ours");
        rustix::fs::mkfifoat(rustix::fs::CWD, path("pipe"), Mode::RWXU).expect("ours");
        fs::create_dir(path("directory")).expect("ours");
        for name in ["link", "pipe", "directory"] {
            held.to_read(name).expect_err(name);
            held.to_write(name).expect_err(name);
        }
        fs::hard_link(path("other"), path("twin")).expect("ours");
        held.to_write("twin").expect_err("it is another file as well");
        assert_eq!(fs::read(path("other")).expect("ours"), b"theirs");
    }

    #[test]
    fn a_file_is_replaced_whole_and_not_through_a_link_that_waits_for_it() {
        let (directory, held) = held();
        let path = |name: &str| directory.path().join(name);
        fs::write(path("other"), "theirs").expect("ours");
        symlink(path("other"), path("file.part")).expect("ours");
        symlink(path("other"), path("file")).expect("ours");
        held.replace("file", "file.part", b"new").expect("ours");
        assert_eq!(fs::read(path("other")).expect("ours"), b"theirs");
        assert_eq!(held.read("file", 3).expect("ours"), b"new");
        held.read("file", 2).expect_err("it has three bytes");
    }

    #[test]
    fn what_cannot_be_put_leaves_no_part() {
        let (directory, held) = held();
        fs::create_dir_all(directory.path().join("file/below")).expect("ours");
        held.replace("file", "file.part", b"new").expect_err("a directory has its name");
        assert_eq!(held.names().expect("ours"), ["file"]);
    }

    #[test]
    fn a_directory_of_its_own_is_new_and_nobody_else_writes_to_it() {
        let (directory, held) = held();
        // With a umask that gives others all permissions.
        let before = umask(Mode::empty());
        let own = held.make_own_below("own");
        umask(before);
        let own = own.expect("it is new");
        assert_eq!(fstat(&own.fd).expect("ours").st_mode & 0o777, 0o755);
        fs::write(own.route().expect("/proc is ours").join("file"), "ours").expect("ours");
        assert_eq!(fs::read(directory.path().join("own/file")).expect("ours"), b"ours");
        held.make_own_below("own").expect_err("it is there");
    }

    #[test]
    fn what_is_swapped_at_the_path_is_not_followed() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let (run, elsewhere) = (directory.path().join("run"), directory.path().join("elsewhere"));
        fs::create_dir(&run).expect("ours");
        fs::create_dir(&elsewhere).expect("ours");
        let held = OpenDirectory::open(&run).expect("it was just made");
        fs::rename(&run, directory.path().join("moved")).expect("ours");
        symlink(&elsewhere, &run).expect("ours");
        held.to_write("file").expect("it is held");
        assert!(directory.path().join("moved/file").is_file());
        assert_eq!(fs::read_dir(&elsewhere).expect("ours").count(), 0);
    }
}
