//! Finding the sizes at which a measured value falls off a cliff, with few probes.
//!
//! A pure state machine: [`Search::ask`] names a size, the caller measures there and
//! [`Search::tell`]s the value; [`Search::result`] returns the findings so far. The idea is Chen &
//! Patterson's ("A New Approach to I/O Performance Evaluation", SIGMETRICS 1993): performance as a
//! function of size is a staircase of plateaus, and what is worth knowing are the levels and the
//! steps.
//!
//! * **Position.** A cliff's position is the size at which the value crosses the geometric mean of
//!   the plateaus on both sides, unless [`Options::threshold`] says otherwise. For a sharp cliff
//!   that is the cliff; for a gradual one, a ramp on logarithmic scales, it is the middle of the
//!   ramp on the logarithmic scale of size.
//! * **Model.** ln value = level of the size + drift x order of the probe + noise, with the same
//!   spread of noise everywhere. Sizes probed more than once reveal drift and noise, so a machine
//!   that warms up or throttles is not mistaken for a cliff. Every comparison is a t test of a
//!   contrast.
//! * **Grid.** Sizes a factor of about 2 apart, in random order. Both end points are probed three
//!   times: in their turn, halfway through and at the end.
//! * **Steps.** Neighbours on the grid that may differ by [`Options::ratio_least`] are probed again
//!   until it is certain whether they do. Neighbouring steps in one direction make one cliff, so
//!   two cliffs are told apart only if a flat grid interval lies between them; a slope of less than
//!   the least ratio per factor of 2 is not a cliff. The plateaus are the sizes at least one grid
//!   interval beyond the steps, if there are any, so that no ramp reaches into them.
//! * **Bisection,** in the logarithm of size. A new size is probed until it is significantly above
//!   or below the threshold, at most [`REPLICATES_MAX`] times. One that stays undecided lies on the
//!   ramp, and the search continues on both sides of it. With every fifth such probe, a size on a
//!   plateau next to the cliff is probed again, in random order, to control drift.
//! * **Interval.** From the largest size found before the cliff to the smallest found after it.
//! * **Grain.** Sizes are whole multiples of [`Options::grain`]; an interval between two successive
//!   multiples is as narrow as possible.
//! * **Scale.** All of this holds for a logarithmic scale of sizes. On a linear one ([`Scale`]) the
//!   grid has ten intervals, a step is a change from one to the next, and halving is arithmetic.
//! * **Floor.** Values below [`Options::floor`] are a class of their own: they do not count towards
//!   noise and drift, and there is no step between two sizes below the floor. A size with values on
//!   both sides of it is undecided.
//! * **Steps apart.** Of two neighbouring steps, one that is [`Options::steps_apart`] times as high
//!   as the other, in logarithms, is a separate cliff.
//!
//! In simulations (ranges of 1,024 to 1, noise of 1 to 8 %, drift of up to 10 % either way, at most
//! 40 probes plus 20 for each further cliff claimed), at least 97 % of searches report exactly the
//! one cliff with an interval that contains its position, provided that the logarithm of its height
//! is at least eight times the noise and its ramp is no wider than a grid interval. At most 1.5 %
//! of the intervals given are wrong; the other failures are false additional cliffs. From thirteen
//! times the noise on, a sharp cliff is located to within 1 % in 23 to 27 probes on average. On a
//! flat curve, 2 % of searches claim a cliff. Lower and more gradual cliffs may be missed: at 5 %
//! noise, 39 % of those with a ratio of 1.3 spread over a factor of 4.

mod locate;
mod model;
mod scale;

use std::ops::RangeInclusive;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::interval::Interval;
use crate::refusal::{Refusal, check_open_unit, check_positive};
use locate::{Bracket, Plateau, SameWay};
use model::Model;

pub use scale::Scale;

/// Maximum number of probes of a size during bisection before it counts as undecided.
pub const REPLICATES_MAX: usize = 4;

/// The value whose crossing is a cliff's position.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Threshold {
    /// The geometric mean of the plateaus on both sides.
    #[default]
    Middle,
    /// The plateau before the cliff, divided (or if values rise, multiplied) by this factor, for
    /// curves that keep falling: the beginning of the fall. Above 1.
    Factor(f64),
}

