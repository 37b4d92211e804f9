//! Where a file is stored on its device, as reported by the file system through `FIEMAP`.
//!
//! Data that is still only in memory has no location yet, so the kernel is asked to write it first
//! (`FIEMAP_FLAG_SYNC`, Documentation/filesystems/fiemap.rst). The physical addresses of btrfs are
//! in its own address space, which chunks map to devices: ranges that are contiguous there are
//! contiguous on the device within a chunk.

use std::fs::File;
use std::io;

use system_calls::{self, RawExtent};

/// `FIEMAP_EXTENT_LAST` of linux/fiemap.h.
const LAST: u32 = 0x1;
const UNKNOWN: u32 = 0x2;
const DELAYED: u32 = 0x4;
const ENCODED: u32 = 0x8;
const INLINE: u32 = 0x200;
const UNWRITTEN: u32 = 0x800;
const SHARED: u32 = 0x2000;
/// More extents than this are too many to list; it is a 64 GiB file in single pages.
const EXTENTS_MAX: usize = 1 << 24;

/// Why a file's extents cannot be listed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExtentsError {
    /// The file system has no extents, or does not report them.
    #[error(
        "the file system does not report where files are stored (FIEMAP); use one on a device, \
        such as ext4, xfs or btrfs"
    )]
    NotSupported,
    /// The file has more extents than can be listed.
    #[error("the file has more than {EXTENTS_MAX} extents; use a smaller file")]
    TooMany,
    /// The file could not be written to its device, or its extents could not be read.
    #[error("cannot read the extents of a file: {source}; see the kernel log")]
    Io {
        /// What the kernel said.
        source: io::Error,
    },
}

/// A contiguous part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Offset in the file.
    pub logical_bytes: u64,
    /// Offset on the device; meaningless if [`ExtentFlags::has_place`] is false.
    pub physical_bytes: u64,
    /// Length; the last extent may extend beyond the end of the file.
    pub length_bytes: u64,
    /// What the file system reports about it.
    pub flags: ExtentFlags,
}

/// What a file system reports about an extent: the bits `FIEMAP_EXTENT_*` of linux/fiemap.h.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExtentFlags(u32);

/// The extents of a file, by file offset. Holes have none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extents {
    list: Vec<Extent>,
}

impl ExtentFlags {
    /// The bits as the kernel gave them.
    #[must_use]
    pub fn bits(self) -> u32 {
        self.0
    }

    /// Whether it has a known location in blocks of its own: neither delayed nor inline in the
    /// inode.
    #[must_use]
    pub fn has_place(self) -> bool {
        self.0 & (UNKNOWN | DELAYED | INLINE) == 0
    }

    /// Whether it is preallocated but not yet written, and reads as zeros.
    #[must_use]
    pub fn is_unwritten(self) -> bool {
        self.0 & UNWRITTEN != 0
    }

    /// Whether it is compressed or otherwise encoded, so that its length on the device differs.
    #[must_use]
    pub fn is_encoded(self) -> bool {
        self.0 & ENCODED != 0
    }

    /// Whether it is shared with other files.
    #[must_use]
    pub fn is_shared(self) -> bool {
        self.0 & SHARED != 0
    }
}

impl Extents {
    /// All extents, in ascending order.
    #[must_use]
    pub fn list(&self) -> &[Extent] {
        &self.list
    }

    /// The number of extents. File systems limit the length of an extent (ext4: 128 MiB), so even a
    /// contiguous file can have several: see [`Extents::runs`].
    #[must_use]
    pub fn count(&self) -> usize {
        self.list.len()
    }

    /// The number of bytes with a known location.
    #[must_use]
    pub fn placed_bytes(&self) -> u64 {
        self.placed().map(|extent| extent.length_bytes).sum()
    }

    /// The number of fragments: runs of extents in which each starts on the device where the
    /// previous one ends. 1 means an unfragmented file.
    #[must_use]
    pub fn runs(&self) -> usize {
        let mut end = None;
        let begins_run = |extent: &&Extent| {
            let goes_on = end == Some(extent.physical_bytes);
            end = extent.physical_bytes.checked_add(extent.length_bytes);
            !goes_on
        };
        self.placed().filter(begins_run).count()
    }

    fn placed(&self) -> impl Iterator<Item = &Extent> {
        self.list.iter().filter(|extent| extent.flags.has_place())
    }
}

/// The extents of a whole file, whose dirty pages are written first.
///
/// # Errors
/// [`ExtentsError::NotSupported`] on tmpfs, ramfs, many FUSE and network file systems;
/// [`ExtentsError::TooMany`]; [`ExtentsError::Io`] with the kernel's error.
pub fn extents(file: &File) -> Result<Extents, ExtentsError> {
    let mut list: Vec<Extent> = Vec::new();
    loop {
        let next = list.last().map_or(0, |last| last.logical_bytes + last.length_bytes);
        let some = system_calls::fiemap(file, next).map_err(extents_error)?;
        let is_last = some.last().is_none_or(|extent| extent.flags & LAST != 0);
        list.extend(some.into_iter().map(Extent::from));
        if is_last {
            return Ok(Extents { list });
        }
        if list.len() > EXTENTS_MAX {
            return Err(ExtentsError::TooMany);
        }
    }
}

impl From<RawExtent> for Extent {
    fn from(raw: RawExtent) -> Self {
        Self {
            logical_bytes: raw.logical,
            physical_bytes: raw.physical,
            length_bytes: raw.length,
            flags: ExtentFlags(raw.flags),
        }
    }
}

fn extents_error(error: io::Error) -> ExtentsError {
    match error.raw_os_error() {
        Some(libc::EOPNOTSUPP | libc::ENOTTY | libc::ENOSYS | libc::EBADR) => {
            ExtentsError::NotSupported
        }
        _ => ExtentsError::Io { source: error },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extent(physical_bytes: u64, length_bytes: u64, flags: u32) -> Extent {
        Extent { logical_bytes: 0, physical_bytes, length_bytes, flags: ExtentFlags(flags) }
    }

    #[test]
    fn neighbours_on_the_device_are_one_run() {
        let list = vec![
            extent(100, 10, 0),
            extent(110, 5, UNWRITTEN),
            extent(115, 1, INLINE),
            extent(200, 5, 0),
            extent(190, 10, 0),
            extent(0, 7, DELAYED | UNKNOWN),
            extent(200, 5, SHARED | LAST),
        ];
        let extents = Extents { list };
        // 100..115, 200..205, and 190..205, which the last extent continues.
        assert_eq!((extents.count(), extents.runs(), extents.placed_bytes()), (7, 3, 35));
        assert_eq!(Extents::default().runs(), 0);
    }

    #[test]
    fn memory_has_no_extents() {
        let file = File::open("/proc/self/status").expect("/proc is mounted");
        let error = extents(&file).expect_err("it lies nowhere");
        assert!(matches!(error, ExtentsError::NotSupported), "{error}");
    }
}
