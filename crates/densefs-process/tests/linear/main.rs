//! Threads use a few names and files at the same time. The results of their calls must be explained
//! by a sequential order, in which each call takes effect at some moment between its start and its
//! end.
//!
//! The guarantees: creating, linking, renaming, removing and looking up names take effect at a
//! single moment for all directories; reading, writing, appending, truncating and punching holes do
//! so for the file. Listing a directory gives neither guarantee.
//!
//! `FSPRISM_LINEAR_ROUNDS` sets the number of rounds of calls.

mod files;
mod history;
mod names;
#[path = "../../../densefs/src/random.rs"]
mod random;

use random::Random;

/// Threads in a round.
const THREADS: usize = 4;
/// Calls of each thread in a round.
const CALLS: usize = 6;

fn rounds() -> u64 {
    let rounds = std::env::var("FSPRISM_LINEAR_ROUNDS").ok();
    rounds.map_or(2_000, |text| text.parse().expect("it is a number"))
}

impl Random {
    /// The random numbers for a thread in a round.
    fn new(round: u64, thread: usize) -> Self {
        let mut random = Self((round * 16 + thread as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        (0..8).for_each(|_| assert!(random.below(2) < 2));
        random
    }

    /// A random index less than `count`.
    fn index(&mut self, count: usize) -> usize {
        usize::try_from(self.below(count.max(1) as u64)).expect("it is small")
    }
}
