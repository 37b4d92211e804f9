//! The words of a comparison, as `docs/verdicts.md` defines them.

use schemars::JsonSchema;
use serde::Serialize;
use stats::equivalence;

/// What can be said of two series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "RunVerdict")]
pub enum Verdict {
    /// Different, and not shown to be so by less than the margin.
    Real,
    /// Different, and shown to be so by less than the margin.
    RealButSmall,
    /// Shown to be the same within the margin, and not shown to be different.
    Same,
    /// Neither shown to be different nor shown to be the same.
    NotToldApart,
    /// Too few values to say anything.
    NotEnoughData,
}

impl From<equivalence::Verdict> for Verdict {
    fn from(verdict: equivalence::Verdict) -> Self {
        match verdict {
            equivalence::Verdict::Different => Self::Real,
            equivalence::Verdict::DifferentByLess => Self::RealButSmall,
            equivalence::Verdict::SameWithin => Self::Same,
            equivalence::Verdict::NotToldApart => Self::NotToldApart,
        }
    }
}
