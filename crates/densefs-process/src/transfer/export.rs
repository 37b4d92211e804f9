//! Copies a DenseFS out of its arena, which may be damaged.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt, PermissionsExt, lchown, symlink};
use std::path::{Path, PathBuf};

use densefs::arena::LINE_BYTES;
use densefs::modes::{DIRECTORY, FIFO, FILE, SOCKET, SYMLINK, TYPE, is_device};
use densefs::{Errno, Follow, SIZE_MAX, Stat, Whence, flags, time};
use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, utimensat};

use super::attributes::Attributes;
use super::pieces::{PIECE_BYTES, write_pieces};
use super::{Copied, CopyError, CopyTotals, Tally, Watch, at, damaged, inside, outside};
use crate::dense_fs::{Base, DenseFs};

/// How many times as much may be copied as an arena can hold. It can be more than once, as others
/// may remove what has been copied, and write something else.
const FULL_TIMES: u64 = 2;

impl DenseFs {
    /// Copies everything into a directory outside, which is created, or must be empty. It continues
    /// after files that cannot be copied.
    ///
    /// # Errors
    /// [`CopyError`], if nothing can be copied, or nothing more; what has been copied until then
    /// stays.
    pub fn export(&self, to: &Path, watch: &mut dyn Watch) -> Result<CopyTotals, CopyError> {
        match DirBuilder::new().mode(0o700).create(to) {
            Ok(()) => {}
            Err(why) if why.kind() == io::ErrorKind::AlreadyExists => {
                if fs::read_dir(to).map_err(outside(to))?.next().is_some() {
                    return Err(CopyError::NotEmpty { path: to.to_owned() });
                }
            }
            Err(why) => return Err(outside(to)(why)),
        }
        let top = Path::new("");
        let root = self.stat("/").map_err(inside(top))?;
        let bytes = self.usage().map_err(inside(top))?.bytes.saturating_mul(FULL_TIMES);
        let bounds = Bounds { entries: bytes / LINE_BYTES as u64, bytes };
        let mut export = Export {
            files: self,
            to,
            links: HashMap::new(),
            entered: HashSet::from([root.ino]),
            left: bounds,
            attributes: Attributes::new(),
            piece: vec![0; PIECE_BYTES],
            tally: Tally::new(watch, || count(self, bounds)),
            copied: CopyTotals::default(),
        };
        export.directory(top, &root)?;
        Ok(CopyTotals { attributes: export.attributes.lost, ..export.copied })
    }

    /// Calls `visit` with the names in a directory, until it returns false.
    fn each_name(&self, path: &Path, mut visit: impl FnMut(&[u8]) -> bool) -> Result<(), Errno> {
        let directory = self.open(at(path), flags::DIRECTORY, 0)?;
        self.visit(directory.descriptor(), |one| visit(one.name))
    }

    fn stat_below(&self, path: &Path) -> Result<Stat, Errno> {
        self.stat_from(Base::Working, &at(path), Follow::No)
    }
}

/// How much can still be copied before it is more than an arena holds.
#[derive(Clone, Copy)]
struct Bounds {
    entries: u64,
    bytes: u64,
}

/// How much there is in a DenseFS, as far as it can be read.
fn count(files: &DenseFs, bounds: Bounds) -> Copied {
    let (mut all, mut seen) = (Copied::default(), HashSet::new());
    let mut directories = vec![PathBuf::new()];
    while let Some(directory) = directories.pop() {
        let mut names = Vec::new();
        let visited = files.each_name(&directory, |name| {
            names.push(path_of(name));
            true
        });
        for name in names.into_iter().filter(|_| visited.is_ok()) {
            let path = directory.join(name);
            let Ok(stat) = files.stat_below(&path) else { continue };
            all.inodes += 1;
            if all.inodes > bounds.entries {
                return all;
            }
            let is_first = seen.insert(stat.ino);
            match stat.mode.mode & TYPE {
                DIRECTORY if is_first => directories.push(path),
                FILE if is_first => {
                    all.bytes += stat.size.min(stat.blocks.saturating_mul(512)).min(bounds.bytes);
                }
                _ => {}
            }
        }
    }
    all
}

/// An export in progress.
struct Export<'f> {
    files: &'f DenseFs,
    to: &'f Path,
    links: HashMap<u64, PathBuf>,
    /// The directories that have been entered.
    entered: HashSet<u64>,
    left: Bounds,
    attributes: Attributes,
    /// What is copied at a time.
    piece: Vec<u8>,
    tally: Tally<'f>,
    copied: CopyTotals,
}

