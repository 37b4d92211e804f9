//! What is done at a position of an axis.

use record::{Axis, CacheState, Cell, Dimension, SearchPlan};
use workload::{Access, Operation, Workload};

use super::CLIFF_SUITE;
use crate::benchmark::{Benchmark, Place};

/// The operations of a search, but for the position.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    axis: Axis,
    file_bytes: u64,
    request_bytes: usize,
}

impl Subject {
    pub(super) fn new(plan: &SearchPlan, request_bytes: usize) -> Self {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole bytes")]
        let file_bytes = plan.high as u64;
        Self { axis: plan.axis, file_bytes, request_bytes }
    }

    /// The size of the data file.
    pub(super) fn file_bytes(&self) -> u64 {
        self.file_bytes
    }

    /// What is measured at `position`.
    pub(super) fn benchmark(&self, position: f64) -> Benchmark {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole bytes")]
        let position = position as u64;
        let request = short_bytes(self.request_bytes as u64);
        let workload = Workload {
            access: Access::Uniform,
            request_bytes: self.request_bytes,
            span_bytes: Some(position),
            // The time ends a probe, not their number.
            operations_per_thread: u64::from(u32::MAX),
            ..Workload::new(Operation::Read)
        };
        Benchmark {
            name: format!("random-read-{request}-{}-{position}", self.axis.name()),
            title: format!("random read {request}, working set {}", long_bytes(position)),
            dimension: Dimension::Caching,
            exercises: vec![Dimension::InMemory, Dimension::Io],
            cache_state: CacheState::Steady,
            workload,
            place: Place::Data,
            baseline: None,
        }
    }

    /// The cell of a position on a target.
    pub(super) fn cell(&self, target: &str, position: f64) -> Cell {
        let suite = format!("{CLIFF_SUITE}/{}", self.axis.name());
        self.benchmark(position).cell(&suite, target, self.file_bytes)
    }
}

/// `62.29 MiB`.
fn long_bytes(bytes: u64) -> String {
    const MIB: f64 = 1024.0 * 1024.0;
    let size = bytes as f64;
    match size / MIB {
        large if large >= 1.0 => format!("{large:.2} MiB"),
        _ => format!("{:.1} KiB", size / 1024.0),
    }
}

/// `4k`, `1m`; what is no multiple of either stays as it is.
fn short_bytes(bytes: u64) -> String {
    const KIB: u64 = 1024;
    const MIB: u64 = 1024 * KIB;
    if bytes.is_multiple_of(MIB) && bytes > 0 {
        format!("{}m", bytes / MIB)
    } else if bytes.is_multiple_of(KIB) && bytes > 0 {
        format!("{}k", bytes / KIB)
    } else {
        bytes.to_string()
    }
}
