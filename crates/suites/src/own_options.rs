//! Options that a suite alone takes, as arguments of its command line.

use std::time::Duration;

use clap::Args;

use crate::catalogue::Suite;

/// Why options make no suite: a sentence for whoever gave them.
pub type NoSuite = Box<dyn std::error::Error + Send + Sync>;

/// The options of one suite. `fsprism run SUITE` takes them besides those of every suite.
pub trait OwnOptions: Args {
    /// The suite as these options want it, on the targets that were named.
    ///
    /// # Errors
    /// When they contradict each other, or cannot be met on this machine.
    fn shape(self, suite: Suite, targets: &[String]) -> Result<Suite, NoSuite>;

    /// The suite with what lasts as long as somebody wants shortened, so that blocks enough for
    /// intervals fit into a budget on so many targets; and what to say about that.
    ///
    /// # Errors
    /// As [`shape`](Self::shape).
    fn within(
        suite: Suite,
        _budget: Duration,
        _targets: usize,
    ) -> Result<(Suite, Option<String>), NoSuite> {
        Ok((suite, None))
    }

    /// What is measured if no target is named: nothing of its own, unless the suite knows better.
    ///
    /// # Errors
    /// When it knows no place for all.
    fn own_targets(_suite: &Suite) -> Result<Vec<String>, NoSuite> {
        Ok(Vec::new())
    }
}
