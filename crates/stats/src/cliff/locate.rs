//! Where the steps on the grid are, and how narrowly a cliff has been located within its step.

use super::model::{Contrast, Model};
use super::{Options, REPLICATES_MAX, Threshold, snapped};

/// Maximum number of times a grid size is probed to settle whether there is a step.
const GRID_REPLICATES_MAX: usize = 4;

/// The probability that a search over a flat curve finds a step by chance.
const FALSE_ALARM: f64 = 0.03;

/// How many standard errors a difference must have to be worth another probe: while no step is
/// certain yet, and once one is.
const SUSPICION: [f64; 2] = [1.0, 2.0];

/// The sizes of one plateau.
#[derive(Clone, Debug)]
pub(super) struct Plateau {
    points: Vec<usize>,
}

impl Plateau {
    /// Each size, weighted by its share of the plateau's probes.
    fn weights(&self, model: &Model) -> Vec<(usize, f64)> {
        let total: usize = self.points.iter().map(|&point| model.count(point)).sum();
        let share = |point: usize| model.count(point) as f64 / total as f64;
        self.points.iter().map(|&point| (point, share(point))).collect()
    }

    pub(super) fn points(&self) -> &[usize] {
        &self.points
    }

    pub(super) fn level(&self, model: &Model) -> f64 {
        self.weights(model).iter().map(|(point, weight)| weight * model.level(*point)).sum()
    }
}

/// Neighbouring steps in one direction, which make one cliff.
#[derive(Clone, Debug)]
pub(super) struct SameWay {
    /// The last grid size that is certainly before it.
    pub(super) left: usize,
    /// The first grid size that is certainly after it.
    pub(super) right: usize,
    pub(super) before: Plateau,
    pub(super) after: Plateau,
    /// 1 if values fall, -1 if they rise.
    sign: f64,
    height: f64,
}

/// The difference between each size on the grid and the next.
fn drops(model: &Model, grid_length: usize) -> Vec<Contrast> {
    (1..grid_length).map(|right| model.contrast(&[(right - 1, 1.0), (right, -1.0)])).collect()
}

/// Whether both sides of a grid interval are below the floor.
fn is_below(model: &Model, left: usize) -> bool {
    model.is_low(left) && model.is_low(left + 1)
}

/// For each grid interval, whether it is a step.
fn separated(model: &Model, grid_length: usize, options: &Options) -> Vec<bool> {
    let critical = model.critical(FALSE_ALARM / 2.0 / (grid_length - 1) as f64);
    let is_step = |(left, drop): (usize, &Contrast)| {
        !is_below(model, left)
            && drop.value.abs() >= options.ratio_least.ln()
            && drop.value.abs() > critical * drop.error
    };
    drops(model, grid_length).iter().enumerate().map(is_step).collect()
}

/// Whether two neighbouring steps belong to one cliff.
fn belong_together(one: Contrast, next: Contrast, steps_apart: f64) -> bool {
    let ratio = (next.value / one.value).abs();
    let is_alike = ratio < steps_apart && ratio > 1.0 / steps_apart;
    (next.value > 0.0) == (one.value > 0.0) && is_alike
}

/// The two sides of the grid interval that looks most like a step without being certain, if probing
/// them again may settle it.
pub(super) fn suspects(model: &Model, grid_length: usize, options: &Options) -> Vec<usize> {
    let separated = separated(model, grid_length, options);
    let drops = drops(model, grid_length);
    let suspicion = SUSPICION[usize::from(separated.contains(&true))];
    let doubtful = (0..grid_length - 1).filter(|&left| {
        let drop = drops[left];
        !separated[left]
            && !is_below(model, left)
            && drop.value.abs() >= options.ratio_least.ln()
            && drop.value.abs() > suspicion * drop.error
            && model.count(left).min(model.count(left + 1)) < GRID_REPLICATES_MAX
    });
    let most = doubtful.max_by(|&a, &b| {
        let size = |left: usize| drops[left].value.abs() / drops[left].error;
        size(a).total_cmp(&size(b))
    });
    let sides = most.into_iter().flat_map(|left| [left, left + 1]);
    sides.filter(|&point| model.count(point) < GRID_REPLICATES_MAX).collect()
}

