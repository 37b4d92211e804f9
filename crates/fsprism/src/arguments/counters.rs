//! What the processor counts in addition to what is timed.

use clap::Args;
use record::ProcessorCount;
use suites::NoSuite;
use suites::classic::processor_counts;

/// For suites whose phases the processor can count.
#[derive(Debug, Args)]
pub(crate) struct Counters {
    /// Also count, with the processor's own counters, what each phase moves into and out of the L2
    /// cache, and its misaligned accesses
    #[arg(long, conflicts_with = "resume")]
    counters: bool,
}

impl Counters {
    /// What to count; empty unless `--counters` was given.
    ///
    /// # Errors
    /// If this processor cannot count it. This is known before anything is timed.
    pub(crate) fn processor_counts(&self) -> Result<Vec<ProcessorCount>, NoSuite> {
        if self.counters { Ok(processor_counts::available()?) } else { Ok(Vec::new()) }
    }
}
