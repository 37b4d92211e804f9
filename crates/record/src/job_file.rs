//! What a run of the suite `fio` was asked for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A job file of fio, as it was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobFileOptions {
    /// Its name.
    pub file: String,
    /// Its lines, as its author wrote them.
    pub lines: Vec<String>,
    /// Its jobs, with variables replaced and files included.
    pub jobs: Vec<RecordedJob>,
}

/// A job of a job file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecordedJob {
    /// Its name.
    pub name: String,
    /// Settings of the `[global]` sections before it, then its own.
    pub settings: Vec<RecordedSetting>,
    /// How many of the settings are global.
    pub global: usize,
}

/// A setting of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecordedSetting {
    /// The option.
    pub name: String,
    /// Its value, if it has one.
    pub value: Option<String>,
    /// The line of the job file; none if it comes from elsewhere.
    pub line: Option<usize>,
}
