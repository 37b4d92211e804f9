//! A data file without its file system: on the device, where its blocks are.
//!
//! What the file system itself adds to a read is the difference to the same read without it. So the
//! same loop reads the same blocks from the device in the same order. A request starts on the
//! device where its first byte is, and is read in one piece even if the file is not contiguous
//! there: having to go elsewhere is a cost of the file system. For writes, see `rewrite`.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fd::OwnedFd;
use rustix::fs::{OFlags, SeekFrom, fcntl_getfl, seek};
use rustix::io::Errno;

use crate::buffer::AlignedBuffer;
use crate::calls::{Kernel, read_whole};
use crate::content::Content;
use crate::description::{Verification, Workload};
use crate::error::{EngineError, WorkloadError};
use crate::io_path::IoPath;
use crate::operation::Operation;

/// Places to compare before the reported location of a file is trusted.
const PROOFS: usize = 16;
/// Bytes to compare at each.
const PROOF_BYTES: u64 = 4096;

/// A contiguous part of a file on the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceExtent {
    /// Where it begins in the file.
    pub file_offset_bytes: u64,
    /// Where it begins on the device.
    pub device_offset_bytes: u64,
    /// Its length.
    pub length_bytes: u64,
}

/// The location of a data file on its device.
#[derive(Debug)]
pub struct FileOnDevice {
    device: File,
    path: PathBuf,
    extents: Arc<[DeviceExtent]>,
    file_bytes: u64,
    device_bytes: u64,
}

/// Where requests of one size begin on the device.
#[derive(Debug)]
pub(crate) struct ExtentMap {
    /// Sorted by offset in the file, starting at 0, without gaps.
    extents: Arc<[DeviceExtent]>,
    /// The last start at which a request still ends on the device.
    start_bytes_max: u64,
}

impl FileOnDevice {
    /// The most writes of one thread: all their data are kept in memory, and io_uring can register
    /// no more buffers than this (`IORING_MAX_REG_BUFFERS`).
    pub const WRITES_MAX: u64 = 1 << 14;

    /// A file of `file_bytes` that consists of these extents of `device`, which is at `path`.
    ///
    /// # Errors
    /// [`WorkloadError::NotOnDevice`] if the device was opened without `O_DIRECT`, so that its
    /// pages would be cached, or if the extents do not cover the file; errors of the kernel.
    pub fn new(
        device: File,
        path: &Path,
        mut extents: Vec<DeviceExtent>,
        file_bytes: u64,
    ) -> Result<Self, EngineError> {
        let failed = |call| move |errno| EngineError::from_errno(call, path, errno);
        if !fcntl_getfl(&device).map_err(failed("fcntl"))?.contains(OFlags::DIRECT) {
            return Err(WorkloadError::NotOnDevice("the device to be opened with O_DIRECT").into());
        }
        let device_bytes = seek(&device, SeekFrom::End(0)).map_err(failed("lseek"))?;
        extents.sort_unstable_by_key(|extent| extent.file_offset_bytes);
        let extents = joined(&extents);
        let mut known_bytes = 0;
        for extent in &extents {
            let end = extent.device_offset_bytes.saturating_add(extent.length_bytes);
            if extent.file_offset_bytes != known_bytes || end > device_bytes {
                break;
            }
            known_bytes += extent.length_bytes;
        }
        if known_bytes < file_bytes {
            let wanted = "a place on the device for every byte of the file";
            return Err(WorkloadError::NotOnDevice(wanted).into());
        }
        let path = path.to_path_buf();
        Ok(Self { device, path, extents: extents.into(), file_bytes, device_bytes })
    }