/// The cliffs on the grid, the highest first.
pub(super) fn runs(model: &Model, grid_length: usize, options: &Options) -> Vec<SameWay> {
    let separated = separated(model, grid_length, options);
    let drops = drops(model, grid_length);
    let mut runs = Vec::new();
    let mut left = 0;
    while left < grid_length - 1 {
        if !separated[left] {
            left += 1;
            continue;
        }
        let falls = drops[left].value > 0.0;
        let mut right = left + 1;
        while right < grid_length - 1
            && separated[right]
            && belong_together(drops[right - 1], drops[right], options.steps_apart)
        {
            right += 1;
        }
        // A ramp may begin or end unnoticed in the adjacent interval, so the plateaus are one
        // interval further away.
        let flat = |interval: usize| interval < grid_length - 1 && !separated[interval];
        let first = if left > 0 && flat(left - 1) { left - 1 } else { left };
        let mut before = Plateau { points: vec![first] };
        if first < left && first > 0 && flat(first - 1) {
            before.points.push(first - 1);
        }
        let last = if flat(right) { right + 1 } else { right };
        let mut after = Plateau { points: vec![last] };
        if last > right && flat(last) {
            after.points.push(last + 1);
        }
        let height = (model.level(first) - model.level(last)).abs();
        let sign = if falls { 1.0 } else { -1.0 };
        runs.push(SameWay { left: first, right: last, before, after, sign, height });
        left = right;
    }
    runs.sort_by(|a, b| b.height.total_cmp(&a.height));
    runs
}

/// What to probe next.
pub(super) enum NextProbe {
    /// A size that has been probed before, by its index.
    Again(usize),
    /// A new size.
    New(f64),
}

/// How narrowly a cliff has been located.
pub(super) struct Bracket {
    /// The coordinate of the largest size found before the cliff.
    pub(super) low: f64,
    /// The coordinate of the smallest size found after it.
    pub(super) high: f64,
    /// Undecided sizes in between, ascending.
    undecided: Vec<usize>,
}

impl Bracket {
    pub(super) fn new(model: &Model, run: &SameWay, options: &Options) -> Self {
        let (left, right) = (model.coordinate(run.left), model.coordinate(run.right));
        let inside =
            |point: usize| left < model.coordinate(point) && model.coordinate(point) < right;
        let mut points: Vec<usize> =
            (0..model.len()).filter(|&it| inside(it) && model.count(it) > 0).collect();
        points.sort_by(|&a, &b| model.coordinate(a).total_cmp(&model.coordinate(b)));
        // The level is divided among the halvings that the wanted width takes.
        let halvings = ((right - left) / options.scale.extent(options.width)).log2().max(1.0);
        let critical = model.critical((1.0 - options.level) / halvings);
        let side = |point: usize| {
            let it = threshold_contrast(model, run, point, options.threshold);
            let off = run.sign * it.value / it.error;
            if off.abs() <= critical || model.is_mixed(point) { 0.0 } else { off.signum() }
        };
        let sides: Vec<(usize, f64)> = points.iter().map(|&it| (it, side(it))).collect();
        let all = |wanted: f64| sides.iter().filter(move |it| it.1 == wanted).map(|it| it.0);
        let first_after = all(-1.0).map(|it| model.coordinate(it)).fold(right, f64::min);
        let last_before = all(1.0).map(|it| model.coordinate(it)).fold(left, f64::max);
        // If the two contradict each other, the interval includes both.
        let low = all(1.0).map(|it| model.coordinate(it)).filter(|it| *it < first_after);
        let high = all(-1.0).map(|it| model.coordinate(it)).filter(|it| *it > last_before);
        let (low, high) = (low.fold(left, f64::max), high.fold(right, f64::min));
        let within = |it: &usize| low < model.coordinate(*it) && model.coordinate(*it) < high;
        Self { low, high, undecided: points.into_iter().filter(within).collect() }
    }

