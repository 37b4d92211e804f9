//! Curves: benchmarks that differ in a single parameter.

use record::CurvePoint;

use crate::benchmark::Benchmark;
use crate::thinning::{on_axis, rank_of};

/// A curve to be made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Curve<'a> {
    /// Its name, unique within the suite; its points are named after it.
    pub(crate) name: &'a str,
    /// Name for people, in words.
    pub(crate) title: &'a str,
    /// The parameter along the axis, in words.
    pub(crate) axis: &'a str,
    /// Unit of the axis: `bytes`, or `count`.
    pub(crate) unit: &'a str,
}

impl Curve<'_> {
    /// A benchmark for each value, ascending. Name, title, place on the curve and rank are set
    /// here; a rank set by `benchmark` is added to that of the point.
    pub(crate) fn points(
        &self,
        values: &[u64],
        benchmark: impl Fn(u64) -> Benchmark,
    ) -> Vec<Benchmark> {
        let point = |(index, &value): (usize, &u64)| {
            let point = CurvePoint {
                curve: self.name.to_owned(),
                title: self.title.to_owned(),
                axis: self.axis.to_owned(),
                unit: self.unit.to_owned(),
                value: value as f64,
                family: None,
            };
            let made = benchmark(value);
            Benchmark {
                name: format!("{}-{value}", self.name),
                title: format!("{}, {} {}", self.title, self.axis, on_axis(&point)),
                curve: Some(point),
                rank: made.rank + rank_of(index, values.len()),
                ..made
            }
        };
        values.iter().enumerate().map(point).collect()
    }
}

/// Converts a size on an axis to a length in memory.
pub(crate) fn usize_of(value: u64) -> usize {
    usize::try_from(value).expect("a request fits into memory")
}
