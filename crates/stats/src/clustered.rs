//! Intervals of quantiles of clustered values: the operations of replicates.
//!
//! Values in one cluster share whatever happened to it, so they carry less information than as many
//! independent ones. How much less is the *design effect*: the variance of the share of values
//! beyond a quantile, as estimated from the clusters, over the variance for independent values
//! (Kish, "Survey Sampling", section 8.2). The variance is that of a ratio of cluster totals
//! (Cochran, "Sampling Techniques", 3rd edition, section 3.12).
//!
//! The interval is Woodruff's ("Confidence Intervals for Medians and Other Position Measures",
//! Journal of the American Statistical Association 47, 1952): an interval of the share below the
//! quantile, translated by the distribution of all values. The interval of the share is the exact
//! one for as many independent values as these are worth (Korn & Graubard, "Confidence Intervals
//! for Proportions with Small Expected Number of Positive Counts Estimated from Survey Data",
//! Survey Methodology 24, 1998): their number over the design effect, times the squared ratio of
//! the normal quantile to Student's, whose degrees of freedom are the number of clusters minus one,
//! since the design effect itself was estimated from the clusters.
//!
//! Far out in the tail, few values lie beyond, and their design effect is little more than chance.
//! Ten times as many lie beyond the quantile whose tail is ten times as large, and differences
//! between clusters that show there also exist further out. If the values of clusters differ by a
//! factor, the counts vary, relative to their mean, with the hazard of the logarithm, which for
//! normal logarithms grows like the normal quantile. So a tenth of the excess over 1 found there is
//! used, times the squared ratio of the two normal quantiles. The larger of the two estimates
//! counts. `docs/coverage.md` has the simulations. No estimate can know about events that no
//! cluster has experienced.

use crate::distribution::{normal, student};
use crate::order;
use crate::refusal::{Refusal, check_count, check_open_unit};

/// Minimum number of clusters: as many as an interval of a median at 95 % needs values.
pub const CLUSTERS_MIN: u64 = 6;
/// How many times larger the tail is at the quantile where a second design effect is estimated.
const NEARER: f64 = 10.0;

/// One cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// Number of values in it.
    pub values: u64,
    /// How many of them are above the quantile of all values.
    pub beyond: u64,
    /// How many are above the [`nearer`] quantile of all values.
    pub beyond_nearer: u64,
}

/// Two quantiles of all values that enclose the quantile asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shares {
    /// The lower end, as a rank among all values, from 1.
    pub low: u64,
    /// The upper end, likewise.
    pub high: u64,
}

/// The quantile with ten times the tail of `q`: for 0.999 it is 0.99. None below 0.99, where the
/// tail is large enough.
#[must_use]
pub fn nearer(q: f64) -> Option<f64> {
    let nearer = 1.0 - NEARER * (1.0 - q);
    (nearer >= 0.9 - 1e-9).then_some(nearer)
}

/// The ranks among all values that enclose the `q` quantile of the distribution behind the
/// clusters, at `level`. `widening` is the factor by which an interval must be wider because
/// clusters depend on the ones before them; at least 1.
///
/// # Errors
/// Refuses a `q` or `level` outside 0 to 1, fewer than [`CLUSTERS_MIN`] clusters, and fewer values
/// than such an interval takes. In the last case it says how many it would take in clusters like
/// these.
pub fn ranks(clusters: &[Cluster], q: f64, level: f64, widening: f64) -> Result<Shares, Refusal> {
    check_count("an interval of values in clusters", clusters.len(), CLUSTERS_MIN)?;
    let least = order::least_n(q, level)?;
    let values: u64 = clusters.iter().map(|cluster| cluster.values).sum();
    let loss = design_effect(clusters, q) * widening.max(1.0).powi(2);
    let worth = worth(values, clusters.len() as u64, loss, level)?;
    if worth < least {
        let what = "an interval of this quantile of values in clusters";
        let needed = needed(clusters, q, level, widening)?;
        return Err(Refusal::TooFew { what, needed, given: values });
    }
    let of_worth = order::ranks(worth, q, level)?;
    let scaled = |rank: u64| rank as f64 * (values as f64 / worth as f64);
    Ok(Shares {
        low: whole(scaled(of_worth.low - 1).floor()) + 1,
        high: whole(scaled(of_worth.high).ceil()).min(values),
    })
}

