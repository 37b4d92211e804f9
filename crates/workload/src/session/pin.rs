//! Keeping a thread on one processor.

use rustix::io::Errno;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The processors that this process may use, in order.
pub(crate) fn allowed_processors() -> Result<Vec<usize>, Errno> {
    let allowed = sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU).filter(|&processor| allowed.is_set(processor)).collect())
}

/// Keeps the calling thread on the `thread`-th of `processors`, counted round.
pub(crate) fn stay_on(processors: &[usize], thread: usize) -> Result<(), Errno> {
    if processors.is_empty() {
        return Ok(());
    }
    let mut only = CpuSet::new();
    only.set(processors[thread % processors.len()]);
    sched_setaffinity(None, &only)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_dealt_out_over_the_allowed_processors() {
        let processors = allowed_processors().expect("a process may ask for its own");
        assert!(!processors.is_empty());
        std::thread::scope(|scope| {
            for number in 0..processors.len() + 1 {
                let processors = &processors;
                scope.spawn(move || {
                    stay_on(processors, number).expect("it is allowed");
                    let now = allowed_processors().expect("a thread may ask for its own");
                    assert_eq!(now, [processors[number % processors.len()]]);
                });
            }
        });
    }
}
