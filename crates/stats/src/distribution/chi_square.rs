//! The chi-square distribution.

use statrs::distribution::{ChiSquared, ContinuousCDF};

/// The probability of a value above `x`, with `df` degrees of freedom.
pub fn sf(x: f64, df: f64) -> f64 {
    ChiSquared::new(df).expect("degrees of freedom").sf(x)
}

/// The `probability` quantile.
pub fn quantile(probability: f64, df: f64) -> f64 {
    ChiSquared::new(df).expect("degrees of freedom").inverse_cdf(probability)
}