/// What to search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// The smallest size, in any unit: above 0, or on a linear scale at least 0.
    pub low: f64,
    /// The largest size: at least twice the smallest, or on a linear scale above it.
    pub high: f64,
    /// Whether sizes are compared by ratio or by difference.
    pub scale: Scale,
    /// The wanted width of the interval, above 0: 0.01 is 1 %, largest over smallest minus 1; on a
    /// linear scale, the difference between them.
    pub width: f64,
    /// Values that differ by less than this factor over a factor of 2 in size, or on a linear scale
    /// over a tenth of the range, are one plateau; above 1.
    pub ratio_least: f64,
    /// How often the interval should contain the position: 0 to 1.
    pub level: f64,
    /// Maximum number of probes for the grid and the largest cliff. The grid, one size per factor
    /// of 2 (or eleven) plus four probes for its ends, is measured in any case.
    pub probes_max: usize,
    /// Maximum number of additional probes for each further cliff.
    pub probes_max_further: usize,
    /// Seed for the order of probes.
    pub seed: u64,
    /// The value whose crossing is a cliff's position.
    pub threshold: Threshold,
    /// Sizes are whole multiples of this, as is `low`; above 0, or 0 for any size. At most `low`,
    /// or on a linear scale half the range.
    pub grain: f64,
    /// Values below this are not told apart; at least 0.
    pub floor: f64,
    /// How often the sizes at both ends of an interval are probed at least, with the same outcome
    /// each time: more than 1 if a size may fall on either side by chance.
    pub confirmations: usize,
    /// Neighbouring steps whose heights differ by this factor or more are two cliffs; above 1.
    pub steps_apart: f64,
}

impl Options {
    /// A search by ratio from `low` to `high`: width 1 %, cliffs of at least 10 %, level 0.95, 40
    /// probes plus 20 for each further cliff, seed 0, any size, no floor, neighbouring steps never
    /// apart.
    pub fn new(low: f64, high: f64) -> Self {
        let (width, ratio_least, level, seed) = (0.01, 1.1, 0.95, 0);
        let (probes_max, probes_max_further) = (40, 20);
        let (grain, floor, steps_apart) = (0.0, 0.0, f64::INFINITY);
        Self {
            low,
            high,
            scale: Scale::Logarithmic,
            width,
            ratio_least,
            level,
            probes_max,
            probes_max_further,
            seed,
            threshold: Threshold::Middle,
            grain,
            floor,
            confirmations: 1,
            steps_apart,
        }
    }

    fn check(&self) -> Result<(), Refusal> {
        self.check_range()?;
        check_positive("the width", self.width)?;
        check_open_unit("the level", self.level)?;
        if !(self.ratio_least.is_finite() && self.ratio_least > 1.0) {
            let (what, value) = ("the least ratio", self.ratio_least);
            return Err(Refusal::OutOfRange { what, value, range: "finite and above 1" });
        }
        self.check_classes()
    }

    fn check_range(&self) -> Result<(), Refusal> {
        let (what, value) = ("the largest size", self.high);
        match self.scale {
            Scale::Logarithmic => {
                check_positive("the least size", self.low)?;
                check_positive(what, value)?;
                if self.high / self.low < 2.0 {
                    let range = "at least twice the least size";
                    return Err(Refusal::OutOfRange { what, value, range });
                }
            }
            Scale::Linear => {
                if !(self.low.is_finite() && self.low >= 0.0) {
                    let (what, value) = ("the least size", self.low);
                    return Err(Refusal::OutOfRange {
                        what,
                        value,
                        range: "finite and at least 0",
                    });
                }
                if !(self.high.is_finite() && self.high > self.low) {
                    return Err(Refusal::OutOfRange {
                        what,
                        value,
                        range: "finite and above the least size",
                    });
                }
            }
        }
        Ok(())
    }

    /// Checks the grain, the threshold, the floor and `steps_apart`.
    fn check_classes(&self) -> Result<(), Refusal> {
        let (grain_most, range) = match self.scale {
            Scale::Logarithmic => (self.low, "from 0 to the least size"),
            Scale::Linear => ((self.high - self.low) / 2.0, "from 0 to half the range"),
        };
        if !(self.grain.is_finite() && self.grain >= 0.0 && self.grain <= grain_most) {
            let (what, value) = ("the grain", self.grain);
            return Err(Refusal::OutOfRange { what, value, range });
        }
        if let Threshold::Factor(factor) = self.threshold
            && !(factor.is_finite() && factor > 1.0)
        {
            let (what, range) = ("the factor of the threshold", "finite and above 1");
            return Err(Refusal::OutOfRange { what, value: factor, range });
        }
        if !(self.floor.is_finite() && self.floor >= 0.0) {
            let (what, value) = ("the floor", self.floor);
            return Err(Refusal::OutOfRange { what, value, range: "finite and at least 0" });
        }
        if self.steps_apart.is_nan() || self.steps_apart <= 1.0 {
            let (what, value) = ("the factor that sets steps apart", self.steps_apart);
            return Err(Refusal::OutOfRange { what, value, range: "above 1" });
        }
        Ok(())
    }
}

/// Why the search for a cliff ended where it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndedBy {
    /// The interval is as narrow as wanted, or as the grain allows.
    Width,
    /// Whatever remains undecided lies on the ramp or is too noisy.
    Noise,
    /// The probes are used up, or the search is still going on.
    Probes,
}

