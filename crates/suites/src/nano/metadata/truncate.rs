//! Truncation, which involves a file's blocks and inode but no names.

use record::{CacheState, Dimension};
use workload::{Operation, Workload};

use super::ranked;
use crate::benchmark::Benchmark;
use crate::file_set_kind::FileSetKind;
use crate::nano::curve::{Curve, usize_of};

/// Truncation to nothing, which frees blocks.
pub(super) fn curve() -> Vec<Benchmark> {
    let curve = Curve {
        name: "truncate-by-file-size",
        title: "truncate to nothing",
        axis: "file size",
        unit: "bytes",
    };
    let benchmark = |bytes| Benchmark {
        exercises: vec![Dimension::OnDiskLayout, Dimension::InMemory],
        cache_state: CacheState::Warm,
        ..Benchmark::from_workload(
            Workload { request_bytes: usize_of(bytes), ..Workload::new(Operation::Truncate) },
            FileSetKind::Data,
        )
    };
    ranked(&curve, &[(4 << 10, 0), (64 << 10, 1), (1 << 20, 0), (16 << 20, 2)], 2, benchmark)
}
