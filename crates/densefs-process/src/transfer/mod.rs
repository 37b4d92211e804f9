//! Copies whole trees into a DenseFS and out of it.

use std::collections::HashMap;
use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{
    DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, lchown, symlink,
};
use std::path::{Path, PathBuf};

use densefs::modes::{DIRECTORY, FILE, SYMLINK, TYPE, is_device};
use densefs::{Errno, Follow, Owner, Stat, flags};
use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, utimensat};

use crate::dense_fs::{Base, DenseFs};
use crate::files::File;

/// Bytes that are copied at a time.
const PIECE_BYTES: usize = 1 << 20;
/// The shortest run of zeros that is left out, as a hole.
const HOLE_BYTES: usize = 4096;

/// What has been copied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CopyTotals {
    /// Directories, except the one at the top.
    pub directories: u64,
    /// Regular files.
    pub files: u64,
    /// Symbolic links, fifos, sockets and devices.
    pub others: u64,
    /// Bytes of regular files, including holes.
    pub bytes: u64,
    /// What could not be copied: devices, unless this is root.
    pub left_out: Vec<PathBuf>,
}

/// Why a tree was not copied, or only in part.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CopyError {
    /// A failure outside of the DenseFS.
    #[error("{path}: {why}")]
    Outside {
        /// The file.
        path: PathBuf,
        /// Why.
        why: io::Error,
    },
    /// A failure inside the DenseFS.
    #[error("in the DenseFS, /{path}: {why}")]
    Inside {
        /// The file, relative to the root.
        path: PathBuf,
        /// Why.
        why: Errno,
    },
    /// The tree would be mixed with another.
    #[error("{path} is not empty; give a new directory, or an empty one")]
    NotEmpty {
        /// The directory.
        path: PathBuf,
    },
}

fn outside(path: &Path) -> impl FnOnce(io::Error) -> CopyError {
    move |why| CopyError::Outside { path: path.to_owned(), why }
}

fn inside(path: &Path) -> impl FnOnce(Errno) -> CopyError {
    move |why| CopyError::Inside { path: path.to_owned(), why }
}

/// The path in a DenseFS of a path relative to its root.
fn at(path: &Path) -> PathBuf {
    Path::new("/").join(path)
}

impl DenseFs {
    /// Copies the contents of a directory outside into the root, with permissions, times, links and
    /// holes, and with owners if this is root.
    ///
    /// # Errors
    /// [`CopyError`]; what has been copied until then stays.
    pub fn import(&self, from: &Path) -> Result<CopyTotals, CopyError> {
        let mut import =
            Import { files: self, from, links: HashMap::new(), copied: CopyTotals::default() };
        import.directory(Path::new(""))?;
        Ok(import.copied)
    }

    /// Copies everything into a directory outside, which is created, or must be empty.
    ///
    /// # Errors
    /// [`CopyError`]; what has been copied until then stays.
    pub fn export(&self, to: &Path) -> Result<CopyTotals, CopyError> {
        match DirBuilder::new().mode(0o700).create(to) {
            Ok(()) => {}
            Err(why) if why.kind() == io::ErrorKind::AlreadyExists => {
                if fs::read_dir(to).map_err(outside(to))?.next().is_some() {
                    return Err(CopyError::NotEmpty { path: to.to_owned() });
                }
            }
            Err(why) => return Err(outside(to)(why)),
        }
        let mut export =
            Export { files: self, to, links: HashMap::new(), copied: CopyTotals::default() };
        let root = self.stat("/").map_err(inside(Path::new("")))?;
        export.directory(Path::new(""), &root)?;
        Ok(export.copied)
    }
}

/// An import in progress.
struct Import<'f> {
    files: &'f DenseFs,
    from: &'f Path,
    /// Where files with several names have been copied to, by device and inode.
    links: HashMap<(u64, u64), PathBuf>,
    copied: CopyTotals,
}

