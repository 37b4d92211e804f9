//! System calls that need `unsafe`: the mapping, locks of open file descriptions, hooks for forks,
//! and the clock.
#![expect(unsafe_code, reason = "these have no safe wrapper")]

use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicI32, Ordering};

use densefs::Arena;
use densefs::arena::LINE_BYTES;
use rustix::io::DupFlags;
use rustix::mm::{MapFlags, ProtFlags};

/// An arena's file, mapped into memory.
#[derive(Debug)]
pub(crate) struct Mapping {
    start: NonNull<u8>,
    lines: u32,
}

// SAFETY: the memory is only accessed through `Arena`, which threads may share.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps the first lines of a file, which must be long enough.
    pub(crate) fn new(file: BorrowedFd<'_>, lines: u32) -> io::Result<Self> {
        let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
        let length = lines as usize * LINE_BYTES;
        // SAFETY: a new mapping at an address chosen by the kernel affects no other memory.
        let start =
            unsafe { rustix::mm::mmap(std::ptr::null_mut(), length, protection, flags, file, 0)? };
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { start, lines })
    }

    /// Maps the same pages of the file through another open file description, in one step.
    pub(crate) fn map_anew(&self, file: BorrowedFd<'_>) -> io::Result<()> {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        let flags = MapFlags::SHARED | MapFlags::FIXED;
        let (start, length) = (self.start.as_ptr().cast(), self.lines as usize * LINE_BYTES);
        // SAFETY: it replaces exactly this mapping, and shows the same bytes.
        unsafe { rustix::mm::mmap(start, length, protection, flags, file, 0)? };
        Ok(())
    }

    /// The arena. It must not be used after the mapping is dropped;
    /// [`crate::thread_slot::ThreadSlot`] keeps both.
    pub(crate) fn arena(&self) -> Arena<'static> {
        // SAFETY: all lines are mapped and page-aligned until `self` is dropped, and users of the
        // arena do not outlive `self`.
        unsafe { Arena::new(self.start, self.lines) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: this is exactly what was mapped, and there are no references into it.
        unsafe {
            rustix::mm::munmap(self.start.as_ptr().cast(), self.lines as usize * LINE_BYTES).ok();
        }
    }
}

/// What to do with a lock on a byte of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ByteLock {
    /// Take it, if nobody else has it.
    Take,
    /// Release it.
    GiveBack,
}

/// Takes or releases a lock on bytes of a file, owned by the open file description; false if there
/// is a conflicting lock.
pub(crate) fn lock_bytes(
    file: BorrowedFd<'_>,
    first: i64,
    bytes: i64,
    what: ByteLock,
) -> io::Result<bool> {
    let kind = match what {
        ByteLock::Take => libc::F_WRLCK,
        ByteLock::GiveBack => libc::F_UNLCK,
    };
    #[expect(clippy::cast_possible_truncation, reason = "they are numbers below 4")]
    let (kind, whence) = (kind as libc::c_short, libc::SEEK_SET as libc::c_short);
    let request =
        libc::flock { l_type: kind, l_whence: whence, l_start: first, l_len: bytes, l_pid: 0 };
    loop {
        // SAFETY: the request outlives the call, which only reads it.
        let done = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &raw const request) };
        if done == 0 {
            return Ok(true);
        }
        let why = io::Error::last_os_error();
        match why.raw_os_error() {
            Some(libc::EINTR) => {}
            Some(libc::EAGAIN | libc::EACCES) => return Ok(false),
            _ => return Err(why),
        }
    }
}

/// Whether somebody has locked a byte of a file: a process, or another open file description.
pub(crate) fn is_locked(file: BorrowedFd<'_>, byte: i64) -> io::Result<bool> {
    #[expect(clippy::cast_possible_truncation, reason = "they are numbers below 4")]
    let (kind, whence) = (libc::F_WRLCK as libc::c_short, libc::SEEK_SET as libc::c_short);
    let mut request =
        libc::flock { l_type: kind, l_whence: whence, l_start: byte, l_len: 1, l_pid: 0 };
    // SAFETY: the request outlives the call.
    let done = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_GETLK, &raw mut request) };
    if done < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(i32::from(request.l_type) != libc::F_UNLCK)
}

/// Closes a descriptor that only its number is left of.
pub(crate) fn close(number: i32) {
    // SAFETY: nobody owns it any more.
    unsafe { libc::close(number) };
}

/// An open file that a forked child replaces by another.
#[derive(Debug)]
pub(crate) struct ReplaceableFile(AtomicI32);

impl ReplaceableFile {
    pub(crate) fn new(file: File) -> Self {
        Self(AtomicI32::new(file.into_raw_fd()))
    }

    /// Puts another file in its place, with the same number if that is possible: not if the
    /// process' limit has become lower. To be called while there is no other thread.
    pub(crate) fn replace(&self, by: File) {
        let old = self.0.load(Ordering::Relaxed);
        // Not by libc's function, in whose place a program may have put another.
        // SAFETY: it is open, and stays open, since this is never dropped.
        let mut old = ManuallyDrop::new(unsafe { OwnedFd::from_raw_fd(old) });
        if rustix::io::dup3(&by, &mut old, DupFlags::CLOEXEC).is_err() {
            self.0.store(by.into_raw_fd(), Ordering::Relaxed);
            drop(ManuallyDrop::into_inner(old));
        }
    }
}

impl AsFd for ReplaceableFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: it is open until this is dropped, or replaced while nobody has borrowed it.
        unsafe { BorrowedFd::borrow_raw(self.0.load(Ordering::Relaxed)) }
    }
}

impl Drop for ReplaceableFile {
    fn drop(&mut self) {
        // SAFETY: this has owned it.
        drop(unsafe { OwnedFd::from_raw_fd(self.0.load(Ordering::Relaxed)) });
    }
}

/// Registers functions that every fork calls: before it, and after it in the parent and in the
/// child.
pub(crate) fn at_forks(before: extern "C" fn(), parent: extern "C" fn(), child: extern "C" fn()) {
    // SAFETY: functions stay valid forever.
    unsafe {
        libc::pthread_atfork(Some(before), Some(parent), Some(child));
    }
}

/// Nanoseconds since 1970, by the clock that the kernel's own file systems use: quick to read, and
/// ticking some hundred times a second.
#[inline]
pub(crate) fn now_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // libc's function, since tools that emulate programs (valgrind for one) know what it does.
    // SAFETY: `now` outlives the call, which cannot fail for this clock.
    unsafe { libc::clock_gettime(libc::CLOCK_REALTIME_COARSE, &raw mut now) };
    let (seconds, within) = (now.tv_sec.cast_unsigned(), now.tv_nsec.cast_unsigned());
    seconds.wrapping_mul(1_000_000_000).wrapping_add(within)
}
