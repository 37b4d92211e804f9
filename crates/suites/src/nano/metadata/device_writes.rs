//! What the device writes for changes of directories.

use record::{CacheState, Dimension};
use workload::{DirectorySync, Workload};

use super::{CHANGING, ENTRIES, Named};
use crate::benchmark::Benchmark;
use crate::operations::Question;
use crate::place::{Directories, Place};

/// What the device writes for each change, where one sync is shared by many and where each change
/// is made permanent by itself.
pub(super) fn both() -> Vec<Benchmark> {
    let synced = |named: Named, directory_sync| {
        let (suffix, words) = match directory_sync {
            DirectorySync::Never => ("sync", "100 and a sync"),
            DirectorySync::EachOperation => ("fsync", "each with an fsync of the directory"),
        };
        let set = Directories { additions: 100, ..Directories::of(ENTRIES) };
        let workload = Workload { directory_sync, ..Workload::new(named.operation) };
        Benchmark {
            name: format!("{}-{suffix}", named.name),
            title: format!("{}, {words}", named.title),
            exercises: vec![Dimension::Io, Dimension::OnDiskLayout],
            cache_state: CacheState::Warm,
            rank: 1 + named.rank,
            ..Benchmark::of_operations(workload, Place::Directories(set))
        }
        .asked(Question::DeviceWrites)
    };
    let both = |named| {
        [DirectorySync::Never, DirectorySync::EachOperation].map(|sync| synced(named, sync))
    };
    CHANGING.into_iter().flat_map(both).collect()
}
