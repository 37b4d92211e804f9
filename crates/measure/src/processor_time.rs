//! CPU time, and time spent waiting for a processor, as the scheduler accounts for them.
//!
//! The split into user and system time is left out: unless the kernel accounts for each crossing,
//! it samples that split at timer ticks (`kernel/sched/cputime.c`, `cputime_adjust`), of which a
//! replicate sees about ten.

use rustix::time::{ClockId, clock_gettime};

/// The CPU time that the calling thread has used since it began, in nanoseconds.
#[must_use]
pub fn thread_processor_ns() -> u64 {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    let positive = |value: i64| u64::try_from(value).unwrap_or(0);
    positive(used.tv_sec) * 1_000_000_000 + positive(used.tv_nsec)
}

/// How long the calling thread has been ready to run but waiting for a processor since it began, in
/// nanoseconds (`run_delay` in the kernel's `Documentation/scheduler/sched-stats.rst`); `None` if
/// the kernel does not say (`CONFIG_SCHED_INFO`).
#[must_use]
pub fn thread_waited_ns() -> Option<u64> {
    waited_ns(&std::fs::read_to_string("/proc/thread-self/schedstat").ok()?)
}

/// The second of three numbers: time on a processor, time waiting, and timeslices run.
fn waited_ns(text: &str) -> Option<u64> {
    text.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_is_the_second_number() {
        assert_eq!(waited_ns("168 84308 1\n"), Some(84_308));
        assert_eq!(waited_ns("168\n"), None);
        assert_eq!(waited_ns("168 - 1\n"), None);
    }

    #[test]
    fn work_is_counted_and_sleep_is_not() {
        let before = thread_processor_ns();
        let mut work = 1_u64;
        while thread_processor_ns() < before + 5_000_000 {
            work = std::hint::black_box(work.wrapping_mul(3));
        }
        let (sender, receiver) = std::sync::mpsc::channel::<()>();
        let waiting = std::thread::spawn(move || {
            let before = thread_processor_ns();
            assert!(receiver.recv().is_err());
            thread_processor_ns() - before
        });
        let began = std::time::Instant::now();
        while began.elapsed().as_millis() < 20 {
            std::hint::black_box(work);
        }
        drop(sender);
        assert!(waiting.join().expect("it only waits") < 20_000_000);
    }
}
