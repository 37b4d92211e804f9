//! ln value = level of the size + drift x order + noise: fitted by least squares, and compared by
//! contrasts.
//!
//! With a separate level for every size, the drift is the common slope within sizes probed more
//! than once, and the noise is the residual there (analysis of covariance: Scheffe, "The Analysis
//! of Variance", Wiley 1959, chapter 6).

use super::Measurement;
use crate::distribution::student;

/// Minimum noise assumed, in logarithms: values that repeat exactly are less accurate than they
/// look.
const NOISE_MIN: f64 = 1e-6;

/// The fit to the values told so far.
pub(super) struct Model {
    levels: Vec<Level>,
    drift: f64,
    /// The sum of squares of the probes' orders around their sizes' means.
    order_squares: f64,
    variance: f64,
    degrees_of_freedom: f64,
}

#[derive(Clone, Copy, Default)]
struct Level {
    coordinate: f64,
    count: usize,
    mean: f64,
    order: f64,
    /// How many of its values are below the floor.
    below: usize,
}

impl Level {
    fn is_mixed(&self) -> bool {
        0 < self.below && self.below < self.count
    }
}

/// An estimate and its standard error.
#[derive(Clone, Copy)]
pub(super) struct Contrast {
    pub(super) value: f64,
    pub(super) error: f64,
}

impl Model {
    pub(super) fn new(points: &[(f64, f64)], probes: &[Measurement], floor: f64) -> Self {
        let log_floor = floor.ln();
        let mut levels: Vec<Level> = points
            .iter()
            .map(|&(_, coordinate)| Level { coordinate, ..Level::default() })
            .collect();
        for (order, probe) in probes.iter().enumerate() {
            let level = &mut levels[probe.point];
            level.count += 1;
            level.below += usize::from(probe.log_value < log_floor);
            level.mean += (probe.log_value - level.mean) / level.count as f64;
            level.order += (order as f64 - level.order) / level.count as f64;
        }
        let (mut of_order, mut of_both, mut of_value) = (0.0, 0.0, 0.0);
        for (order, probe) in probes.iter().enumerate() {
            let level = &levels[probe.point];
            if level.below > 0 {
                continue;
            }
            let (late, above) = (order as f64 - level.order, probe.log_value - level.mean);
            of_order += late * late;
            of_both += late * above;
            of_value += above * above;
        }
        let drift = if of_order > 0.0 { of_both / of_order } else { 0.0 };
        let repeated = levels.iter().filter(|level| level.below == 0);
        let repeated: usize = repeated.map(|level| level.count.saturating_sub(1)).sum();
        let degrees_of_freedom = (repeated as f64 - 1.0).max(1.0);
        let variance = ((of_value - drift * of_both) / degrees_of_freedom).max(NOISE_MIN.powi(2));
        Self { levels, drift, order_squares: of_order, variance, degrees_of_freedom }
    }

    pub(super) fn noise(&self) -> f64 {
        self.variance.sqrt()
    }

    pub(super) fn drift(&self) -> f64 {
        self.drift
    }

    /// Whether all of a size's values are below the floor.
    pub(super) fn is_low(&self, point: usize) -> bool {
        self.levels[point].below > 0 && !self.is_mixed(point)
    }

    /// Whether a size has values on both sides of the floor.
    pub(super) fn is_mixed(&self, point: usize) -> bool {
        self.levels[point].is_mixed()
    }

    pub(super) fn count(&self, point: usize) -> usize {
        self.levels[point].count
    }

    pub(super) fn coordinate(&self, point: usize) -> f64 {
        self.levels[point].coordinate
    }

    pub(super) fn len(&self) -> usize {
        self.levels.len()
    }

    /// The level of a size, corrected for drift to the time of the first probe.
    pub(super) fn level(&self, point: usize) -> f64 {
        self.levels[point].mean - self.drift * self.levels[point].order
    }

    /// A weighted sum of levels; the weights add up to 0.
    pub(super) fn contrast(&self, weights: &[(usize, f64)]) -> Contrast {
        let (mut value, mut order, mut squares) = (0.0, 0.0, 0.0);
        for &(point, weight) in weights {
            value += weight * self.level(point);
            order += weight * self.levels[point].order;
            squares += weight * weight / self.levels[point].count as f64;
        }
        let by_drift =
            if self.order_squares > 0.0 { order * order / self.order_squares } else { 0.0 };
        Contrast { value, error: (self.variance * (squares + by_drift)).sqrt() }
    }

    /// How many standard errors an estimate may be off with probability `tail` on one side.
    pub(super) fn critical(&self, tail: f64) -> f64 {
        student::quantile(1.0 - tail, self.degrees_of_freedom)
    }
}
