//! How a series starts: flat, warm-up, slow-down or no steady state.
//!
//! Barrett, Bolz-Tereick, Killick, Mount & Tratt, "Virtual Machine Warmup Blows Hot and Cold",
//! OOPSLA 2017, section 4: cut the series where mean or variance changes, then compare every
//! segment with the last one.
//!
//! * flat: every segment is equivalent to the last;
//! * no steady state: a segment that is not equivalent reaches into the last part of the series;
//! * warm-up: otherwise, if no segment is better than the last;
//! * slow-down: otherwise.
//!
//! If it is unknown which values are better, both warm-up and slow-down are called "settles".
//!
//! Segments are equivalent if the ranges "mean plus or minus tolerance" overlap. Barrett et al. use
//! the larger of 1 ms and the last segment's variance as the tolerance around the last mean, and
//! the other segment's variance around its own. Both depend on the unit: they timed iterations of
//! about a second, in seconds, where the variance is also the squared coefficient of variation.
//! Here, the tolerance is a share of the last mean, and variance / mean replaces the variance,
//! which is the same number in their case and gives the same result in every other unit.

use crate::changepoint::{Segment, Segmentation};
use crate::refusal::{Refusal, check_positive};

/// Which values are the better ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum BetterValues {
    /// Smaller ones, as of times.
    #[default]
    Smaller,
    /// Larger ones, as of rates.
    Larger,
    /// Not known.
    Unknown,
}

/// How to compare segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Means closer than this share of the last segment's mean are the same: above 0, 0.01 is 1 %.
    pub tolerance: f64,
    /// The share of the series, at its end, that must be steady: above 0 and at most 1. Barrett et
    /// al. require 500 of 2,000 iterations.
    pub steady_share: f64,
    /// Which values are the better ones.
    pub better: BetterValues,
}

impl Default for Options {
    /// Means within 1 %, the last quarter steady, smaller is better.
    fn default() -> Self {
        Self { tolerance: 0.01, steady_share: 0.25, better: BetterValues::Smaller }
    }
}

/// How a series starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Nothing changed that matters.
    Flat,
    /// It became better and stayed so.
    WarmUp,
    /// It became worse and stayed so.
    SlowDown,
    /// It became better or worse, and stayed so.
    Settles,
    /// It did not settle.
    NoSteadyState,
}

impl std::fmt::Display for Class {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Flat => "flat",
            Self::WarmUp => "warm-up",
            Self::SlowDown => "slow-down",
            Self::Settles => "settles",
            Self::NoSteadyState => "no-steady-state",
        })
    }
}

/// A class, and where the steady state begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Classification {
    /// The class.
    pub class: Class,
    /// Index of the first value of the steady state, if there is one.
    pub steady_from: Option<usize>,
}

/// Classifies a series by its segments, as found by [`super::pelt::pelt`].
///
/// # Errors
/// Refuses a tolerance that is not above 0, a steady share outside 0 to 1, and a last segment of
/// mean 0, to which nothing can be relative.
pub fn classify(found: &Segmentation, options: Options) -> Result<Classification, Refusal> {
    check_positive("the tolerance", options.tolerance)?;
    if !(options.steady_share > 0.0 && options.steady_share <= 1.0) {
        let (what, range) = ("the steady share", "above 0 and at most 1");
        return Err(Refusal::OutOfRange { what, value: options.steady_share, range });
    }
    let last = found.segments.last().copied().ok_or(Refusal::ZeroMean)?;
    if last.mean == 0.0 {
        return Err(Refusal::ZeroMean);
    }
    let differ: Vec<&Segment> =
        found.segments.iter().filter(|it| !equivalent(it, &last, options.tolerance)).collect();
    let Some(final_change) = differ.last().map(|it| it.end) else {
        return Ok(Classification { class: Class::Flat, steady_from: Some(0) });
    };
    let steady_length = (last.end - final_change) as f64;
    if steady_length < options.steady_share * last.end as f64 {
        return Ok(Classification { class: Class::NoSteadyState, steady_from: None });
    }
    let was_better = |is_better: fn(f64, f64) -> bool| {
        let was_better = differ.iter().any(|it| is_better(it.mean, last.mean));
        if was_better { Class::SlowDown } else { Class::WarmUp }
    };
    let class = match options.better {
        BetterValues::Smaller => was_better(|mean, last| mean < last),
        BetterValues::Larger => was_better(|mean, last| mean > last),
        BetterValues::Unknown => Class::Settles,
    };
    Ok(Classification { class, steady_from: Some(final_change) })
}