    /// An end that has been probed less often than required, if there is one.
    fn unconfirmed(&self, model: &Model, options: &Options) -> Option<NextProbe> {
        let is_end = |point: &usize| {
            let size = model.coordinate(*point);
            size.total_cmp(&self.low).is_eq() || size.total_cmp(&self.high).is_eq()
        };
        let probed = (0..model.len()).filter(|&point| model.count(point) > 0);
        let unsure = |point: &usize| model.count(*point) < options.confirmations;
        probed.filter(is_end).find(unsure).map(NextProbe::Again)
    }

    /// How many halvings it takes to make it as narrow as wanted.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few dozen")]
    pub(super) fn halvings(&self, options: &Options) -> usize {
        ((self.high - self.low) / options.scale.extent(options.width)).log2().max(0.0).ceil()
            as usize
    }

    /// Whether it is as narrow as wanted, or as the grain allows.
    pub(super) fn is_narrow(&self, options: &Options) -> bool {
        let one_grain = options.scale.grain_extent(self.low, options.grain);
        self.high - self.low <= options.scale.extent(options.width).max(one_grain)
    }

    /// None once the bracket is narrow, or everything left in it is undecided.
    pub(super) fn next(&self, model: &Model, options: &Options) -> Option<NextProbe> {
        if self.is_narrow(options) {
            return self.unconfirmed(model, options);
        }
        let again = self.undecided.iter().find(|&&it| model.count(it) < REPLICATES_MAX);
        if let Some(&point) = again {
            return Some(NextProbe::Again(point));
        }
        let (Some(&first), Some(&last)) = (self.undecided.first(), self.undecided.last()) else {
            return between(self.low, self.high, options);
        };
        let (first, last) = (model.coordinate(first), model.coordinate(last));
        let (below, above) = (first - self.low, self.high - last);
        if below.max(above) <= options.scale.extent(options.width) / 2.0 {
            return None;
        }
        if below >= above {
            between(self.low, first, options)
        } else {
            between(last, self.high, options)
        }
    }
}

/// The size in the middle between two, given by their coordinates; none if there is no multiple of
/// the grain between them.
fn between(low: f64, high: f64, options: &Options) -> Option<NextProbe> {
    let Options { grain, scale, .. } = *options;
    let size = scale.size(f64::midpoint(low, high));
    if grain <= 0.0 {
        return Some(NextProbe::New(size));
    }
    let near =
        [snapped(size, grain), (size / grain).floor() * grain, (size / grain).ceil() * grain];
    let is_between =
        |it: &f64| *it > scale.size(low) + grain / 2.0 && *it < scale.size(high) - grain / 2.0;
    near.into_iter().find(is_between).map(NextProbe::New)
}

/// How far a size's level is above the threshold.
fn threshold_contrast(
    model: &Model,
    run: &SameWay,
    point: usize,
    threshold: Threshold,
) -> Contrast {
    let plateaus = match threshold {
        Threshold::Middle => vec![(&run.before, 0.5), (&run.after, 0.5)],
        Threshold::Factor(_) => vec![(&run.before, 1.0)],
    };
    let mut weights = vec![(point, 1.0)];
    for (plateau, part) in plateaus {
        weights.extend(plateau.weights(model).iter().map(|&(it, share)| (it, -share * part)));
    }
    let contrast = model.contrast(&weights);
    match threshold {
        Threshold::Middle => contrast,
        Threshold::Factor(factor) => {
            Contrast { value: contrast.value + run.sign * factor.ln(), ..contrast }
        }
    }
}
