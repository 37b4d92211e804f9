//! What direct I/O on a file requires of requests: asked, never assumed.
//!
//! The kernel reports it since Linux 6.1 (`STATX_DIOALIGN`), and separately for reads since 6.14
//! (`STATX_DIO_READ_ALIGN`), if the file system answers. Of the file systems that do not, some have
//! their own rule, known from their source; on the others, direct I/O goes straight to the
//! underlying block device, so the device's logical block size applies. If neither is known, there
//! is no answer.
//!
//! Aligned requests do not necessarily bypass the page cache. btrfs sends misaligned requests, and
//! writes to files with checksums, through it regardless (`fs/btrfs/direct-io.c`); tmpfs sends
//! everything through it, so it is refused here.

use std::path::Path;

use file_system::{DirectUnit, Feature, FileSystem};
use rustix::fs::{AtFlags, CWD, Statx, StatxFlags, statfs, statx};
use rustix::io::Errno;

use crate::alignment::{AlignmentSource, DirectAlignment};
use crate::error::EngineError;

/// `STATX_DIO_READ_ALIGN` of `include/uapi/linux/stat.h`.
const DIO_READ_ALIGN: StatxFlags = StatxFlags::from_bits_retain(0x0002_0000);

/// Finds out what direct I/O on the file at `path` requires, without opening it.
///
/// # Errors
/// [`EngineError::NoDirectIo`] if the file does not support direct I/O or its requirements are
/// unknown, and the error of the call that failed.
pub fn direct_alignment(path: &Path) -> Result<DirectAlignment, EngineError> {
    let failed = |call, errno| EngineError::from_errno(call, path, errno);
    let mask = StatxFlags::DIOALIGN | DIO_READ_ALIGN | StatxFlags::MNT_ID;
    let answer =
        statx(CWD, path, AtFlags::empty(), mask).map_err(|errno| failed("statx", errno))?;
    let refused = |reason| {
        let file_system = file_system_of(&answer).unwrap_or_else(|| "the file system".to_owned());
        EngineError::NoDirectIo { path: path.to_path_buf(), file_system, reason }
    };
    if has(&answer, StatxFlags::DIOALIGN) {
        return said_by_statx(&answer)
            .ok_or_else(|| refused("does not support direct I/O on this file"));
    }
    let known = file_system_of(&answer).and_then(|name| FileSystem::named(&name));
    if let Some(why) = known.and_then(|known| known.lacks(Feature::DirectIo)) {
        return Err(refused(why));
    }
    match known.map_or(DirectUnit::LogicalBlock, |known| known.direct_unit) {
        DirectUnit::Sector => {
            let answer = statfs(path).map_err(|errno| failed("statfs", errno))?;
            let sector_bytes = u64::try_from(answer.f_bsize).unwrap_or(0);
            Ok(DirectAlignment::same(sector_bytes, AlignmentSource::FileSystem))
        }
        DirectUnit::Byte => Ok(DirectAlignment::same(1, AlignmentSource::FileSystem)),
        DirectUnit::LogicalBlock => match logical_block_bytes(&answer) {
            Some(bytes) => Ok(DirectAlignment::same(bytes, AlignmentSource::LogicalBlock)),
            None => Err(refused(
                "does not report how direct I/O must be aligned, and is not on a block device",
            )),
        },
    }
}

fn has(answer: &Statx, flag: StatxFlags) -> bool {
    answer.stx_mask & flag.bits() != 0
}

/// None if the kernel reports that there is no direct I/O: both fields are 0 then (statx(2)).
fn said_by_statx(answer: &Statx) -> Option<DirectAlignment> {
    let memory_bytes = u64::from(answer.stx_dio_mem_align);
    let offset_bytes = u64::from(answer.stx_dio_offset_align);
    let of_reads = u64::from(answer.stx_dio_read_offset_align);
    let knows_reads = has(answer, DIO_READ_ALIGN) && of_reads > 0;
    let read_offset_bytes = if knows_reads { of_reads } else { offset_bytes };
    let source = AlignmentSource::Statx;
    (memory_bytes > 0 && offset_bytes > 0).then_some(DirectAlignment {
        memory_bytes,
        offset_bytes,
        read_offset_bytes,
        source,
    })
}

/// The type of the file system that the file is on.
fn file_system_of(answer: &Statx) -> Option<String> {
    if !has(answer, StatxFlags::MNT_ID) {
        return None;
    }
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
    type_of_mount(&mounts, answer.stx_mnt_id)
}

/// The type of mount number `id`, from the text of `/proc/self/mountinfo`
/// (Documentation/filesystems/proc.rst, section 3.5).
fn type_of_mount(mounts: &str, id: u64) -> Option<String> {
    let is_it = |line: &&str| line.split(' ').next() == Some(id.to_string().as_str());
    let (_, after_separator) = mounts.lines().find(is_it)?.split_once(" - ")?;
    after_separator.split(' ').next().map(str::to_owned)
}

/// Reads an attribute below `queue/` in sysfs for the block device that the file is on; None if it
/// is not on one.
pub(crate) fn queue_attribute(answer: &Statx, name: &str) -> Option<u64> {
    let device = format!("/sys/dev/block/{}:{}", answer.stx_dev_major, answer.stx_dev_minor);
    // A partition has no queue of its own; its directory is inside that of its disk.
    [format!("{device}/queue/{name}"), format!("{device}/../queue/{name}")]
        .iter()
        .find_map(|path| std::fs::read_to_string(path).ok()?.trim().parse().ok())
}

fn logical_block_bytes(answer: &Statx) -> Option<u64> {
    queue_attribute(answer, "logical_block_size").filter(|bytes| *bytes > 0)
}

/// Refuses a file whose device does not poll for completions (`queue/io_poll` of
/// Documentation/ABI/stable/sysfs-block): the kernel would accept `RWF_HIPRI` and ignore it.
pub(crate) fn check_polling(path: &Path) -> Result<(), EngineError> {
    let answer = statx(CWD, path, AtFlags::empty(), StatxFlags::BASIC_STATS)
        .map_err(|errno: Errno| EngineError::from_errno("statx", path, errno))?;
    let state = match queue_attribute(&answer, "io_poll") {
        Some(1) => return Ok(()),
        Some(_) => "io_poll is 0",
        None => "it is not a block device, or does not say",
    };
    Err(EngineError::NoPolling { path: path.to_path_buf(), state })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
        23 28 0:21 / /proc rw,nosuid shared:12 - proc proc rw\n\
        28 1 254:0 / / rw,relatime shared:1 - ext4 /dev/root rw,discard\n\
        128 28 0:40 / /mnt/a\\040b rw,relatime - btrfs /dev/loop0 rw,space_cache=v2\n";

    #[test]
    fn the_type_is_that_of_the_mount_with_the_number() {
        for (id, expected) in [(23, Some("proc")), (28, Some("ext4")), (128, Some("btrfs"))] {
            assert_eq!(type_of_mount(MOUNTS, id).as_deref(), expected, "{id}");
        }
        assert_eq!(type_of_mount(MOUNTS, 2), None);
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let error = direct_alignment(Path::new("/nowhere/at/all")).expect_err("it is not there");
        assert!(error.to_string().contains("/nowhere/at/all"), "{error}");
    }
}