impl Import<'_> {
    fn directory(&mut self, path: &Path) -> Result<(), CopyError> {
        let source = self.from.join(path);
        for entry in fs::read_dir(&source).map_err(outside(&source))? {
            let entry = entry.map_err(outside(&source))?;
            let path = path.join(entry.file_name());
            let metadata = entry.metadata().map_err(outside(&entry.path()))?;
            self.one(&path, &entry.path(), &metadata)?;
        }
        Ok(())
    }

    fn one(
        &mut self,
        path: &Path,
        source: &Path,
        metadata: &fs::Metadata,
    ) -> Result<(), CopyError> {
        let (target, mode) = (at(path), metadata.mode());
        let inode = (metadata.dev(), metadata.ino());
        let is_linked = metadata.nlink() > 1 && !metadata.is_dir();
        if let Some(first) = self.links.get(&inode).filter(|_| is_linked) {
            return self.files.link(first, &target).map_err(inside(path));
        }
        match mode & TYPE {
            DIRECTORY => {
                self.files.make_directory(&target, 0o700).map_err(inside(path))?;
                self.directory(path)?;
                self.copied.directories += 1;
            }
            FILE => {
                self.content(path, source)?;
                self.copied.files += 1;
                self.copied.bytes += metadata.len();
            }
            SYMLINK => {
                let leads = fs::read_link(source).map_err(outside(source))?;
                self.files.make_link(leads, &target).map_err(inside(path))?;
                self.copied.others += 1;
            }
            _ => match self.node(&target, metadata) {
                Ok(()) => self.copied.others += 1,
                Err(Errno::PERM) => {
                    self.copied.left_out.push(source.to_owned());
                    return Ok(());
                }
                Err(why) => return Err(inside(path)(why)),
            },
        }
        if is_linked {
            self.links.insert(inode, target.clone());
        }
        self.attributes(path, &target, metadata)
    }

    /// A fifo, a socket or a device.
    fn node(&self, target: &Path, metadata: &fs::Metadata) -> Result<(), Errno> {
        let device = u32::try_from(metadata.rdev()).map_err(|_| Errno::PERM)?;
        self.files.make_node(Base::Working, target, metadata.mode(), device)
    }

    fn attributes(
        &self,
        path: &Path,
        target: &Path,
        metadata: &fs::Metadata,
    ) -> Result<(), CopyError> {
        if rustix::process::geteuid().is_root() {
            let owner = Owner { uid: Some(metadata.uid()), gid: Some(metadata.gid()) };
            let owned = self.files.set_owner(Base::Working, target, Follow::No, owner);
            owned.map_err(inside(path))?;
        }
        if metadata.mode() & TYPE != SYMLINK {
            let set = self.files.set_mode(Base::Working, target, metadata.mode() & 0o7777);
            set.map_err(inside(path))?;
        }
        let seconds = u64::try_from(metadata.mtime()).unwrap_or(0);
        let mtime_ns = seconds.saturating_mul(1_000_000_000)
            + u64::try_from(metadata.mtime_nsec()).unwrap_or(0);
        let set = self.files.set_mtime(Base::Working, target, Follow::No, Some(mtime_ns));
        set.map_err(inside(path))
    }

    fn content(&self, path: &Path, source: &Path) -> Result<(), CopyError> {
        let how = flags::WRITE | flags::CREATE | flags::EXCLUSIVE;
        let target = self.files.open(at(path), how, 0o600).map_err(inside(path))?;
        let mut options = OpenOptions::new();
        let mut source_file = options
            .read(true)
            .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
            .open(source)
            .map_err(outside(source))?;
        let mut piece = vec![0; PIECE_BYTES];
        let mut offset = 0;
        loop {
            let length = match source_file.read(&mut piece) {
                Ok(0) => break,
                Ok(length) => length,
                Err(why) if why.kind() == io::ErrorKind::Interrupted => continue,
                Err(why) => return Err(outside(source)(why)),
            };
            write_pieces(&piece[..length], |from, bytes| {
                self.files.write_all(&target, offset + from as u64, bytes)
            })
            .map_err(inside(path))?;
            offset += length as u64;
        }
        self.files.truncate_descriptor(target.descriptor(), offset).map_err(inside(path))
    }
}

