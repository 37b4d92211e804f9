//! What the data show about two targets of a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What can be said about two targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The difference is real at the run's confidence level, and larger than 2 %.
    Real,
    /// The difference is real, but may be smaller than 2 %.
    RealSizeUnknown,
    /// They cannot be told apart; that does not mean that they are the same.
    NotToldApart,
    /// Too few blocks to say anything.
    NotEnoughData,
}

impl Verdict {
    /// Whether a difference is real, however large.
    #[must_use]
    pub fn is_different(self) -> bool {
        match self {
            Self::Real | Self::RealSizeUnknown => true,
            Self::NotToldApart | Self::NotEnoughData => false,
        }
    }
}
