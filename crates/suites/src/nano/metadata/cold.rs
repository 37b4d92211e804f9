//! Operations on names that are not in memory: the file system has been remounted, and what is to
//! be removed was made before that. Only the directories themselves are open.
//!
//! There is no close, since its open has already brought everything into memory. Nor are there
//! directories of fewer than 100 entries, which are so close to the directories themselves that
//! some file systems read them together.

use record::CacheState;
use workload::Operation;

use super::{NamedOperation, SIZES, all, sizes_of};
use crate::benchmark::Benchmark;

/// The operations whose points are left out last.
const FIRST: [Operation; 5] = [
    Operation::StatPresent,
    Operation::OpenClose,
    Operation::Readdir,
    Operation::Create,
    Operation::Rename,
];

/// Curves over directory size.
pub(super) fn curves() -> Vec<Benchmark> {
    let is_there = |one: &NamedOperation| one.operation != Operation::Close;
    all().filter(is_there).flat_map(by_directory_size).collect()
}

fn by_directory_size(named: NamedOperation) -> Vec<Benchmark> {
    // On some file systems, opening a directory reads ahead the first block of its list
    // (xfs_dir_open), which is all of a short list. So where only the list is looked at, lists are
    // longer.
    let of_lists = matches!(named.operation, Operation::Readdir | Operation::StatMissing);
    let least = if of_lists { 2 } else { 1 };
    let rank = if FIRST.contains(&named.operation) { 2 } else { 4 };
    sizes_of(named, CacheState::Cold, &SIZES[least..], rank)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nano::metadata::CHANGING;

    #[test]
    fn every_change_of_a_directory_is_measured_cold() {
        let all = curves();
        for named in CHANGING {
            let name = format!("{}-cold-by-directory-size-10000", named.name);
            let found = all.iter().find(|one| one.name == name).expect("it is declared");
            assert_eq!(found.cache_state, CacheState::Cold);
        }
        assert!(all.iter().all(|one| !one.name.starts_with("close")));
        assert!(all.iter().all(|one| one.rank >= 2));
    }
}
