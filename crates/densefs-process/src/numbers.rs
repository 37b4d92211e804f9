//! The system's descriptors that this crate opens for itself: out of the way of the program's,
//! which owns the low numbers.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};

use densefs::Errno;
use rustix::process::{Resource, getrlimit};

/// Where they begin, unless that is set: out of the way of programs that close or count theirs.
static LOWEST: AtomicU32 = AtomicU32::new(1 << 15);

/// From now on, the system's descriptors that this crate opens for itself, for all arenas, get at
/// least this number, as far as the process' limit allows: otherwise they get at least half of the
/// limit. Each is opened with the lowest free number, and moved at once.
///
/// To be called before an arena is attached. [`crate::DenseFs::own_numbers`] tells the numbers.
pub fn keep_numbers_from(lowest: u32) {
    LOWEST.store(lowest, Ordering::Relaxed);
}

/// Moves a descriptor out of the way, if it is not yet. The new one is closed on exec.
pub(crate) fn out_of_the_way<F: AsFd + From<OwnedFd>>(file: F) -> F {
    let lowest = i32::try_from(LOWEST.load(Ordering::Relaxed)).unwrap_or(i32::MAX);
    if file.as_fd().as_raw_fd() >= lowest {
        return file;
    }
    let moved = |from| rustix::io::fcntl_dupfd_cloexec(&file, from).ok();
    let within_limit = || {
        let half = i32::try_from(getrlimit(Resource::Nofile).current? / 2).ok()?;
        (half < lowest).then_some(half)
    };
    // If there is no room there, it keeps its descriptor.
    moved(lowest).or_else(|| moved(within_limit()?)).map_or(file, F::from)
}

static NOTHING: OnceLock<OwnedFd> = OnceLock::new();

/// An empty file. Programs that touch memory to which it is mapped get SIGBUS, as behind the last
/// page of any file.
pub(crate) fn nothing() -> Result<BorrowedFd<'static>, Errno> {
    if NOTHING.get().is_none() {
        let made = rustix::fs::memfd_create("densefs", rustix::fs::MemfdFlags::CLOEXEC);
        NOTHING.set(out_of_the_way(made.map_err(|_| Errno::NFILE)?)).ok();
    }
    NOTHING.get().map(AsFd::as_fd).ok_or(Errno::NFILE)
}

/// The number of its descriptor, if there has been a reason to open it.
pub(crate) fn number_of_nothing() -> Option<i32> {
    NOTHING.get().map(AsRawFd::as_raw_fd)
}

/// A number of a descriptor that exists for a while only; none most of the time.
#[derive(Debug)]
pub(crate) struct PassingNumber(AtomicI32);

impl PassingNumber {
    const NONE: i32 = -1;

    pub(crate) const fn none() -> Self {
        Self(AtomicI32::new(Self::NONE))
    }

    pub(crate) fn set(&self, file: impl AsFd) {
        self.0.store(file.as_fd().as_raw_fd(), Ordering::Relaxed);
    }

    pub(crate) fn clear(&self) {
        self.0.store(Self::NONE, Ordering::Relaxed);
    }

    /// Forgets it.
    pub(crate) fn take(&self) -> Option<i32> {
        let number = self.get();
        self.clear();
        number
    }

    pub(crate) fn get(&self) -> Option<i32> {
        Some(self.0.load(Ordering::Relaxed)).filter(|&number| number != Self::NONE)
    }
}
