//! Metadata: operations on names and attributes, in isolation.
//!
//! There are small and large directories, because directory formats differ most in how they grow.
//! The curves all pass through one point (directories of 1,000, names of 12 bytes in an open
//! directory, warm, one thread), each along one axis: directory size, path depth, or name length.
//! In addition, there are the same operations cold, by two processes at once, and what the device
//! writes for changes.

mod cold;
mod device_writes;
mod directory_shape;
mod processes;
mod truncate;
mod whole_files;

use record::{CacheState, Dimension};
use workload::{Access, Operation, Workload};

use super::curve::Curve;
use crate::benchmark::Benchmark;
use crate::file_set_kind::{DirectorySpec, FileSetKind};

/// For the survey: nine operations in directories of 100 and of 10,000, and small files that are
/// written or read whole.
pub(crate) fn quick() -> Vec<Benchmark> {
    let sizes = [(FileSetKind::SmallDirectories, "100"), (FileSetKind::LargeDirectory, "10,000")];
    let on_names = sizes.into_iter().flat_map(|(file_set, entries)| metadata(file_set, entries));
    on_names.chain(whole_files::quick()).collect()
}

fn metadata(file_set: FileSetKind, entries: &str) -> Vec<Benchmark> {
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
        ..Benchmark::from_workload(
            Workload { access: access_of_names(operation), ..Workload::new(operation) },
            file_set,
        )
    };
    operations.into_iter().map(benchmark).collect()
}

/// A missing name is looked up only once: the second time, some file systems would answer from a
/// negative cache entry and others not, in a mix that depends on the number of operations.
fn access_of_names(operation: Operation) -> Access {
    let is_of_missing = operation == Operation::StatMissing;
    if is_of_missing { Access::Shuffled } else { Access::Uniform }
}

/// Entries per directory on the curves along other axes.
const ENTRIES: u64 = 1_000;

/// An operation on names, as named in curves.
#[derive(Clone, Copy, Debug)]
struct NamedOperation {
    name: &'static str,
    title: &'static str,
    operation: Operation,
    /// Added to the rank of its points: 0 for the most informative.
    rank: u32,
}

const fn named(
    name: &'static str,
    title: &'static str,
    operation: Operation,
    rank: u32,
) -> NamedOperation {
    NamedOperation { name, title, operation, rank }
}

const STAT: NamedOperation = named("stat", "stat", Operation::StatPresent, 0);
const STAT_MISSING: NamedOperation =
    named("stat-missing", "stat of a missing name", Operation::StatMissing, 1);
const OPEN_CLOSE: NamedOperation = named("open-close", "open and close", Operation::OpenClose, 1);
const READDIR: NamedOperation = named("readdir", "readdir", Operation::Readdir, 0);
/// Operations that change nothing.
const LOOKING: [NamedOperation; 7] = [
    STAT,
    STAT_MISSING,
    named("access", "access", Operation::CheckAccess, 2),
    named("open", "open", Operation::Open, 2),
    named("close", "close", Operation::Close, 2),
    OPEN_CLOSE,
    READDIR,
];
const CREATE: NamedOperation = named("create", "create", Operation::Create, 0);
const UNLINK: NamedOperation = named("unlink", "unlink", Operation::Unlink, 0);
const RENAME: NamedOperation = named("rename", "rename", Operation::Rename, 1);
/// Operations that change directories.
const CHANGING: [NamedOperation; 7] = [
    CREATE,
    UNLINK,
    RENAME,
    named("link", "link", Operation::Link, 2),
    named("symlink", "symlink", Operation::Symlink, 2),
    named("mkdir", "mkdir", Operation::Mkdir, 1),
    named("rmdir", "rmdir", Operation::Rmdir, 1),
];

/// Its curves.
pub(super) fn curves() -> Vec<Benchmark> {
    [
        directory_shape::curves(),
        cold::curves(),
        processes::pairs(),
        device_writes::both(),
        truncate::curve(),
    ]
    .concat()
}

/// All operations on names.
fn all() -> impl Iterator<Item = NamedOperation> {
    LOOKING.into_iter().chain(CHANGING)
}

