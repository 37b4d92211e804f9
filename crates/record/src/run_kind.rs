//! The kinds of runs: who measures, and so how figures are read and what applies to them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What kind of run it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RunKind {
    /// Operations timed on targets, block after block.
    #[default]
    Timed,
    /// Searches for cliffs, in which each probe follows from those before.
    Searched,
    /// System calls traced in guests: counts.
    Traced,
    /// A network file system, in a rig of guests or on a mount: counts, and emulated times.
    Networked,
    /// What phases move through caches, traced in guests beside a timed run: counts.
    Traffic,
}

impl RunKind {
    /// The kind of a run from before it was recorded, told by its command and its suite.
    pub(crate) fn infer(command: &str, suite: &str) -> Self {
        match suite {
            _ if command == "cliff" => Self::Searched,
            "footprint" => Self::Traced,
            "fscache" => Self::Networked,
            "cache-traffic" => Self::Traffic,
            _ => Self::Timed,
        }
    }

    /// Whether the run can be resumed after it was interrupted. The state of a search and of guests
    /// is lost with the process.
    #[must_use]
    pub fn can_be_resumed(self) -> bool {
        match self {
            Self::Timed => true,
            Self::Searched | Self::Traced | Self::Networked | Self::Traffic => false,
        }
    }

    /// Whether warnings about the timing on this machine apply.
    #[must_use]
    pub fn is_timed_here(self) -> bool {
        match self {
            Self::Timed | Self::Searched | Self::Traced => true,
            Self::Networked | Self::Traffic => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{network, traffic};

    #[test]
    fn suites_of_old_runs_are_those_of_today() {
        assert_eq!(RunKind::infer("run", network::SUITE), RunKind::Networked);
        assert_eq!(RunKind::infer("run", traffic::SUITE), RunKind::Traffic);
        assert_eq!(RunKind::infer("cliff", "cliff/working-set"), RunKind::Searched);
        assert_eq!(RunKind::infer("reproduce", "footprint"), RunKind::Traced);
        assert_eq!(RunKind::infer("survey", "survey"), RunKind::Timed);
    }
}
