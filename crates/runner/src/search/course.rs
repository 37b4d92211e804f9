//! The course of one search: which position comes next, given its plan and the values so far.
//!
//! The same code runs while a search is measured and when its journal is read again: whatever a run
//! directory says about cliffs is derived from the journal alone.
//!
//! Which side of a cliff a position is on must not depend on a device's momentary speed, and values
//! served by a device differ by factors from probe to probe. So values that the device served,
//! according to the measured state ([`Served`]), are compared as a class of their own: far below
//! all values from memory, and with their differences compressed, so that there are no cliffs among
//! them. A cliff between the two classes is therefore where the device begins to be read. Any other
//! is where the value crosses the geometric mean of its plateaus, or on the axis of threads, where
//! each thread's share has fallen by [`SearchPlan::ratio_least`].
//!
//! If the device serves the whole range or none of it, values are compared like any others
//! ([`Compared`]).
//!
//! After the search itself, the middle of each interval is measured several times to see how much
//! values vary there.

use record::{Axis, CacheEvidence, Compared, SearchPlan};
use stats::Refusal;
use stats::cliff::{Cliff, Options, Outcome, Scale, Search, Threshold};

/// Number of replicates within a cliff that show how much values vary there.
pub(super) const ZONE_REPLICATES: usize = 5;

/// Factor applied to values that the device served, so that the step between the two classes is
/// higher than any within one.
const DEVICE_FACTOR: f64 = 1e-9;
/// Scores below this belong to the device's class: no device is fast enough to exceed it after
/// scaling, and no value from memory is this low, which would be less than one operation per day.
const FLOOR: f64 = 1e-5;
/// The kernel borrows a varying number of pages, which affects which pages a limit keeps: what one
/// probe finds at an end of an interval must be confirmed by others.
const CONFIRMATIONS: usize = 3;
/// Exponent that compresses differences within the device's class, so that a device that is
/// sometimes ten times slower does not hide the step between the classes.
const DEVICE_EXPONENT: f64 = 0.1;
/// The step between the classes is at least this many times as high as any step within one, so a
/// step next to it counts as a separate cliff.
const STEPS_APART: f64 = 8.0;

/// Where the data of a probe came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Served {
    /// From memory: the device was not read, or every page was resident.
    Memory,
    /// At least partly from the device: it was read, and not every page stayed resident.
    Device,
}

impl Served {
    /// Decides from the state measured around a probe.
    #[must_use]
    pub fn from_evidence(evidence: &CacheEvidence) -> Self {
        let is_missing = match (evidence.resident_after, evidence.pages) {
            (Some(resident), Some(pages)) => resident < pages,
            _ => true,
        };
        let is_read = evidence.device_read_bytes.is_some_and(|bytes| bytes > 0);
        if is_read && is_missing { Self::Device } else { Self::Memory }
    }
}

/// The progress of one search.
#[derive(Clone, Debug)]
pub struct SearchCourse {
    plan: SearchPlan,
    search: Search,
    /// Every position measured, with its value, in order.
    measured: Vec<(f64, f64)>,
    /// How many of those were measured for the search itself.
    searched: usize,
    /// Positions within cliffs that remain to be measured; none until the search itself is
    /// finished.
    zones: Option<Vec<f64>>,
}

impl SearchCourse {
    /// A search that has not measured anything yet.
    ///
    /// # Errors
    /// Refuses a plan that cannot be searched, like [`Search::new`].
    pub fn new(plan: &SearchPlan) -> Result<Self, Refusal> {
        let search = Search::new(options(plan))?;
        Ok(Self { plan: plan.clone(), search, measured: Vec::new(), searched: 0, zones: None })
    }

    /// What is searched.
    #[must_use]
    pub fn plan(&self) -> &SearchPlan {
        &self.plan
    }

    /// The position to measure next; none at the end. Returns the same position until
    /// [`Self::tell`] is called.
    pub fn next_position(&mut self) -> Option<f64> {
        if self.zones.is_none() {
            if let Some(position) = self.search.ask() {
                return Some(position);
            }
            self.zones = Some(self.plan_zones());
        }
        self.zones.as_ref()?.last().copied()
    }

    /// Takes the value measured at the position last returned, and what served it.
    ///
    /// # Errors
    /// Refuses a value that is not finite and above 0.
    ///
    /// # Panics
    /// If the search has ended, so that there is no next position.
    pub fn tell(&mut self, value: f64, served: Served) -> Result<(), Refusal> {
        let position = self.next_position().expect("a position is named before its value is told");
        match &mut self.zones {
            None => {
                self.search.tell(score(value, served, self.plan.compared))?;
                self.searched += 1;
            }
            Some(zones) => _ = zones.pop(),
        }
        self.measured.push((position, value));
        Ok(())
    }

    /// Whether the search has learned all that its probes allow.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.zones.is_some()
    }

    /// Values measured for the search itself.
    #[must_use]
    pub fn searched(&self) -> &[(f64, f64)] {
        &self.measured[..self.searched]
    }

    /// All values measured, with their positions, in order.
    #[must_use]
    pub fn measured(&self) -> &[(f64, f64)] {
        &self.measured
    }

    /// The findings so far; none before the grid has been measured.
    #[must_use]
    pub fn outcome(&self) -> Option<Outcome> {
        self.search.result().ok()
    }

    /// The position in the middle of a cliff's interval; none if the grain leaves no room for one.
    #[must_use]
    pub fn zone_of(&self, cliff: &Cliff) -> Option<f64> {
        let grain = self.plan.grain;
        let middle =
            if grain > 0.0 { (cliff.position / grain).round() * grain } else { cliff.position };
        (cliff.size.low < middle && middle < cliff.size.high).then_some(middle)
    }

    fn plan_zones(&self) -> Vec<f64> {
        let cliffs = self.outcome().map(|outcome| outcome.cliffs).unwrap_or_default();
        let missing = |position: f64| {
            let have =
                self.measured.iter().filter(|one| one.0.total_cmp(&position).is_eq()).count();
            std::iter::repeat_n(position, ZONE_REPLICATES.saturating_sub(have))
        };
        cliffs.iter().filter_map(|cliff| self.zone_of(cliff)).flat_map(missing).collect()
    }
}

/// The value as the search compares it.
fn score(value: f64, served: Served, compared: Compared) -> f64 {
    match (compared, served) {
        (Compared::Alike, _) | (_, Served::Memory) => value,
        (_, Served::Device) => DEVICE_FACTOR * value.powf(DEVICE_EXPONENT),
    }
}

fn options(plan: &SearchPlan) -> Options {
    // Beyond the number of processors, each thread's share keeps falling: there is no second
    // plateau, so the cliff is where the fall becomes large enough.
    let threshold = if let Axis::Threads = plan.axis {
        Threshold::Factor(plan.ratio_least)
    } else {
        Threshold::Middle
    };
    // For shares, both width and positions are in percentage points.
    let (scale, width) = if plan.axis.is_share() {
        (Scale::Linear, plan.width_percent)
    } else {
        (Scale::Logarithmic, plan.width_percent / 100.0)
    };
    Options {
        scale,
        width,
        ratio_least: plan.ratio_least,
        level: plan.level,
        probes_max: plan.probes_max as usize,
        probes_max_further: plan.probes_max_further as usize,
        seed: plan.seed,
        threshold,
        grain: plan.grain,
        floor: FLOOR,
        confirmations: CONFIRMATIONS,
        steps_apart: STEPS_APART,
        ..Options::new(plan.low, plan.high)
    }
}
