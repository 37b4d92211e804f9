//! Scaling: several threads against one, on the same file, in the same directory and in directories
//! of their own (the taxonomy of sharing of Min et al., "Understanding Manycore Scalability of File
//! Systems", USENIX ATC 2016).

use record::{CacheState, Dimension};
use workload::{Operation, Sharing, Workload};

use crate::benchmark::Benchmark;
use crate::place::Place;

fn place_of_threads(operation: Operation) -> Place {
    if operation == Operation::Read { Place::Data } else { Place::TwoDirectories }
}

/// What the survey takes: two threads against one. The baseline of the reads is one of
/// [`super::in_memory`].
pub(crate) fn quick() -> Vec<Benchmark> {
    let read = Workload { sharing: Sharing::Same, ..Workload::new(Operation::Read) };
    let create = Workload::new(Operation::Create);
    let one_directory = Workload { sharing: Sharing::Same, ..create.clone() };
    let create_baseline = "create-1-thread".to_owned();
    let benchmark = |name: &str, title: &str, workload: Workload, baseline| {
        let place = place_of_threads(workload.operation);
        Benchmark {
            name: name.to_owned(),
            title: title.to_owned(),
            dimension: Dimension::Scaling,
            exercises: vec![Dimension::Metadata, Dimension::InMemory],
            cache_state: CacheState::Warm,
            baseline,
            ..Benchmark::of_operations(workload, place)
        }
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

/// What the quick forms are set against, and belongs to another dimension.
pub(super) fn baselines() -> Vec<Benchmark> {
    let is_it = |one: &Benchmark| one.name == "random-read-4k-warm";
    super::in_memory::quick().into_iter().filter(is_it).collect()
}

/// Its curves.
pub(super) fn curves() -> Vec<Benchmark> {
    Vec::new()
}
