//! Observations of a known policy: a cache is simulated, and noise is added to its residency.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use replacement::{Access, Cache, ObservedTrace, Policy, Size, Trace, battery};

/// How pages come and go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Folios {
    /// Individually.
    Single,
    /// Aligned groups of this many pages are loaded, used and evicted together.
    Together(u32),
    /// A miss loads an aligned group of this many pages; each page is used and evicted
    /// individually.
    ReadAhead(u32),
}

/// A known policy and its parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Truth {
    pub(crate) policy: Policy,
    pub(crate) folios: Folios,
    /// The share of pages whose residency is reported wrongly.
    pub(crate) noise: f64,
    /// The limit; the capacity is between 85 % and 100 % of it.
    pub(crate) limit_pages: u32,
    /// Determines the traces, the capacity and the noise.
    pub(crate) seed: u64,
}

impl Truth {
    /// What a benchmark would observe.
    pub(crate) fn observe(self) -> Vec<ObservedTrace> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.seed ^ 0xf00d);
        let share = random.random_range(0.85..1.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share")]
        let capacity = (f64::from(self.limit_pages) * share) as u32;
        let observe = |trace: Trace| {
            let mut resident = self.resident(&trace, capacity);
            for page in resident.iter_mut().flatten() {
                *page ^= random.random_bool(self.noise);
            }
            ObservedTrace::new(trace, resident).expect("residency of this trace")
        };
        battery(self.limit_pages, self.seed).into_iter().map(observe).collect()
    }

    fn resident(&self, trace: &Trace, capacity_pages: u32) -> Vec<Vec<bool>> {
        let group = if let Folios::Together(pages) = self.folios { pages } else { 1 };
        // Whole groups, including read-ahead beyond the end of the file.
        let pages = (trace.pages() + 64).div_ceil(group);
        let size = Size { capacity: capacity_pages / group, pages };
        let mut cache = self.policy.cache(size, self.seed + 1_000_000);
        let mut moments = Vec::new();
        for (done, &access) in (1..).zip(trace.accesses()) {
            let access = Access { page: access.page / group, ..access };
            self.read_ahead(cache.as_mut(), access);
            cache.access(access);
            if trace.moments().contains(&done) {
                let is_resident = |page| cache.is_resident(page / group);
                moments.push((0..trace.pages()).map(is_resident).collect());
            }
        }
        moments
    }

    fn read_ahead(&self, cache: &mut dyn Cache, access: Access) {
        if let Folios::ReadAhead(pages) = self.folios
            && !cache.is_resident(access.page)
        {
            let first = access.page / pages * pages;
            let missing = (first..first + pages).filter(|&page| page != access.page);
            let missing: Vec<u32> = missing.filter(|&page| !cache.is_resident(page)).collect();
            missing.into_iter().for_each(|page| cache.access(Access::read(page)));
        }
    }
}
