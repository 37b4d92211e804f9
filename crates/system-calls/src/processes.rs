//! Processes and threads: what they share, how they begin and end, what they have used.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::ptr;
use std::time::Duration;

use rustix::process::{Pid, Signal};

use crate::checked;

/// The scheduler's own accounting, in nanoseconds.
const CPUCLOCK_SCHED: libc::clockid_t = 2;

/// Gives this process mounts of its own. The caller has made sure that it has one thread.
pub fn unshare_mounts() -> io::Result<()> {
    // SAFETY: only the table of descriptors makes this call unsafe, and it stays shared.
    unsafe { rustix::thread::unshare_unsafe(rustix::thread::UnshareFlags::NEWNS) }?;
    Ok(())
}

/// Gives the calling thread a working directory of its own, so that it can change it while other
/// threads stay where they are. Its root and its mask of new files' permissions become its own too.
pub fn unshare_working_directory() -> io::Result<()> {
    // SAFETY: only the table of descriptors makes this call unsafe, and it stays shared.
    unsafe { rustix::thread::unshare_unsafe(rustix::thread::UnshareFlags::FS) }?;
    Ok(())
}

/// Forks; the child runs `body` with every signal blocked and exits with what it returns.
///
/// The caller has made sure that the process has one thread, so that no lock is held by a thread
/// that the child does not have.
pub fn fork_blocking_signals(body: impl FnOnce() -> i32) -> io::Result<Pid> {
    let mut all = MaybeUninit::uninit();
    let mut before = MaybeUninit::uninit();
    // SAFETY: both sets live on this stack; sigfillset initialises `all`, pthread_sigmask `before`.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
    }
    // SAFETY: with one thread, the child may do whatever the parent may.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        let status = catch_unwind(AssertUnwindSafe(body)).unwrap_or(101);
        // SAFETY: leaves at once; the parent's buffers and exit handlers are not the child's.
        unsafe { libc::_exit(status) };
    }
    let error = io::Error::last_os_error();
    // SAFETY: `before` was initialised by the first call.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), ptr::null_mut()) };
    if pid > 0 { Pid::from_raw(pid).ok_or(error) } else { Err(error) }
}

/// Closes every descriptor from 3 up but those in `kept`.
pub fn close_all_but(kept: &[BorrowedFd<'_>]) {
    let mut numbers: Vec<u32> = kept.iter().map(|fd| fd.as_raw_fd().cast_unsigned()).collect();
    numbers.sort_unstable();
    let mut first = 3;
    for number in numbers.into_iter().chain([u32::MAX]) {
        if first < number {
            // SAFETY: only the freshly forked guardian calls this, and it uses none of these.
            unsafe { libc::close_range(first, number - 1, 0) };
        }
        first = number.saturating_add(1).max(first);
    }
}

/// Puts `file` at the number `target`, as `dup2(2)`, without close-on-exec.
pub fn duplicate_onto(file: impl AsFd, target: i32) -> io::Result<()> {
    // SAFETY: only the freshly forked guardian calls this, on numbers that nothing there owns.
    checked(unsafe { libc::dup2(file.as_fd().as_raw_fd(), target) }).map(drop)
}

/// What a process, all its threads together, has used of processors since it began. Anybody may ask
/// this of any process; of a kernel thread it is its own.
///
/// # Errors
/// When there is no such process.
pub fn processor_time_of(pid: Pid) -> io::Result<Duration> {
    // `MAKE_PROCESS_CPUCLOCK` of the kernel's `linux/posix-timers.h`, which is what
    // `clock_getcpuclockid(3)` gives, without its extra call.
    let clock = (!pid.as_raw_nonzero().get() << 3) | CPUCLOCK_SCHED;
    let mut time = MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: the kernel writes a `timespec`, for which there is room, or fails.
    checked(unsafe { libc::clock_gettime(clock, time.as_mut_ptr()) })?;
    // SAFETY: it succeeded.
    let time = unsafe { time.assume_init() };
    let positive = |value: i64| u64::try_from(value).unwrap_or(0);
    Ok(Duration::from_secs(positive(time.tv_sec)) + Duration::from_nanos(positive(time.tv_nsec)))
}

/// Makes the command's process die when the thread that starts it does.
pub fn die_with_parent(command: &mut Command) {
    let parent = rustix::process::getpid();
    let before_exec = move || {
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        // The parent may have died before the line above.
        if rustix::process::getppid() == Some(parent) {
            Ok(())
        } else {
            Err(io::ErrorKind::Interrupted.into())
        }
    };
    // SAFETY: the closure makes two system calls, allocates nothing and takes no lock.
    unsafe { command.pre_exec(before_exec) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_of_this_process_grows_and_nobody_has_none() {
        let own = rustix::process::getpid();
        let before = processor_time_of(own).expect("this process is there");
        let mut work = 1_u64;
        while processor_time_of(own).expect("it still is") < before + Duration::from_millis(2) {
            work = std::hint::black_box(work.wrapping_mul(3));
        }
        let nobody = Pid::from_raw(i32::MAX / 16).expect("it is positive");
        assert!(processor_time_of(nobody).is_err());
    }

    #[test]
    fn a_forked_child_exits_with_its_bodys_value() {
        // The body takes no lock, so the threads of the test harness do no harm.
        let pid = fork_blocking_signals(|| 7).expect("fork is permitted");
        let (_, status) =
            rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::empty())
                .expect("the child is ours")
                .expect("waiting was blocking");
        assert_eq!(status.exit_status(), Some(7));
    }
}
