//! How many pages come and go together: kernels keep and evict folios, which have several pages.

use crate::observed_trace::ObservedTrace;

/// The largest group looked for, in pages.
const PAGES_MAX: usize = 64;

/// By how many standard errors neighbours within a group must agree more often.
const Z_MIN: f64 = 4.0;

/// The maximum ratio of their rates of disagreement.
const RATIO_MAX: f64 = 0.75;

/// How many pages come and go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouping {
    /// Found from the observation: the largest power of two, up to 64, such that the two halves of
    /// a group agree with each other clearly more often than with their other neighbours.
    Found,
    /// Aligned groups of this many pages; 1 for single pages.
    Pages(u32),
}

/// The largest power of two such that aligned groups of that many pages come and go together.
pub(super) fn find(battery: &[ObservedTrace]) -> u32 {
    // From the top down: deep inside large groups, the boundaries of small ones all look alike.
    let mut pages = PAGES_MAX;
    while pages > 1 && !is_half(battery, pages / 2) {
        pages /= 2;
    }
    pages.try_into().expect("at most 64")
}

/// Whether groups of `half` pages are halves of larger groups: compares neighbours at the boundary
/// within a pair of them to neighbours at the boundary between pairs.
fn is_half(battery: &[ObservedTrace], half: usize) -> bool {
    let differing = |offset| {
        let mut pairs = [0.0, 0.0];
        for pages in battery.iter().flat_map(ObservedTrace::resident) {
            for pair in pages.windows(2).skip(offset - 1).step_by(2 * half) {
                pairs[0] += 1.0;
                pairs[1] += f64::from(u8::from(pair[0] != pair[1]));
            }
        }
        pairs
    };
    let [[within, within_differ], [between, between_differ]] = [half, 2 * half].map(differing);
    if within == 0.0 || between == 0.0 {
        return false;
    }
    let [p, q] = [within_differ / within, between_differ / between];
    let pooled = (within_differ + between_differ) / (within + between);
    let error = (pooled * (1.0 - pooled) * (1.0 / within + 1.0 / between)).sqrt();
    p < RATIO_MAX * q && q - p > Z_MIN * error
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Generator, scan};
    use crate::trace::Trace;

    fn observed(pages_per_group: u32, noise: u32) -> [ObservedTrace; 1] {
        let pages = 4000;
        let coins = Generator::new(1).uniform(0, 2, 4000);
        let flips = Generator::new(2).uniform(0, 100, 4000);
        let resident = (0..pages).map(|page: u32| {
            let coin = coins[(page / pages_per_group) as usize].page == 1;
            coin != (flips[page as usize].page < noise)
        });
        let trace = Trace::new("t", scan(pages), 1);
        [ObservedTrace::new(trace, vec![resident.collect()]).unwrap()]
    }

    #[test]
    fn groups_are_found_through_noise() {
        for pages in [1, 2, 4, 8, 16] {
            for noise in [0, 5, 10] {
                assert_eq!(find(&observed(pages, noise)), pages, "{pages} at {noise} %");
            }
        }
    }

    #[test]
    fn a_scan_alone_shows_no_groups() {
        let trace = Trace::new("t", scan(1000), 1);
        let resident = (0..1000).map(|page| page >= 500).collect();
        assert_eq!(find(&[ObservedTrace::new(trace, vec![resident]).unwrap()]), 1);
    }
}