fn equivalent(segment: &Segment, last: &Segment, tolerance: f64) -> bool {
    let unit = last.mean.abs();
    let about_last = (tolerance * unit).max(last.variance / unit);
    let about_other = segment.variance / segment.mean.abs().max(tolerance * unit);
    (segment.mean - last.mean).abs() <= about_last + about_other
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Segments of the given means and lengths, with hardly any variance.
    fn series(parts: &[(f64, usize)]) -> Segmentation {
        let mut start = 0;
        let segments: Vec<Segment> = parts
            .iter()
            .map(|&(mean, length)| {
                let it = Segment { start, end: start + length, mean, variance: 1e-8 };
                start += length;
                it
            })
            .collect();
        let changepoints = segments[1..].iter().map(|it| it.start).collect();
        Segmentation { changepoints, segments }
    }

    fn class(parts: &[(f64, usize)]) -> Class {
        classify(&series(parts), Options::default()).unwrap().class
    }

    #[test]
    fn the_four_classes() {
        assert_eq!(class(&[(1.0, 100)]), Class::Flat);
        assert_eq!(class(&[(1.005, 50), (1.0, 50)]), Class::Flat);
        assert_eq!(class(&[(2.0, 50), (1.0, 50)]), Class::WarmUp);
        assert_eq!(class(&[(1.0, 50), (2.0, 50)]), Class::SlowDown);
        assert_eq!(class(&[(2.0, 80), (1.0, 20)]), Class::NoSteadyState);
    }

    #[test]
    fn a_best_segment_before_the_last_makes_a_slow_down() {
        assert_eq!(class(&[(3.0, 20), (1.0, 20), (2.0, 60)]), Class::SlowDown);
        assert_eq!(class(&[(1.0, 20), (3.0, 20), (2.0, 60)]), Class::SlowDown);
        assert_eq!(class(&[(1.0, 20), (3.0, 20), (1.0, 60)]), Class::WarmUp);
    }

    #[test]
    fn the_steady_state_begins_after_the_last_segment_that_differs() {
        let parts = series(&[(2.0, 30), (1.001, 40), (1.0, 30)]);
        let start = classify(&parts, Options::default()).unwrap();
        assert_eq!(start, Classification { class: Class::WarmUp, steady_from: Some(30) });
    }

    #[test]
    fn rates_turn_the_judgement_round() {
        let options = Options { better: BetterValues::Larger, ..Options::default() };
        let up = classify(&series(&[(1.0, 50), (2.0, 50)]), options).unwrap();
        assert_eq!(up.class, Class::WarmUp);
        let down = classify(&series(&[(2.0, 50), (1.0, 50)]), options).unwrap();
        assert_eq!(down.class, Class::SlowDown);
        let options = Options { better: BetterValues::Unknown, ..Options::default() };
        for parts in [[(1.0, 50), (2.0, 50)], [(2.0, 50), (1.0, 50)]] {
            let settles = classify(&series(&parts), options).unwrap();
            assert_eq!((settles.class, settles.steady_from), (Class::Settles, Some(50)));
        }
    }

    /// Variance widens the tolerance, as it does in the paper, whatever the unit.
    #[test]
    fn the_unit_does_not_matter_and_the_variance_does() {
        for unit in [1.0, 1e9, 1e-9] {
            let mut it = series(&[(1.05 * unit, 50), (unit, 50)]);
            for segment in &mut it.segments {
                segment.variance = 0.01 * unit * unit;
            }
            let judge = |it: &Segmentation| classify(it, Options::default()).unwrap().class;
            assert_eq!(judge(&it), Class::WarmUp, "{unit}");
            it.segments[1].variance = 0.045 * unit * unit;
            assert_eq!(judge(&it), Class::Flat, "{unit}");
        }
    }

    #[test]
    fn senseless_options_are_refused() {
        let it = series(&[(1.0, 10)]);
        let with = |options: Options| classify(&it, options);
        assert!(with(Options { tolerance: 0.0, ..Options::default() }).is_err());
        assert!(with(Options { steady_share: 1.1, ..Options::default() }).is_err());
        assert!(classify(&series(&[(0.0, 10)]), Options::default()).is_err());
    }
}
