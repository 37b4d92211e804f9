//! An observed trace prepared for many simulations: in groups of pages that come and go together,
//! and only with the pages whose residency is informative.

use super::bins::Bins;
use crate::observed_trace::ObservedTrace;
use crate::policy::{Policy, Size};
use crate::trace::Access;

/// The number of stripes, which are what intervals resample. The pages of all files are dealt out
/// to them: each stripe gets every 32nd stretch of adjacent pages of each file, and so an equal
/// share of each part of each trace.
pub(super) const STRIPES: u32 = 32;

/// The maximum number of pages in a stretch. Reclaim handles adjacent pages in batches of half as
/// many.
const STRETCH_PAGES_MAX: u32 = 64;

/// One observed trace.
pub(super) struct PreparedTrace {
    accesses: Vec<Access>,
    groups: u32,
    looks: Vec<ResidencyCheck>,
}

/// One moment at which residency was checked.
struct ResidencyCheck {
    after: usize,
    sights: Vec<PageObservation>,
}

/// A page that has been accessed before. Those that have not are absent under every policy.
struct PageObservation {
    group: u32,
    stripe: u8,
    is_resident: bool,
}

/// A policy and its capacity.
#[derive(Clone, Copy)]
pub(super) struct Model {
    pub(super) policy: Policy,
    /// In groups of pages.
    pub(super) capacity: u32,
    /// How many times the policy is simulated: once, unless it is random.
    pub(super) simulations: u8,
    pub(super) seed: u64,
}

impl PreparedTrace {
    pub(super) fn new(observed: &ObservedTrace, pages_per_group: u32) -> Self {
        let trace = observed.trace();
        let group_of = |access: &Access| Access { page: access.page / pages_per_group, ..*access };
        let accesses: Vec<Access> = trace.accesses().iter().map(group_of).collect();
        let groups = trace.pages().div_ceil(pages_per_group);
        let mut first = vec![usize::MAX; groups as usize];
        for (time, access) in accesses.iter().enumerate().rev() {
            first[access.page as usize] = time;
        }
        // As long as possible, but with several per stripe.
        let stretch = (trace.pages() / (8 * STRIPES)).clamp(1, STRETCH_PAGES_MAX);
        let stretch = stretch.next_multiple_of(pages_per_group);
        let look = |(&after, resident): (&usize, &Vec<bool>)| {
            let sight = |(page, &is_resident): (u32, &bool)| {
                let stripe = stripe_of(page / stretch);
                PageObservation { group: page / pages_per_group, stripe, is_resident }
            };
            let touched = |sight: &PageObservation| first[sight.group as usize] < after;
            ResidencyCheck {
                after,
                sights: (0..).zip(resident).map(sight).filter(touched).collect(),
            }
        };
        let looks = trace.moments().iter().zip(observed.resident()).map(look).collect();
        Self { accesses, groups, looks }
    }

    /// For each moment, the number of pages accessed before, and how many of them were resident.
    pub(super) fn residency(&self) -> impl Iterator<Item = (u64, u64)> {
        self.looks.iter().map(|look| {
            let resident = look.sights.iter().filter(|sight| sight.is_resident).count();
            (look.sights.len() as u64, resident as u64)
        })
    }

    /// Compares what `model` predicts with what was observed, by moment and by stripe.
    pub(super) fn compare(&self, model: Model) -> Vec<[Bins; STRIPES as usize]> {
        let mut counts = vec![vec![0; self.groups as usize]; self.looks.len()];
        for simulation in 0..model.simulations {
            self.simulate(model, model.seed + u64::from(simulation), &mut counts);
        }
        let compare = |(look, counts): (&ResidencyCheck, &Vec<u8>)| {
            let mut stripes = std::array::from_fn(|_| Bins::new(model.simulations));
            for sight in &look.sights {
                let resident_in = counts[sight.group as usize];
                stripes[usize::from(sight.stripe)].add(resident_in, sight.is_resident);
            }
            stripes
        };
        self.looks.iter().zip(&counts).map(compare).collect()
    }

    fn simulate(&self, model: Model, seed: u64, counts: &mut [Vec<u8>]) {
        let size = Size { capacity: model.capacity, pages: self.groups };
        let mut cache = model.policy.cache(size, seed);
        let mut done = 0;
        for (look, counts) in self.looks.iter().zip(counts) {
            for &access in &self.accesses[done..look.after] {
                cache.access(access);
            }
            done = look.after;
            cache.count_resident(counts);
        }
    }
}

fn stripe_of(stretch: u32) -> u8 {
    (stretch % STRIPES) as u8
}