    /// Duplicates the descriptor of the device, for a thread.
    pub(crate) fn open(&self) -> Result<OwnedFd, EngineError> {
        let opened = self.device.try_clone().map_err(|error| {
            let errno = Errno::from_io_error(&error).unwrap_or(Errno::IO);
            EngineError::from_errno("fcntl", &self.path, errno)
        })?;
        Ok(opened.into())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The map for requests of this size, which is at most the size of the file.
    pub(crate) fn extent_map(&self, request_bytes: usize) -> ExtentMap {
        let start_bytes_max = self.device_bytes.saturating_sub(request_bytes as u64);
        ExtentMap { extents: Arc::clone(&self.extents), start_bytes_max }
    }

    /// Checks that the workload can be executed on a device.
    pub(crate) fn check(workload: &Workload, files: usize) -> Result<(), WorkloadError> {
        let is_transfer = matches!(workload.operation, Operation::Read | Operation::Write);
        let wanted = [
            (is_transfer, "a read or a write of existing bytes"),
            (workload.io_path.is_direct(), "direct I/O, whose pages are not cached"),
            (!matches!(workload.io_path, IoPath::Preadv2(_)), "psync or io_uring"),
            (workload.verification == Verification::Off, "no verification of each operation"),
            (files == 1, "one data file"),
        ];
        match wanted.into_iter().find(|(is_given, _)| !is_given) {
            Some((_, wanted)) => Err(WorkloadError::NotOnDevice(wanted)),
            None => Ok(()),
        }?;
        let (value, most) = (workload.all_operations(), Self::WRITES_MAX);
        let what = "the number of writes on a device";
        if workload.operation == Operation::Write && value > most {
            return Err(WorkloadError::TooLarge { what, value, most });
        }
        Ok(())
    }

    /// Refuses a device that is not open for reading and writing.
    pub(crate) fn check_writable(&self) -> Result<(), EngineError> {
        let flags = fcntl_getfl(&self.device)
            .map_err(|errno| EngineError::from_errno("fcntl", &self.path, errno))?;
        if flags & OFlags::RWMODE == OFlags::RDWR {
            return Ok(());
        }
        Err(WorkloadError::NotOnDevice("the device to be opened for reading and writing").into())
    }

    /// Where a request of this length fits within one extent, as offsets in the file and on the
    /// device: at `offset_bytes`, or earlier if it would cross the end of that extent, or in the
    /// longest extent. None if no extent is long enough.
    pub(crate) fn extent_within(
        &self,
        offset_bytes: u64,
        request_bytes: u64,
    ) -> Option<(u64, u64)> {
        // Space allocated past the end of the file is not part of it.
        let length_of = |extent: &DeviceExtent| {
            extent.length_bytes.min(self.file_bytes.saturating_sub(extent.file_offset_bytes))
        };
        let after = self.extents.partition_point(|extent| extent.file_offset_bytes <= offset_bytes);
        let here = self.extents.get(after.checked_sub(1)?)?;
        let longest = self.extents.iter().max_by_key(|extent| length_of(extent));
        let fits = |extent: &&DeviceExtent| request_bytes <= length_of(extent);
        let extent = [Some(here), longest].into_iter().flatten().find(fits)?;
        let last_start = extent.file_offset_bytes + length_of(extent) - request_bytes;
        let start = offset_bytes.clamp(extent.file_offset_bytes, last_start);
        Some((start, extent.device_offset_bytes + (start - extent.file_offset_bytes)))
    }

    /// Compares the device with the file's content at some of the places, so that neither the file
    /// system's mapping nor its meaning as device offsets has to be taken on trust.
    pub(crate) fn prove(&self, content: Content, file_bytes: u64) -> Result<(), EngineError> {
        let device = self.open()?;
        let mut buffer = AlignedBuffer::new(crate::arithmetic::index(PROOF_BYTES));
        let extents = &self.extents;
        for extent in extents.iter().step_by(extents.len().div_ceil(PROOFS)) {
            let in_file = file_bytes.saturating_sub(extent.file_offset_bytes);
            let length = PROOF_BYTES.min(extent.length_bytes);
            let bytes = &mut buffer.bytes_mut()[..crate::arithmetic::index(length)];
            read_whole(&Kernel, &device, bytes, extent.device_offset_bytes)
                .map_err(|fault| fault.into_direct_error(&self.path))?;
            let bytes = &bytes[..crate::arithmetic::index(length.min(in_file))];
            content
                .check(bytes, extent.file_offset_bytes)
                .map_err(|mismatch| EngineError::corrupt(&self.path, mismatch))?;
        }
        Ok(())
    }
}

/// Merges pieces that are contiguous both in the file and on the device.
fn joined(extents: &[DeviceExtent]) -> Vec<DeviceExtent> {
    let mut joined: Vec<DeviceExtent> = Vec::with_capacity(extents.len());
    for extent in extents {
        match joined.last_mut() {
            Some(last) if last.goes_on_with(extent) => last.length_bytes += extent.length_bytes,
            _ => joined.push(*extent),
        }
    }
    joined
}

impl DeviceExtent {
    fn goes_on_with(&self, next: &Self) -> bool {
        self.file_offset_bytes.checked_add(self.length_bytes) == Some(next.file_offset_bytes)
            && self.device_offset_bytes.checked_add(self.length_bytes)
                == Some(next.device_offset_bytes)
    }
}

impl ExtentMap {
    /// Where on the device a request at this offset in the file begins.
    #[inline]
    pub(crate) fn device_offset_bytes(&self, offset_bytes: u64) -> u64 {
        let after = self.extents.partition_point(|extent| extent.file_offset_bytes <= offset_bytes);
        let extent = &self.extents[after.saturating_sub(1)];
        let offset = extent.device_offset_bytes + (offset_bytes - extent.file_offset_bytes);
        offset.min(self.start_bytes_max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extent(file_offset_bytes: u64, device_offset_bytes: u64, length_bytes: u64) -> DeviceExtent {
        DeviceExtent { file_offset_bytes, device_offset_bytes, length_bytes }
    }

    #[test]
    fn a_request_begins_where_its_first_byte_lies_and_ends_on_the_device() {
        let extents = vec![extent(0, 4096, 8192), extent(8192, 65_536, 4096)];
        let map = ExtentMap { extents: extents.into(), start_bytes_max: 69_632 - 4096 };
        assert_eq!(map.device_offset_bytes(0), 4096);
        assert_eq!(map.device_offset_bytes(4096), 8192);
        assert_eq!(map.device_offset_bytes(8191), 12_287);
        assert_eq!(map.device_offset_bytes(8192), 65_536);
        // It would end past the end of the device.
        assert_eq!(map.device_offset_bytes(8193), 65_536);
    }

    #[test]
    fn what_is_written_stays_within_one_piece_of_the_file() {
        let extents =
            [extent(0, 65_536, 8192), extent(8192, 4096, 4096), extent(12_288, 8192, 8192)];
        let joined = joined(&extents);
        assert_eq!(joined, [extent(0, 65_536, 8192), extent(8192, 4096, 12_288)]);
        let on_device = FileOnDevice {
            device: File::open("/dev/null").expect("it is there"),
            path: PathBuf::new(),
            extents: joined.into(),
            file_bytes: 19_456,
            device_bytes: 1 << 20,
        };
        for (offset_bytes, request_bytes, expected) in [
            (0, 4096, Some((0, 65_536))),
            (4096, 4096, Some((4096, 69_632))),
            // It would cross the end of the piece.
            (4608, 4096, Some((4096, 69_632))),
            (8192, 4096, Some((8192, 4096))),
            // The piece continues where the previous one ends.
            (12_288, 4096, Some((12_288, 8192))),
            // What is past the end of the file is not part of it.
            (16_384, 4096, Some((15_360, 11_264))),
            (0, 8704, Some((8192, 4096))),
            (0, 11_264, Some((8192, 4096))),
            (0, 11_776, None),
        ] {
            let found = on_device.extent_within(offset_bytes, request_bytes);
            assert_eq!(found, expected, "{offset_bytes} {request_bytes}");
        }
    }
}
