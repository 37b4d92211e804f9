//! The distribution of the studentized range, for Tukey's honestly significant difference: the
//! range of `groups` standard normal values, divided by an independent estimate of their standard
//! deviation with `df` degrees of freedom.
//!
//! The structure is that of algorithm AS 190 (Lund & Lund, Applied Statistics 32(2), 1983): the
//! tail of the range of k normals, integrated over the distribution of the estimate. Both are
//! integrals over the whole line of smooth functions that vanish at either end, for which the plain
//! sum over equidistant nodes converges faster than any power of their distance (Trefethen &
//! Weideman, "The Exponentially Convergent Trapezoidal Rule", SIAM Review 56(3), 2014). The tail
//! itself is integrated, never its complement, so that small p keep their digits.

use super::saddle::{deviance, stirling_error};
use super::{assert_degrees, assert_open_unit, normal};

/// The probability of a range above `q`, for `groups` means with `df` degrees of freedom of error
/// (may be infinite).
///
/// The relative error is below 1e-12 for 2 to 200 groups and below 1e-10 up to 1,000, with at least
/// 1 degree of freedom and down to p = 1e-100.
///
/// # Panics
/// If there are fewer than 2 groups, or `df` is not above 0.
pub fn sf(q: f64, groups: u32, df: f64) -> f64 {
    let range = NormalRange::new(groups);
    assert_degrees(df);
    studentized_sf(q, &range, df)
}

/// The `probability` quantile of the range of `groups` means with `df` degrees of freedom (may be
/// infinite), to ten digits. For a probability below 1e-5 it has fewer, and below 1e-15 none,
/// because the search uses the upper tail.
///
/// # Panics
/// If `probability` is not strictly between 0 and 1, there are fewer than 2 groups, or `df` is not
/// above 0.
pub fn quantile(probability: f64, groups: u32, df: f64) -> f64 {
    assert_open_unit(probability);
    assert_degrees(df);
    let range = NormalRange::new(groups);
    let above = 1.0 - probability;
    // The smaller tail on a logarithmic scale, decreasing with q in both cases.
    let excess = |q: f64| {
        let sf = studentized_sf(q, &range, df);
        let ratio = if probability < 0.5 { probability / (1.0 - sf) } else { sf / above };
        ratio.ln().clamp(-1e3, 1e3)
    };
    falling_root(excess)
}

fn studentized_sf(q: f64, range: &NormalRange, df: f64) -> f64 {
    if q.is_nan() {
        return q;
    }
    if q <= 0.0 {
        return 1.0;
    }
    if q.is_infinite() {
        return 0.0;
    }
    if df.is_infinite() {
        return range.sf(q).min(1.0);
    }
    let estimate = Estimate { df, step_longest: OUTER_STEP_LONGEST * range.fineness.powi(2) };
    estimate.expectation_about(most_relevant_log(q, df), |s| range.sf(q * s)).min(1.0)
}

/// Roughly where the integrand over the logarithm of the estimate is largest: far out, the range's
/// tail falls like exp(-q^2 s^2 / 4).
fn most_relevant_log(q: f64, df: f64) -> f64 {
    let pull = (q * q / 2.0 - 4.0).max(0.0);
    -0.5 * (pull / df).ln_1p()
}

/// An estimate of a standard deviation of 1 with `df` degrees of freedom: chi / sqrt(df).
struct Estimate {
    df: f64,
    /// The longest step of its logarithm that resolves the function being averaged.
    step_longest: f64,
}

impl Estimate {
    /// The expectation of `value`, which decreases with the estimate, summed outwards from the
    /// logarithm `centre`.
    fn expectation_about(&self, centre: f64, value: impl Fn(f64) -> f64) -> f64 {
        let step = (STEP_IN_DEVIATIONS / (2.0 * self.df).sqrt()).min(self.step_longest);
        let term = |x: f64| {
            let (bent, slope) = if self.df < BENT_BELOW { bend(x) } else { (x, 1.0) };
            let log = centre + bent;
            let density = self.density_per_log(log);
            if density > 0.0 { density * slope * value(log.exp()) } else { 0.0 }
        };
        let mut sum = term(0.0);
        for direction in [1.0, -1.0] {
            let mut before = 0.0;
            for index in 1..OUTER_NODES_MAX {
                let next = term(direction * step * f64::from(index));
                sum += next;
                if next <= before && next <= sum * NEGLIGIBLE {
                    break;
                }
                before = next;
            }
        }
        sum * step
    }

