//! Changes in mean and variance by PELT: the cheapest of all segmentations, found without trying
//! them all.
//!
//! Cost: minus twice the log-likelihood of a normal segment, without the constants that every
//! segmentation shares: n ln(v) for n values of variance v. A segmentation costs the sum of its
//! segments' costs plus a penalty per change (Killick, Fearnhead & Eckley, "Optimal Detection of
//! Changepoints With a Linear Computational Cost", Journal of the American Statistical Association
//! 107, 2012, section 2).
//!
//! Floor: a stretch of equal values has variance 0 and would cost minus infinity. Values are known
//! only to their resolution q, the smallest distance between two different ones, and rounding to q
//! has variance q^2 / 12; no segment is credited with less. (If differences are themselves rounding
//! errors, q is at least 3.5e-12 times the largest deviation from the mean.) Below the floor f, a
//! segment costs n (ln f + v / f - 1), the maximum of the likelihood under the constraint. This
//! joins n ln(v) smoothly, and since it is a minimum, it preserves the property that pruning relies
//! on: two parts never cost more than their whole.
//!
//! Search: F(s), the least cost of the first s values, is the minimum over the last change t of
//! F(t) + cost(t, s) + penalty. A t with F(t) + cost(t, s) > F(s) is never again a better choice
//! than s (section 3.1, theorem 3.1, K = 0), once s itself can be a last change. If segments must
//! have m values, that is from s + m on, and t is kept until then. The result is the exact optimum.
//!
//! Each remaining t keeps count, mean and sum of squares of the values after it, updated value by
//! value (Welford, "Note on a Method for Calculating Corrected Sums of Squares and Products",
//! Technometrics 4(3), 1962). Unlike differences of prefix sums, these lose no digits to an offset
//! of the whole series or of a stretch of it.
//!
//! Sleep: while nothing changes, pruning removes almost no t, and the search would take n^2 steps.
//! But if t costs d more than the best t* at s, then because two parts cost no more than their
//! whole, F(t) + cost(t, u) - F(t*) - cost(t*, u) >= d - (cost(t*, u) - cost(t*, s) - cost(s, u))
//! for every later u, and the bracket is the same for every t. Until it reaches the smallest d of
//! all candidates put to sleep at s, none of them can be the best, and none is examined. Now and
//! then, after as many values as the root of their number, they are woken to be pruned. So the
//! result is still exact, and n values take about n^1.5 steps at worst, and n if changes keep
//! occurring.

use crate::changepoint::Segmentation;
use crate::refusal::{Refusal, check_count, check_finite, check_positive};

/// Number of candidates from which on they are not all examined each time.
const SLEEP_FROM: usize = 32;

/// How to look for changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// What a change must save, in units of minus twice the log-likelihood. `None` means 15 ln n
    /// (Barrett et al., "Virtual Machine Warmup Blows Hot and Cold", OOPSLA 2017, section 4).
    pub penalty: Option<f64>,
    /// Minimum number of values in a segment, at least 2.
    pub length_min: usize,
    /// Minimum variance that a segment is credited with, above 0, in the square of the values'
    /// unit. `None` derives it from the values' resolution.
    pub variance_floor: Option<f64>,
}

impl Default for Options {
    /// Penalty 15 ln n, two values, and a floor from the resolution.
    fn default() -> Self {
        Self { penalty: None, length_min: 2, variance_floor: None }
    }
}

