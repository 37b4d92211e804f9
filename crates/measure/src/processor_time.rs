//! Processor time, as the scheduler accounts for it.
//!
//! How it is shared out between this program and the kernel is not told: where the kernel does not
//! account for each crossing, it samples that at the timer's ticks (`kernel/sched/cputime.c`,
//! `cputime_adjust`), of which a replicate sees about ten.

use rustix::time::{ClockId, clock_gettime};

/// What the calling thread has used of processors since it began, in nanoseconds.
#[must_use]
pub fn thread_processor_ns() -> u64 {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    let positive = |value: i64| u64::try_from(value).unwrap_or(0);
    positive(used.tv_sec) * 1_000_000_000 + positive(used.tv_nsec)
}

#[cfg(test)]
mod tests {
    use super::*;

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
