//! How many blocks bring the median's interval to a wanted width, whatever the distribution.
//!
//! CONFIRM (Maricq et al., "Taming Performance Variability", OSDI 2018, section 5) asks it of the
//! blocks there are: of each smaller number it draws subsets without replacement, averages the ends
//! of their order-statistic intervals, and takes the smallest number whose average ends lie within
//! the wanted share of the median of all. It draws 200 subsets; here the average over all subsets
//! is written down, as the order statistic of rank r of a subset of s out of n values is the j-th
//! smallest of all with probability C(j - 1, r - 1) C(n - j, s - r) / C(n, s) (David & Nagaraja,
//! "Order Statistics", 3rd edition, section 3.7). So no random numbers are needed, and the answer
//! has no noise of its own.

use crate::order::{least_n, ranks};
use crate::refusal::{Refusal, check_count, check_open_unit, check_positive};
use crate::sample::Sample;

/// The fewest blocks that CONFIRM answers.
pub const BLOCKS_MIN: u64 = 10;

/// How many blocks the wanted precision of a median takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confirmed {
    /// There are enough: this many would have done.
    Reached {
        /// The total number of blocks.
        blocks: u64,
    },
    /// There are too few: this many should do if the spread stays what it was. The interval's ends
    /// are supposed to close in on the median as 1 / sqrt(n).
    NotReached {
        /// The total number of blocks, those there are included.
        forecast: u64,
    },
}

/// The number of blocks after which the order-statistic interval of the median at `level` lies
/// within `wanted` (0.02 for 2 %) of the median of all `blocks`.
///
/// # Errors
/// Refuses fewer than [`BLOCKS_MIN`] blocks or than an interval at the level takes, a median that
/// is not above 0, a `wanted` that is not above 0, and a level outside 0 to 1.
pub fn confirm(blocks: &Sample, wanted: f64, level: f64) -> Result<Confirmed, Refusal> {
    check_open_unit("the level", level)?;
    check_positive("the wanted half-width", wanted)?;
    check_positive("the median", blocks.median())?;
    let least = least_n(0.5, level)?.max(BLOCKS_MIN);
    check_count("a forecast of blocks for a median", blocks.len(), least)?;
    let available = blocks.len() as u64;
    for size in least..=available {
        if reach(blocks, size, level)? <= wanted {
            return Ok(Confirmed::Reached { blocks: size });
        }
    }
    let too_wide = reach(blocks, available, level)? / wanted;
    Ok(Confirmed::NotReached { forecast: grown(available, too_wide) })
}

/// How far the further of the average ends for subsets of `size` lies from the median, as a share
/// of it.
fn reach(blocks: &Sample, size: u64, level: f64) -> Result<f64, Refusal> {
    let ranks = ranks(size, 0.5, level)?;
    let median = blocks.median();
    let low = average_order_statistic(blocks.ascending(), size, ranks.low);
    let high = average_order_statistic(blocks.ascending(), size, ranks.high);
    Ok((median - low).max(high - median) / median)
}

/// The mean, over all subsets of `size`, of their order statistic of `rank`.
fn average_order_statistic(ascending: &[f64], size: u64, rank: u64) -> f64 {
    let (n, s, r) = (ascending.len() as f64, size as f64, rank as f64);
    // Weights relative to that near the most likely place, from which they fall off to both sides:
    // the probabilities themselves may be too small for f64 there. Places count from 1.
    let last = ascending.len() as u64 - (size - rank);
    let start = mode(ascending.len() as u64, size, rank).clamp(rank, last);
    let step = |j: f64| j / (j - r + 1.0) * (n - j - (s - r)) / (n - j);
    let mut sum = Weighted::default();
    let mut weight = 1.0;
    for place in start..=last {
        sum.add(weight, ascending, place);
        if weight < f64::MIN_POSITIVE || place == last {
            break;
        }
        weight *= step(place as f64);
    }
    weight = 1.0;
    for place in (rank..start).rev() {
        weight /= step(place as f64);
        if weight < f64::MIN_POSITIVE {
            break;
        }
        sum.add(weight, ascending, place);
    }
    sum.values / sum.weights
}

/// Close to the most likely place of the order statistic of `rank` of `size` out of `n`.
fn mode(n: u64, size: u64, rank: u64) -> u64 {
    let product = u128::from(rank) * u128::from(n + 1) / u128::from(size + 1);
    u64::try_from(product).unwrap_or(n)
}

