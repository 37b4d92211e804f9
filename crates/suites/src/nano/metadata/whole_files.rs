//! Small files as a whole: made, written and closed, or opened, read and closed. This is what
//! programs do with most of their files, and more than the sum of calls measured one by one: a
//! file's first block is found near its name, and an inode just opened is still cached.

use record::{CacheState, Dimension};
use workload::{Access, Operation, Workload};

use crate::benchmark::Benchmark;
use crate::file_set_kind::{DirectorySpec, FileSetKind};

const KIB: u64 = 1024;
/// The size of a file, and the number of directories of 100 such files: few enough to be made for
/// every block, and to stay in memory under a low limit.
const SIZES: [(u64, usize); 2] = [(4 * KIB, 12), (32 * KIB, 4)];

/// For the survey.
pub(super) fn quick() -> Vec<Benchmark> {
    SIZES.into_iter().flat_map(|(file_bytes, count)| both(file_bytes, count)).collect()
}

fn both(file_bytes: u64, count: usize) -> [Benchmark; 2] {
    let of_hundred = DirectorySpec::with_entries(100);
    let additions = count as u64 * of_hundred.entries / 2;
    let set = DirectorySpec { count, additions, entry_bytes: file_bytes, ..of_hundred };
    let benchmark = |name: &str, title: &str, operation| Benchmark {
        name: format!("{name}-{}k", file_bytes / KIB),
        title: format!("{title} of {} KiB", file_bytes / KIB),
        dimension: Dimension::Metadata,
        exercises: vec![Dimension::InMemory],
        cache_state: CacheState::Warm,
        ..Benchmark::from_workload(
            Workload {
                access: Access::Uniform,
                request_bytes: usize::try_from(file_bytes).unwrap_or(usize::MAX),
                ..Workload::new(operation)
            },
            FileSetKind::Directories(set),
        )
    };
    [
        benchmark("new-file", "write a new file", Operation::NewFile),
        benchmark("read-file", "read a file", Operation::ReadFile),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_made_and_read_have_the_size_of_those_that_are_there() {
        let names: Vec<String> = quick().into_iter().map(|one| one.name).collect();
        assert_eq!(names, ["new-file-4k", "read-file-4k", "new-file-32k", "read-file-32k"]);
        for one in quick() {
            let of = one.operations().expect("it is one of operations");
            let entry_bytes = of.file_set.directory_set().entry_bytes;
            assert_eq!(of.workload.request_bytes as u64, entry_bytes, "{}", one.name);
        }
    }
}
