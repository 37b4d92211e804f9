//! How many blocks a wanted precision takes, judging by the blocks so far.
//!
//! [`blocks_needed`] is for intervals by t; [`power`] says which difference a number of blocks or
//! runs can show; [`runs`] plans runs from a pilot, and [`moderated`] improves estimates of many
//! variances that are each based on few values.

pub mod moderated;
pub mod power;
pub mod runs;

use crate::distribution::student;
use crate::refusal::{Refusal, check_open_unit, check_positive};

/// The smallest number from 2 to `most` that is enough, given that every larger one is enough as
/// well; none if `most` is not. Searches by bisection, since asking can take long.
pub fn fewest(most: u64, is_enough: impl Fn(u64) -> bool) -> Option<u64> {
    if !is_enough(most) {
        return None;
    }
    let (mut too_few, mut enough) = (1, most);
    while enough - too_few > 1 {
        let middle = u64::midpoint(too_few, enough);
        if is_enough(middle) { enough = middle } else { too_few = middle }
    }
    Some(enough)
}

/// The precision reached so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precision {
    /// The number of blocks behind it, at least 2.
    pub blocks: u64,
    /// Half the interval's width as a share of the estimate: 0.02 is "to within 2 %".
    pub relative_half_width: f64,
    /// The interval's confidence level.
    pub level: f64,
}

/// The total number of blocks after which the interval should be no wider than `wanted` (a relative
/// half-width), if the spread remains the same. Never fewer than there are.
///
/// Half-widths shrink as t / sqrt(n) (Jain, "The Art of Computer Systems Performance Analysis",
/// sections 13.2 and 13.9.1); t itself shrinks with n, which matters while there are few blocks.
///
/// # Errors
/// Refuses fewer than two blocks, a half-width that is negative or not finite, a `wanted` that is
/// not above 0, and a level outside 0 to 1.
pub fn blocks_needed(now: Precision, wanted: f64) -> Result<u64, Refusal> {
    check_positive("the wanted half-width", wanted)?;
    check_open_unit("the level", now.level)?;
    if now.blocks < 2 {
        let what = "a forecast of blocks";
        return Err(Refusal::TooFew { what, needed: 2, given: now.blocks });
    }
    if now.relative_half_width != 0.0 {
        check_positive("the present half-width", now.relative_half_width)?;
    }
    if now.relative_half_width <= wanted {
        return Ok(now.blocks);
    }
    // With t fixed at its present value, the result is larger than needed: an upper bound for the
    // search.
    let upper_bound = now.blocks as f64 * (now.relative_half_width / wanted).powi(2);
    let (mut too_few, mut enough) = (now.blocks, ceil_to_count(upper_bound));
    while enough - too_few > 1 {
        let middle = too_few + (enough - too_few) / 2;
        if forecast(now, middle) <= wanted {
            enough = middle;
        } else {
            too_few = middle;
        }
    }
    Ok(enough)
}

/// The relative half-width expected after `blocks` blocks.
fn forecast(now: Precision, blocks: u64) -> f64 {
    let t_over_root_n = |n: u64| {
        let n = n as f64;
        student::quantile((1.0 + now.level) / 2.0, n - 1.0) / n.sqrt()
    };
    now.relative_half_width * t_over_root_n(blocks) / t_over_root_n(now.blocks)
}

/// Rounds up, saturating at numbers of blocks that are meaningless anyway.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the caller's value is positive, and casts from f64 saturate"
)]
fn ceil_to_count(value: f64) -> u64 {
    value.ceil() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now(blocks: u64, relative_half_width: f64) -> Precision {
        Precision { blocks, relative_half_width, level: 0.95 }
    }

    // From SciPy 1.17.1, with `h = lambda n: scipy.stats.t.ppf(.975, n-1) / n**.5`:
    // `[next(m for m in range(n, 10**6) if w * h(m) / h(n) <= .02)`
    // ` for n, w in ((3, .2), (5, .1), (10, .04), (30, .05))]`.
    #[test]
    fn the_forecast_agrees_with_a_search_in_scipy() {
        let table = [(3, 0.2, 65), (5, 0.1, 65), (10, 0.04, 33), (30, 0.05, 175)];
        for (blocks, half_width, wanted) in table {
            assert_eq!(blocks_needed(now(blocks, half_width), 0.02), Ok(wanted), "{blocks}");
        }
    }

    #[test]
    fn enough_blocks_are_enough() {
        assert_eq!(blocks_needed(now(7, 0.01), 0.02), Ok(7));
        assert_eq!(blocks_needed(now(7, 0.02), 0.02), Ok(7));
        assert_eq!(blocks_needed(now(7, 0.0), 0.02), Ok(7));
    }

    #[test]
    fn a_hopeless_wish_saturates_rather_than_overflows() {
        assert!(blocks_needed(now(5, 1e300), 1e-300).unwrap() > 1 << 60);
    }

    #[test]
    fn senseless_requests_are_refused() {
        assert!(matches!(blocks_needed(now(1, 0.1), 0.02), Err(Refusal::TooFew { .. })));
        assert!(blocks_needed(now(5, f64::NAN), 0.02).is_err());
        assert!(blocks_needed(now(5, f64::INFINITY), 0.02).is_err());
        assert!(blocks_needed(now(5, 0.1), 0.0).is_err());
    }
}