    /// The density of the logarithm: with a = df / 2 and v = s^2 - 1, it is 2 sqrt(a / (2 pi))
    /// exp(-a D(v) - E(a)), with D and E from `saddle`.
    fn density_per_log(&self, log: f64) -> f64 {
        let a = self.df / 2.0;
        let v = (2.0 * log).exp_m1();
        // The deviance v - ln(1 + v); the logarithm is already known.
        let deviance = if v.abs() < 0.5 { deviance(v, 1.0 + v) } else { v - 2.0 * log };
        2.0 * (a / std::f64::consts::TAU).sqrt() * (-a * deviance - stirling_error(a)).exp()
    }
}

/// A change of variable that stretches the left side, and its derivative: 0 stays in place, and
/// little changes to its right. With few degrees of freedom, the left tail is a slow exponential,
/// which this shortens; with many, it would only sharpen what the steps have to resolve.
fn bend(x: f64) -> (f64, f64) {
    (x - BEND * (-x).exp_m1(), 1.0 + BEND * (-x).exp())
}

/// How much the left side is stretched, and below how many degrees of freedom.
const BEND: f64 = 0.1;
const BENT_BELOW: f64 = 8.0;

/// The outer step in standard deviations of the logarithm of the estimate, and its maximum, for up
/// to `COARSE_GROUPS` groups. Halving these steps changes nothing above 1e-13.
const STEP_IN_DEVIATIONS: f64 = 0.4;
const OUTER_STEP_LONGEST: f64 = 0.06;

/// Terms below this share of the sum are left out.
const NEGLIGIBLE: f64 = 1e-17;

/// More nodes than the integral ever has.
const OUTER_NODES_MAX: u32 = 4_000;

/// The range of k independent standard normal values.
///
/// Its tail is the integral over the largest value z of
/// k phi(z) (Phi(z)^(k - 1) - (Phi(z) - Phi(z - w))^(k - 1)): the others are below z, and not all
/// of them are above z - w (David & Nagaraja, "Order Statistics", 3rd edition, section 2.3).
struct NormalRange {
    /// k - 1.
    others: f64,
    /// 1 for few groups; with more groups, the distribution of the largest value is narrower.
    fineness: f64,
    nodes: Vec<Node>,
}

/// One value z of the largest, with the factors that do not depend on w.
struct Node {
    z: f64,
    /// The inner step times k phi(z) Phi(z)^(k - 1).
    weight: f64,
    /// 1 / Phi(z).
    inverse_cdf: f64,
}

/// The distance between values of the largest, for up to `COARSE_GROUPS` groups.
const INNER_STEP: f64 = 0.125;
const COARSE_GROUPS: f64 = 200.0;

/// The range of largest values that matter. It covers ranges up to 66, whose probability is too
/// small for f64.
const Z_MIN: f64 = -6.6;
const Z_MAX: f64 = 40.0;

/// Largest values with less weight than this do not matter either.
const WEIGHT_MIN: f64 = 1e-22;

/// Largest values further than this from w / 2, and above `LARGEST`, do not matter.
const REACH: f64 = 6.6;
const LARGEST: f64 = 9.5;

impl NormalRange {
    fn new(groups: u32) -> Self {
        assert!(groups >= 2, "a range needs at least 2 groups");
        let k = f64::from(groups);
        let others = k - 1.0;
        let fineness = (COARSE_GROUPS.ln() / k.ln()).min(1.0);
        let step = INNER_STEP * fineness;
        let node = |z: f64| {
            let (cdf, sf) = (normal::cdf(z), normal::sf(z));
            let log_cdf = if z < 0.0 { cdf.ln() } else { (-sf).ln_1p() };
            let log_density = -z * z / 2.0 + others * log_cdf;
            let weight = k * step * log_density.exp() / std::f64::consts::TAU.sqrt();
            Node { z, weight, inverse_cdf: 1.0 / cdf }
        };
        let places = (0_u32..).map(|index| Z_MIN + step * f64::from(index));
        let nodes = places.take_while(|&z| z < Z_MAX).map(node);
        let nodes = nodes.skip_while(|node| node.weight < WEIGHT_MIN).collect();
        Self { others, fineness, nodes }
    }

