//! One process and two at once, in directories of their own and in one that they share.
//!
//! One is the baseline for two. All three cases work on the same directories, and the one process
//! is forked just like the two. All operations on names can be shared: two processes in one
//! directory look up any of its entries, and so now and then the same one; they rename entries of
//! their own, and make and remove names of their own. A close is shared only in that both have the
//! same entries open. [`crate::nano::scaling`] is about more processes, and about threads.

use record::{CacheState, Dimension};
use workload::{Sharing, Workers, Workload};

use super::{CREATE, ENTRIES, NamedOperation, READDIR, STAT, UNLINK, access_of_names, all};
use crate::benchmark::Benchmark;
use crate::file_set_kind::{DirectorySpec, FileSetKind};
use crate::operations::Question;

/// How many processes, and what they share.
#[derive(Clone, Copy, Debug)]
enum ProcessLayout {
    OneProcess,
    TwoInOwnDirectories,
    TwoInOneDirectory,
}

impl ProcessLayout {
    const ALL: [Self; 3] = [Self::OneProcess, Self::TwoInOwnDirectories, Self::TwoInOneDirectory];

    fn name(self) -> &'static str {
        match self {
            Self::OneProcess => "one-process",
            Self::TwoInOwnDirectories => "two-processes-own",
            Self::TwoInOneDirectory => "two-processes-shared",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::OneProcess => "one process",
            Self::TwoInOwnDirectories => "two processes in own directories",
            Self::TwoInOneDirectory => "two processes in one directory",
        }
    }

    /// How many processes, and what they share.
    fn threads(self) -> (usize, Sharing) {
        match self {
            Self::OneProcess => (1, Sharing::Same),
            Self::TwoInOwnDirectories => (2, Sharing::Own),
            Self::TwoInOneDirectory => (2, Sharing::Same),
        }
    }
}

/// Entries in the larger directories, for operations where size matters.
const LARGE: u64 = 10_000;

/// All operations at the point common to the curves, and some in large directories.
pub(super) fn pairs() -> Vec<Benchmark> {
    let usual = all().flat_map(|named| layouts_of(named, ENTRIES, 4));
    let large = [STAT, READDIR, CREATE, UNLINK].into_iter();
    usual.chain(large.flat_map(|named| layouts_of(named, LARGE, 6))).collect()
}

fn layouts_of(named: NamedOperation, entries: u64, rank: u32) -> Vec<Benchmark> {
    ProcessLayout::ALL.map(|layout| benchmark(named, layout, entries, rank)).to_vec()
}

fn benchmark(named: NamedOperation, layout: ProcessLayout, entries: u64, rank: u32) -> Benchmark {
    let (suffix, words) = match entries {
        LARGE => ("-10000", ", directory of 10,000"),
        _ => ("", ""),
    };
    let name = |layout: ProcessLayout| format!("{}-{}{suffix}", named.name, layout.name());
    let (threads, sharing) = layout.threads();
    let workload = Workload {
        access: access_of_names(named.operation),
        workers: Workers::Processes,
        threads,
        sharing,
        ..Workload::new(named.operation)
    };
    let baseline = if let ProcessLayout::OneProcess = layout {
        None
    } else {
        Some(name(ProcessLayout::OneProcess))
    };
    let exercises = if let ProcessLayout::OneProcess = layout {
        vec![Dimension::InMemory]
    } else {
        vec![Dimension::InMemory, Dimension::Scaling]
    };
    Benchmark {
        name: name(layout),
        title: format!("{}, {}{words}", named.title, layout.title()),
        dimension: Dimension::Metadata,
        exercises,
        cache_state: CacheState::Warm,
        baseline,
        rank: rank + named.rank,
        ..Benchmark::from_workload(workload, file_set(entries))
    }
    .answering(Question::Throughput)
}

/// A directory for each. A process adds at most a quarter, enough to run beside the other for much
/// longer than both take to start, and in a large one a tenth.
fn file_set(entries: u64) -> FileSetKind {
    let additions = if entries == LARGE { entries / 10 } else { entries / 4 };
    FileSetKind::Directories(DirectorySpec {
        count: 2,
        additions,
        ..DirectorySpec::with_entries(entries)
    })
}

#[cfg(test)]
mod tests {
    use workload::Operation;

    use super::*;

    #[test]
    fn every_operation_on_names_is_done_by_one_process_and_by_two_in_both_ways() {
        let pairs = pairs();
        let on_names = |one: &Operation| one.is_on_names() && !one.moves_whole_files();
        for operation in Operation::ALL.into_iter().filter(on_names) {
            let is_it = |one: &&Benchmark| {
                let of = one.operations().expect("it is one of operations");
                of.workload.operation == operation && of.file_set == file_set(ENTRIES)
            };
            let found: Vec<&Benchmark> = pairs.iter().filter(is_it).collect();
            let [one, own, shared] = found[..] else { panic!("{operation:?}: {}", found.len()) };
            assert_eq!(one.baseline, None);
            for two in [own, shared] {
                assert_eq!(two.baseline.as_ref(), Some(&one.name));
            }
            let in_own = |one: &Benchmark| {
                let workload = &one.operations().expect("it is one of operations").workload;
                assert_eq!(workload.workers, Workers::Processes);
                (workload.threads, workload.sharing)
            };
            let ways = [one, own, shared].map(in_own);
            assert_eq!(ways, [(1, Sharing::Same), (2, Sharing::Own), (2, Sharing::Same)]);
        }
    }
}
