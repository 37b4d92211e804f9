//! Threads at work on few names and files at once: what their calls give is what they would have
//! given one after another, each at some moment between its beginning and its end.
//!
//! What is promised: a call that makes, gives, moves or removes names, or looks at one, happens at
//! one moment for all directories; one that reads, writes, appends, cuts off or makes a hole does
//! so for its file. A list of a directory is none of these.
//!
//! `FSPRISM_LINEAR_ROUNDS` says how many rounds of calls there are.

mod files;
mod history;
mod names;
#[path = "../../../densefs/src/random.rs"]
mod random;

use random::Random;

/// Threads of a round.
const THREADS: usize = 4;
/// Calls of each thread in a round.
const CALLS: usize = 6;

fn rounds() -> u64 {
    let rounds = std::env::var("FSPRISM_LINEAR_ROUNDS").ok();
    rounds.map_or(2_000, |text| text.parse().expect("it is a number"))
}

impl Random {
    /// For a thread in a round.
    fn of(round: u64, thread: usize) -> Self {
        let mut random = Self((round * 16 + thread as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        (0..8).for_each(|_| assert!(random.below(2) < 2));
        random
    }

    /// The number of one of so many.
    fn index(&mut self, count: usize) -> usize {
        usize::try_from(self.below(count.max(1) as u64)).expect("it is small")
    }
}
