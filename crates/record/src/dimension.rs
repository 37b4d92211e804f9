//! The dimensions of a file system's performance: the one list of them, with their words.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A dimension of a file system's performance (It *IS* Rocket Science, section 2).
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Dimension {
    /// Bandwidth and latency of the device below.
    Io,
    /// Where data and metadata lie on the device.
    OnDiskLayout,
    /// Operations served entirely from memory.
    InMemory,
    /// Warm-up, eviction, prefetch.
    Caching,
    /// Operations on names and attributes.
    Metadata,
    /// Behaviour under concurrent load.
    Scaling,
    /// Processor cache lines that are touched.
    CpuFootprint,
    /// What is evicted from the application's caches.
    Pollution,
}

impl Dimension {
    /// Those that timed benchmarks isolate, in the order of the paper's Table 1. In-memory
    /// performance, which the paper says is rarely of interest, comes before caching.
    pub const TIMED: [Self; 6] = [
        Self::Io,
        Self::OnDiskLayout,
        Self::InMemory,
        Self::Caching,
        Self::Metadata,
        Self::Scaling,
    ];

    /// Its name as in documents, as a heading and as the head of a narrow column.
    const fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Io => ("io", "I/O", "I/O"),
            Self::OnDiskLayout => ("on-disk-layout", "On-disk layout", "on-disk"),
            Self::InMemory => ("in-memory", "In memory", "in-memory"),
            Self::Caching => ("caching", "Caching", "caching"),
            Self::Metadata => ("metadata", "Metadata", "metadata"),
            Self::Scaling => ("scaling", "Scaling", "scaling"),
            Self::CpuFootprint => ("cpu-footprint", "CPU footprint", "footprint"),
            Self::Pollution => ("pollution", "Pollution", "pollution"),
        }
    }

    /// Its name as in documents, such as `in-memory`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.words().0
    }

    /// Its name as a heading.
    #[must_use]
    pub fn heading(self) -> &'static str {
        self.words().1
    }

    /// Its name at the head of a narrow column.
    #[must_use]
    pub fn column(self) -> &'static str {
        self.words().2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_have_the_names_that_are_listed() {
        let untimed = [Dimension::CpuFootprint, Dimension::Pollution];
        for dimension in Dimension::TIMED.into_iter().chain(untimed) {
            let written = serde_json::to_string(&dimension).expect("a name");
            assert_eq!(written, format!("\"{}\"", dimension.name()));
        }
    }
}
