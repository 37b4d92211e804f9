//! What the calling thread has used of processors so far.
#![expect(unsafe_code, reason = "getrusage has no safe wrapper")]

use std::mem::MaybeUninit;

use rustix::time::{ClockId, clock_gettime};

use crate::session::ProcessorTime;

/// Processor time of the calling thread since it began.
///
/// Together they are exact: they come from the scheduler. How they are shared out between user and
/// system is sampled at the timer's ticks where the kernel does no more (`kernel/sched/cputime.c`,
/// `cputime_adjust`), so it is right on average only.
pub(crate) fn thread_usage() -> ProcessorTime {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to memory for one `rusage`, which zeroes are a valid value of.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
        usage.assume_init()
    };
    let (user, system) = (nanos(usage.ru_utime), nanos(usage.ru_stime));
    let all = clock_gettime(ClockId::ThreadCPUTime);
    let all_ns = positive(all.tv_sec) * 1_000_000_000 + positive(all.tv_nsec);
    ProcessorTime::shared_out(all_ns, user, system)
}

fn nanos(time: libc::timeval) -> u64 {
    positive(time.tv_sec) * 1_000_000_000 + positive(time.tv_usec) * 1000
}

fn positive(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_only_grows_and_calls_count_as_system() {
        let before = thread_usage();
        let mut work = 1_u64;
        while thread_usage().since(before).all_ns() < 20_000_000 {
            work = std::hint::black_box(work.wrapping_mul(3));
            rustix::thread::sched_yield();
        }
        let used = thread_usage().since(before);
        assert_eq!(used.all_ns(), used.user_ns + used.system_ns);
        assert!(used.system_ns > 0, "{used:?}");
    }
}
