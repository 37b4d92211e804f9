//! How often to repeat at each of several nested levels: runs in boots, replicates in runs.
//!
//! Repeating a level of little spread is wasted where the spread comes from the level above. Of a
//! balanced design the variance is split by level, and repetitions are shared out so that the
//! interval of the mean shrinks fastest for the time they take (Kalibera & Jones, "Rigorous
//! Benchmarking in Reasonable Time", ISMM 2013, sections 6 and 7). Level 1 is the lowest.

use crate::interval::{Interval, t_interval};
use crate::refusal::{Refusal, check_count, check_finite, check_open_unit, check_positive};
use crate::sample;

/// Measurements of a balanced design of at least one level.
#[derive(Clone, Debug, PartialEq)]
pub struct Levels {
    /// Level by level from the lowest: r1 values in each group of level 1, and so on.
    repetitions: Vec<usize>,
    /// The values, those of one group side by side at every level.
    values: Vec<f64>,
}

impl Levels {
    /// Takes `values` as groups of `repetitions[0]`, these as groups of `repetitions[1]`, and so
    /// on: values that differ in the lowest level only stand side by side.
    ///
    /// # Errors
    /// Refuses no levels, fewer than two repetitions at any, values that are not finite, and a
    /// number of values that is not the product of the repetitions.
    pub fn new(repetitions: &[usize], values: &[f64]) -> Result<Self, Refusal> {
        check_count("a nested design's levels", repetitions.len(), 1)?;
        for &count in repetitions {
            check_count("each level of a nested design", count, 2)?;
        }
        check_finite(values)?;
        let product = repetitions.iter().try_fold(1usize, |all, &count| all.checked_mul(count));
        if product != Some(values.len()) {
            return Err(Refusal::Unbalanced);
        }
        Ok(Self { repetitions: repetitions.to_vec(), values: values.to_vec() })
    }

    /// Two levels: groups of values.
    ///
    /// # Errors
    /// As for [`Levels::new`], and groups that differ in size.
    pub fn of_groups(groups: &[Vec<f64>]) -> Result<Self, Refusal> {
        let size = groups.first().map_or(0, Vec::len);
        if groups.iter().any(|group| group.len() != size) {
            return Err(Refusal::Unbalanced);
        }
        Self::new(&[size, groups.len()], &groups.concat())
    }

    /// Three levels: groups of groups of values.
    ///
    /// # Errors
    /// As for [`Levels::of_groups`].
    pub fn of_nested_groups(groups: &[Vec<Vec<f64>>]) -> Result<Self, Refusal> {
        let inner: Vec<Self> =
            groups.iter().map(|group| Self::of_groups(group)).collect::<Result<_, _>>()?;
        check_count("each level of a nested design", inner.len(), 2)?;
        if inner.iter().any(|group| group.repetitions != inner[0].repetitions) {
            return Err(Refusal::Unbalanced);
        }
        let mut repetitions = inner[0].repetitions.clone();
        repetitions.push(groups.len());
        let values: Vec<f64> = inner.into_iter().flat_map(|group| group.values).collect();
        Self::new(&repetitions, &values)
    }
}

/// Where the spread of a nested design comes from, and how to share out repetitions.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelPlan {
    /// The mean of all values.
    pub mean: f64,
    /// Its interval, by t from the means of the highest level alone.
    pub interval: Interval,
    /// T^2, the variance that each level adds, from the lowest: 0 where the estimate is below 0.
    pub variances: Vec<f64>,
    /// The best repetitions of each level but the highest, from the lowest. None where the level
    /// above adds no variance: the level may then be repeated in place of the one above it.
    pub repetitions: Vec<Option<u64>>,
}

/// Splits the variance of `data` by level and shares out repetitions. `costs[i]` is the time that
/// one repetition of level i + 1 takes apart from its lower levels, in any one unit.
///
/// # Errors
/// Refuses a number of costs that is not the number of levels, costs that are not above 0, values
/// that are all alike, and a level outside 0 to 1.
pub fn plan(data: &Levels, costs: &[f64], level: f64) -> Result<LevelPlan, Refusal> {
    check_open_unit("the level", level)?;
    if costs.len() != data.repetitions.len() {
        return Err(Refusal::LengthsDiffer { first: costs.len(), second: data.repetitions.len() });
    }
    for &cost in costs {
        check_positive("the cost of a level", cost)?;
    }
    if sample::is_constant(&data.values) {
        return Err(Refusal::NoSpread { what: "a split of variance by level" });
    }
    let (variances, top_means) = split(data);
    let repetitions = (1..variances.len())
        .map(|above| {
            let spread = variances[above - 1] / variances[above];
            best_repetitions(costs[above] / costs[above - 1], spread)
        })
        .collect();
    let (mean, interval) = (sample::mean(&top_means), t_interval(&top_means, level));
    Ok(LevelPlan { mean, interval, variances, repetitions })
}

