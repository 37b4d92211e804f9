//! The survey: each dimension of a file system in short.
//!
//! Reads and writes come warm (served from memory, the device is not read) and cold (no page of the
//! file is resident; its attributes and extents are). A write changes each page once only, so that
//! the first change of a clean page is what is measured, not a mix with later ones. Metadata
//! operations come in small and in large directories, because directory formats differ most in how
//! they grow. Two threads are set against one on the same file, in the same directory and in
//! directories of their own (the taxonomy of sharing of Min et al., "Understanding Manycore
//! Scalability of File Systems", USENIX ATC 2016).

use record::{CacheState, Dimension};
use workload::{Access, Operation, Sharing, Workload};

use crate::benchmark::{Benchmark, Place};

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

/// The benchmarks of the survey.
#[must_use]
pub(crate) fn survey() -> Vec<Benchmark> {
    let mut all = data();
    all.push(append_fsync());
    for (place, entries) in [(Place::SmallDirectories, "100"), (Place::LargeDirectory, "10,000")] {
        all.extend(metadata(place, entries));
    }
    all.extend(scaling());
    all
}

/// Sequential and random, read and write, 4 KiB and 1 MiB, warm and cold.
fn data() -> Vec<Benchmark> {
    let mut all = Vec::new();
    for cache_state in [CacheState::Warm, CacheState::Cold] {
        for operation in [Operation::Read, Operation::Write] {
            for random in [false, true] {
                for request_bytes in [4 * KIB, MIB] {
                    all.push(data_benchmark(operation, random, request_bytes, cache_state));
                }
            }
        }
    }
    all
}

fn data_benchmark(
    operation: Operation,
    random: bool,
    request_bytes: usize,
    cache_state: CacheState,
) -> Benchmark {
    let order = if random { "random" } else { "sequential" };
    let (size, size_title) = if request_bytes == MIB { ("1m", "1 MiB") } else { ("4k", "4 KiB") };
    let state = if cache_state == CacheState::Cold { "cold" } else { "warm" };
    let verb = operation.name();
    let (dimension, exercises) = dimension_of_data(operation, cache_state);
    let access = match (random, operation, cache_state) {
        (false, ..) => Access::Sequential,
        (true, Operation::Read, CacheState::Warm) => Access::Uniform,
        // No block twice: the second time it would not be cold, or not be clean.
        (true, ..) => Access::Shuffled,
    };
    Benchmark {
        name: format!("{order}-{verb}-{size}-{state}"),
        title: format!("{order} {verb} {size_title}, {state}"),
        dimension,
        exercises,
        cache_state,
        workload: Workload { access, request_bytes, ..Workload::new(operation) },
        place: Place::Data,
        baseline: None,
    }
}

/// What a read or write in a cache state isolates, and what it exercises besides.
///
/// A buffered write does not wait for the device, so even a cold one says nothing of I/O: it
/// isolates how the page cache takes in pages it does not have.
fn dimension_of_data(operation: Operation, state: CacheState) -> (Dimension, Vec<Dimension>) {
    match (operation, state) {
        (Operation::Read, CacheState::Cold) => {
            (Dimension::Io, vec![Dimension::OnDiskLayout, Dimension::Caching])
        }
        (_, CacheState::Cold) => (Dimension::Caching, vec![Dimension::InMemory]),
        _ => (Dimension::InMemory, vec![]),
    }
}

fn append_fsync() -> Benchmark {
    Benchmark {
        name: "append-fsync-4k".to_owned(),
        title: "append 4 KiB and fsync".to_owned(),
        dimension: Dimension::Io,
        exercises: vec![Dimension::OnDiskLayout, Dimension::Metadata],
        cache_state: CacheState::Any,
        workload: Workload { request_bytes: 4 * KIB, ..Workload::new(Operation::AppendFsync) },
        place: Place::Data,
        baseline: None,
    }
}

fn metadata(place: Place, entries: &str) -> Vec<Benchmark> {
    let operations = [
        ("create", "create", Operation::Create),
        ("open-close", "open and close", Operation::OpenClose),
        ("stat", "stat", Operation::StatPresent),
        ("stat-missing", "stat of a missing name", Operation::StatMissing),
        ("readdir", "readdir", Operation::Readdir),
        ("rename", "rename", Operation::Rename),
        ("unlink", "unlink", Operation::Unlink),
        ("mkdir", "mkdir", Operation::Mkdir),
        ("rmdir", "rmdir", Operation::Rmdir),
    ];
    let benchmark = |(name, title, operation): (&str, &str, Operation)| Benchmark {
        name: format!("{name}-{}", entries.replace(',', "")),
        title: format!("{title}, directory of {entries}"),
        dimension: Dimension::Metadata,
        exercises: vec![Dimension::InMemory],
        cache_state: CacheState::Warm,
        workload: Workload { access: access_of_names(operation), ..Workload::new(operation) },
        place,
        baseline: None,
    };
    operations.into_iter().map(benchmark).collect()
}

/// A name that is missing is looked up once only: the second time, some file systems would answer
/// from a negative entry in the cache and others not, in a mix that depends on how many operations
/// there are.
fn access_of_names(operation: Operation) -> Access {
    match operation {
        Operation::StatMissing => Access::Shuffled,
        _ => Access::Uniform,
    }
}

fn scaling() -> Vec<Benchmark> {
    let read = Workload { sharing: Sharing::Same, ..Workload::new(Operation::Read) };
    let create = Workload::new(Operation::Create);
    let one_directory = Workload { sharing: Sharing::Same, ..create.clone() };
    let create_baseline = "create-1-thread".to_owned();
    let benchmark = |name: &str, title: &str, workload: Workload, baseline| Benchmark {
        name: name.to_owned(),
        title: title.to_owned(),
        dimension: Dimension::Scaling,
        exercises: vec![Dimension::Metadata, Dimension::InMemory],
        cache_state: CacheState::Warm,
        place: if workload.operation == Operation::Read {
            Place::Data
        } else {
            Place::TwoDirectories
        },
        workload,
        baseline,
    };
    let two = |workload: Workload| Workload { threads: 2, ..workload };
    vec![
        benchmark(
            "random-read-4k-2-threads",
            "random read 4 KiB, warm, 2 threads on one file",
            two(read),
            Some("random-read-4k-warm".to_owned()),
        ),
        benchmark(
            &create_baseline,
            "create, 1 thread in a directory of 1,000",
            one_directory.clone(),
            None,
        ),
        benchmark(
            "create-2-threads-one-directory",
            "create, 2 threads in one directory",
            two(one_directory),
            Some(create_baseline.clone()),
        ),
        benchmark(
            "create-2-threads-two-directories",
            "create, 2 threads in two directories",
            two(create),
            Some(create_baseline.clone()),
        ),
    ]
}