/// How many values in clusters like these such an interval takes, with more clusters of the same
/// size, if they differ as these do. With a single cluster, nothing is known about how they differ,
/// and its values are assumed to be independent.
///
/// # Errors
/// Refuses a `q` or `level` outside 0 to 1, and clusters without values.
pub fn needed(clusters: &[Cluster], q: f64, level: f64, widening: f64) -> Result<u64, Refusal> {
    let least = order::least_n(q, level)?;
    let values: u64 = clusters.iter().map(|cluster| cluster.values).sum();
    check_count("clusters", usize::try_from(values).unwrap_or(usize::MAX), 1)?;
    let each = values as f64 / clusters.len() as f64;
    let loss = design_effect(clusters, q) * widening.max(1.0).powi(2);
    let is_enough = |count: u64| {
        worth(whole(count as f64 * each), count, loss, level).is_ok_and(|worth| worth >= least)
    };
    let (mut too_few, mut enough) = (CLUSTERS_MIN - 1, CLUSTERS_MIN);
    while !is_enough(enough) {
        (too_few, enough) = (enough, 2 * enough);
    }
    while enough - too_few > 1 {
        let middle = too_few + (enough - too_few) / 2;
        if is_enough(middle) { enough = middle } else { too_few = middle }
    }
    Ok(whole((enough as f64 * each).ceil()))
}

/// How many independent values `values` in this many clusters are worth.
fn worth(values: u64, clusters: u64, loss: f64, level: f64) -> Result<u64, Refusal> {
    check_open_unit("the level", level)?;
    let upper = (1.0 + level) / 2.0;
    let degrees_of_freedom = clusters as f64 - 1.0;
    let by_chance = normal::quantile(upper) / student::quantile(upper, degrees_of_freedom);
    Ok(whole(values as f64 / loss * by_chance.powi(2)))
}

/// The larger of two design effects: the one at the quantile, and the one extrapolated from the
/// [`nearer`] quantile. At least 1, since clusters that differ less than expected do so by chance.
#[must_use]
pub fn design_effect(clusters: &[Cluster], q: f64) -> f64 {
    let own = of_counts(clusters, |cluster| cluster.beyond);
    let taken_over = nearer(q).map_or(1.0, |nearer| {
        let excess = of_counts(clusters, |cluster| cluster.beyond_nearer) - 1.0;
        let steeper = (normal::quantile(q) / normal::quantile(nearer)).powi(2);
        1.0 + excess / NEARER * steeper
    });
    own.max(taken_over).max(1.0)
}

