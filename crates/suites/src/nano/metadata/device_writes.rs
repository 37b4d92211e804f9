//! What the device writes for changes of directories, until it has nothing left to write: from a
//! freshly mounted file system to an unmounted one.

use record::{CacheState, Dimension};
use workload::{DirectorySync, Workload};

use super::{CHANGING, ENTRIES, NamedOperation};
use crate::benchmark::Benchmark;
use crate::file_set_kind::{DirectorySpec, FileSetKind};
use crate::operations::Question;

/// What the device writes for each change, if many share one sync and if each is made durable by
/// itself.
pub(super) fn both() -> Vec<Benchmark> {
    let synced = |named: NamedOperation, directory_sync| {
        let (suffix, words) = match directory_sync {
            DirectorySync::Never => ("sync", "100, then a sync"),
            DirectorySync::EachOperation => ("fsync", "each followed by an fsync of the directory"),
        };
        let set = DirectorySpec { additions: 100, ..DirectorySpec::with_entries(ENTRIES) };
        let workload = Workload { directory_sync, ..Workload::new(named.operation) };
        Benchmark {
            name: format!("{}-{suffix}", named.name),
            title: format!("{}, {words}", named.title),
            exercises: vec![Dimension::Io, Dimension::OnDiskLayout],
            // Warming up with a change would leave more to be written.
            cache_state: CacheState::Any,
            rank: 1 + named.rank,
            ..Benchmark::from_workload(workload, FileSetKind::Directories(set))
        }
        .answering(Question::DeviceWrites)
    };
    let both = |named| {
        [DirectorySync::Never, DirectorySync::EachOperation].map(|sync| synced(named, sync))
    };
    CHANGING.into_iter().flat_map(both).collect()
}
