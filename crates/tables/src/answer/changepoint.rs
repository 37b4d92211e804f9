//! Where a series changes, and how it began.

use serde::Serialize;
use stats::Refusal;
use stats::changepoint::{Segment, pelt, warmup};
use stats::design::Refused;

use crate::text::{Columns, figure};

/// The changes of a series.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChangepointAnswer {
    /// Index, from 0, of the first value of each new segment.
    pub changepoints: Vec<usize>,
    /// The stretches between the changes; `end` is the index just past the last value.
    pub segments: Vec<SegmentDocument>,
    /// `flat`, `warm-up`, `slow-down` or `no-steady-state`.
    pub class: Option<String>,
    /// Why there is no class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class_refused: Option<String>,
    /// Index of the first value of the steady state.
    pub steady_from: Option<usize>,
}

/// A stretch of a series.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SegmentDocument {
    /// Index of the first value.
    pub start: usize,
    /// Index just past the last value.
    pub end: usize,
    /// Mean of the values.
    pub mean: f64,
    /// Variance of the values, with n.
    pub variance: f64,
}

impl From<&Segment> for SegmentDocument {
    fn from(segment: &Segment) -> Self {
        let Segment { start, end, mean, variance } = *segment;
        Self { start, end, mean, variance }
    }
}

impl ChangepointAnswer {
    /// Looks for changes of mean or variance in `values`, in the order they were measured in.
    ///
    /// # Errors
    /// Fewer values than a segment takes, values that are not finite, and values whose squares
    /// leave the range of numbers.
    pub fn new(values: &[f64], better: warmup::Better) -> Result<Self, Refusal> {
        let found = pelt::pelt(values, pelt::Options::default())?;
        if found.segments.iter().any(|one| !(one.mean.is_finite() && one.variance.is_finite())) {
            return Err(Refused::OutOfRange.into());
        }
        let options = warmup::Options { better, ..warmup::Options::default() };
        let start = warmup::classify(&found, options);
        let class_refused = start.as_ref().err().map(ToString::to_string);
        let start = start.ok();
        Ok(Self {
            segments: found.segments.iter().map(Into::into).collect(),
            changepoints: found.changepoints,
            class: start.map(|start| start.class.to_string()),
            class_refused,
            steady_from: start.and_then(|start| start.steady_from),
        })
    }

    /// The text for people.
    #[must_use]
    pub fn text(&self) -> String {
        let mut columns = Columns::headed(["segment", "from", "to", "mean", "std deviation"]);
        for (number, segment) in (1..).zip(&self.segments) {
            columns.row([
                format!("{number}"),
                segment.start.to_string(),
                (segment.end - 1).to_string(),
                figure(segment.mean),
                figure(segment.variance.sqrt()),
            ]);
        }
        let changes = match self.changepoints.len() {
            0 => "no change of mean or variance".to_owned(),
            1 => "1 change of mean or variance".to_owned(),
            more => format!("{more} changes of mean or variance"),
        };
        let steady = match self.steady_from {
            Some(0) => " (steady from the first value)".to_owned(),
            Some(from) => format!(" (steady from value {from})"),
            None => String::new(),
        };
        let class = match (&self.class, &self.class_refused) {
            (Some(class), _) => format!("class: {class}{steady}"),
            (None, Some(why)) => format!("no class: {why}"),
            (None, None) => "no class".to_owned(),
        };
        format!("{changes}; values are counted from 0\n{}{class}\n", columns.render())
    }
}
