//! The capacity under which a policy makes the observation most likely.
//!
//! Full caches show their capacity: it is close to the number of resident pages, give or take the
//! noise. From there, a pattern search (Hooke & Jeeves, "Direct Search Solution of Numerical and
//! Statistical Problems", 1961) tries both sides in steps of a sixteenth, and divides the step by
//! four whenever neither side is better, down to one. For policies without the inclusion property,
//! the likelihood has several peaks; the starting point is what keeps the search near the highest.

use std::ops::RangeInclusive;

use super::bins::Bins;
use super::case::{Model, PreparedTrace};
use crate::policy::Policy;

/// How many times a random policy is simulated: during the search for its capacity, and at the end.
const SIMULATIONS: [u8; 2] = [4, 16];

/// Where to start, in groups: the median number of resident pages over the moments at which more
/// than a twentieth of the accessed pages had been evicted, but not all. `None` if there are none.
pub(super) fn start(cases: &[PreparedTrace], pages_per_group: u32) -> Option<u32> {
    let looks = cases.iter().flat_map(PreparedTrace::residency);
    let full = looks.filter(|&(pages, resident)| 0 < resident && resident * 20 < pages * 19);
    let mut counts: Vec<u64> = full.map(|(_, resident)| resident).collect();
    counts.sort_unstable();
    let median = *counts.get(counts.len() / 2)?;
    u32::try_from(median.div_ceil(u64::from(pages_per_group))).ok()
}

/// The model of `policy` that explains `cases` best, with a capacity within `range`, in groups.
pub(super) fn search(
    cases: &[PreparedTrace],
    policy: Policy,
    seed: u64,
    start: u32,
    range: &RangeInclusive<u32>,
) -> Model {
    let [seeking, last] = if policy == Policy::Random { SIMULATIONS } else { [1; 2] };
    let model = |capacity| Model { policy, capacity, simulations: seeking, seed };
    let mut best = start.clamp(*range.start(), *range.end());
    let mut likelihood = log_likelihood(cases, model(best));
    let mut step = (best / 16).max(1);
    let mut tried = vec![best];
    loop {
        let sides = [best.saturating_sub(step), best.saturating_add(step)];
        let mut improved = false;
        for side in sides.map(|side| side.clamp(*range.start(), *range.end())) {
            if tried.contains(&side) {
                continue;
            }
            tried.push(side);
            let candidate = log_likelihood(cases, model(side));
            if candidate > likelihood {
                (best, likelihood, improved) = (side, candidate, true);
            }
        }
        if !improved && step == 1 {
            return Model { simulations: last, ..model(best) };
        }
        if !improved {
            step = step.div_ceil(4);
        }
    }
}

fn log_likelihood(cases: &[PreparedTrace], model: Model) -> f64 {
    let mut all = Bins::new(model.simulations);
    for case in cases {
        case.compare(model).iter().flatten().for_each(|bins| all.merge(bins));
    }
    all.log_likelihood(all.noise())
}
