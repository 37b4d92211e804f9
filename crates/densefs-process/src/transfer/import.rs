//! Copies a tree into a DenseFS.

use std::collections::{HashMap, HashSet};
use std::fs::{self, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use densefs::modes::{DIRECTORY, FILE, SYMLINK, TYPE};
use densefs::{Errno, Follow, Owner, flags, time};
use rustix::fs::{SeekFrom, seek};

use super::attributes::Attributes;
use super::pieces::{PIECE_BYTES, write_pieces};
use super::{Copied, CopyError, CopyTotals, Tally, Watch, at, inside, outside};
use crate::dense_fs::{Base, DenseFs};
use crate::files::File;

impl DenseFs {
    /// Copies the contents of a directory outside into the root, with permissions, modification
    /// times, links, holes and extended attributes, and with owners if this is root.
    ///
    /// # Errors
    /// [`CopyError`]; what has been copied until then stays.
    pub fn import(&self, from: &Path, watch: &mut dyn Watch) -> Result<CopyTotals, CopyError> {
        let mut import = Import {
            files: self,
            from,
            links: HashMap::new(),
            attributes: Attributes::new(),
            piece: vec![0; PIECE_BYTES],
            tally: Tally::new(watch, || count(from)),
            copied: CopyTotals::default(),
        };
        import.directory(Path::new(""))?;
        Ok(CopyTotals { attributes: import.attributes.lost, ..import.copied })
    }

    /// Writes all of it at an offset.
    fn write_all(&self, file: &File, offset: u64, bytes: &[u8]) -> Result<(), Errno> {
        let mut done = 0;
        while done < bytes.len() {
            done += self.write_to(file.descriptor(), offset + done as u64, &bytes[done..])?;
        }
        Ok(())
    }
}

/// How much there is below a directory, as far as it can be read.
fn count(from: &Path) -> Copied {
    let (mut all, mut seen) = (Copied::default(), HashSet::new());
    let mut directories = vec![from.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            let Ok(metadata) = entry.metadata() else { continue };
            all.inodes += 1;
            if metadata.is_dir() {
                directories.push(entry.path());
            }
            let is_first = metadata.nlink() < 2 || seen.insert((metadata.dev(), metadata.ino()));
            if metadata.is_file() && is_first {
                all.bytes += metadata.len().min(metadata.blocks().saturating_mul(512));
            }
        }
    }
    all
}

/// An import in progress.
struct Import<'f> {
    files: &'f DenseFs,
    from: &'f Path,
    /// Where files with several names have been copied to, by device and inode.
    links: HashMap<(u64, u64), PathBuf>,
    attributes: Attributes,
    /// What is copied at a time.
    piece: Vec<u8>,
    tally: Tally<'f>,
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
            self.tally.add_inode();
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
                self.copied.bytes += self.content(path, source)?;
                self.copied.files += 1;
            }
            SYMLINK => {
                let leads = fs::read_link(source).map_err(outside(source))?;
                self.files.make_link(leads, &target).map_err(inside(path))?;
                self.copied.others += 1;
            }
            _ => match self.node(&target, metadata) {
                Ok(()) => self.copied.others += 1,
                Err(Errno::PERM) => {
                    self.copied.devices.add(|| source.display().to_string());
                    return Ok(());
                }
                Err(why) => return Err(inside(path)(why)),
            },
        }
        if is_linked {
            self.links.insert(inode, target.clone());
        }
        self.attributes(path, source, metadata)
    }

    /// A fifo, a socket or a device.
    fn node(&self, target: &Path, metadata: &fs::Metadata) -> Result<(), Errno> {
        let device = u32::try_from(metadata.rdev()).map_err(|_| Errno::PERM)?;
        self.files.make_node(Base::Working, target, metadata.mode(), device)
    }

    fn attributes(
        &mut self,
        path: &Path,
        source: &Path,
        metadata: &fs::Metadata,
    ) -> Result<(), CopyError> {
        let target = &at(path);
        if rustix::process::geteuid().is_root() {
            let owner = Owner { uid: Some(metadata.uid()), gid: Some(metadata.gid()) };
            let owned = self.files.set_owner(Base::Working, target, Follow::No, owner);
            owned.map_err(inside(path))?;
        }
        // Before the permissions, which may forbid it.
        self.attributes.bring_in(source, self.files, path)?;
        if metadata.mode() & TYPE != SYMLINK {
            let set = self.files.set_mode(Base::Working, target, metadata.mode() & 0o7777);
            set.map_err(inside(path))?;
        }
        let within = u32::try_from(metadata.mtime_nsec()).unwrap_or(0);
        let mtime_ns = time::from_parts(metadata.mtime(), within);
        if time::parts(mtime_ns) != (metadata.mtime(), within) {
            self.copied.times.add(|| source.display().to_string());
        }
        let set = self.files.set_mtime(Base::Working, target, Follow::No, Some(mtime_ns));
        set.map_err(inside(path))
    }

    /// Copies a file's content; returns its size.
    fn content(&mut self, path: &Path, source: &Path) -> Result<u64, CopyError> {
        let how = flags::WRITE | flags::CREATE | flags::EXCLUSIVE;
        let target = self.files.open(at(path), how, 0o600).map_err(inside(path))?;
        let mut options = OpenOptions::new();
        let options = options.read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
        let source_file = options.open(source).map_err(outside(source))?;
        let mut size = 0;
        let mut is_at_end = false;
        while !is_at_end && let Some(data) = next_data(&source_file, size) {
            size = data.start;
            while size < data.end {
                let wanted = usize::try_from(data.end - size).unwrap_or(usize::MAX);
                let piece = &mut self.piece[..wanted.min(PIECE_BYTES)];
                let length = read_at(&source_file, piece, size).map_err(outside(source))?;
                if length == 0 {
                    is_at_end = true;
                    break;
                }
                write_pieces(&piece[..length], |from, bytes| {
                    self.files.write_all(&target, size + from as u64, bytes)
                })
                .map_err(inside(path))?;
                size += length as u64;
                self.tally.add_bytes(length);
            }
        }
        if !is_at_end {
            size = size.max(source_file.metadata().map_err(outside(source))?.len());
        }
        self.files.truncate_descriptor(target.descriptor(), size).map_err(inside(path))?;
        Ok(size)
    }
}

/// The first data of a file from this offset on. Where nobody can tell data from holes, everything
/// is data.
fn next_data(file: &fs::File, from: u64) -> Option<Range<u64>> {
    let start = match seek(file, SeekFrom::Data(from)) {
        Ok(start) => start,
        Err(rustix::io::Errno::NXIO) => return None,
        Err(_) => return Some(from..u64::MAX),
    };
    let end = seek(file, SeekFrom::Hole(start)).unwrap_or(u64::MAX);
    Some(start..end.max(start + 1))
}

fn read_at(file: &fs::File, into: &mut [u8], offset: u64) -> io::Result<usize> {
    loop {
        match file.read_at(into, offset) {
            Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}
