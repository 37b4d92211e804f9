//! The distribution of the studentized range, for Tukey's honestly significant difference.

/// The probability of a range above `q`, of `groups` means with `df` degrees of freedom of error.
pub fn sf(q: f64, groups: u32, df: f64) -> f64 {
    let _ = (q, groups, df);
    f64::NAN
}

/// The `probability` quantile of the range of `groups` means with `df` degrees of freedom.
pub fn quantile(probability: f64, groups: u32, df: f64) -> f64 {
    let _ = (probability, groups, df);
    f64::NAN
}
