//! The words of a comparison, as `docs/verdicts.md` defines them.

use schemars::JsonSchema;
use serde::Serialize;

use crate::analysis::Judgement;

/// What the data show about two series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RunVerdict {
    /// Different, by more than the margin.
    Real,
    /// Different, and shown to differ by less than the margin.
    RealButSmall,
    /// Different, whether by more or by less than the margin is not known.
    RealSizeUnknown,
    /// Shown to be the same within the margin, and not shown to be different.
    Same,
    /// Different in these two runs; whether other runs would differ is not known.
    DiffersBetweenTheseRuns,
    /// The same within the margin in these two runs; whether other runs would be is not known.
    SameInTheseRuns,
    /// Neither shown to be different nor shown to be the same.
    NotToldApart,
    /// Too few values to say anything.
    NotEnoughData,
}

impl RunVerdict {
    /// The verdict on what was found at `level`; with `one_run` per side, it is limited to these
    /// runs.
    pub(super) fn new(judged: &Judgement, level: f64, one_run: bool) -> Self {
        // Only the claim that there is a difference is adjusted for the number of claims.
        let is_within = judged.p_within.is_some_and(|p| p <= 1.0 - level);
        let word = match (judged.verdict, is_within) {
            (record::Verdict::NotEnoughData, _) => return Self::NotEnoughData,
            (record::Verdict::NotToldApart, true) => Self::Same,
            (record::Verdict::NotToldApart, false) => Self::NotToldApart,
            (_, true) => Self::RealButSmall,
            (record::Verdict::Real, false) => Self::Real,
            (record::Verdict::RealSizeUnknown, false) => Self::RealSizeUnknown,
        };
        match word {
            Self::Real | Self::RealButSmall | Self::RealSizeUnknown if one_run => {
                Self::DiffersBetweenTheseRuns
            }
            Self::Same if one_run => Self::SameInTheseRuns,
            word @ (Self::Real
            | Self::RealButSmall
            | Self::RealSizeUnknown
            | Self::Same
            | Self::DiffersBetweenTheseRuns
            | Self::SameInTheseRuns
            | Self::NotToldApart
            | Self::NotEnoughData) => word,
        }
    }
}
