//! What entering and leaving the kernel costs here: the floor under every operation.

use measure::Clock;

const CALLS: u64 = 1000;
const BATCHES: usize = 11;

/// Cost of the cheapest system call (`getppid`), in nanoseconds: the median of some batches.
#[must_use]
pub fn system_call_ns(clock: &impl Clock) -> f64 {
    let mut batches: Vec<u64> = (0..BATCHES)
        .map(|_| {
            let start_ticks = clock.start();
            for _ in 0..CALLS {
                std::hint::black_box(rustix::process::getppid());
            }
            clock.nanos(clock.end().saturating_sub(start_ticks))
        })
        .collect();
    batches.sort_unstable();
    batches[BATCHES / 2] as f64 / CALLS as f64
}