/// The variance of the share of values that `count` counts, relative to that of independent values.
fn of_counts(clusters: &[Cluster], count: impl Fn(&Cluster) -> u64) -> f64 {
    let all: f64 = clusters.iter().map(|cluster| cluster.values as f64).sum();
    let share = clusters.iter().map(|cluster| count(cluster) as f64).sum::<f64>() / all;
    let clusters_count = clusters.len() as f64;
    if clusters_count < 2.0 || !(share > 0.0 && share < 1.0) {
        return 1.0;
    }
    let square =
        |cluster: &Cluster| (count(cluster) as f64 - share * cluster.values as f64).powi(2);
    let squares: f64 = clusters.iter().map(square).sum();
    let variance = clusters_count / (clusters_count - 1.0) * squares / all.powi(2);
    variance / (share * (1.0 - share) / all)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts above 0")]
fn whole(value: f64) -> u64 {
    value as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alike(count: usize, values: u64, beyond: u64) -> Vec<Cluster> {
        vec![Cluster { values, beyond, beyond_nearer: 10 * beyond }; count]
    }

    #[test]
    fn the_quantile_before_leaves_ten_times_as_much_beyond() {
        assert!((nearer(0.999).unwrap() - 0.99).abs() < 1e-12);
        assert!((nearer(0.99).unwrap() - 0.9).abs() < 1e-12);
        assert_eq!(nearer(0.95), None);
    }

    /// By hand: of 6 clusters of 100, shares beyond are 3 and 1 % in turn; the variance of the
    /// share is 6/5 (6 x 1) / 600^2 = 2e-5, that of independent values 0.02 x 0.98 / 600.
    #[test]
    fn the_design_effect_is_that_of_the_totals_of_clusters() {
        let of = |beyond| Cluster { values: 100, beyond, beyond_nearer: 20 };
        let clusters = [3, 1, 3, 1, 3, 1].map(of);
        let expected = 2e-5 / (0.02 * 0.98 / 600.0);
        assert!((of_counts(&clusters, |one| one.beyond) - expected).abs() < 1e-9);
        assert!((design_effect(&clusters, 0.98) - 1.0).abs() < f64::EPSILON, "{expected} is less");
        let apart = [6, 0, 0, 6, 0, 0].map(of);
        let expected = 6.0 / 5.0 * (2.0 * 16.0 + 4.0 * 4.0) / 360_000.0 / (0.02 * 0.98 / 600.0);
        assert!((design_effect(&apart, 0.98) - expected).abs() < 1e-9 && expected > 4.0);
    }

    #[test]
    fn what_clusters_differ_by_nearer_to_the_middle_counts_further_out() {
        let of = |beyond_nearer| Cluster { values: 1000, beyond: 1, beyond_nearer };
        let clusters = [5, 15, 5, 15, 5, 15].map(of);
        let nearer = of_counts(&clusters, |one| one.beyond_nearer);
        // The ratio of z(0.999) to z(0.99) is 1.3284.
        let expected = 1.0 + (nearer - 1.0) / 10.0 * 1.3284_f64.powi(2);
        assert!((design_effect(&clusters, 0.999) - expected).abs() < 1e-3, "{expected}");
        assert!(expected > 1.3);
    }

    #[test]
    fn clusters_that_do_not_differ_lose_only_what_few_of_them_leave_uncertain() {
        // z(0.975) is 1.959964, t(0.975, 9) 2.262157: 10,000 values are worth 7,506.
        let shares = ranks(&alike(10, 1000, 1), 0.999, 0.95, 1.0).unwrap();
        let of_worth = order::ranks(7506, 0.999, 0.95).unwrap();
        let by = 10_000.0 / 7506.0;
        assert_eq!(shares.low, whole(((of_worth.low - 1) as f64 * by).floor()) + 1);
        assert_eq!(shares.high, whole((of_worth.high as f64 * by).ceil()));
        assert!(shares.low < 9990 && 9990 < shares.high && shares.high <= 10_000, "{shares:?}");
    }

    #[test]
    fn too_few_values_are_refused_with_how_many_it_takes() {
        let refused = |clusters: &[Cluster]| match ranks(clusters, 0.999, 0.95, 1.0) {
            Err(Refusal::TooFew { needed, given, .. }) => (needed, given),
            other => panic!("{other:?}"),
        };
        let (needed, given) = refused(&alike(10, 300, 0));
        assert_eq!((needed % 300, given), (0, 3000));
        let blocks = usize::try_from(needed / 300).unwrap();
        assert!(ranks(&alike(blocks, 300, 0), 0.999, 0.95, 1.0).is_ok(), "{blocks}");
        assert!(ranks(&alike(blocks - 1, 300, 0), 0.999, 0.95, 1.0).is_err(), "{blocks}");
        assert_eq!(refused(&alike(5, 100_000, 100)).0, CLUSTERS_MIN, "clusters, then");
    }

    #[test]
    fn clusters_that_depend_on_those_before_them_are_worth_less() {
        let clusters = alike(12, 1000, 1);
        let plain = ranks(&clusters, 0.999, 0.95, 1.0).unwrap();
        let wide = ranks(&clusters, 0.999, 0.95, 1.5).unwrap();
        assert!(wide.low < plain.low && wide.high > plain.high, "{plain:?} {wide:?}");
        let needed = |widening| needed(&clusters, 0.999, 0.95, widening).unwrap();
        assert!(needed(3.0) > 2 * needed(1.0));
    }

    #[test]
    fn levels_and_quantiles_outside_their_range_are_refused() {
        assert!(ranks(&alike(10, 1000, 1), 1.0, 0.95, 1.0).is_err());
        assert!(ranks(&alike(10, 1000, 1), 0.999, 0.0, 1.0).is_err());
        assert!(needed(&alike(2, 0, 0), 0.999, 0.95, 1.0).is_err(), "no values");
    }
}