/// Calls `write` for everything except whole pages of zeros.
fn write_pieces<E>(
    piece: &[u8],
    mut write: impl FnMut(usize, &[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let mut begin = None;
    for (number, page) in piece.chunks(HOLE_BYTES).enumerate() {
        let at = number * HOLE_BYTES;
        let is_hole = page.len() == HOLE_BYTES && page.iter().all(|&byte| byte == 0);
        match (begin, is_hole) {
            (None, false) => begin = Some(at),
            (Some(from), true) => {
                write(from, &piece[from..at])?;
                begin = None;
            }
            (None, true) | (Some(_), false) => {}
        }
    }
    begin.map_or(Ok(()), |from| write(from, &piece[from..]))
}

/// An export in progress.
struct Export<'f> {
    files: &'f DenseFs,
    to: &'f Path,
    links: HashMap<u64, PathBuf>,
    copied: CopyTotals,
}

impl Export<'_> {
    fn directory(&mut self, path: &Path, stat: &Stat) -> Result<(), CopyError> {
        for entry in self.files.read_directory(at(path)).map_err(inside(path))? {
            let path = path.join(std::ffi::OsString::from(name_of(&entry.name)));
            let found = self.files.stat_from(Base::Working, &at(&path), Follow::No);
            self.one(&path, &found.map_err(inside(&path))?)?;
        }
        self.attributes(&self.to.join(path), stat)
    }

    fn one(&mut self, path: &Path, stat: &Stat) -> Result<(), CopyError> {
        let target = self.to.join(path);
        let is_linked = stat.links > 1 && !stat.mode.is_directory();
        if let Some(first) = self.links.get(&stat.ino).filter(|_| is_linked) {
            return fs::hard_link(first, &target).map_err(outside(&target));
        }
        match stat.mode.mode & TYPE {
            DIRECTORY => {
                DirBuilder::new().mode(0o700).create(&target).map_err(outside(&target))?;
                self.copied.directories += 1;
                return self.directory(path, stat);
            }
            FILE => {
                self.content(path, &target, stat.size)?;
                self.copied.files += 1;
                self.copied.bytes += stat.size;
            }
            SYMLINK => {
                let leads = self.files.read_link(at(path)).map_err(inside(path))?;
                symlink(leads, &target).map_err(outside(&target))?;
                self.copied.others += 1;
            }
            kind => {
                let kind = rustix::fs::FileType::from_raw_mode(kind);
                let mode = rustix::fs::Mode::from_raw_mode(0o600);
                let device = stat.device.into();
                match rustix::fs::mknodat(rustix::fs::CWD, &target, kind, mode, device) {
                    Ok(()) => self.copied.others += 1,
                    Err(rustix::io::Errno::PERM) if is_device(stat.mode.mode) => {
                        self.copied.left_out.push(target);
                        return Ok(());
                    }
                    Err(why) => return Err(outside(&target)(why.into())),
                }
            }
        }
        if is_linked {
            self.links.insert(stat.ino, target.clone());
        }
        self.attributes(&target, stat)
    }

    fn attributes(&self, target: &Path, stat: &Stat) -> Result<(), CopyError> {
        if rustix::process::geteuid().is_root() {
            lchown(target, Some(stat.mode.uid), Some(stat.mode.gid)).map_err(outside(target))?;
        }
        if stat.mode.mode & TYPE != SYMLINK {
            let permissions = Permissions::from_mode(stat.mode.mode & 0o7777);
            fs::set_permissions(target, permissions).map_err(outside(target))?;
        }
        let time = |ns: u64| Timespec {
            tv_sec: (ns / 1_000_000_000).cast_signed(),
            tv_nsec: (ns % 1_000_000_000).cast_signed(),
        };
        let (last_access, last_modification) = (time(stat.atime_ns), time(stat.mtime_ns));
        let times = Timestamps { last_access, last_modification };
        utimensat(CWD, target, &times, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(|why| outside(target)(why.into()))
    }

    fn content(&self, path: &Path, target: &Path, size: u64) -> Result<(), CopyError> {
        let source = self.files.open(at(path), 0, 0).map_err(inside(path))?;
        let mut options = OpenOptions::new();
        let options = options.write(true).create_new(true).mode(0o600);
        let mut file = options.open(target).map_err(outside(target))?;
        let mut piece = vec![0; PIECE_BYTES];
        let mut offset = 0;
        loop {
            let length = source.read(&mut piece).map_err(inside(path))?;
            if length == 0 {
                break;
            }
            write_pieces(&piece[..length], |from, bytes| {
                use std::io::Seek;
                file.seek(io::SeekFrom::Start(offset + from as u64))?;
                file.write_all(bytes)
            })
            .map_err(outside(target))?;
            offset += length as u64;
        }
        file.set_len(size.max(offset)).map_err(outside(target))
    }
}

fn name_of(bytes: &[u8]) -> &std::ffi::OsStr {
    std::os::unix::ffi::OsStrExt::from_bytes(bytes)
}

impl DenseFs {
    /// Writes all of it at an offset.
    fn write_all(&self, file: &File, offset: u64, bytes: &[u8]) -> Result<(), Errno> {
        let mut done = 0;
        while done < bytes.len() {
            done += self.write_to(file.descriptor(), offset + done as u64, &bytes[done..])?;
        }
        Ok(())
    }
}
