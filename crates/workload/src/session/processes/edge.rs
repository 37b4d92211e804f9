//! The thin layer over processes: fork, exit, and memory that a child shares with its parent. Each
//! function does one thing and makes no decisions.
#![expect(unsafe_code, reason = "fork, exit and shared memory have no safe wrapper")]

use std::ffi::c_int;
use std::io;
use std::ops::Deref;
use std::ptr::{NonNull, null_mut};

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use rustix::process::Pid;

/// The side of a fork that the caller is on.
pub(super) enum Forked {
    Child,
    Parent(Pid),
}

/// Forks this process, which must be single-threaded: in a child, locks of other threads would stay
/// locked forever.
pub(super) fn fork_alone() -> io::Result<Forked> {
    let threads = std::fs::read_dir("/proc/self/task")?.count();
    if threads != 1 {
        let why =
            format!("a process must have a single thread to fork, but this one has {threads}");
        return Err(io::Error::new(io::ErrorKind::ResourceBusy, why));
    }
    // SAFETY: the process has one thread, so no other thread holds a lock in the child.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        child => Ok(Pid::from_raw(child).map_or(Forked::Child, Forked::Parent)),
    }
}

/// Exits without running the exit handlers and destructors, which are the parent's.
pub(super) fn exit_now(status: c_int) -> ! {
    // SAFETY: `_exit` takes a number and does not return.
    unsafe { libc::_exit(status) }
}

/// A value in memory that this process shares with children forked later.
pub(in crate::session) struct SharedMapping<T> {
    at: NonNull<T>,
}

impl<T: Sync> SharedMapping<T> {
    /// Moves `value` into shared memory.
    pub(in crate::session) fn new(value: T) -> io::Result<Self> {
        const { assert!(!std::mem::needs_drop::<T>(), "nobody drops it") }
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at an address chosen by the kernel overlaps nothing.
        let mapped =
            unsafe { mmap_anonymous(null_mut(), size_of::<T>().max(1), access, MapFlags::SHARED) }?;
        let at = NonNull::new(mapped.cast::<T>()).ok_or(io::ErrorKind::OutOfMemory)?;
        // SAFETY: the mapping is writable, large enough for T, page-aligned, and used by nobody
        // else.
        unsafe { at.write(value) };
        Ok(Self { at })
    }
}

impl<T> Deref for SharedMapping<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the value was written when the mapping was made, which lives as long as self.
        // Others can only change it through T's atomics, since nobody has a mutable reference.
        unsafe { self.at.as_ref() }
    }
}

impl<T> Drop for SharedMapping<T> {
    fn drop(&mut self) {
        // SAFETY: the mapping has this length, and no reference outlives self. A child has its own
        // mapping.
        let unmapped = unsafe { munmap(self.at.as_ptr().cast(), size_of::<T>().max(1)) };
        debug_assert!(unmapped.is_ok(), "the mapping is ours");
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn a_shared_value_is_what_was_put_there_and_can_be_changed() {
        let shared = SharedMapping::new(AtomicU32::new(7)).expect("a page can be mapped");
        shared.fetch_add(1, Ordering::Relaxed);
        assert_eq!(shared.load(Ordering::Relaxed), 8);
    }

    #[test]
    fn a_process_of_several_threads_is_not_forked() {
        let here = std::sync::Barrier::new(2);
        let refused = std::thread::scope(|scope| {
            scope.spawn(|| here.wait());
            let refused = fork_alone().map(|_| ());
            here.wait();
            refused
        });
        let error = refused.expect_err("there are two threads");
        assert!(error.to_string().contains("must have a single thread"), "{error}");
    }
}