/// One cliff.
#[derive(Clone, Debug, PartialEq)]
pub struct Cliff {
    /// The sizes between which it lies.
    pub size: Interval,
    /// The middle of that interval: on a logarithmic scale, the geometric mean.
    pub position: f64,
    /// The value on the plateau before it, drift removed.
    pub before: f64,
    /// The value on the plateau after it, drift removed.
    pub after: f64,
    /// The smallest and the largest size at which the plateau before it was measured.
    pub before_sizes: RangeInclusive<f64>,
    /// The same for the plateau after it.
    pub after_sizes: RangeInclusive<f64>,
    /// Why the interval is no narrower.
    pub reached: EndedBy,
}

/// The findings so far.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The cliffs by size, ascending; empty if there are none.
    pub cliffs: Vec<Cliff>,
    /// The relative standard deviation of a value: 0.03 is 3 %.
    pub noise: f64,
    /// The factor by which values changed from one probe to the next.
    pub drift_per_probe: f64,
    /// Number of values told so far.
    pub probes: usize,
}

/// One value measured.
#[derive(Clone, Copy, Debug)]
struct Measurement {
    /// Index into [`Search::points`].
    point: usize,
    log_value: f64,
}

/// A search in progress.
#[derive(Clone, Debug)]
pub struct Search {
    options: Options,
    /// Sizes with their coordinates on the scale; those of the grid come first, ascending.
    points: Vec<(f64, f64)>,
    grid_length: usize,
    probes: Vec<Measurement>,
    queue: Vec<usize>,
    asked: Option<usize>,
    runs: Option<Vec<SameWay>>,
    random: Xoshiro256PlusPlus,
}

impl Search {
    /// A search that has not measured anything yet.
    ///
    /// # Errors
    /// Refuses sizes that are not above 0 and a largest size below twice the smallest (on a linear
    /// scale, sizes below 0 and a largest not above the smallest), a width not above 0, a least
    /// ratio not above 1 and a level outside 0 to 1.
    pub fn new(options: Options) -> Result<Self, Refusal> {
        options.check()?;
        let points = grid(&options);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(options.seed);
        let last = points.len() - 1;
        let mut queue: Vec<usize> = (0..=last).collect();
        queue.shuffle(&mut random);
        let mut ends = [[0, last], [0, last]];
        ends.iter_mut().for_each(|pair| pair.shuffle(&mut random));
        let middle = queue.len() / 2;
        queue.splice(middle..middle, ends[0]);
        // Sizes are taken from the back.
        queue.splice(0..0, ends[1]);
        let grid_length = points.len();
        let (probes, asked, runs) = (Vec::new(), None, None);
        Ok(Self { options, points, grid_length, probes, queue, asked, runs, random })
    }

    /// The size to measure next; none once there is nothing more to learn or the probes are used
    /// up. Returns the same size until a value is told.
    pub fn ask(&mut self) -> Option<f64> {
        if self.asked.is_none() {
            if self.queue.is_empty() {
                self.queue = self.plan();
                self.queue.shuffle(&mut self.random);
            }
            self.asked = self.queue.pop();
        }
        self.asked.map(|point| self.points[point].0)
    }

    /// Takes the value measured at the size last asked for.
    ///
    /// # Errors
    /// Refuses a value that is not finite and above 0; the same size is then asked for again.
    ///
    /// # Panics
    /// If no size has been asked for.
    pub fn tell(&mut self, value: f64) -> Result<(), Refusal> {
        let index = self.probes.len();
        if !value.is_finite() {
            return Err(Refusal::NotFinite { index, value });
        }
        if value <= 0.0 {
            return Err(Refusal::NotPositive { index, value });
        }
        let point = self.asked.take().expect("a size is asked for before its value is told");
        self.probes.push(Measurement { point, log_value: value.ln() });
        Ok(())
    }

    /// The findings from the values told so far.
    ///
    /// # Errors
    /// Refuses a search whose grid has not been measured yet.
    pub fn result(&self) -> Result<Outcome, Refusal> {
        let needed = self.grid_length + 4;
        if self.probes.len() < needed {
            let (what, given) = ("a search for cliffs", self.probes.len() as u64);
            return Err(Refusal::TooFew { what, needed: needed as u64, given });
        }
        let model = Model::new(&self.points, &self.probes, self.options.floor);
        let runs = match &self.runs {
            Some(runs) => runs.clone(),
            None => locate::runs(&model, self.grid_length, &self.options),
        };
        let mut cliffs: Vec<Cliff> = runs.iter().map(|run| self.cliff(&model, run)).collect();
        cliffs.sort_by(|a, b| a.position.total_cmp(&b.position));
        Ok(Outcome {
            cliffs,
            noise: model.noise(),
            drift_per_probe: model.drift().exp(),
            probes: self.probes.len(),
        })
    }