/// T^2 of each level, and the means of the highest level's groups.
///
/// Kalibera & Jones, section 6.2: S1^2 is the mean of the variances within the groups of level 1,
/// Si^2 that of the variances of the means of level i - 1 within the groups of level i; T1^2 =
/// S1^2, Ti^2 = Si^2 - S(i-1)^2 / r(i-1).
fn split(data: &Levels) -> (Vec<f64>, Vec<f64>) {
    let mut means = data.values.clone();
    let mut variances = Vec::new();
    let mut below_in_mean = 0.0;
    for (place, &count) in data.repetitions.iter().enumerate() {
        let within: Vec<f64> = means
            .chunks_exact(count)
            .map(|group| sample::variance_of_mean(group) * count as f64)
            .collect();
        let biased = sample::mean(&within);
        variances.push((biased - below_in_mean).max(0.0));
        below_in_mean = biased / count as f64;
        if place + 1 < data.repetitions.len() {
            means = means.chunks_exact(count).map(sample::mean).collect();
        }
    }
    (variances, means)
}

/// Kalibera & Jones, section 7: r = ceil(sqrt(cost of the level above over the level's own, times
/// the level's variance over that of the level above)). At least 1.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "at least 1, and casts from f64 saturate"
)]
fn best_repetitions(cost_ratio: f64, spread_ratio: f64) -> Option<u64> {
    let best = (cost_ratio * spread_ratio).sqrt();
    // Infinite, or 0 / 0, where the level above adds nothing.
    best.is_finite().then(|| best.ceil().max(1.0) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    // Two boots of three runs of two values, worked by hand. Means of runs: 2 4 6 and 7 9 14.
    // S1^2 = 2. Variances of the run means: 4 and 13, S2^2 = 8.5, T2^2 = 8.5 - 2/2 = 7.5.
    // Means of boots: 4 and 10, S3^2 = 18, T3^2 = 18 - 8.5/3.
    fn three_levels() -> Levels {
        let pair = |mean: f64| vec![mean - 1.0, mean + 1.0];
        let boots = [[2.0, 4.0, 6.0], [7.0, 9.0, 14.0]];
        let boots = boots.map(|runs| runs.map(pair).to_vec());
        Levels::of_nested_groups(&boots).unwrap()
    }

    #[test]
    fn variance_is_split_as_by_hand() {
        let got = plan(&three_levels(), &[1.0, 10.0, 100.0], 0.95).unwrap();
        let wanted = [2.0, 7.5, 18.0 - 8.5 / 3.0];
        for (got, wanted) in got.variances.iter().zip(wanted) {
            assert!((got - wanted).abs() < 1e-12, "{got} is not {wanted}");
        }
        assert!((got.mean - 7.0).abs() < 1e-12);
        // sqrt(10 x 2 / 7.5) = 1.6 and sqrt(10 x 7.5 / 15.17) = 2.2.
        assert_eq!(got.repetitions, [Some(2), Some(3)]);
    }

    // t(0.975, 1) = 12.706..., of two boots that are 6 apart.
    #[test]
    fn the_interval_comes_from_the_top_level_alone() {
        let got = plan(&three_levels(), &[1.0; 3], 0.95).unwrap();
        assert!((got.interval.half_width() - 12.706204736174694 * 3.0).abs() < 1e-7);
    }

    #[test]
    fn a_level_above_that_adds_nothing_asks_for_repetition_below() {
        // The means of the groups are closer to each other than the values within explain.
        let data = Levels::of_groups(&[vec![1.0, 9.0], vec![2.0, 8.0], vec![0.5, 9.5]]).unwrap();
        let got = plan(&data, &[1.0, 5.0], 0.95).unwrap();
        assert!(got.variances[1].abs() < 1e-300);
        assert_eq!(got.repetitions, [None]);
        let data = Levels::of_groups(&[vec![1.0, 1.0], vec![2.0, 2.0]]).unwrap();
        assert_eq!(plan(&data, &[1.0, 5.0], 0.95).unwrap().repetitions, [Some(1)]);
    }

    #[test]
    fn flat_and_nested_data_are_the_same() {
        let flat = [1.0, 3.0, 3.0, 5.0, 5.0, 7.0, 6.0, 8.0, 8.0, 10.0, 13.0, 15.0];
        assert_eq!(Levels::new(&[2, 3, 2], &flat), Ok(three_levels()));
    }

    #[test]
    fn designs_without_balance_or_spread_are_refused() {
        let uneven = [vec![1.0, 2.0], vec![1.0, 2.0, 3.0]];
        assert_eq!(Levels::of_groups(&uneven), Err(Refusal::Unbalanced));
        assert_eq!(Levels::new(&[2, 2], &[1.0, 2.0, 3.0]), Err(Refusal::Unbalanced));
        let nested = [uneven.to_vec(), uneven.to_vec()];
        assert_eq!(Levels::of_nested_groups(&nested), Err(Refusal::Unbalanced));
        assert!(Levels::of_nested_groups(&[]).is_err());
        assert!(matches!(Levels::of_groups(&[vec![1.0]]), Err(Refusal::TooFew { .. })));
        let constant = Levels::new(&[2, 2], &[0.1; 4]).unwrap();
        assert!(matches!(plan(&constant, &[1.0; 2], 0.9), Err(Refusal::NoSpread { .. })));
        assert!(plan(&three_levels(), &[1.0; 2], 0.9).is_err());
        assert!(plan(&three_levels(), &[1.0, 0.0, 1.0], 0.9).is_err());
    }
}
