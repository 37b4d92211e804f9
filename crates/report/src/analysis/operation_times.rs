//! The times of a cell's single operations, read from its log only once.

use measure::Histogram;

/// How long operations took: those of each replicate, and all of them together.
#[derive(Debug, Default)]
pub(super) struct OperationTimes {
    pub(super) each: Vec<Histogram>,
    pub(super) pooled: Histogram,
}

impl OperationTimes {
    pub(super) fn new(each: Vec<Histogram>) -> Self {
        let mut pooled = Histogram::new();
        each.iter().for_each(|histogram| pooled.merge(histogram));
        Self { each, pooled }
    }
}
