//! Replays a trace and looks at what is resident at its moments.

use replacement::{ObservedTrace, Trace};
use runner::Failure;

use crate::failure::failed;

/// A cache that a trace is replayed on.
pub(super) trait Cached {
    /// Accesses a page and returns whether it was resident before.
    fn access(&mut self, access: replacement::Access) -> Result<bool, Failure>;

    /// Whether each of the first `pages` pages is resident.
    fn resident(&mut self, pages: u32) -> Result<Vec<bool>, Failure>;
}

/// What was observed during a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Replay {
    /// Whether each access found its page resident, in order.
    pub(super) hits: Vec<bool>,
    /// Whether each page was resident, by moment and then by page.
    pub(super) resident: Vec<Vec<bool>>,
}

impl Replay {
    /// Replays `trace`, starting with an empty cache.
    pub(super) fn run(trace: &Trace, cache: &mut impl Cached) -> Result<Self, Failure> {
        let mut hits = Vec::with_capacity(trace.accesses().len());
        let mut resident = Vec::with_capacity(trace.moments().len());
        let mut done = 0;
        for &moment in trace.moments() {
            for &access in &trace.accesses()[done..moment] {
                hits.push(cache.access(access)?);
            }
            done = moment;
            resident.push(cache.resident(trace.pages())?);
        }
        Ok(Self { hits, resident })
    }

    /// What was resident at the end.
    pub(super) fn at_the_end(&self) -> &[bool] {
        self.resident.last().map_or(&[], Vec::as_slice)
    }

    /// The observation that policies are fitted to.
    pub(super) fn into_observation(self, trace: Trace) -> Result<ObservedTrace, Failure> {
        ObservedTrace::new(trace, self.resident).map_err(|error| failed(&error))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use replacement::{Access, Cache, Policy, Size, generate};

    use super::*;

    /// A cache with a known policy.
    pub(crate) struct Simulated(Box<dyn Cache>);

    impl Simulated {
        pub(crate) fn new(policy: Policy, capacity: u32, pages: u32) -> Self {
            Self(policy.cache(Size { capacity, pages }, 1))
        }
    }

    impl Cached for Simulated {
        fn access(&mut self, access: Access) -> Result<bool, Failure> {
            let was_resident = self.0.is_resident(access.page);
            self.0.access(access);
            Ok(was_resident)
        }

        fn resident(&mut self, pages: u32) -> Result<Vec<bool>, Failure> {
            Ok((0..pages).map(|page| self.0.is_resident(page)).collect())
        }
    }

    #[test]
    fn hits_and_residency_are_those_of_the_cache() {
        let trace = Trace::new("loop", generate::cycle(6, 12), 3);
        let replayed = Replay::run(&trace, &mut Simulated::new(Policy::Lru, 4, 6)).expect("fine");
        assert_eq!(replayed.hits, [false; 12]);
        // After 4, 8 and 12 accesses: the last four pages of a loop of six.
        let pages = |resident: &Vec<bool>| -> Vec<usize> {
            (0..6).filter(|&page| resident[page]).collect()
        };
        let seen: Vec<Vec<usize>> = replayed.resident.iter().map(pages).collect();
        assert_eq!(seen, [vec![0, 1, 2, 3], vec![0, 1, 4, 5], vec![2, 3, 4, 5]]);
        assert_eq!(replayed.at_the_end(), [false, false, true, true, true, true]);
        let whole = Replay::run(&trace, &mut Simulated::new(Policy::Lru, 6, 6)).expect("fine");
        assert_eq!(whole.hits.iter().filter(|hit| **hit).count(), 6);
    }
}
