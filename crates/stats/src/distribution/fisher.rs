//! Fisher's F distribution.

use statrs::distribution::{ContinuousCDF, FisherSnedecor};

/// The probability of a value above `f`, with `df1` and `df2` degrees of freedom.
pub fn sf(f: f64, df1: f64, df2: f64) -> f64 {
    FisherSnedecor::new(df1, df2).expect("degrees of freedom").sf(f)
}

/// The `probability` quantile.
pub fn quantile(probability: f64, df1: f64, df2: f64) -> f64 {
    FisherSnedecor::new(df1, df2).expect("degrees of freedom").inverse_cdf(probability)
}
