//! In memory: reads and writes that are served from memory alone.

use record::{CacheState, Dimension};
use workload::{Operation, Workload};

use super::curve::{Curve, usize_of};
use super::data;
use crate::benchmark::Benchmark;
use crate::place::Place;

/// What the survey takes: warm reads and writes, sequential and random, small and large.
pub(crate) fn quick() -> Vec<Benchmark> {
    let mut all = data::four(Operation::Read, CacheState::Warm);
    all.extend(data::four(Operation::Write, CacheState::Warm));
    all
}

/// Its curves.
pub(super) fn curves() -> Vec<Benchmark> {
    let curve = Curve {
        name: "random-read-warm-by-request",
        title: "random read, warm",
        axis: "request size",
        unit: "bytes",
    };
    let requests: Vec<u64> = (9..=20).map(|log2| 1 << log2).collect();
    curve.points(&requests, |bytes| Benchmark {
        dimension: Dimension::InMemory,
        ..Benchmark::of_operations(
            Workload { request_bytes: usize_of(bytes), ..Workload::new(Operation::Read) },
            Place::Data,
        )
    })
}
