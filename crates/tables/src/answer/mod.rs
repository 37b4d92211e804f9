//! Answers: for each analysis a document for programs and its text for people.

mod anova;
mod anova_text;
mod changepoint;
mod interval;
mod scalability;
mod steady_state;

use schemars::JsonSchema;
use serde::Serialize;

pub use anova::{
    AnovaAnswer, ContrastDocument, DiagnosticDocument, EffectDocument, EstimateDocument,
    FQuantileDocument, RankTestDocument, RatioDocument, SourceDocument, TotalsDocument,
};
pub use changepoint::{ChangepointAnswer, Method as ChangepointMethod, SegmentDocument};
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
