//! The standard normal distribution.

use statrs::distribution::{ContinuousCDF, Normal};

/// The probability of a value of at most `z`.
pub fn cdf(z: f64) -> f64 {
    Normal::standard().cdf(z)
}

/// The probability of a value above `z`.
pub fn sf(z: f64) -> f64 {
    Normal::standard().sf(z)
}

/// The `probability` quantile; `probability` lies strictly between 0 and 1.
pub fn quantile(probability: f64) -> f64 {
    Normal::standard().inverse_cdf(probability)
}