#[derive(Default)]
struct Weighted {
    values: f64,
    weights: f64,
}

impl Weighted {
    fn add(&mut self, weight: f64, ascending: &[f64], place: u64) {
        let index = usize::try_from(place - 1).expect("a place is at most the sample's length");
        self.values += weight * ascending[index];
        self.weights += weight;
    }
}

/// The number of blocks that makes an interval narrower by the factor `too_wide`, above 1.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the number is positive, and casts from f64 saturate"
)]
fn grown(blocks: u64, too_wide: f64) -> u64 {
    (blocks as f64 * too_wide.powi(2)).ceil() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn squares(n: u32) -> Sample {
        Sample::new((1..=n).map(|i| 100.0 + f64::from(i * i)).collect::<Vec<_>>()).unwrap()
    }

    /// The mean of the `rank`-th smallest over every subset of `size`, one by one.
    fn by_enumeration(values: &[f64], size: u32, rank: usize) -> f64 {
        let (mut sum, mut count) = (0.0, 0.0);
        for chosen in 0u32..1 << values.len() {
            if chosen.count_ones() == size {
                let mut places = (0..values.len()).filter(|place| chosen >> place & 1 == 1);
                sum += values[places.nth(rank - 1).unwrap()];
                count += 1.0;
            }
        }
        sum / count
    }

    #[test]
    fn averages_over_subsets_are_those_of_all_subsets() {
        let sample = squares(12);
        for size in 1..=12 {
            for rank in 1..=size {
                let wanted = by_enumeration(sample.ascending(), size, rank as usize);
                let got = average_order_statistic(sample.ascending(), size.into(), rank.into());
                assert!((got / wanted - 1.0).abs() < 1e-12, "{size} {rank}: {got} {wanted}");
            }
        }
    }

    // The mean rank of the r-th smallest of s out of n is r (n + 1) / (s + 1), however large n.
    #[test]
    fn averages_of_large_samples_do_not_underflow() {
        let values: Vec<f64> = (1..=50_000).map(f64::from).collect();
        for (size, rank) in [(25_000_u32, 12_000_u32), (10, 1), (50_000, 49_999), (49_999, 1)] {
            let wanted = f64::from(rank) * 50_001.0 / f64::from(size + 1);
            let got = average_order_statistic(&values, size.into(), rank.into());
            assert!((got / wanted - 1.0).abs() < 1e-9, "{size} {rank}: {got} {wanted}");
        }
    }

    #[test]
    fn the_smallest_number_that_does_is_found() {
        let sample = squares(60);
        let Confirmed::Reached { blocks } = confirm(&sample, 0.7, 0.95).unwrap() else {
            panic!("60 blocks do");
        };
        assert!(reach(&sample, blocks, 0.95).unwrap() <= 0.7);
        assert!(blocks > 10 && reach(&sample, blocks - 1, 0.95).unwrap() > 0.7);
        let alike = Sample::new([3.0; 20]).unwrap();
        assert_eq!(confirm(&alike, 1e-9, 0.95), Ok(Confirmed::Reached { blocks: 10 }));
    }

    #[test]
    fn what_is_not_reached_is_forecast_by_the_root_of_n() {
        let sample = squares(40);
        let now = reach(&sample, 40, 0.95).unwrap();
        let Confirmed::NotReached { forecast } = confirm(&sample, now / 2.0, 0.95).unwrap() else {
            panic!("40 blocks are not enough");
        };
        assert!((160..=161).contains(&forecast), "{forecast}");
        assert!(matches!(confirm(&sample, 1e-300, 0.95), Ok(Confirmed::NotReached { .. })));
    }

    #[test]
    fn senseless_requests_are_refused() {
        assert!(matches!(confirm(&squares(9), 0.1, 0.5), Err(Refusal::TooFew { needed: 10, .. })));
        assert!(matches!(confirm(&squares(10), 0.1, 0.9999), Err(Refusal::TooFew { .. })));
        assert!(confirm(&squares(20), 0.0, 0.95).is_err());
        assert!(confirm(&squares(20), 0.1, 1.0).is_err());
        assert!(confirm(&Sample::new([0.0; 20]).unwrap(), 0.1, 0.95).is_err());
    }
}
