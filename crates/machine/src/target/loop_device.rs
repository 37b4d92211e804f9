//! A block device made of a file without a name.
//!
//! The image is opened with `O_TMPFILE` (or created and unlinked), and the loop device is
//! configured with autoclear: the kernel clears it at its last close and then frees the image.
//! We hold one read-only descriptor on it for its whole life, so that the closes of mkfs and
//! umount are never the last, and our own death is.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Advice, CWD, Mode, OFlags, SeekFrom, fadvise, fstatfs, openat, seek};
use rustix::io::Errno;

use super::guardian::{Guardian, Kind};
use crate::sys;

/// How often another process may take the device we were offered before we give up.
const ATTEMPTS: u32 = 64;

/// A loop device of ours.
#[derive(Debug)]
pub(super) struct LoopDevice {
    number: u32,
    size_bytes: u64,
    image: File,
    /// Keeps the device bound. Read-only: a writer would forbid mounting on some kernels.
    holder: File,
}

impl LoopDevice {
    /// Binds `image` to a free loop device.
    pub(super) fn bind(image: File) -> io::Result<Self> {
        let size_bytes = image.metadata()?.len();
        let control = File::options().read(true).write(true).open("/dev/loop-control")?;
        for _ in 0..ATTEMPTS {
            let number = sys::loop_get_free(&control)?;
            let path = device_path(number);
            let device = File::options().read(true).write(true).open(&path)?;
            match sys::loop_configure(&device, &image) {
                Ok(()) => {
                    let holder = File::open(&path)?;
                    return Ok(Self { number, size_bytes, image, holder });
                }
                // Somebody else was faster.
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other("other programs took every loop device that was free"))
    }

    /// `/dev/loop<number>`.
    pub(super) fn path(&self) -> PathBuf {
        device_path(self.number)
    }

    /// The directory in sysfs that is there while the device is bound.
    pub(super) fn binding(&self) -> PathBuf {
        PathBuf::from(format!("/sys/block/loop{}/loop", self.number))
    }

    pub(super) fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// What the image may still come to take of the scratch directory.
    pub(super) fn unallocated_bytes(&self) -> u64 {
        use std::os::unix::fs::MetadataExt;
        let allocated = self.image.metadata().map_or(0, |metadata| metadata.blocks() * 512);
        self.size_bytes.saturating_sub(allocated)
    }

    /// Whether reads and writes bypass the page cache of the file system that holds the image.
    pub(super) fn direct_io(&self) -> io::Result<bool> {
        Ok(fs::read_to_string(self.binding().join("dio"))?.trim() == "1")
    }

    /// Drops the device's own pages, which hold metadata of the file system. Other devices lose
    /// theirs at the last close, which for this one is the end.
    pub(super) fn forget_pages(&self) -> io::Result<()> {
        sys::block_flush_buffers(&self.holder)
    }

    /// Writes zeros to the image wherever a mkfs has left nothing, or has zeroed by setting blocks
    /// aside.
    pub(super) fn write_holes(&self) -> io::Result<()> {
        // What is still to be written is not to be overtaken.
        self.forget_pages()?;
        write_holes(&self.image)
    }

    /// Makes all of it read as zeros and gives the image's space back.
    pub(super) fn discard(&self) -> io::Result<()> {
        let device = File::options().read(true).write(true).open(self.path())?;
        sys::block_discard(&device, self.size_bytes)
    }
}

fn device_path(number: u32) -> PathBuf {
    PathBuf::from(format!("/dev/loop{number}"))
}

/// Makes a sparse file without a name in `directory`.
///
/// `fallback_name` is used, and known to the guardian, for the moment in which the file has one
/// where the file system knows no `O_TMPFILE`.
pub(super) fn make_image(
    directory: &Path,
    size_bytes: u64,
    guardian: &Guardian,
    fallback_name: &str,
) -> io::Result<File> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let image = match openat(CWD, directory, flags, Mode::RUSR | Mode::WUSR) {
        Ok(fd) => File::from(fd),
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL) => {
            let path = directory.join(fallback_name);
            guardian.add(Kind::Image, &path)?;
            let image = File::options().read(true).write(true).create_new(true).open(&path)?;
            fs::remove_file(&path)?;
            guardian.remove(Kind::Image, &path)?;
            image
        }
        Err(error) => return Err(error.into()),
    };
    image.set_len(size_bytes)?;
    Ok(image)
}

/// File systems that write every block to a new place, so that no image on them stays where it was
/// written first: btrfs, ZFS, bcachefs, nilfs2, f2fs (`linux/magic.h`, and their own headers).
const NEVER_IN_PLACE: [(u64, &str); 5] = [
    (0x9123_683e, "btrfs"),
    (0x2fc1_2fc1, "zfs"),
    (0xca45_1a4e, "bcachefs"),
    (0x3434, "nilfs2"),
    (0xf2f5_2010, "f2fs"),
];

/// The file system that the image lies on, if that writes every block to a new place.
pub(super) fn never_in_place(image: &File) -> io::Result<Option<&'static str>> {
    let magic = fstatfs(image)?.f_type.cast_unsigned();
    Ok(NEVER_IN_PLACE.iter().find(|(known, _)| *known == magic).map(|(_, name)| *name))
}

/// Writes zeros wherever nothing has been written: where there is no block, and where one is only
/// set aside, which would still have to be converted.
pub(super) fn write_holes(image: &File) -> io::Result<()> {
    const CHUNK_BYTES: u64 = 1 << 20;
    let size_bytes = image.metadata()?.len();
    let zeros = vec![0; 1 << 20];
    let mut from = 0;
    while from < size_bytes {
        let start = seek(image, SeekFrom::Hole(from))?;
        let end = match seek(image, SeekFrom::Data(start)) {
            Err(Errno::NXIO) => size_bytes,
            end => end?,
        };
        for at in (start..end).step_by(zeros.len()) {
            let length = usize::try_from((end - at).min(CHUNK_BYTES)).unwrap_or(zeros.len());
            image.write_all_at(&zeros[..length], at)?;
        }
        from = end;
    }
    image.sync_all()?;
    // Nothing of it is to be taken for what the loop device reads.
    fadvise(image, 0, None, Advice::DontNeed)?;
    Ok(())
}
