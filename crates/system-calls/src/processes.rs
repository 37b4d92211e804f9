//! Processes and threads: what they share, how they start and end, the CPU time they have used.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::ptr;
use std::time::Duration;

use rustix::process::{Pid, Signal};

use crate::checked;

/// The clock based on the scheduler's own accounting, in nanoseconds.
const CPUCLOCK_SCHED: libc::clockid_t = 2;

/// Gives this process its own mount namespace. The caller must ensure that it is single-threaded.
pub fn unshare_mounts() -> io::Result<()> {
    // SAFETY: this call is unsafe only because of the descriptor table, which stays shared.
    unsafe { rustix::thread::unshare_unsafe(rustix::thread::UnshareFlags::NEWNS) }?;
    Ok(())
}

/// Gives this process a user namespace and a mount namespace of its own, for users who may not
/// mount elsewhere. The caller must ensure that it is single-threaded.
pub fn unshare_user_and_mounts() -> io::Result<()> {
    let both = rustix::thread::UnshareFlags::NEWUSER | rustix::thread::UnshareFlags::NEWNS;
    // SAFETY: this call is unsafe only because of the descriptor table, which stays shared.
    unsafe { rustix::thread::unshare_unsafe(both) }?;
    Ok(())
}

/// Gives the calling thread its own working directory, so that it can change it without affecting
/// other threads. Its root directory and umask become its own too.
pub fn unshare_working_directory() -> io::Result<()> {
    // SAFETY: this call is unsafe only because of the descriptor table, which stays shared.
    unsafe { rustix::thread::unshare_unsafe(rustix::thread::UnshareFlags::FS) }?;
    Ok(())
}

