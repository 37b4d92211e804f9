//! Processes a trace region by region. Each is finished before the next begins, so memory is
//! bounded by what one region touches, however many there are.

use std::io::Read;

use footprint_trace::TraceError;
use footprint_trace::reader::TraceReader;

use crate::simulated::{CacheOutcome, CacheSimulator, CachesToSimulate};
use crate::touched::{Collector, Footprint, Repeated, Selection};
use crate::trace::{Names, Region, RegionFilter, Walk};

/// What to find out about each region of a trace.
#[derive(Clone, Copy, Debug, Default)]
pub struct RegionQuery<'a> {
    /// Only these regions, or all if `None`.
    pub regions: Option<&'a [Region]>,
    /// The caches to simulate, if any.
    pub caches: Option<CachesToSimulate<'a>>,
}

/// Walks to the trace's end. When a region ends, passes its footprint to `each`, with the results
/// of the simulated caches if there are any. Everything outside of marks comes last.
///
/// # Errors
/// The trace stops or is damaged. Everything before that has been passed on; regions that had begun
/// have been passed on as cut.
pub fn for_each_region<N: Names, R: Read>(
    walk: &mut Walk<N>,
    reader: &mut TraceReader<R>,
    wanted: RegionQuery<'_>,
    mut each: impl FnMut(&Walk<N>, Footprint, Option<CacheOutcome>),
) -> Result<(), TraceError> {
    let scope = walk.scope();
    let selection = Selection { warm_up: 0, repeated: Repeated::Apart };
    let simulated = wanted.caches;
    let simulated = simulated.map(|it| CacheSimulator::new(scope, it.hierarchy, it.warmth));
    let mut observer = RegionFilter::new((Collector::new(selection), simulated), wanted.regions);
    let mut outcomes = Vec::new();
    loop {
        let result = walk.run_region(reader, &mut observer);
        let (collector, simulated) = observer.observer();
        outcomes.extend(simulated.iter_mut().flat_map(CacheSimulator::take_outcomes));
        let goes_on = matches!(result, Ok(true));
        let footprints = if goes_on { collector.take_ended() } else { collector.take_all() };
        for footprint in footprints {
            let is_its = |outcome: &CacheOutcome| outcome.region == footprint.region;
            let outcome = outcomes.iter().position(is_its).map(|at| outcomes.swap_remove(at));
            each(walk, footprint, outcome);
        }
        if !goes_on {
            return result.map(|_| ());
        }
    }
}
