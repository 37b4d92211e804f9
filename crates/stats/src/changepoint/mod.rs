//! Where a series changes, and how it starts.
//!
//! [`pelt`] finds every change in mean or variance of a long series; [`divisive`] assumes no
//! distribution and tests each change by permutation, for short series such as one value per run;
//! [`warmup`] classifies a series by its segments.

mod dependent;
pub mod divisive;
pub mod pelt;
pub mod warmup;

pub use dependent::correlation_of_neighbours;

/// A stretch of a series between two changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// Index of its first value.
    pub start: usize,
    /// Index just past its last value.
    pub end: usize,
    /// The mean of its values.
    pub mean: f64,
    /// The variance of its values: the sum of squares divided by their number (maximum likelihood).
    pub variance: f64,
}

/// A series cut into segments.
#[derive(Clone, Debug, PartialEq)]
pub struct Segmentation {
    /// Index of the first value of each segment except the first, ascending.
    pub changepoints: Vec<usize>,
    /// The segments, in order; together they cover the series.
    pub segments: Vec<Segment>,
}

impl Segmentation {
    /// Cuts at `changepoints`, which are ascending and strictly within `values`.
    fn cut(values: &[f64], changepoints: Vec<usize>) -> Self {
        let starts = std::iter::once(0).chain(changepoints.iter().copied());
        let ends = changepoints.iter().copied().chain(std::iter::once(values.len()));
        let segments = starts.zip(ends).map(|(start, end)| segment(values, start, end)).collect();
        Self { changepoints, segments }
    }
}

fn segment(values: &[f64], start: usize, end: usize) -> Segment {
    let part = &values[start..end];
    let n = part.len() as f64;
    let rough: f64 = part.iter().map(|value| value / n).sum();
    // Correct for rounding, unless the values are so far apart that their distance overflows.
    let missing: f64 = part.iter().map(|value| (value - rough) / n).sum();
    let mean = if missing.is_finite() { rough + missing } else { rough };
    let variance = part.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n;
    Segment { start, end, mean, variance }
}