    /// The sizes to probe next, by index.
    fn plan(&mut self) -> Vec<usize> {
        let model = Model::new(&self.points, &self.probes, self.options.floor);
        if self.runs.is_none() {
            let budget = self.options.probes_max;
            let suspects = locate::suspects(&model, self.grid_length, &self.options);
            let reserve = self.halvings_to_come(&model);
            if !suspects.is_empty() && self.probes.len() + suspects.len() + reserve <= budget {
                return suspects;
            }
            self.runs = Some(locate::runs(&model, self.grid_length, &self.options));
        }
        let runs = self.runs.clone().unwrap_or_default();
        let mut budget = self.options.probes_max;
        for run in &runs {
            if self.probes.len() < budget {
                let mut next = self.next_of(&model, run);
                next.truncate(budget - self.probes.len());
                if !next.is_empty() {
                    return next;
                }
            }
            budget += self.options.probes_max_further;
        }
        Vec::new()
    }

    /// Number of halvings that the highest cliff will need, if a step is certain already. These
    /// probes must not be spent on doubtful steps.
    fn halvings_to_come(&self, model: &Model) -> usize {
        let runs = locate::runs(model, self.grid_length, &self.options);
        let Some(highest) = runs.first() else { return 0 };
        Bracket::new(model, highest, &self.options).halvings(&self.options)
    }

    /// The next sizes for one cliff; none once its interval cannot get narrower.
    fn next_of(&mut self, model: &Model, run: &SameWay) -> Vec<usize> {
        let bracket = Bracket::new(model, run, &self.options);
        let Some(target) = bracket.next(model, &self.options) else {
            return Vec::new();
        };
        let point = match target {
            locate::NextProbe::Again(point) => point,
            locate::NextProbe::New(size) => {
                self.points.push((size, self.options.scale.coordinate(size)));
                self.points.len() - 1
            }
        };
        let mut next = vec![point];
        let since_grid_point =
            self.probes.iter().rev().take_while(|probe| probe.point >= self.grid_length).count();
        if since_grid_point >= 4 {
            next.push(if model.count(run.left) <= model.count(run.right) {
                run.left
            } else {
                run.right
            });
        }
        next
    }

    fn cliff(&self, model: &Model, run: &SameWay) -> Cliff {
        let bracket = Bracket::new(model, run, &self.options);
        let Options { grain, scale, .. } = self.options;
        let end = |coordinate: f64| snapped(scale.size(coordinate), grain);
        let (low, high) = (end(bracket.low), end(bracket.high));
        let reached = if bracket.next(model, &self.options).is_some() {
            EndedBy::Probes
        } else if bracket.is_narrow(&self.options) {
            EndedBy::Width
        } else {
            EndedBy::Noise
        };
        Cliff {
            size: Interval { low, high, level: self.options.level },
            position: scale.size(f64::midpoint(bracket.low, bracket.high)),
            before: run.before.level(model).exp(),
            after: run.after.level(model).exp(),
            before_sizes: self.sizes(&run.before),
            after_sizes: self.sizes(&run.after),
            reached,
        }
    }

    fn sizes(&self, plateau: &Plateau) -> RangeInclusive<f64> {
        let sizes = || plateau.points().iter().map(|&point| self.points[point].0);
        sizes().fold(f64::INFINITY, f64::min)..=sizes().fold(0.0, f64::max)
    }
}

/// Sizes from the smallest to the largest, evenly spaced on their scale by a factor near 2 or a
/// tenth of the range; a coarse grain leaves fewer.
fn grid(options: &Options) -> Vec<(f64, f64)> {
    let Options { low, high, scale, grain, .. } = *options;
    let (first, last) = (scale.coordinate(low), scale.coordinate(high));
    let intervals = scale.grid_intervals(low, high);
    let at = |step: usize| {
        let coordinate = first + (last - first) * step as f64 / intervals as f64;
        match step {
            0 => (low, first),
            _ if step == intervals => (high, last),
            _ if grain > 0.0 => {
                let size = snapped(scale.size(coordinate), grain);
                (size, scale.coordinate(size))
            }
            _ => (scale.size(coordinate), coordinate),
        }
    };
    let mut points: Vec<(f64, f64)> = (0..=intervals).map(at).collect();
    points.dedup_by(|later, earlier| later.0 <= earlier.0);
    points
}

/// The multiple of `grain` nearest to `size`.
fn snapped(size: f64, grain: f64) -> f64 {
    if grain > 0.0 { (size / grain).round() * grain } else { size }
}

#[cfg(test)]
mod tests;
