//! Chooses which repetitions are shown, while a trace is being walked. Only the counts of every
//! repetition are kept, not the footprints, since there may be any number of repetitions.

use std::collections::BTreeMap;

use footprint::description::Repetitions;
use footprint::regions::RegionQuery;
use footprint::simulated::{CacheOutcome, CachesToSimulate};
use footprint::touched::{Figures, Footprint};
use footprint::trace::{Completeness, Region};

use crate::Repetition;
use crate::repetition::nearest_to_medians;

/// What is shown of one execution: what it touched, and how simulated caches fared, if there were
/// any.
pub(crate) type Shown = (Footprint, Option<CacheOutcome>);

/// The region and operation, which all repetitions have in common.
pub(crate) fn key(region: Region) -> Option<(u8, u16)> {
    match region {
        Region::Unmarked => None,
        Region::Marked { region, operation, .. } => Some((region, operation)),
    }
}

/// One repetition.
struct RepetitionFigures {
    region: Region,
    is_whole: bool,
    figures: Figures,
}

/// A choice in progress.
pub(crate) struct Choice {
    warm_up: u32,
    counted: BTreeMap<Option<(u8, u16)>, Vec<RepetitionFigures>>,
    /// What will be shown, as long as each operation has been executed only once.
    single: Option<Vec<Shown>>,
}

impl Choice {
    /// `repetitions` says how many executions the trace should contain.
    pub(crate) fn new(repetitions: Repetitions) -> Self {
        let single = (repetitions.traced <= 1).then(Vec::new);
        Self { warm_up: repetitions.warm_up, counted: BTreeMap::new(), single }
    }

    /// What the walk must find out. Caches are simulated only if this walk may be the only one.
    pub(crate) fn query<'a>(&self, caches: Option<CachesToSimulate<'a>>) -> RegionQuery<'a> {
        RegionQuery { regions: None, caches: caches.filter(|_| self.single.is_some()) }
    }

    /// Takes one execution into account.
    pub(crate) fn add(
        &mut self,
        figures: Figures,
        footprint: Footprint,
        outcome: Option<CacheOutcome>,
    ) {
        let region = footprint.region;
        if matches!(region, Region::Marked { repetition, .. } if repetition < self.warm_up) {
            return;
        }
        let is_whole = footprint.completeness == Completeness::Whole;
        let repetitions = self.counted.entry(key(region)).or_default();
        repetitions.push(RepetitionFigures { region, is_whole, figures });
        if repetitions.len() > 1 {
            self.single = None;
        } else if let Some(single) = &mut self.single {
            single.push((footprint, outcome));
        }
    }

    /// The regions to show, in the order of the marks' numbers, and what to show of them, which is
    /// empty if another walk is needed to find out.
    pub(crate) fn finish(self) -> (Vec<(Region, Repetition)>, Vec<Shown>) {
        let mut counted = self.counted;
        // Unmarked code counts only if nothing is marked.
        if counted.len() > 1 {
            counted.remove(&None);
        }
        let chosen = counted.values().filter_map(|repetitions| typical(repetitions)).collect();
        (chosen, self.single.unwrap_or_default())
    }
}

/// The repetition of an operation whose counts are nearest to their medians, among those traced
/// completely if there are any.
fn typical(repetitions: &[RepetitionFigures]) -> Option<(Region, Repetition)> {
    let has_whole = repetitions.iter().any(|one| one.is_whole);
    let candidates = repetitions.iter().enumerate();
    let candidates = candidates.filter(|(_, one)| !has_whole || one.is_whole);
    let (places, figures): (Vec<usize>, Vec<Figures>) =
        candidates.map(|(place, one)| (place, one.figures)).unzip();
    let place = places[nearest_to_medians(&figures)?];
    let [number, of] = [place + 1, repetitions.len()].map(|n| u32::try_from(n).unwrap_or(u32::MAX));
    Some((repetitions[place].region, Repetition { number, of }))
}
