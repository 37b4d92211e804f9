//! The course of one search: which position comes next, from its plan and the values so far.
//!
//! The same code goes through a search while it is measured and when its journal is read again:
//! what a run directory says of cliffs follows from it alone.
//!
//! Which side of a cliff a position is on must not hang on the mood of a device: where values are
//! served by one, they differ by factors from probe to probe. So values that the device served, as
//! the measured state says ([`Served`]), are compared as a class of their own, far below all that
//! came from memory and with their differences made small; among themselves they have no cliffs.
//! The position of a cliff between the two classes is therefore where the device begins to be
//! read; that of any other is where the value crosses the geometric mean of its plateaus. On the
//! axis of threads it is where each thread's share has fallen by [`SearchPlan::ratio_least`].
//!
//! Where a whole range is served by the device, or none of it, its values are compared like any
//! others ([`Compared`]).
//!
//! After the search itself, the middle of each interval is measured again and again, to see how
//! much values spread there.

use record::{Axis, CacheEvidence, Compared, SearchPlan};
use stats::Refusal;
use stats::cliff::{Cliff, Options, Outcome, Scale, Search, Threshold};

/// Replicates within a cliff that show how much values spread there.
pub(super) const ZONE_REPLICATES: usize = 5;

/// Values that the device served are this much smaller to the search, which makes the step between
/// the two classes higher than any within one.
const DEVICE_FACTOR: f64 = 1e-9;
/// What is below this came from the device: no file system does as many operations in a second,
/// and none as few as one in a day.
const FLOOR: f64 = 1e-5;
/// Which pages a limit lets stay hangs on some more that the kernel has lent out, now more and then
/// fewer: what one probe found at an end of an interval, others must find as well.
const CONFIRMATIONS: usize = 3;
/// Their differences shrink to this share, in logarithms, so that a device that is ten times as
/// slow now and then does not hide the step between the classes.
const DEVICE_EXPONENT: f64 = 0.1;
/// The step between the classes is at least this many times as high as any within one, so that a
/// step beside it is a cliff of its own.
const STEPS_APART: f64 = 8.0;

/// Where the data of a probe came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Served {
    /// From memory: the device was not read, or every page was resident.
    Memory,
    /// Some of it from the device: it was read, and not every page stayed resident.
    Device,
}

impl Served {
    /// What the state measured around a probe says.
    #[must_use]
    pub fn of(evidence: &CacheEvidence) -> Self {
        let is_missing = match (evidence.resident_after, evidence.pages) {
            (Some(resident), Some(pages)) => resident < pages,
            _ => true,
        };
        let is_read = evidence.device_read_bytes.is_some_and(|bytes| bytes > 0);
        if is_read && is_missing { Self::Device } else { Self::Memory }
    }
}

/// One search as far as it has come.
#[derive(Clone, Debug)]
pub struct SearchCourse {
    plan: SearchPlan,
    search: Search,
    /// Every position measured, with its value, in order.
    told: Vec<(f64, f64)>,
    /// How many of those the search asked for.
    searched: usize,
    /// Positions within cliffs that are still to be measured.
    zones: Option<Vec<f64>>,
}

impl SearchCourse {
    /// A search that has measured nothing.
    ///
    /// # Errors
    /// Refuses a plan that cannot be searched, as [`Search::new`] says.
    pub fn new(plan: &SearchPlan) -> Result<Self, Refusal> {
        let search = Search::new(options(plan))?;
        Ok(Self { plan: plan.clone(), search, told: Vec::new(), searched: 0, zones: None })
    }

    /// What is searched.
    #[must_use]
    pub fn plan(&self) -> &SearchPlan {
        &self.plan
    }

    /// The position to measure next; none at the end. Names the same one until a value is told.
    pub fn next_position(&mut self) -> Option<f64> {
        if self.zones.is_none() {
            if let Some(position) = self.search.ask() {
                return Some(position);
            }
            self.zones = Some(self.plan_zones());
        }
        self.zones.as_ref()?.last().copied()
    }

    /// Takes in the value measured at the position that was named, and what served it.
    ///
    /// # Errors
    /// Refuses a value that is not finite and above 0.
    ///
    /// # Panics
    /// If no position has been named.
    pub fn tell(&mut self, value: f64, served: Served) -> Result<(), Refusal> {
        let position = self.next_position().expect("a position is named before its value is told");
        match &mut self.zones {
            None => {
                self.search.tell(score(value, served, self.plan.compared))?;
                self.searched += 1;
            }
            Some(zones) => _ = zones.pop(),
        }
        self.told.push((position, value));
        Ok(())
    }

    /// Whether the search has learnt what its probes allow.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.zones.is_some()
    }

    /// Values measured for the search itself.
    #[must_use]
    pub fn searched(&self) -> &[(f64, f64)] {
        &self.told[..self.searched]
    }

    /// All values measured, with their positions, in order.
    #[must_use]
    pub fn told(&self) -> &[(f64, f64)] {
        &self.told
    }

    /// What is known; none before the grid is measured.
    #[must_use]
    pub fn outcome(&self) -> Option<Outcome> {
        self.search.result().ok()
    }

    /// The position in the middle of a cliff's interval; none where the grain leaves none.
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
            let have = self.told.iter().filter(|told| told.0.total_cmp(&position).is_eq()).count();
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
    // Beyond the processors, each thread's share goes on falling: its fall begins where it counts.
    let threshold = if let Axis::Threads = plan.axis {
        Threshold::Factor(plan.ratio_least)
    } else {
        Threshold::Middle
    };
    // A share's width is in points of it, as its positions are.
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
