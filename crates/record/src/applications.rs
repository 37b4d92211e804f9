//! What a run of the suite `applications` was asked for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Programs, and the tree of files that they work on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApplicationsOptions {
    /// The names of the programs.
    pub programs: Vec<String>,
    /// How many files the tree has.
    pub files: u32,
}
