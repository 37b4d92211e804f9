//! Why a fit is refused.

/// Why no policy can be fitted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// Residency is given for another number of moments than the trace has.
    #[error("trace {trace} is looked at {expected} times, but residency is given for {given}")]
    Moments {
        /// The trace's name.
        trace: &'static str,
        /// Its moments.
        expected: usize,
        /// The moments given.
        given: usize,
    },
    /// Residency is given for another number of pages than the file has.
    #[error("trace {trace} has {expected} pages, but residency is given for {given}")]
    Pages {
        /// The trace's name.
        trace: &'static str,
        /// Its pages.
        expected: usize,
        /// The pages given.
        given: usize,
    },
    /// The range of capacities is empty or starts at 0.
    #[error("cannot search for a capacity from {low} to {high} pages: give a range from 1 up")]
    Capacity {
        /// The least capacity given.
        low: u32,
        /// The greatest capacity given.
        high: u32,
    },
    /// Pages come in by groups of none.
    #[error("pages cannot come and go in groups of 0: give 1 for single pages")]
    NoGroup,
    /// Nothing was evicted, or nothing was kept: there is nothing to explain.
    #[error(
        "{resident} of the {pages} pages looked at were resident: choose a limit below the working \
         set and above zero"
    )]
    NothingToExplain {
        /// The pages looked at, over all moments.
        pages: u64,
        /// Those that were resident.
        resident: u64,
    },
    /// The statistics refuse the level.
    #[error(transparent)]
    Statistics(#[from] stats::Refusal),
}
