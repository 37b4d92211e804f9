//! On-disk layout: what it costs to read what was written in one way or another.

use crate::benchmark::Benchmark;

/// What the survey takes.
pub(crate) fn quick() -> Vec<Benchmark> {
    Vec::new()
}

/// Its curves.
pub(super) fn curves() -> Vec<Benchmark> {
    Vec::new()
}
