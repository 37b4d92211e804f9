//! The state of the caches in which a cell is measured.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The state of the caches in which a cell is measured; verified, never assumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CacheState {
    /// No page of the touched files is resident before the first operation.
    Cold,
    /// Every page of the touched files is resident, and the device is not read.
    Warm,
    /// The state that the operations themselves maintain: reached before they are timed, and
    /// recorded with each replicate.
    Steady,
    /// No state is required: by its nature, the operation goes to the device.
    Any,
}

impl CacheState {
    /// Whether what is touched comes from the device, each part once.
    #[must_use]
    pub fn is_cold(self) -> bool {
        match self {
            Self::Cold => true,
            Self::Warm | Self::Steady | Self::Any => false,
        }
    }

    /// Whether what is touched is in memory throughout, so that a read from the device refutes it.
    #[must_use]
    pub fn is_warm(self) -> bool {
        match self {
            Self::Warm => true,
            Self::Cold | Self::Steady | Self::Any => false,
        }
    }
}
