//! In memory: reads and writes served from memory only.
//!
//! The cost of such a request is the call and the copy. Their proportions show in the curve over
//! request size. How fast the copy is depends on which processor cache the working set fits in, and
//! on whether requests are page-aligned: if not, each touches one more page.

use record::{CacheState, Dimension};
use workload::{Access, Alignment, Operation, Workload};

use super::curve::{Curve, usize_of};
use super::data;
use crate::benchmark::Benchmark;
use crate::file_set_kind::{FileSetKind, FileSpec};

/// For the survey: warm reads and writes, sequential and random, small and large.
pub(crate) fn quick() -> Vec<Benchmark> {
    let mut all = data::four(Operation::Read, CacheState::Warm);
    all.extend(data::four(Operation::Write, CacheState::Warm));
    all.extend(data::first_writes());
    all
}

const ALIGNMENTS: [(Alignment, &str, &str); 2] =
    [(Alignment::Request, "", ""), (Alignment::Unaligned, "-unaligned", ", unaligned")];

/// Its curves.
pub(super) fn curves() -> Vec<Benchmark> {
    [reads_by_request(), writes_by_request(), reads_by_working_set()].concat()
}

fn benchmark(workload: Workload, file_set: FileSetKind) -> Benchmark {
    Benchmark { dimension: Dimension::InMemory, ..Benchmark::from_workload(workload, file_set) }
}

fn reads_by_request() -> Vec<Benchmark> {
    let requests: Vec<u64> = (9..=20).map(|log2| 1 << log2).collect();
    let curve = |(alignment, suffix, words): (Alignment, &str, &str)| {
        let curve = Curve {
            name: &format!("random-read{suffix}-warm-by-request"),
            title: &format!("random read, warm{words}"),
            axis: "request size",
            unit: "bytes",
        };
        let read = |bytes| {
            let read = Workload::new(Operation::Read);
            let workload = Workload { request_bytes: usize_of(bytes), alignment, ..read };
            Benchmark {
                rank: u32::from(!words.is_empty()),
                ..benchmark(workload, FileSetKind::Data)
            }
        };
        curve.points(&requests, read)
    };
    ALIGNMENTS.into_iter().flat_map(curve).collect()
}

/// Repeated writes to dirty pages, and single writes to clean ones. Requests smaller than a page
/// would write it several times, so there are none.
fn writes_by_request() -> Vec<Benchmark> {
    let requests: Vec<u64> = (12..=20).map(|log2| 1 << log2).collect();
    let write = |bytes| {
        let write = Workload { access: Access::Shuffled, ..Workload::new(Operation::Write) };
        benchmark(Workload { request_bytes: usize_of(bytes), ..write }, FileSetKind::Data)
    };
    let curve = |name, title| Curve { name, title, axis: "request size", unit: "bytes" };
    let again = curve("random-write-warm-by-request", "random write, warm");
    let once = curve("random-write-clean-by-request", "random write, clean pages");
    let first_write = |bytes| write(bytes).with_clean_pages();
    [again.points(&requests, write), once.points(&requests, first_write)].concat()
}

/// From below any first-level cache to above most last-level ones. Up to the usual size of data
/// files, the working set is part of the data file; beyond that, files are made for it.
const WORKING_SETS: [u64; 15] = [
    16 << 10,
    32 << 10,
    64 << 10,
    128 << 10,
    256 << 10,
    512 << 10,
    1 << 20,
    2 << 20,
    4 << 20,
    8 << 20,
    16 << 20,
    32 << 20,
    64 << 20,
    256 << 20,
    1 << 30,
];
const SPAN_MAX: u64 = 64 << 20;
/// Rank of a working set that needs files of its own, added to that of the point.
const FILES_RANK: u32 = 5;

fn reads_by_working_set() -> Vec<Benchmark> {
    let curve = |(alignment, suffix, words): (Alignment, &str, &str)| {
        let curve = Curve {
            name: &format!("random-read-4k{suffix}-by-working-set"),
            title: &format!("random read 4 KiB, warm{words}"),
            axis: "working set",
            unit: "bytes",
        };
        let read = |bytes| {
            let read = Workload { alignment, ..Workload::new(Operation::Read) };
            if bytes <= SPAN_MAX {
                return benchmark(Workload { span_bytes: Some(bytes), ..read }, FileSetKind::Data);
            }
            let files = FileSpec { count: 1, bytes, are_written: false };
            Benchmark { rank: FILES_RANK, ..benchmark(read, FileSetKind::Files(files)) }
        };
        let mut points = curve.points(&WORKING_SETS[..13], read);
        points.extend(curve.points(&WORKING_SETS[13..], read));
        points
    };
    ALIGNMENTS.into_iter().flat_map(curve).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn working_sets_are_what_the_axis_says() {
        for one in reads_by_working_set() {
            let point = one.curve.as_ref().expect("it is a point of a curve");
            let operations = one.operations().expect("it is one of operations");
            let bytes = operations.working_set_bytes(SPAN_MAX).expect("it reads");
            assert_eq!(bytes as f64, point.value, "{}", one.name);
            assert_eq!(one.rank >= FILES_RANK, bytes > SPAN_MAX, "{}", one.name);
        }
    }

    #[test]
    fn all_pages_are_written_in_each_pass() {
        for one in writes_by_request() {
            let operations = one.operations().expect("it is one of operations");
            let blocks = operations.blocks_per_thread(64 << 20);
            assert_eq!(blocks * operations.workload.request_bytes as u64, 64 << 20);
            assert_eq!(operations.workload.access, Access::Shuffled);
            assert!(operations.workload.request_bytes >= 4096);
        }
    }
}