impl Export<'_> {
    /// Notes what could not be copied, unless nothing else can be either.
    fn go_on(&mut self, done: Result<(), CopyError>) -> Result<(), CopyError> {
        match done {
            Err(why) if why.is_final() => Err(why),
            Err(why) => {
                self.copied.failures.add(why);
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    /// Copies what is in a directory, and its attributes; fails only if nothing more can be copied.
    fn directory(&mut self, path: &Path, stat: &Stat) -> Result<(), CopyError> {
        let (mut names, mut left) = (Vec::new(), self.left.entries);
        let listed = self.files.each_name(path, |name| {
            names.push(name.to_vec());
            left = left.saturating_sub(1);
            left > 0
        });
        self.left.entries = left;
        self.go_on(listed.map_err(inside(path)))?;
        if left == 0 {
            self.go_on(Err(damaged(path, "there are more names than fit into the arena")))?;
        }
        for name in names {
            let done = if is_name(&name) {
                self.one(&path.join(path_of(&name)))
            } else {
                Err(damaged(path, "it has an entry with a name that no file can have"))
            };
            self.go_on(done)?;
            self.tally.add_inode();
        }
        let done = self.attributes(path, &self.to.join(path), stat);
        self.go_on(done)
    }

    fn one(&mut self, path: &Path) -> Result<(), CopyError> {
        let stat = &self.files.stat_below(path).map_err(inside(path))?;
        let target = self.to.join(path);
        let is_linked = stat.links > 1 && !stat.mode.is_directory();
        if let Some(first) = self.links.get(&stat.ino).filter(|_| is_linked) {
            return fs::hard_link(first, &target).map_err(outside(&target));
        }
        match stat.mode.mode & TYPE {
            DIRECTORY => {
                if !self.entered.insert(stat.ino) {
                    return Err(damaged(path, "this directory is in several places"));
                }
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
            _ => {
                if !self.node(path, &target, stat)? {
                    return Ok(());
                }
                self.copied.others += 1;
            }
        }
        if is_linked {
            self.links.insert(stat.ino, target.clone());
        }
        self.attributes(path, &target, stat)
    }

    /// Makes a fifo, a socket or a device; false if that is a device, and not allowed.
    fn node(&mut self, path: &Path, target: &Path, stat: &Stat) -> Result<bool, CopyError> {
        let kind = stat.mode.mode & TYPE;
        if !matches!(kind, FIFO | SOCKET) && !is_device(kind) {
            return Err(damaged(path, "it has no known type"));
        }
        let kind = rustix::fs::FileType::from_raw_mode(kind);
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        match rustix::fs::mknodat(CWD, target, kind, mode, stat.device.into()) {
            Ok(()) => Ok(true),
            Err(rustix::io::Errno::PERM) if is_device(stat.mode.mode) => {
                self.copied.devices.add(|| target.display().to_string());
                Ok(false)
            }
            Err(why) => Err(outside(target)(why.into())),
        }
    }

    fn attributes(&mut self, path: &Path, target: &Path, stat: &Stat) -> Result<(), CopyError> {
        if rustix::process::geteuid().is_root() {
            lchown(target, Some(stat.mode.uid), Some(stat.mode.gid)).map_err(outside(target))?;
        }
        // After the owner, whose change takes capabilities away, and before the permissions, which
        // may forbid it.
        let taken_out = self.attributes.take_out(self.files, path, target);
        self.go_on(taken_out)?;
        if stat.mode.mode & TYPE != SYMLINK {
            let permissions = Permissions::from_mode(stat.mode.mode & 0o7777);
            fs::set_permissions(target, permissions).map_err(outside(target))?;
        }
        let time = |ns| {
            let (tv_sec, within) = time::parts(ns);
            Timespec { tv_sec, tv_nsec: within.into() }
        };
        let (last_access, last_modification) = (time(stat.atime_ns), time(stat.mtime_ns));
        let times = Timestamps { last_access, last_modification };
        utimensat(CWD, target, &times, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(|why| outside(target)(why.into()))
    }

    fn content(&mut self, path: &Path, target: &Path, size: u64) -> Result<(), CopyError> {
        if size > SIZE_MAX {
            return Err(damaged(path, "it is larger than a file of a DenseFS can be"));
        }
        let source = self.files.open(at(path), 0, 0).map_err(inside(path))?;
        let mut options = OpenOptions::new();
        let options = options.write(true).create_new(true).mode(0o600);
        let file = options.open(target).map_err(outside(target))?;
        // Before anything is written, to see whether it will fit.
        file.set_len(size).map_err(|why| match why.raw_os_error() {
            Some(libc::EFBIG | libc::EINVAL) => {
                fs::remove_file(target).ok();
                CopyError::TooLarge { path: target.to_owned(), bytes: size }
            }
            _ => outside(target)(why),
        })?;
        let mut offset = 0;
        while let Some(start) = self.look_for(source.descriptor(), offset, Whence::Data, path)? {
            let end = self.look_for(source.descriptor(), start, Whence::Hole, path)?;
            let Some(end) = end.filter(|&end| start >= offset && end > start) else {
                return Err(damaged(path, "its data end before they begin"));
            };
            offset = start;
            while offset < end {
                let wanted = usize::try_from(end - offset).unwrap_or(usize::MAX);
                let piece = &mut self.piece[..wanted.min(PIECE_BYTES)];
                let read = self.files.read_from(source.descriptor(), offset, piece);
                let length = read.map_err(inside(path))?;
                if length == 0 {
                    return Ok(());
                }
                let left = self.left.bytes.checked_sub(length as u64);
                self.left.bytes = left.ok_or_else(|| {
                    damaged(path, "there is more content than fits into the arena")
                })?;
                write_pieces(&piece[..length], |from, bytes| {
                    file.write_all_at(bytes, offset + from as u64)
                })
                .map_err(outside(target))?;
                offset += length as u64;
                self.tally.add_bytes(length);
            }
        }
        Ok(())
    }

    /// The next data, or the next hole, of an open file; none behind the last.
    fn look_for(
        &self,
        descriptor: u32,
        from: u64,
        what: Whence,
        path: &Path,
    ) -> Result<Option<u64>, CopyError> {
        match self.files.seek(descriptor, from.cast_signed(), what) {
            Ok(at) => Ok(Some(at)),
            Err(Errno::NXIO) => Ok(None),
            Err(why) => Err(inside(path)(why)),
        }
    }
}

/// Whether a file can have this name.
fn is_name(name: &[u8]) -> bool {
    !matches!(name, b"" | b"." | b"..") && !name.iter().any(|byte| b"/\0".contains(byte))
}

fn path_of(name: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(name))
}
