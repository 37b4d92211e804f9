//! Errors of a fit.

/// Why no policy can be fitted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// The residency given is for a different number of moments than the trace has.
    #[error("trace {trace} is looked at {expected} times, but residency is given for {given}")]
    Moments {
        /// The trace's name.
        trace: &'static str,
        /// The number of moments in the trace.
        expected: usize,
        /// The number of moments given.
        given: usize,
    },
    /// The residency given is for a different number of pages than the file has.
    #[error("trace {trace} has {expected} pages, but residency is given for {given}")]
    Pages {
        /// The trace's name.
        trace: &'static str,
        /// The number of pages in the file.
        expected: usize,
        /// The number of pages given.
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
    /// The group size is 0 pages.
    #[error("pages cannot come and go in groups of 0: give 1 for single pages")]
    NoGroup,
    /// Nothing was evicted, or nothing was kept: there is nothing to explain.
    #[error(
        "{resident} of the {pages} pages looked at were resident: choose a limit below the working \
         set and above zero"
    )]
    NothingToExplain {
        /// The number of pages checked, over all moments.
        pages: u64,
        /// How many of them were resident.
        resident: u64,
    },
    /// The statistics library refused, for example because of the confidence level.
    #[error(transparent)]
    Statistics(#[from] stats::Refusal),
}