/// Cuts `values`, in the order in which they were measured, where their mean or variance changes.
///
/// # Errors
/// Refuses values that are not finite, fewer than two or than `length_min` values, a `length_min`
/// below 2, a penalty that is negative or not finite, and a floor that is not above 0.
pub fn pelt(values: &[f64], options: Options) -> Result<Segmentation, Refusal> {
    let n = values.len();
    let length_min = options.length_min;
    if length_min < 2 {
        let (what, value) = ("the least length of a segment", length_min as f64);
        return Err(Refusal::OutOfRange { what, value, range: "at least 2" });
    }
    check_count("a search for changes", n, length_min as u64)?;
    check_finite(values)?;
    let penalty = options.penalty.unwrap_or(15.0 * (n as f64).ln());
    if !(penalty.is_finite() && penalty >= 0.0) {
        let what = "the penalty of a change";
        return Err(Refusal::OutOfRange { what, value: penalty, range: "at least 0" });
    }
    let Some(scaled) = Scaled::new(values) else {
        return Ok(Segmentation::cut(values, Vec::new()));
    };
    let floor = match options.variance_floor {
        Some(floor) => {
            check_positive("the variance floor", floor)?;
            (floor / scaled.unit / scaled.unit).clamp(1e-300, 1e300)
        }
        None => scaled.resolution_variance(),
    };
    let search = Search { values: &scaled.values, penalty, length_min, floor };
    Ok(Segmentation::cut(values, search.changepoints()))
}

/// The series around its mean and in units of its largest deviation, so that no square overflows.
/// Scaling every value by the same factor changes the cost of every segmentation equally.
struct Scaled {
    values: Vec<f64>,
    unit: f64,
}

impl Scaled {
    /// None for a series of equal values.
    fn new(values: &[f64]) -> Option<Self> {
        let n = values.len() as f64;
        // Halved, because the distance of two finite values can overflow.
        let halves = values.iter().map(|value| value / 2.0);
        let centre: f64 = halves.clone().map(|half| half / n).sum();
        let deviations: Vec<f64> = halves.map(|half| half - centre).collect();
        let largest = deviations.iter().fold(0.0, |most: f64, it| most.max(it.abs()));
        let equal = values.iter().all(|value| *value == values[0]);
        (!equal && largest > 0.0).then(|| Self {
            values: deviations.iter().map(|deviation| deviation / largest).collect(),
            unit: 2.0 * largest,
        })
    }

    /// The variance of rounding to the smallest distance between two different values.
    fn resolution_variance(&self) -> f64 {
        let mut ascending = self.values.clone();
        ascending.sort_by(f64::total_cmp);
        let gaps = ascending.windows(2).map(|pair| pair[1] - pair[0]);
        let least = gaps.filter(|gap| *gap > 0.0).fold(f64::INFINITY, f64::min);
        least.clamp(3.5e-12, 2.0).powi(2) / 12.0
    }
}

/// Running moments of a stretch of values.
#[derive(Clone, Copy, Default)]
struct Stretch {
    n: f64,
    mean: f64,
    squares: f64,
}

impl Stretch {
    fn add(&mut self, value: f64) {
        let from_mean = value - self.mean;
        self.n += 1.0;
        self.mean += from_mean / self.n;
        self.squares += from_mean * (value - self.mean);
    }

    /// This stretch and the `next` one combined (Chan, Golub & `LeVeque`, "Algorithms for Computing
    /// the Sample Variance", The American Statistician 37(3), 1983).
    fn with(&self, next: &Self) -> Self {
        let n = self.n + next.n;
        let share = next.n / n;
        let apart = next.mean - self.mean;
        let squares = self.squares + next.squares + apart * apart * self.n * share;
        Self { n, mean: self.mean + apart * share, squares }
    }
}

/// A possible last change.
#[derive(Clone, Copy)]
struct Candidate {
    start: usize,
    /// F(start).
    cost_before: f64,
    /// The values after it; for one that sleeps, only those before it was put to sleep.
    after: Stretch,
    /// F(start) plus the cost of the values after it.
    cost: f64,
    /// From this end on, it cannot be the best.
    expires: usize,
}

/// Candidates that cannot be the best for now, and what shows when they might be again.
#[derive(Default)]
struct Sleepers {
    candidates: Vec<Candidate>,
    /// The values since they were put to sleep.
    since: Stretch,
    /// The values from the best last change up to that moment.
    reference: Stretch,
    /// How much more than the best any of them costs at least.
    margin: f64,
    /// How many values they may sleep through.
    patience: f64,
}

struct Search<'a> {
    values: &'a [f64],
    penalty: f64,
    length_min: usize,
    floor: f64,
}

