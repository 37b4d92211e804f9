//! Answers: for each analysis, a document for programs and its text for people.

mod anova;
mod anova_text;
mod changepoint;
mod interval;
mod scalability;
mod steady_state;

use schemars::JsonSchema;
use serde::Serialize;
use stats::Refusal;
use stats::design::Refused;

pub use anova::{
    AnovaAnswer, ContrastDocument, DiagnosticDocument, EffectDocument, EstimateDocument,
    FQuantileDocument, RankTestDocument, RatioDocument, SourceDocument, TotalsDocument,
};
pub use changepoint::{
    ChangeDocument, ChangepointAnswer, Method as ChangepointMethod, SegmentDocument,
};
pub use interval::{IntervalAnswer, IntervalQuestion, QuantileAnswer};
pub use scalability::{Intervals, ScalabilityAnswer, StdErrors};
pub use steady_state::SteadyStateAnswer;

/// An interval in a document.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct IntervalDocument {
    /// The confidence level, between 0 and 1.
    pub level: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl From<stats::Interval> for IntervalDocument {
    fn from(interval: stats::Interval) -> Self {
        Self { level: interval.level, low: interval.low, high: interval.high }
    }
}

/// Refuses values whose squares leave the range of numbers, upwards or downwards: their spread
/// would be infinite, or nothing.
fn check_squares(values: &[f64]) -> Result<(), Refusal> {
    /// Squares from here on have all their digits.
    const SQUARE_MIN: f64 = f64::MIN_POSITIVE / f64::EPSILON;
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let square = (most - least).powi(2) * values.len() as f64;
    if values.len() < 2 || most == least || (SQUARE_MIN..f64::INFINITY).contains(&square) {
        return Ok(());
    }
    Err(Refused::OutOfRange.into())
}
