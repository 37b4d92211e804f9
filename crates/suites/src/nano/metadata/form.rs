//! The form of directories: how many entries, how deep, under how long names.

use record::CacheState;
use workload::Operation;

use super::{ENTRIES, Named, SIZES, all, of, ranked, sizes_of};
use crate::benchmark::Benchmark;
use crate::nano::curve::{Curve, usize_of};
use crate::place::Directories;

/// Warm, by one thread.
pub(super) fn curves() -> Vec<Benchmark> {
    [by_directory_size(), by_path_depth(), by_name_length()].concat()
}

fn by_directory_size() -> Vec<Benchmark> {
    all().flat_map(|named| sizes_of(named, CacheState::Warm, &SIZES, 0)).collect()
}

fn by_path_depth() -> Vec<Benchmark> {
    // A listing resolves no path, and neither does a close.
    let resolving = |one: &Named| !matches!(one.operation, Operation::Readdir | Operation::Close);
    let curve = |named: Named| {
        let curve = Curve {
            name: &format!("{}-by-path-depth", named.name),
            title: &format!("{} by path", named.title),
            axis: "path depth",
            unit: "count",
        };
        let benchmark = |depth| {
            let set = Directories { depth: usize_of(depth), ..Directories::of(ENTRIES) };
            of(named, set, CacheState::Warm)
        };
        ranked(&curve, &[(1, 0), (4, 1), (16, 0)], 1 + named.rank, benchmark)
    };
    all().filter(resolving).flat_map(curve).collect()
}

/// Lengths of names, from the shortest that 1,000 entries and those that come and go can have, by
/// how late they are left out.
const NAME_BYTES: [(u64, u32); 4] =
    [(5, 1), (Directories::NAME_BYTES as u64, 0), (64, 1), (255, 0)];

fn by_name_length() -> Vec<Benchmark> {
    let curve = |named: Named| {
        let curve = Curve {
            name: &format!("{}-by-name-length", named.name),
            title: &format!("{} by name", named.title),
            axis: "name length",
            unit: "bytes",
        };
        let benchmark = |bytes| {
            let set = Directories { name_bytes: usize_of(bytes), ..Directories::of(ENTRIES) };
            of(named, set, CacheState::Warm)
        };
        ranked(&curve, &NAME_BYTES, 2 + named.rank, benchmark)
    };
    all().filter(|one| one.operation != Operation::Close).flat_map(curve).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_on_names_has_a_curve_by_directory_size() {
        let on_names = |one: &Operation| one.subject() == workload::Subject::Directories;
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
