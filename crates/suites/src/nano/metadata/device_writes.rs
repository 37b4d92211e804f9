//! What the device writes for changes of directories, until it has nothing left to write: from a
//! file system that was just mounted to one that is unmounted.

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
            DirectorySync::Never => ("sync", "100, then a sync"),
            DirectorySync::EachOperation => ("fsync", "each followed by an fsync of the directory"),
        };
        let set = Directories { additions: 100, ..Directories::of(ENTRIES) };
        let workload = Workload { directory_sync, ..Workload::new(named.operation) };
        Benchmark {
            name: format!("{}-{suffix}", named.name),
            title: format!("{}, {words}", named.title),
            exercises: vec![Dimension::Io, Dimension::OnDiskLayout],
            // To bring in what a change needs by making one would leave more to be written.
            cache_state: CacheState::Any,
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
