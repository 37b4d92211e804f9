//! Filling takes a share of a fresh file system's space, so that its allocator works as it does on
//! a volume in use.
//!
//! The space is taken by files in several directories, all of one size. If the file system can
//! reserve space without writing it (fallocate(2)), this takes a second, and its image grows only
//! by metadata; otherwise the files are written. The remaining free space is not fragmented: that
//! is what ageing is for.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::fs::{FallocateFlags, StatVfs, fallocate, statvfs};
use rustix::io::Errno;

use crate::filtered;

/// Made in the root, where file systems spread directories out (`find_group_orlov` of ext4).
const DIRECTORY: &str = "filled-";
const DIRECTORIES: u64 = 16;
/// About how many files are made.
const FILES: u64 = 64;
const FILE_BYTES_MIN: u64 = 4 << 20;
const FILE_BYTES_MAX: u64 = 1 << 30;
/// The unit of writing: random bytes, which no file system can compress.
const CONTENT_BYTES: usize = 1 << 20;
const SEED: u64 = 1;
/// Passes at most. Each measures anew how much is missing, since metadata takes space too.
const PASSES: u32 = 4;
/// How far the share may be off, as a divisor of the space, because of the files' metadata.
const MARGIN: u64 = 1000;

/// How a file system is to be filled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fill {
    /// The share of its space that is used afterwards, as df(1) counts it.
    pub(crate) percent: u32,
    /// Whether the file system may be able to reserve space.
    pub(crate) reserves: bool,
    /// The most that may be written.
    pub(crate) written_bytes_max: u64,
}

/// How a filling ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FillOutcome {
    /// It was completed; this much of it was reserved, not written.
    Done { reserved_bytes: u64 },
    /// The stop flag was raised.
    Stopped,
}

/// How files are made to take space.
enum FillMethod {
    Reserve,
    Write { content: Vec<u8> },
}

/// How much more must be used for `percent` of the space available to users to be used.
pub(crate) fn missing_bytes(room: &StatVfs, percent: u32) -> u64 {
    let used = room.f_blocks.saturating_sub(room.f_bfree);
    let wanted = u128::from(used + room.f_bavail) * u128::from(percent) / 100;
    let wanted = u64::try_from(wanted).unwrap_or(u64::MAX);
    wanted.saturating_sub(used).saturating_mul(room.f_frsize)
}

/// Fills the fresh file system at `root`.
pub(crate) fn fill(root: &Path, fill: Fill, stop: &AtomicBool) -> io::Result<FillOutcome> {
    let mut room = statvfs(root)?;
    let missing = missing_bytes(&room, fill.percent);
    if missing == 0 {
        return Err(io::Error::other("it takes more than that share for itself"));
    }
    let file_bytes = (missing / FILES).clamp(FILE_BYTES_MIN, FILE_BYTES_MAX);
    let mut method = FillMethod::choose(root, fill, missing)?;
    let margin_bytes = room.f_blocks.saturating_mul(room.f_frsize) / MARGIN;
    let mut taken_bytes = 0;
    let mut number = 0;
    // How much space metadata takes is known only once it has all been written.
    for _ in 0..PASSES {
        let mut missing = missing_bytes(&room, fill.percent);
        if missing <= margin_bytes {
            break;
        }
        while missing > 0 {
            if stop.load(Ordering::Relaxed) {
                return Ok(FillOutcome::Stopped);
            }
            let directory = root.join(format!("{DIRECTORY}{}", number % DIRECTORIES));
            if number < DIRECTORIES {
                fs::create_dir(&directory)?;
            }
            let bytes = missing.min(file_bytes);
            let file = File::create_new(directory.join(number.to_string()))?;
            if method.take(&file, bytes, stop)? == FillOutcome::Stopped {
                return Ok(FillOutcome::Stopped);
            }
            missing -= bytes;
            taken_bytes += bytes;
            number += 1;
        }
        filtered::sync(root)?;
        room = statvfs(root)?;
    }
    let reserved_bytes = if method.reserves() { taken_bytes } else { 0 };
    Ok(FillOutcome::Done { reserved_bytes })
}

impl FillMethod {
    /// How the file system at `root` can be filled, which may depend on its options;
    /// `missing_bytes` are to be taken.
    fn choose(root: &Path, fill: Fill, missing_bytes: u64) -> io::Result<Self> {
        if fill.reserves && can_reserve(root)? {
            return Ok(Self::Reserve);
        }
        if missing_bytes > fill.written_bytes_max {
            return Err(io::Error::other(format!(
                "it cannot reserve space without writing it, and of the {missing_bytes} bytes to \
                 write the scratch directory has room for {}",
                fill.written_bytes_max
            )));
        }
        let mut content = vec![0; CONTENT_BYTES];
        Xoshiro256PlusPlus::seed_from_u64(SEED).fill_bytes(&mut content);
        Ok(Self::Write { content })
    }

    fn reserves(&self) -> bool {
        match self {
            Self::Reserve => true,
            Self::Write { .. } => false,
        }
    }

    fn take(&mut self, file: &File, bytes: u64, stop: &AtomicBool) -> io::Result<FillOutcome> {
        let done = FillOutcome::Done { reserved_bytes: 0 };
        let content = match self {
            Self::Reserve => {
                fallocate(file, FallocateFlags::empty(), 0, bytes)?;
                return Ok(done);
            }
            Self::Write { content } => content,
        };
        let mut at = 0;
        while at < bytes {
            if stop.load(Ordering::Relaxed) {
                return Ok(FillOutcome::Stopped);
            }
            let piece = usize::try_from(bytes - at).unwrap_or(CONTENT_BYTES).min(CONTENT_BYTES);
            file.write_all_at(&content[..piece], at)?;
            at += piece as u64;
        }
        // Keeps the device busy instead of filling memory with dirty pages.
        system_calls::write_out(file)?;
        Ok(done)
    }
}

/// Whether space can be reserved for a file.
fn can_reserve(root: &Path) -> io::Result<bool> {
    let path = root.join(DIRECTORY);
    let file = File::create_new(&path)?;
    let tried = fallocate(&file, FallocateFlags::empty(), 0, 4096);
    drop(file);
    fs::remove_file(&path)?;
    match tried {
        Ok(()) => Ok(true),
        Err(Errno::OPNOTSUPP) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}

#[cfg(test)]
mod tests {
    use rustix::fs::StatVfsMountFlags;

    use super::*;

    fn room(blocks: u64, free: u64, available: u64) -> StatVfs {
        StatVfs {
            f_bsize: 4096,
            f_frsize: 1024,
            f_blocks: blocks,
            f_bfree: free,
            f_bavail: available,
            f_files: 0,
            f_ffree: 0,
            f_favail: 0,
            f_fsid: 0,
            f_flag: StatVfsMountFlags::empty(),
            f_namemax: 255,
        }
    }

    #[test]
    fn the_share_is_that_of_df() {
        assert_eq!(missing_bytes(&room(1000, 1000, 1000), 50), 500 << 10);
        // Space that only root may use is not part of the total, and space already used counts.
        assert_eq!(missing_bytes(&room(1000, 980, 900), 50), (920 / 2 - 20) << 10);
        assert_eq!(missing_bytes(&room(1000, 300, 250), 50), 0);
    }
}
