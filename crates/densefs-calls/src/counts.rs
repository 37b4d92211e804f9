//! How many calls were served where, in memory that processes share.
//!
//! It is a file without a name, so that nothing stays, and every program that inherits its
//! descriptor can count, whoever it runs as and whatever its root directory is. Programs could
//! write nonsense to it; it is a report on programs that somebody runs himself.
#![expect(unsafe_code, reason = "memory that processes share")]

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::ptr;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, fstat, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap};

use crate::NUMBERS;

/// What has become of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The library has served it from the arena.
    Served,
    /// It concerned other files, or none, so that the kernel has executed it.
    Passed,
    /// The library has refused it, because it cannot be served.
    Refused,
}

/// The counts.
#[derive(Debug)]
#[repr(C)]
pub struct Counts {
    programs: AtomicU64,
    calls: [[AtomicU64; 3]; NUMBERS],
    requests: AtomicU64,
    /// A process whose requests do not count.
    watcher: AtomicU32,
}

impl Counts {
    /// Counts a program that has loaded the library.
    pub fn note_program(&self) {
        self.programs.fetch_add(1, Ordering::Relaxed);
    }

    /// How many programs have loaded the library.
    pub fn programs(&self) -> u64 {
        self.programs.load(Ordering::Relaxed)
    }

    /// Does not count requests of this process.
    pub fn leave_out(&self, process: u32) {
        self.watcher.store(process, Ordering::Relaxed);
    }

    /// Counts a request that has come to the server of the mount from this process.
    pub fn note_request(&self, process: u32) {
        if process != self.watcher.load(Ordering::Relaxed) {
            self.requests.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// How many requests have come to the server of the mount.
    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Counts a call.
    pub fn note(&self, number: usize, outcome: Outcome) {
        if let Some(outcomes) = self.calls.get(number) {
            outcomes[outcome as usize].fetch_add(1, Ordering::Relaxed);
        }
    }

    /// How many calls of a number have had an outcome.
    pub fn count(&self, number: usize, outcome: Outcome) -> u64 {
        let outcomes = self.calls.get(number);
        outcomes.map_or(0, |outcomes| outcomes[outcome as usize].load(Ordering::Relaxed))
    }
}

/// Makes counts that are all 0, and the descriptor by which others find them.
///
/// # Errors
/// The kernel's.
pub fn create() -> io::Result<(OwnedFd, &'static Counts)> {
    let file = memfd_create("densefs-counts", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    rustix::fs::ftruncate(&file, size_of::<Counts>() as u64)?;
    fcntl_add_seals(&file, seals())?;
    let counts = map(&file)?;
    Ok((file, counts))
}

/// The size never changes, so that the memory is always there.
fn seals() -> SealFlags {
    SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL
}

/// The counts that a descriptor leads to. They stay mapped until the process ends.
///
/// # Errors
/// If it leads to something else, or cannot be mapped.
pub fn map(file: impl AsFd) -> io::Result<&'static Counts> {
    let length = size_of::<Counts>();
    let is_ours = fcntl_get_seals(&file)? == seals()
        && u64::try_from(fstat(&file)?.st_size).is_ok_and(|size| size == length as u64);
    if !is_ours {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let protection = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a new mapping affects no other memory.
    let start = unsafe { mmap(ptr::null_mut(), length, protection, MapFlags::SHARED, file, 0) }?;
    // SAFETY: it is mapped for good, as the seals keep the file's size. All values are valid, and
    // all accesses atomic.
    Ok(unsafe { &*start.cast::<Counts>() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_who_have_the_descriptor_count_together() {
        let (file, first) = create().expect("there is memory");
        let second = map(&file).expect("it is one");
        first.note_program();
        for (number, outcome) in [(0, Outcome::Served), (0, Outcome::Served), (1, Outcome::Passed)]
        {
            second.note(number, outcome);
        }
        second.note(NUMBERS, Outcome::Refused);
        second.leave_out(7);
        (6..9).for_each(|process| first.note_request(process));
        assert_eq!(second.requests(), 2);
        let count = |number, outcome| first.count(number, outcome);
        assert_eq!(second.programs(), 1);
        assert_eq!(count(0, Outcome::Served), 2);
        assert_eq!(count(1, Outcome::Passed), 1);
        assert_eq!(count(0, Outcome::Passed) + count(1, Outcome::Served), 0);
        assert_eq!(count(NUMBERS, Outcome::Refused), 0);
    }

    #[test]
    fn other_files_are_none() {
        let other = memfd_create("other", MemfdFlags::ALLOW_SEALING).expect("there is memory");
        assert!(map(&other).is_err());
        rustix::fs::ftruncate(&other, size_of::<Counts>() as u64).expect("there is room");
        assert!(map(&other).is_err(), "it could be cut");
        assert!(map(std::fs::File::open("/dev/null").expect("it is there")).is_err());
    }
}