fn benchmark_of(named: NamedOperation, set: DirectorySpec, cache_state: CacheState) -> Benchmark {
    let operation = named.operation;
    // The second time, its attributes would be in memory.
    let access = if cache_state.is_cold() { Access::Shuffled } else { access_of_names(operation) };
    Benchmark {
        dimension: Dimension::Metadata,
        exercises: vec![Dimension::InMemory],
        cache_state,
        ..Benchmark::from_workload(
            Workload { access, ..Workload::new(operation) },
            FileSetKind::Directories(set),
        )
    }
}

/// Directories of 10 to 1,000,000 entries, with the rank by which they are left out: large ones
/// take long to make, and the base point and its neighbours are the most informative.
const SIZES: [(u64, u32); 6] =
    [(10, 2), (100, 1), (1_000, 0), (10_000, 0), (100_000, 5), (1_000_000, 8)];

/// The curve of an operation over directory size.
fn sizes_of(
    named: NamedOperation,
    cache_state: CacheState,
    sizes: &[(u64, u32)],
    rank: u32,
) -> Vec<Benchmark> {
    let is_cold = cache_state.is_cold();
    let (suffix, state) = if is_cold { ("-cold", ", cold") } else { ("", "") };
    let curve = Curve {
        name: &format!("{}{suffix}-by-directory-size", named.name),
        title: &format!("{}{state}", named.title),
        axis: "directory size",
        unit: "count",
    };
    let benchmark =
        |entries| benchmark_of(named, DirectorySpec::with_entries(entries), cache_state);
    ranked(&curve, sizes, rank + named.rank, benchmark)
}

/// The points of a curve, each with its own rank added to that of the curve.
fn ranked(
    curve: &Curve<'_>,
    points: &[(u64, u32)],
    rank: u32,
    benchmark: impl Fn(u64) -> Benchmark,
) -> Vec<Benchmark> {
    let values: Vec<u64> = points.iter().map(|(value, _)| *value).collect();
    let made = curve.points(&values, benchmark).into_iter().zip(points);
    made.map(|(one, (_, own))| Benchmark { rank: rank + own, ..one }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::wildcard_enum_match_arm, reason = "a test looks for one of them")]
    fn file_set(name: &str) -> DirectorySpec {
        let all = curves();
        let found = all.iter().find(|one| one.name == name).expect("it is declared");
        match found.operations().expect("it is one of operations").file_set {
            FileSetKind::Directories(set) => set,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn each_curve_leaves_the_base_point_along_its_own_axis() {
        let base = DirectorySpec::with_entries(1_000);
        assert_eq!(file_set("stat-by-directory-size-1000"), base);
        assert_eq!(file_set("stat-by-path-depth-1"), base);
        assert_eq!(file_set("stat-by-name-length-12"), base);
        assert_eq!(file_set("stat-by-name-length-5"), DirectorySpec { name_bytes: 5, ..base });
        assert_eq!(file_set("stat-by-path-depth-16"), DirectorySpec { depth: 16, ..base });
        assert_eq!(
            file_set("create-by-name-length-255"),
            DirectorySpec { name_bytes: 255, ..base }
        );
        assert_eq!(file_set("create-by-directory-size-1000000").entries, 1_000_000);
    }

    #[test]
    fn directories_that_take_long_to_make_are_left_out_first() {
        let largest = |all: &[Benchmark]| {
            let entries =
                |one: &Benchmark| one.operations().map_or(0, |one| one.file_set.entries());
            all.iter().map(entries).max()
        };
        let up_to = |rank| -> Vec<Benchmark> {
            curves().into_iter().filter(|one| one.rank <= rank).collect()
        };
        assert_eq!(largest(&up_to(4)), Some(10_000));
        assert_eq!(largest(&up_to(7)), Some(100_000));
        assert_eq!(largest(&curves()), Some(1_000_000));
        let rest = curves().into_iter().filter(|one| one.rank > 7);
        assert!(
            rest.into_iter().all(|one| {
                one.operations().is_some_and(|one| one.file_set.entries() >= 100_000)
            })
        );
    }
}
