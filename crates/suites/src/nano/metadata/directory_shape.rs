//! The shape of directories: how many entries, how deep, with how long names.

use record::CacheState;
use workload::Operation;

use super::{ENTRIES, NamedOperation, SIZES, all, benchmark_of, ranked, sizes_of};
use crate::benchmark::Benchmark;
use crate::file_set_kind::DirectorySpec;
use crate::nano::curve::{Curve, usize_of};

/// Warm, with one thread.
pub(super) fn curves() -> Vec<Benchmark> {
    // Neither a listing nor a close resolves a path.
    let resolves =
        |one: &NamedOperation| !matches!(one.operation, Operation::Readdir | Operation::Close);
    let by_path_depth = all().filter(resolves).flat_map(|named| curve_along(&PATH_DEPTH, named));
    let named = all().filter(|one| one.operation != Operation::Close);
    let by_name_length = named.flat_map(|named| curve_along(&NAME_LENGTH, named));
    by_directory_size().into_iter().chain(by_path_depth).chain(by_name_length).collect()
}

fn by_directory_size() -> Vec<Benchmark> {
    all().flat_map(|named| sizes_of(named, CacheState::Warm, &SIZES, 0)).collect()
}

/// What changes along a curve.
struct ShapeAxis {
    axis: &'static str,
    unit: &'static str,
    /// What follows the operation in titles.
    how: &'static str,
    /// Values on the axis, with the rank by which they are left out.
    points: &'static [(u64, u32)],
    /// Added to the rank of all points.
    rank: u32,
    set: fn(u64) -> DirectorySpec,
}

const PATH_DEPTH: ShapeAxis = ShapeAxis {
    axis: "path depth",
    unit: "count",
    how: "by path",
    points: &[(1, 0), (4, 1), (16, 0)],
    rank: 1,
    set: |depth| DirectorySpec { depth: usize_of(depth), ..DirectorySpec::with_entries(ENTRIES) },
};
/// From the shortest names possible for 1,000 entries and those that are added and removed.
const NAME_LENGTH: ShapeAxis = ShapeAxis {
    axis: "name length",
    unit: "bytes",
    how: "by name",
    points: &[(5, 1), (DirectorySpec::NAME_BYTES as u64, 0), (64, 1), (255, 0)],
    rank: 2,
    set: |bytes| DirectorySpec {
        name_bytes: usize_of(bytes),
        ..DirectorySpec::with_entries(ENTRIES)
    },
};

fn curve_along(shape: &ShapeAxis, named: NamedOperation) -> Vec<Benchmark> {
    let curve = Curve {
        name: &format!("{}-by-{}", named.name, shape.axis.replace(' ', "-")),
        title: &format!("{} {}", named.title, shape.how),
        axis: shape.axis,
        unit: shape.unit,
    };
    let benchmark = |value| benchmark_of(named, (shape.set)(value), CacheState::Warm);
    ranked(&curve, shape.points, shape.rank + named.rank, benchmark)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_on_names_has_a_curve_by_directory_size() {
        let on_names = |one: &Operation| one.is_on_names() && !one.moves_whole_files();
        let wanted: Vec<Operation> = Operation::ALL.into_iter().filter(on_names).collect();
        let curves = by_directory_size();
        for operation in wanted {
            let of_it = |one: &&Benchmark| {
                one.operations().is_some_and(|one| one.workload.operation == operation)
            };
            assert_eq!(curves.iter().filter(of_it).count(), SIZES.len(), "{operation:?}");
        }
    }
}
