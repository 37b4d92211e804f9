//! Runs whose benchmarks ran in guests, told by their suites.

use crate::manifest::RunRecord;
use crate::{network, traffic};

impl RunRecord {
    /// Whether a run that was cut off can be resumed: what a search has learnt, and guests, end
    /// with the process.
    #[must_use]
    pub fn can_be_resumed(&self) -> bool {
        self.command != "cliff" && !self.is_of_guests()
    }

    /// Whether its benchmarks ran in guests and their figures are counts: what makes a time of this
    /// machine doubtful is no matter there.
    #[must_use]
    pub fn is_of_guests(&self) -> bool {
        [network::SUITE, traffic::SUITE].contains(&&*self.suite)
    }
}