impl Search<'_> {
    fn changepoints(&self) -> Vec<usize> {
        let n = self.values.len();
        let mut least = vec![f64::INFINITY; n + 1];
        least[0] = -self.penalty;
        let mut last_change = vec![0; n + 1];
        let mut awake: Vec<Candidate> = Vec::new();
        let mut sleepers = Sleepers::default();
        for end in self.length_min..=n {
            let value = self.values[end - 1];
            awake.iter_mut().for_each(|candidate| candidate.after.add(value));
            sleepers.since.add(value);
            if self.must_wake(&sleepers) {
                wake(&mut sleepers, &mut awake);
            }
            let start = end - self.length_min;
            if least[start].is_finite() {
                awake.push(self.candidate(start, least[start]));
            }
            let best = self.best(&mut awake);
            (least[end], last_change[end]) = (best.cost + self.penalty, best.start);
            let expires = end + self.length_min;
            awake.retain_mut(|candidate| {
                if candidate.cost > least[end] {
                    candidate.expires = candidate.expires.min(expires);
                }
                candidate.expires > end + 1
            });
            if sleepers.candidates.is_empty() && awake.len() >= SLEEP_FROM {
                self.put_to_sleep(&best, &mut awake, &mut sleepers);
            }
        }
        backtrack(&last_change)
    }

    /// The change at `start`, followed by the minimum number of values.
    fn candidate(&self, start: usize, cost_before: f64) -> Candidate {
        let mut after = Stretch::default();
        self.values[start..start + self.length_min].iter().for_each(|value| after.add(*value));
        Candidate { start, cost_before, after, cost: f64::INFINITY, expires: usize::MAX }
    }

    /// Updates all costs and returns the best candidate. One exists, since the best is never put to
    /// sleep.
    fn best(&self, awake: &mut [Candidate]) -> Candidate {
        let mut best = awake[0];
        best.cost = f64::INFINITY;
        for candidate in awake {
            candidate.cost = candidate.cost_before + self.cost(&candidate.after);
            if candidate.cost < best.cost {
                best = *candidate;
            }
        }
        best
    }

    fn put_to_sleep(&self, best: &Candidate, awake: &mut Vec<Candidate>, sleepers: &mut Sleepers) {
        let far_off = |candidate: &Candidate| candidate.cost - best.cost > self.penalty / 2.0;
        let (far, near) = awake.iter().copied().partition(far_off);
        *awake = near;
        *sleepers = Sleepers { candidates: far, reference: best.after, ..Sleepers::default() };
        let costs = sleepers.candidates.iter().map(|candidate| candidate.cost);
        sleepers.margin = costs.fold(f64::INFINITY, f64::min) - best.cost;
        sleepers.patience = (sleepers.candidates.len() as f64).sqrt().max(16.0);
    }

    fn must_wake(&self, sleepers: &Sleepers) -> bool {
        if sleepers.candidates.is_empty() {
            return false;
        }
        let whole = self.cost(&sleepers.reference.with(&sleepers.since));
        let parts = self.cost(&sleepers.reference) + self.cost(&sleepers.since);
        let rounding = 1e-3 + 1e-12 * (whole.abs() + parts.abs());
        whole - parts >= sleepers.margin - rounding || sleepers.since.n >= sleepers.patience
    }

    fn cost(&self, stretch: &Stretch) -> f64 {
        let variance = stretch.squares / stretch.n;
        if variance >= self.floor {
            stretch.n * variance.ln()
        } else {
            stretch.n * (self.floor.ln() + variance / self.floor - 1.0)
        }
    }
}

fn wake(sleepers: &mut Sleepers, awake: &mut Vec<Candidate>) {
    for mut candidate in sleepers.candidates.drain(..) {
        candidate.after = candidate.after.with(&sleepers.since);
        awake.push(candidate);
    }
}

/// The changes of the best segmentation, given the last change of every prefix.
fn backtrack(last_change: &[usize]) -> Vec<usize> {
    let mut changes = Vec::new();
    let mut end = last_change.len() - 1;
    while last_change[end] > 0 {
        end = last_change[end];
        changes.push(end);
    }
    changes.reverse();
    changes
}

#[cfg(test)]
mod tests;
