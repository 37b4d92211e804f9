//! The lowest costs on this machine that underlie every operation: entering and leaving the kernel,
//! a copy in memory, a read from the disk.

use std::os::fd::OwnedFd;
use std::path::Path;

use measure::Clock;
use rand::{RngExt as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use record::{References, TargetRecord};
use rustix::fs::{Mode, OFlags, fsync, open};
use rustix::io::{pread, write};

const CALLS: u64 = 1000;
const BATCHES: usize = 11;
/// Bytes that each batch of copies moves.
const COPIED_BYTES: usize = 4 << 20;
/// Size of the file used for disk reads, and their number.
const FILE_BYTES: usize = 8 << 20;
const DISK_READS: usize = 64;
/// Alignment of memory for direct reads.
const ALIGNMENT: usize = 4 << 10;

/// Cost of the cheapest system call (`getppid`), in nanoseconds: the median of several batches.
#[must_use]
pub fn system_call_ns(clock: &impl Clock) -> f64 {
    let batch = || (0..CALLS).for_each(|_| _ = std::hint::black_box(rustix::process::getppid()));
    median_ns(clock, batch) / CALLS as f64
}

/// Times that operations can be compared with: copies in memory and, if there is only one target,
/// described by `root` and `record`, reads from its disk.
#[must_use]
pub fn reference_times(clock: &impl Clock, only: Option<(&Path, &TargetRecord)>) -> References {
    let on_disk = only.filter(|(_, record)| record.device.is_some());
    // If such a file cannot be made or the page cache not bypassed, there is no such reference.
    let file = on_disk.and_then(|(root, _)| DirectFile::make(root).ok());
    let disk_read_ns = |bytes| file.as_ref().and_then(|file| file.read_ns(clock, bytes).ok());
    References {
        copy_4k_ns: copy_ns(clock, 4 << 10),
        copy_1m_ns: copy_ns(clock, 1 << 20),
        disk_read_4k_ns: disk_read_ns(4 << 10),
        disk_read_1m_ns: disk_read_ns(1 << 20),
    }
}

/// Copies `bytes` bytes between two buffers that may be in the processor's caches.
fn copy_ns(clock: &impl Clock, bytes: usize) -> f64 {
    let from = vec![1_u8; bytes];
    let mut into = vec![0_u8; bytes];
    let copies = COPIED_BYTES / bytes;
    let batch = || {
        for _ in 0..copies {
            into.copy_from_slice(std::hint::black_box(&from));
            std::hint::black_box(&mut into);
        }
    };
    median_ns(clock, batch) / copies as f64
}

/// An unnamed file, of which nothing is left behind, read past the page cache.
struct DirectFile(OwnedFd);

impl DirectFile {
    fn make(directory: &Path) -> rustix::io::Result<Self> {
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::DIRECT | OFlags::CLOEXEC;
        let file = open(directory, flags, Mode::RUSR | Mode::WUSR)?;
        let mut memory = vec![0x5a; FILE_BYTES + ALIGNMENT];
        let bytes = aligned(&mut memory);
        let mut written = 0;
        while written < FILE_BYTES {
            written += write(&file, &bytes[written..])?;
        }
        fsync(&file)?;
        Ok(Self(file))
    }

    /// Median time of reads of `bytes` bytes at random multiples of that.
    fn read_ns(&self, clock: &impl Clock, bytes: usize) -> rustix::io::Result<f64> {
        let mut memory = vec![0; bytes + ALIGNMENT];
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut times = Vec::with_capacity(DISK_READS);
        for _ in 0..DISK_READS {
            let number = random.random_range(0..FILE_BYTES / bytes);
            let start_ticks = clock.start();
            pread(&self.0, aligned(&mut memory), (number * bytes) as u64)?;
            times.push(clock.nanos(clock.end().saturating_sub(start_ticks)));
        }
        times.sort_unstable();
        Ok(times[DISK_READS / 2] as f64)
    }
}

/// All but [`ALIGNMENT`] bytes of the memory, aligned for direct reads.
fn aligned(memory: &mut [u8]) -> &mut [u8] {
    let start = memory.as_ptr().align_offset(ALIGNMENT);
    let len = memory.len() - ALIGNMENT;
    &mut memory[start..start + len]
}

fn median_ns(clock: &impl Clock, mut batch: impl FnMut()) -> f64 {
    let mut times = [0; BATCHES].map(|_: u64| {
        let start_ticks = clock.start();
        batch();
        clock.nanos(clock.end().saturating_sub(start_ticks))
    });
    times.sort_unstable();
    times[BATCHES / 2] as f64
}

#[cfg(test)]
mod tests {
    use measure::SystemClock;

    use super::*;

    #[test]
    fn larger_copies_take_longer_and_the_disk_is_read_where_files_without_names_can_be_made() {
        let (clock, _) = SystemClock::calibrate();
        assert!(copy_ns(&clock, 1 << 20) > copy_ns(&clock, 4 << 10));
        assert!(DirectFile::make(Path::new("/proc")).is_err());
        let Ok(file) = DirectFile::make(&std::env::temp_dir()) else { return };
        // A temporary directory in memory may refuse direct reads.
        let read_ns = |bytes| file.read_ns(&clock, bytes).unwrap_or(1.0);
        assert!(read_ns(4 << 10) > 0.0 && read_ns(1 << 20) > 0.0);
    }
}
