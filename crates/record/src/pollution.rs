//! What a run of the suite `pollution` was asked for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The code between operations, and the operations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PollutionOptions {
    /// Which footprints the code has.
    pub footprints: CodeFootprints,
    /// The names of the operations.
    pub operations: Vec<String>,
    /// In which order its lines are executed and accessed.
    pub order: LineOrder,
    /// Whether each load needs the result of the one before.
    pub loads: LoadDependence,
}

/// The footprints of code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CodeFootprints {
    /// As many bytes of instructions as of data: these.
    Equal(Vec<u64>),
    /// Each of these numbers of bytes of instructions with each of data.
    Each {
        /// Bytes of instructions.
        code_bytes: Vec<u64>,
        /// Bytes of data.
        data_bytes: Vec<u64>,
    },
}

impl CodeFootprints {
    /// Bytes of instructions, and of data, of each code.
    #[must_use]
    pub fn pairs(&self) -> Vec<(u64, u64)> {
        match self {
            Self::Equal(bytes) => bytes.iter().map(|&both| (both, both)).collect(),
            Self::Each { code_bytes, data_bytes } => {
                let with = |&data: &u64| code_bytes.iter().map(move |&code| (code, data));
                data_bytes.iter().flat_map(with).collect()
            }
        }
    }
}

/// An order of cache lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LineOrder {
    /// As they lie in memory.
    Sequential,
    /// Shuffled.
    Random,
}

/// How loads depend on each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LoadDependence {
    /// Not at all.
    Independent,
    /// Each address is the result of the load before.
    Dependent,
}