/// Does something in a thread whose table of file descriptors is its own, a copy of this one's.
/// What it opens has one owner, as in a program with one thread; otherwise the kernel counts each
/// call's reference to a file, and takes a lock for its position: 10 to 30 ns for each call.
///
/// Files that it opens exist in that thread alone, so it must not return any.
pub fn with_own_descriptors<T: Send>(act: impl FnOnce() -> T + Send) -> io::Result<T> {
    std::thread::scope(|scope| {
        let own = scope.spawn(|| on_own_descriptors(None, |own| own.map(|()| act())));
        own.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// The same in the calling thread, which must end soon: all descriptors of its table are closed
/// afterwards. Those above standard error are closed before anybody can know that it ends, so that
/// nothing stays open for longer than its owner keeps it. `closed` is closed at once. If the table
/// cannot be copied, `act` is told so.
pub fn on_own_descriptors<T>(closed: Option<RawFd>, act: impl FnOnce(io::Result<()>) -> T) -> T {
    // SAFETY: all descriptors stay valid, since they are copied. Those that are opened afterwards
    // do not leave this thread, as is demanded above.
    let own = unsafe { rustix::thread::unshare_unsafe(rustix::thread::UnshareFlags::FILES) };
    if let (Ok(()), Some(closed)) = (own, closed) {
        // SAFETY: this is the copy of this thread alone.
        unsafe { rustix::io::close(closed) };
    }
    let done = act(own.map_err(io::Error::from));
    if own.is_ok() {
        close_all_but(&[]);
    }
    done
}

/// Forks; the child runs `body` with all signals blocked and exits with the value that it returns.
///
/// The caller must ensure that the process is single-threaded, so that no lock is held by a thread
/// that does not exist in the child.
pub fn fork_blocking_signals(body: impl FnOnce() -> i32) -> io::Result<Pid> {
    let mut all = MaybeUninit::uninit();
    let mut before = MaybeUninit::uninit();
    // SAFETY: both sets are on this stack; sigfillset initialises `all`, pthread_sigmask `before`.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
    }
    // SAFETY: in a single-threaded process, the child may do whatever the parent may.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        let status = catch_unwind(AssertUnwindSafe(body)).unwrap_or(101);
        // SAFETY: exits at once; the parent's buffers and exit handlers are not the child's to run.
        unsafe { libc::_exit(status) };
    }
    let error = io::Error::last_os_error();
    // SAFETY: `before` was initialised by the first call.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), ptr::null_mut()) };
    if pid > 0 { Pid::from_raw(pid).ok_or(error) } else { Err(error) }
}

/// Forks; the child runs `body` and exits with the value that it returns.
///
/// The caller must ensure that the process is single-threaded, so that no lock is held by a thread
/// that does not exist in the child.
///
/// # Errors
/// If there can be no further process.
pub fn fork(body: impl FnOnce() -> i32) -> io::Result<Pid> {
    // SAFETY: in a single-threaded process, the child may do whatever the parent may.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        let status = catch_unwind(AssertUnwindSafe(body)).unwrap_or(101);
        // SAFETY: exits at once; the parent's buffers and exit handlers are not the child's to run.
        unsafe { libc::_exit(status) };
    }
    checked(pid)?;
    Pid::from_raw(pid).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Closes every descriptor from 3 up except those in `kept`.
pub fn close_all_but(kept: &[BorrowedFd<'_>]) {
    let mut numbers: Vec<u32> = kept.iter().map(|fd| fd.as_raw_fd().cast_unsigned()).collect();
    numbers.sort_unstable();
    let mut first = 3;
    for number in numbers.into_iter().chain([u32::MAX]) {
        if first < number {
            // SAFETY: only the newly forked guardian and threads with a table of their own call
            // this, and they use none of these descriptors any more.
            unsafe { libc::close_range(first, number - 1, 0) };
        }
        first = number.saturating_add(1).max(first);
    }
}

/// Duplicates `file` onto the descriptor `target`, like `dup2(2)`, without close-on-exec.
pub fn duplicate_onto(file: impl AsFd, target: i32) -> io::Result<()> {
    // SAFETY: only the newly forked guardian calls this, on descriptors that nothing there owns.
    checked(unsafe { libc::dup2(file.as_fd().as_raw_fd(), target) }).map(drop)
}

/// The CPU time used by a process, all threads together, since it started. This works for any
/// process, whoever owns it; for a kernel thread it is the time of that thread.
///
/// # Errors
/// If there is no such process.
pub fn processor_time_of(pid: Pid) -> io::Result<Duration> {
    // `MAKE_PROCESS_CPUCLOCK` of the kernel's `linux/posix-timers.h`: the result of
    // `clock_getcpuclockid(3)` without its additional system call.
    let clock = (!pid.as_raw_nonzero().get() << 3) | CPUCLOCK_SCHED;
    let mut time = MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: the kernel writes a `timespec`, for which there is space, or fails.
    checked(unsafe { libc::clock_gettime(clock, time.as_mut_ptr()) })?;
    // SAFETY: the call succeeded, so `time` is initialised.
    let time = unsafe { time.assume_init() };
    let positive = |value: i64| u64::try_from(value).unwrap_or(0);
    Ok(Duration::from_secs(positive(time.tv_sec)) + Duration::from_nanos(positive(time.tv_nsec)))
}

/// What a process used, together with the descendants that it waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessUsage {
    /// Time of the processor in the program.
    pub user: Duration,
    /// Time of the processor in the kernel.
    pub system: Duration,
    /// How it ended, as `waitpid(2)` encodes it.
    pub status: i32,
}

/// Waits until a child has ended, and returns what it used.
///
/// # Errors
/// If it is no child of this process that could be waited for.
pub fn wait_with_usage(child: Pid) -> io::Result<ProcessUsage> {
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::uninit();
    loop {
        // SAFETY: the kernel writes both, for which there is space, or fails.
        let waited = unsafe {
            libc::wait4(child.as_raw_nonzero().get(), &raw mut status, 0, usage.as_mut_ptr())
        };
        match checked(waited) {
            Ok(_) => break,
            Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
            Err(why) => return Err(why),
        }
    }
    // SAFETY: the call succeeded, so `usage` is initialised.
    let usage = unsafe { usage.assume_init() };
    let time = |value: libc::timeval| {
        let positive = |value: i64| u64::try_from(value).unwrap_or(0);
        Duration::from_secs(positive(value.tv_sec)) + Duration::from_micros(positive(value.tv_usec))
    };
    Ok(ProcessUsage { user: time(usage.ru_utime), system: time(usage.ru_stime), status })
}

/// Has the command's process killed when the thread that starts it dies.
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
    // SAFETY: the closure makes two system calls, does not allocate and takes no lock.
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
    #[expect(clippy::zombie_processes, reason = "it is waited for by its number")]
    fn a_child_leaves_what_it_used_and_how_it_ended() {
        let child = Command::new("sh").args(["-c", "exit 3"]).spawn().expect("there is a shell");
        let child = Pid::from_raw(child.id().cast_signed()).expect("it is positive");
        let usage = wait_with_usage(child).expect("it is our child");
        assert_eq!(usage.status >> 8, 3);
        assert!(usage.user + usage.system > Duration::ZERO);
        assert!(wait_with_usage(child).is_err(), "it has been waited for");
    }

    #[test]
    fn a_forked_child_exits_with_its_bodys_value() {
        // The body takes no lock, so the threads of the test harness are harmless.
        let pid = fork_blocking_signals(|| 7).expect("fork is permitted");
        let (_, status) =
            rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::empty())
                .expect("the child is ours")
                .expect("waiting was blocking");
        assert_eq!(status.exit_status(), Some(7));
    }
}
