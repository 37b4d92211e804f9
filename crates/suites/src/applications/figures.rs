//! From the executions of a replicate to its figures.

use record::{Better, MetricDefinition, StandardMetric};

use crate::door::{Took, used_by};
use crate::neighbours::ChildrenUse;

/// What the executions of a replicate took, and those on nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Figures {
    /// On the tree.
    pub(super) whole: Vec<Took>,
    /// On an empty directory of the same target, started in the same way.
    pub(super) starts: Vec<Took>,
    /// Time of kernel threads and of processes that serve file systems, while all of those on the
    /// tree ran, in ns.
    pub(super) others_ns: u64,
}

impl Figures {
    /// Their names, the primary one first.
    pub(super) fn metrics() -> Vec<MetricDefinition> {
        let lower = |name| MetricDefinition::new(name, "ns", Better::Lower);
        vec![
            lower("wall_time"),
            StandardMetric::WITHOUT_START.definition(),
            lower("start_time"),
            lower("processor_time"),
            lower("user_time"),
            lower("system_time"),
            lower("others_time"),
        ]
    }

    /// What programs used that ran for this.
    pub(super) fn children(&self) -> ChildrenUse {
        used_by(self.whole.iter().chain(&self.starts))
    }

    /// The values of the [metrics](Self::metrics): medians of the executions. How the processor's
    /// time divides into the program's and the kernel's is a mean, since kernels find it out by
    /// looking now and then.
    pub(super) fn values(&self) -> Vec<f64> {
        let mean = |sum_ns: u64| sum_ns as f64 / self.whole.len().max(1) as f64;
        let wall_ns = median(&self.whole, |took| took.wall_ns);
        let start_ns = median(&self.starts, |took| took.wall_ns);
        vec![
            wall_ns,
            // A tree so small that nothing is left would have no ratio.
            (wall_ns - start_ns).max(1.0),
            start_ns,
            median(&self.whole, Took::processor_ns),
            mean(self.whole.iter().map(|took| took.user_ns).sum()),
            mean(self.whole.iter().map(|took| took.system_ns).sum()),
            mean(self.others_ns),
        ]
    }
}

/// The value in the middle, of an odd number.
fn median(all: &[Took], of: fn(&Took) -> u64) -> f64 {
    let mut values: Vec<u64> = all.iter().map(of).collect();
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_are_taken_off_the_median() {
        let took = |wall_ns| Took { wall_ns, user_ns: 2, system_ns: 3, waited_ns: Some(1) };
        let whole = vec![took(90), took(50), took(40)];
        let figures = Figures { whole, starts: vec![took(20)], others_ns: 12 };
        assert_eq!(figures.values(), [50.0, 30.0, 20.0, 5.0, 2.0, 3.0, 4.0]);
        let children = ChildrenUse { processor_ns: 20, waited_ns: 4 };
        assert_eq!(figures.children(), children);
        assert_eq!(Figures::metrics().len(), figures.values().len());
        let tiny = Figures { whole: vec![took(10)], ..figures };
        assert_eq!(tiny.values()[1], 1.0);
    }
}
