//! Sums that keep their digits: they are pairwise, so that the rounding error grows with the
//! logarithm of the number of terms (Higham, "Accuracy and Stability of Numerical Algorithms", 2nd
//! edition, section 4.2), and a centre is subtracted from the values first.

use std::ops::Range;

/// Number of terms below which a plain sum is as good.
const PLAIN: usize = 64;

/// Maximum number of positions to ask [`spread_positions`] for, which bounds the cost of a
/// diagnostic. More would not show more that matters.
pub(super) const EXAMINED_MAX: usize = 5_000;

/// The sum of `term(value)` over all values.
pub(super) fn sum_of(values: &[f64], term: impl Fn(f64) -> f64 + Copy) -> f64 {
    if values.len() <= PLAIN {
        return values.iter().map(|&value| term(value)).sum();
    }
    let (first, second) = values.split_at(values.len() / 2);
    sum_of(first, term) + sum_of(second, term)
}

/// The sum of `term(index)` over a range of indices.
pub(super) fn sum_over(range: Range<usize>, term: impl Fn(usize) -> f64 + Copy) -> f64 {
    if range.len() <= PLAIN {
        return range.map(term).sum();
    }
    let middle = range.start + range.len() / 2;
    sum_over(range.start..middle, term) + sum_over(middle..range.end, term)
}

/// The sum of the values.
pub(super) fn sum(values: &[f64]) -> f64 {
    sum_of(values, |value| value)
}

/// The mean of at least one value.
pub(super) fn mean(values: &[f64]) -> f64 {
    sum(values) / values.len() as f64
}

/// The sum of squares around `centre`, which is the mean apart from rounding; the second term
/// corrects for that rounding (Chan, Golub & `LeVeque`, "Algorithms for Computing the Sample
/// Variance", The American Statistician 37(3), 1983).
pub(super) fn squares_about(values: &[f64], centre: f64) -> f64 {
    let rest = sum_of(values, |value| value - centre);
    let squares = sum_of(values, |value| (value - centre) * (value - centre));
    (squares - rest * rest / values.len() as f64).max(0.0)
}

/// At most `most` different positions below `count`, spread evenly but not in step with any regular
/// layout: multiples of the golden ratio, whose fractional parts never line up (Knuth, "The Art of
/// Computer Programming", volume 3, section 6.4, theorem S). Ascending.
pub(super) fn spread_positions(count: usize, most: usize) -> Vec<usize> {
    const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
    if count <= most {
        return (0..count).collect();
    }
    let position = |i: usize| {
        let share = u128::from((i as u64).wrapping_mul(GOLDEN));
        usize::try_from((share * count as u128) >> 64).expect("below `count`")
    };
    let mut positions: Vec<usize> = (0..most).map(position).collect();
    positions.sort_unstable();
    positions.dedup();
    positions
}

/// Pearson's correlation of two series of equal length; none if either does not vary.
pub(super) fn correlation(x: &[f64], y: &[f64]) -> Option<f64> {
    let (mean_x, mean_y) = (mean(x), mean(y));
    let squares_x = sum_of(x, |value| (value - mean_x).powi(2));
    let squares_y = sum_of(y, |value| (value - mean_y).powi(2));
    let products: Vec<f64> = x.iter().zip(y).map(|(x, y)| (x - mean_x) * (y - mean_y)).collect();
    let scale = squares_x.sqrt() * squares_y.sqrt();
    let varies = |squares: f64, values: &[f64]| {
        let largest = values.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
        (squares / values.len() as f64).sqrt() > 8.0 * f64::EPSILON * largest
    };
    if !varies(squares_x, x) || !varies(squares_y, y) || scale <= 0.0 {
        return None;
    }
    Some((sum(&products) / scale).clamp(-1.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairwise_sums_keep_what_plain_ones_lose() {
        let values = vec![0.1; 10_000_000];
        assert!((sum(&values) - 1e6).abs() < 1e-9);
    }

    #[test]
    fn a_rounded_centre_does_no_harm() {
        let values = [1.0, 2.0, 3.0, 4.0];
        assert!((squares_about(&values, 2.5 + 1e-3) - 5.0).abs() < 1e-12);
    }

    #[test]
    fn positions_are_spread_and_different() {
        assert_eq!(spread_positions(4, 10), [0, 1, 2, 3]);
        let positions = spread_positions(1_000_000, 5_000);
        assert!(positions.len() == 5_000 && positions.windows(2).all(|w| w[1] - w[0] < 600));
        // Every residue of a small period occurs about equally often.
        for period in 2..10 {
            let hits = positions.iter().filter(|p| *p % period == 0).count() as f64;
            assert!((hits * period as f64 / 5_000.0 - 1.0).abs() < 0.2, "{period}: {hits}");
        }
    }

    #[test]
    fn what_does_not_vary_correlates_with_nothing() {
        assert_eq!(correlation(&[1.0, 1.0, 1.0], &[1.0, 2.0, 3.0]), None);
        let got = correlation(&[1.0, 2.0, 4.0], &[-1.0, -2.0, -4.0]).unwrap();
        assert!((got + 1.0).abs() < 1e-12);
    }
}
