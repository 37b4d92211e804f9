//! Runs whose benchmarks ran in guests, recognised by their suites.

use crate::manifest::RunRecord;
use crate::{network, traffic};

impl RunRecord {
    /// Whether the run can be resumed after it was interrupted. The state of a search and of guests
    /// is lost with the process.
    #[must_use]
    pub fn can_be_resumed(&self) -> bool {
        self.command != "cliff" && !self.is_of_guests()
    }

    /// Whether its benchmarks ran in guests and their figures are counts, so that warnings about
    /// the timing on this machine do not apply.
    #[must_use]
    pub fn is_of_guests(&self) -> bool {
        [network::SUITE, traffic::SUITE].contains(&&*self.suite)
    }
}
