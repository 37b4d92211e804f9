//! Reads and writes of one data file, and the dimension that they isolate in each cache state.
//!
//! Reads and writes are warm (served from memory, without reading the device) or cold (no page of
//! the file is resident, but its attributes and extents are). A warm write finds pages that have
//! been written since the last sync. The first write to a clean page is a benchmark of its own,
//! which writes each page once, since on some file systems it prepares things for later writes.

use record::{CacheState, Dimension};
use workload::{Access, Operation, Workload};

use crate::benchmark::Benchmark;
use crate::file_set_kind::FileSetKind;

pub(super) const KIB: usize = 1024;
pub(super) const MIB: usize = 1024 * KIB;

/// Sequential and random, 4 KiB and 1 MiB.
pub(super) fn four(operation: Operation, cache_state: CacheState) -> Vec<Benchmark> {
    let mut all = Vec::new();
    for random in [false, true] {
        for request_bytes in [4 * KIB, MIB] {
            all.push(data_benchmark(operation, random, request_bytes, cache_state));
        }
    }
    all
}

/// First writes to pages that are in memory and clean, in random order.
pub(super) fn first_writes() -> Vec<Benchmark> {
    let first = |request_bytes| {
        let write = data_benchmark(Operation::Write, true, request_bytes, CacheState::Warm);
        Benchmark {
            name: write.name.replace("-warm", "-clean"),
            title: write.title.replace(", warm", ", clean pages"),
            ..write.with_clean_pages()
        }
    };
    [4 * KIB, MIB].map(first).into()
}

fn data_benchmark(
    operation: Operation,
    random: bool,
    request_bytes: usize,
    cache_state: CacheState,
) -> Benchmark {
    let order = if random { "random" } else { "sequential" };
    let (size, size_title) = if request_bytes == MIB { ("1m", "1 MiB") } else { ("4k", "4 KiB") };
    let state = if cache_state.is_cold() { "cold" } else { "warm" };
    let verb = operation.name();
    let (dimension, exercises) = dimension_of_data(operation, cache_state);
    let is_cold_read = operation == Operation::Read && cache_state.is_cold();
    let access = match (random, operation, cache_state) {
        (false, ..) => Access::Sequential,
        (true, Operation::Read, CacheState::Warm) => Access::Uniform,
        // No block twice, since the second time it would not be cold, or not clean. All blocks in
        // each pass, since one left out by the first pass would be written first by a later one.
        (true, ..) => Access::Shuffled,
    };
    Benchmark {
        name: format!("{order}-{verb}-{size}-{state}"),
        title: format!("{order} {verb} {size_title}, {state}"),
        dimension,
        exercises,
        cache_state,
        ..Benchmark::from_workload(
            // Once many of a file's blocks have been read, the kernel mistakes more reads for parts
            // of a stream and reads ahead.
            Workload {
                access,
                request_bytes,
                advises_random: random && is_cold_read,
                ..Workload::new(operation)
            },
            if is_cold_read { FileSetKind::ColdData } else { FileSetKind::Data },
        )
    }
}

/// The dimension that a read or write isolates in a cache state, and those that it exercises.
///
/// A buffered write does not wait for the device, so even a cold one says nothing about I/O: it
/// isolates how the page cache takes in pages that it does not have.
fn dimension_of_data(operation: Operation, state: CacheState) -> (Dimension, Vec<Dimension>) {
    if !state.is_cold() {
        (Dimension::InMemory, vec![])
    } else if operation == Operation::Read {
        (Dimension::Io, vec![Dimension::OnDiskLayout, Dimension::Caching])
    } else {
        (Dimension::Caching, vec![Dimension::InMemory])
    }
}
