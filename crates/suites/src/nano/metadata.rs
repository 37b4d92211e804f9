//! Metadata: operations on names and attributes, in isolation.
//!
//! They come in small and in large directories, because directory formats differ most in how they
//! grow.

use record::{CacheState, Dimension};
use workload::{Access, Operation, Workload};

use crate::benchmark::Benchmark;
use crate::place::Place;

/// What the survey takes: nine operations in directories of 100 and of 10,000.
pub(crate) fn quick() -> Vec<Benchmark> {
    let sizes = [(Place::SmallDirectories, "100"), (Place::LargeDirectory, "10,000")];
    sizes.into_iter().flat_map(|(place, entries)| metadata(place, entries)).collect()
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
        ..Benchmark::of_operations(
            Workload { access: access_of_names(operation), ..Workload::new(operation) },
            place,
        )
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

/// Its curves.
pub(super) fn curves() -> Vec<Benchmark> {
    Vec::new()
}