    /// The probability of a range above `w`, which is above 0.
    fn sf(&self, w: f64) -> f64 {
        let (low, high) = (w / 2.0 - REACH, (w / 2.0 + REACH).max(LARGEST));
        let from = self.nodes.partition_point(|node| node.z < low);
        let to = self.nodes.partition_point(|node| node.z <= high);
        self.nodes[from..to].iter().map(|node| node.weight * self.not_all_within(node, w)).sum()
    }

    /// The probability that not all others are within `w` of the largest, given that they are below
    /// it.
    fn not_all_within(&self, node: &Node, w: f64) -> f64 {
        let share_beyond = normal::cdf(node.z - w) * node.inverse_cdf;
        let expected = self.others * share_beyond;
        if expected < 1e-9 {
            return expected * (1.0 - (expected - share_beyond) / 2.0);
        }
        -(self.others * (-share_beyond.min(1.0)).ln_1p()).exp_m1()
    }
}

/// The root of a function that falls from positive to negative values as its argument, above 0,
/// grows: brackets by doubling, then Ridders' method (Press et al., "Numerical Recipes", 3rd
/// edition, section 9.2.1).
fn falling_root(function: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (2.0, 4.0);
    let (mut at_low, mut at_high) = (function(low), function(high));
    while at_high > 0.0 && high < f64::MAX / 2.0 {
        (low, at_low) = (high, at_high);
        high *= 2.0;
        at_high = function(high);
    }
    while at_low < 0.0 && low > f64::MIN_POSITIVE {
        (high, at_high) = (low, at_low);
        low /= 2.0;
        at_low = function(low);
    }
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        let at_middle = function(middle);
        let scale = (at_middle * at_middle - at_low * at_high).sqrt();
        if at_middle == 0.0 || scale <= 0.0 || !scale.is_finite() {
            return middle;
        }
        let root = middle + (middle - low) * at_middle / scale;
        let at_root = function(root);
        if (at_middle > 0.0) != (at_root > 0.0) {
            let ends = if at_middle > 0.0 {
                [middle, at_middle, root, at_root]
            } else {
                [root, at_root, middle, at_middle]
            };
            [low, at_low, high, at_high] = ends;
        } else if at_root > 0.0 {
            (low, at_low) = (root, at_root);
        } else {
            (high, at_high) = (root, at_root);
        }
        if at_root.abs() < 1e-12 || high - low < high * 1e-14 {
            return root;
        }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::assert_relative;

    // The upper 5 % and 1 % points, as printed in any table (Montgomery, "Design and Analysis of
    // Experiments", table of percentage points of the studentized range).
    #[test]
    fn quantiles_are_those_of_the_published_tables() {
        let table = [
            (0.95, 3, 10.0, 3.88),
            (0.95, 5, 20.0, 4.23),
            (0.99, 4, 12.0, 5.50),
            (0.95, 10, f64::INFINITY, 4.47),
            (0.95, 2, 1.0, 18.0),
        ];
        for (p, groups, df, wanted) in table {
            assert_relative(quantile(p, groups, df), wanted, 0.002);
        }
    }

    #[test]
    fn low_quantiles_and_high_ones_invert_the_tail() {
        for (groups, df) in [(2, 1.0), (3, 7.5), (30, 40.0), (1_000, f64::INFINITY)] {
            for p in [1e-4, 0.3, 0.49, 0.51, 0.999_999] {
                let sf = sf(quantile(p, groups, df), groups, df);
                assert_relative(1.0 - sf, p, 1e-9);
                assert_relative(sf, 1.0 - p, 1e-9);
            }
        }
        assert!(quantile(1e-300, 5, 10.0).is_finite());
        assert!(quantile(1.0 - f64::EPSILON, 5, 1.0) > 1e15);
    }

    #[test]
    #[should_panic(expected = "at least 2 groups")]
    fn one_group_has_no_range() {
        sf(1.0, 1, 10.0);
    }
}
