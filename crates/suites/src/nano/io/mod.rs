//! I/O: the device and the path to it.
//!
//! Requests bypass the page cache (`O_DIRECT`), so that what is timed is the device and the file
//! system's path to it. The same reads and writes are also done on the device itself, at the same
//! locations in the same order; the difference is the cost of the file system. Writes on the device
//! write back what is already there, below file systems of ours that write in place.
//!
//! [`commit`] is about programs that cannot afford to lose data: they write and wait for the
//! device. [`open_loop`] is about how long operations take that arrive on a schedule.

mod by_depth;
mod by_request;
mod commit;
pub(crate) mod open_loop;
mod requests;

use record::{CacheState, Dimension};
use workload::{Operation, Workload};

use super::data;
use crate::benchmark::Benchmark;
use crate::file_set_kind::FileSetKind;

/// For the survey: cold reads, and an fsync after each append.
pub(crate) fn quick() -> Vec<Benchmark> {
    let mut all = data::four(Operation::Read, CacheState::Cold);
    all.push(append_fsync());
    all
}

fn append_fsync() -> Benchmark {
    Benchmark {
        name: "append-fsync-4k".to_owned(),
        title: "append 4 KiB and fsync".to_owned(),
        dimension: Dimension::Io,
        exercises: vec![Dimension::OnDiskLayout, Dimension::Metadata],
        cache_state: CacheState::Any,
        ..Benchmark::from_workload(
            Workload { request_bytes: 4 * data::KIB, ..Workload::new(Operation::AppendFsync) },
            FileSetKind::Data,
        )
    }
}

/// Its curves.
pub(super) fn curves() -> Vec<Benchmark> {
    [requests(), commit::curves(), open_loop::curves()].concat()
}

/// The curves of requests that bypass the page cache.
fn requests() -> Vec<Benchmark> {
    [by_request::curves(), by_depth::curves()].concat()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::operations::Layer;
    use crate::thinning::{Scope, thinned};

    #[test]
    fn what_goes_through_the_file_system_stands_above_the_same_on_the_device() {
        let all = requests();
        let of = |benchmark: &Benchmark| benchmark.operations().expect("no experiment").clone();
        let mut pairs = 0;
        for benchmark in &all {
            let own = of(benchmark);
            assert!(own.is_direct(), "{}", benchmark.name);
            let has_floor = own.layer == Layer::FileSystem;
            assert_eq!(benchmark.floor.is_some(), has_floor, "{}", benchmark.name);
            let Some(name) = &benchmark.floor else { continue };
            let floor = all.iter().find(|other| other.name == *name).expect("it is there");
            assert_eq!(of(floor).layer, Layer::Device);
            assert_eq!(of(floor).workload, own.workload, "{name}");
            assert_eq!(of(floor).file_set, own.file_set, "{name}");
            pairs += 1;
        }
        assert_eq!(pairs, 2 * (2 * 16 + 2 * 7));
    }

    #[test]
    fn two_minutes_have_room_for_all_requests_of_two_targets_and_for_commits() {
        let budget = Some(Duration::from_secs(120));
        let scope = Scope { targets: 2, data_file_bytes: 64 << 20, budget };
        let (kept, _) = thinned(&curves(), &scope);
        let has = |name: &str| kept.iter().any(|one| one.name == name);
        assert!(requests().iter().all(|one| has(&one.name)));
        assert!(has("commit-one-log-by-threads-8") && has("fsync-by-dirty-data-67108864"));
    }
}
