//! Why an estimator refuses its input, and the checks that several estimators share.

mod design;

pub use design::Refused;

/// Why an estimate is refused: the given numbers do not support it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The sample is too small for the estimate.
    #[error("{what} needs at least {needed} values, but got {given}")]
    TooFew {
        /// What was asked for, as the subject of a sentence.
        what: &'static str,
        /// Minimum number of values.
        needed: u64,
        /// The number of values given.
        given: u64,
    },
    /// A value is infinite or not a number.
    #[error("value {index} is {value}, but only finite values can be analysed")]
    NotFinite {
        /// The index of the value, from 0.
        index: usize,
        /// The value.
        value: f64,
    },
    /// A value is zero or negative, but a ratio needs positive ones.
    #[error("value {index} is {value}, but a ratio needs values above 0")]
    NotPositive {
        /// The index of the value, from 0.
        index: usize,
        /// The value.
        value: f64,
    },
    /// Two series that should be paired differ in length.
    #[error("pairs need two series of the same length, but these have {first} and {second} values")]
    LengthsDiffer {
        /// Length of the first series.
        first: usize,
        /// Length of the second series.
        second: usize,
    },
    /// A parameter of the estimator is outside its range.
    #[error("{what} is {value}, but must be {range}")]
    OutOfRange {
        /// The parameter's name.
        what: &'static str,
        /// The value given.
        value: f64,
        /// The range, as the end of a sentence.
        range: &'static str,
    },
    /// The mean is zero, so nothing can be stated relative to it.
    #[error("the mean is 0, so there is no spread relative to it")]
    ZeroMean,
    /// A p value is not a number or outside 0 to 1.
    #[error("p value {index} is {value}, but must be between 0 and 1")]
    NotAProbability {
        /// The index of the p value, from 0.
        index: usize,
        /// The value.
        value: f64,
    },
    /// The values are all equal, or nearly so, but the estimate is about their spread.
    #[error("{what} needs values that differ, but these do not, or too few of them do")]
    NoSpread {
        /// What was asked for, as the subject of a sentence.
        what: &'static str,
    },
    /// A statistic is infinite or not a number on the sample or on a resample of it.
    #[error("the statistic is {value} on a resample, but must be finite")]
    StatisticNotFinite {
        /// The value of the statistic.
        value: f64,
    },
    /// The bias-corrected and accelerated interval does not exist for this sample.
    #[error("there is no BCa interval: {why}")]
    NoBca {
        /// What is missing, as a sentence without its full stop.
        why: &'static str,
    },
    /// The values do not determine what was asked for.
    #[error("{what} cannot be determined from these values: {why}")]
    NotIdentified {
        /// What was asked for, as the subject of a sentence.
        what: &'static str,
        /// The reason.
        why: &'static str,
    },
    /// A table of observations, or a question about it, that is not an analysable design.
    #[error(transparent)]
    Design(#[from] Refused),
}

/// Refuses a confidence level or a quantile that is not strictly between 0 and 1.
pub(crate) fn check_open_unit(what: &'static str, value: f64) -> Result<(), Refusal> {
    if value > 0.0 && value < 1.0 {
        return Ok(());
    }
    Err(Refusal::OutOfRange { what, value, range: "strictly between 0 and 1" })
}

/// Refuses a parameter that is not finite and above 0.
pub(crate) fn check_positive(what: &'static str, value: f64) -> Result<(), Refusal> {
    if value.is_finite() && value > 0.0 {
        return Ok(());
    }
    Err(Refusal::OutOfRange { what, value, range: "finite and above 0" })
}

/// Refuses the first value that is infinite or not a number.
pub(crate) fn check_finite(values: &[f64]) -> Result<(), Refusal> {
    match values.iter().position(|value| !value.is_finite()) {
        Some(index) => Err(Refusal::NotFinite { index, value: values[index] }),
        None => Ok(()),
    }
}

/// Refuses fewer than `needed` values; `what` names what needs them.
pub(crate) fn check_count(what: &'static str, given: usize, needed: u64) -> Result<(), Refusal> {
    let given = given as u64;
    if given >= needed { Ok(()) } else { Err(Refusal::TooFew { what, needed, given }) }
}

/// Refuses a standard error, or another measure of spread, that is 0 or out of range for f64.
pub(crate) fn check_spread(what: &'static str, spread: f64) -> Result<(), Refusal> {
    if !spread.is_finite() {
        return Err(Refusal::OutOfRange {
            what: "the spread",
            value: spread,
            range: "a number that f64 can hold",
        });
    }
    if spread > 0.0 { Ok(()) } else { Err(Refusal::NoSpread { what }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_few_says_the_least_number_needed() {
        let text = check_count("a 95 % interval", 5, 6).unwrap_err().to_string();
        assert_eq!(text, "a 95 % interval needs at least 6 values, but got 5");
    }

    #[test]
    fn nan_is_no_level() {
        for bad in [f64::NAN, 0.0, 1.0, -0.1, 95.0] {
            assert!(check_open_unit("level", bad).is_err(), "{bad}");
        }
        assert!(check_open_unit("level", 0.95).is_ok());
    }

    #[test]
    fn the_first_value_that_is_not_finite_is_named() {
        let refusal = check_finite(&[1.0, f64::INFINITY, f64::NAN]).unwrap_err();
        assert_eq!(refusal, Refusal::NotFinite { index: 1, value: f64::INFINITY });
    }
}
