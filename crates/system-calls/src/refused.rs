//! Calls that never fail unless a seccomp filter refuses them, as in some containers.

use std::io;
use std::ptr;

/// Returns a call that the program and its libraries expect to succeed but that is refused here,
/// with the kernel's error; `None` if all of them are allowed. None of the calls changes anything.
#[must_use]
pub fn refused_call() -> Option<(&'static str, io::Error)> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let no_time = time;
    let word: u32 = 0;
    let (none, now) = (ptr::null::<libc::rlimit>(), ptr::null_mut::<libc::timespec>());
    // SAFETY: each call gets the arguments in its manual page: numbers, null where that is allowed,
    // and addresses on this stack of what it reads or writes.
    let done = unsafe {
        [
            ("getpid", libc::syscall(libc::SYS_getpid)),
            ("getppid", libc::syscall(libc::SYS_getppid)),
            ("getuid", libc::syscall(libc::SYS_getuid)),
            ("geteuid", libc::syscall(libc::SYS_geteuid)),
            ("getgid", libc::syscall(libc::SYS_getgid)),
            ("getegid", libc::syscall(libc::SYS_getegid)),
            (
                "prlimit64",
                libc::syscall(libc::SYS_prlimit64, 0, libc::RLIMIT_NOFILE, none, &raw mut limit),
            ),
            (
                "clock_gettime",
                libc::syscall(
                    libc::SYS_clock_gettime,
                    libc::CLOCK_THREAD_CPUTIME_ID,
                    &raw mut time,
                ),
            ),
            // A duration of zero.
            (
                "clock_nanosleep",
                libc::syscall(
                    libc::SYS_clock_nanosleep,
                    libc::CLOCK_MONOTONIC,
                    0,
                    &raw const no_time,
                    now,
                ),
            ),
            // There are no waiters.
            ("futex", libc::syscall(libc::SYS_futex, &raw const word, WAKE_OWN, 1)),
        ]
        .map(|(name, result)| (name, (result < 0).then(io::Error::last_os_error)))
    };
    done.into_iter().find_map(|(name, error)| Some((name, error?)))
}

const WAKE_OWN: libc::c_int = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;

#[cfg(test)]
mod tests {
    #[test]
    fn none_is_refused_here() {
        assert!(super::refused_call().is_none());
    }
}
