//! Scaling: several threads or processes compared with one, on the same file, in the same directory
//! and in directories of their own (after the taxonomy of sharing in Min et al., "Understanding
//! Manycore Scalability of File Systems", USENIX ATC 2016).

use record::{CacheState, Dimension};
use workload::{
    Access, DataOperation, GrowingOperation, Operation, Sharing, Subject, Workers, Workload,
};

use super::curve::{Curve, usize_of};
use crate::benchmark::Benchmark;
use crate::file_set_kind::{DirectorySpec, FileSetKind, FileSpec};
use crate::operations::Question;
use crate::processors::processors;

/// Operations per round, if each comes with untimed work, such as closing the descriptor that a
/// create leaves. Few enough that what one thread does alone at the end is a small part.
const ROUND: usize = 64;

/// Operations of this kind, by several threads or by the one that is their baseline.
fn workload_of(operation: Operation) -> Workload {
    let operations_per_round = if operation == Operation::Create { ROUND } else { 1 };
    Workload { operations_per_round, ..Workload::new(operation) }
}

fn file_set_of_threads(operation: Operation) -> FileSetKind {
    if operation == Operation::Read { FileSetKind::Data } else { FileSetKind::TwoDirectories }
}

/// For the survey: two threads compared with one. The baseline for reads belongs to
/// [`super::in_memory`].
pub(crate) fn quick() -> Vec<Benchmark> {
    let read = Workload { sharing: Sharing::Same, ..workload_of(Operation::Read) };
    let create = workload_of(Operation::Create);
    let one_directory = Workload { sharing: Sharing::Same, ..create.clone() };
    let create_baseline = "create-1-thread".to_owned();
    let benchmark = |name: &str, title: &str, workload: Workload, baseline| {
        let file_set = file_set_of_threads(workload.operation);
        Benchmark {
            name: name.to_owned(),
            title: title.to_owned(),
            dimension: Dimension::Scaling,
            exercises: vec![Dimension::Metadata, Dimension::InMemory],
            cache_state: CacheState::Warm,
            baseline,
            ..Benchmark::from_workload(workload, file_set)
        }
    };
    let two = |workload: Workload| Workload { threads: 2, ..workload };
    vec![
        benchmark(
            "random-read-4k-2-threads",
            "random read 4 KiB, warm, 2 threads on one file",
            two(read),
            Some("random-read-4k-warm".to_owned()),
        ),
        benchmark(
            &create_baseline,
            "create, 1 thread in a directory of 1,000",
            one_directory.clone(),
            None,
        ),
        benchmark(
            "create-2-threads-one-directory",
            "create, 2 threads in one directory",
            two(one_directory),
            Some(create_baseline.clone()),
        ),
        benchmark(
            "create-2-threads-two-directories",
            "create, 2 threads in two directories",
            two(create),
            Some(create_baseline.clone()),
        ),
    ]
}

/// The baseline of the quick benchmarks that belongs to another dimension.
pub(super) fn baselines() -> Vec<Benchmark> {
    let is_it = |one: &Benchmark| one.name == "random-read-4k-warm";
    super::in_memory::quick().into_iter().filter(is_it).collect()
}

/// Entries in each directory, and the most that a thread adds: enough that threads overlap for much
/// longer than they take to start.
const ENTRIES: u64 = 2_000;
const ADDITIONS: u64 = 1_152;
/// Bytes that each thread reads from: few enough that copies do not wait for memory.
const READ_BYTES: u64 = 1 << 20;
/// Bytes that each thread writes, each page once.
const WRITE_BYTES: u64 = 8 << 20;

/// What several do at once, and what they share.
#[derive(Clone, Copy, Debug)]
struct SharedWork {
    name: &'static str,
    title: &'static str,
    operation: Operation,
    sharing: Sharing,
    /// Bytes of a file that all requests are within; `None` for the whole file.
    span_bytes: Option<u64>,
    /// Entries in each directory.
    entries: u64,
    /// Added to the rank of its points: 0 for the most informative.
    rank: u32,
}

const fn own(
    name: &'static str,
    title: &'static str,
    operation: Operation,
    rank: u32,
) -> SharedWork {
    let (sharing, span_bytes, entries) = (Sharing::Own, None, ENTRIES);
    SharedWork { name, title, operation, sharing, span_bytes, entries, rank }
}

const fn same(
    name: &'static str,
    title: &'static str,
    operation: Operation,
    rank: u32,
) -> SharedWork {
    SharedWork { sharing: Sharing::Same, ..own(name, title, operation, rank) }
}

/// Low, medium and high sharing in the sense of Min et al., whose names are in comments.
const SHARED: [SharedWork; 21] = [
    // DRBL, DRBM, DRBH
    own("read-own-files", "random read 4 KiB, own files", Operation::Read, 0),
    same("read-same-file", "random read 4 KiB, same file", Operation::Read, 0),
    SharedWork {
        span_bytes: Some(4096),
        ..same("read-same-block", "read of the same 4 KiB", Operation::Read, 2)
    },
    // DWOL, DWOM
    own("write-own-files", "random overwrite 4 KiB, own files", Operation::Write, 1),
    same("write-same-file", "random overwrite 4 KiB, same file", Operation::Write, 1),
    // DWAL, DWSL, DWTL: theirs overwrites before it syncs, ours appends.
    own("append-own-files", "append 4 KiB, own files", Operation::Append, 3),
    own("append-fsync-own-files", "append 4 KiB and fsync, own files", Operation::AppendFsync, 3),
    own("truncate-own-files", "append 4 KiB and truncate, own files", Operation::Truncate, 4),
    // MRPL, MRPM, MRPH, which open files; a stat resolves the path in the same way.
    own("stat-own-directories", "stat, own directories", Operation::StatPresent, 1),
    same("stat-same-directory", "stat, same directory", Operation::StatPresent, 1),
    SharedWork {
        entries: 1,
        ..same("stat-same-name", "stat of the same name", Operation::StatPresent, 3)
    },
    // The same, plus the cost of an open and a close: all threads update one inode's open count.
    own("open-own-directories", "open and close, own directories", Operation::OpenClose, 3),
    SharedWork {
        entries: 1,
        ..same("open-same-name", "open and close of the same name", Operation::OpenClose, 3)
    },
    // MRDL, MRDM
    own("readdir-own-directories", "readdir, own directories", Operation::Readdir, 3),
    same("readdir-same-directory", "readdir, same directory", Operation::Readdir, 3),
    // MWCL, MWCM
    own("create-own-directories", "create, own directories", Operation::Create, 0),
    same("create-same-directory", "create, same directory", Operation::Create, 0),
    // MWUL, MWUM
    own("unlink-own-directories", "unlink, own directories", Operation::Unlink, 2),
    same("unlink-same-directory", "unlink, same directory", Operation::Unlink, 2),
    // MWRL; within the directory, whereas MWRM renames from one directory to another.
    own("rename-own-directories", "rename, own directories", Operation::Rename, 2),
    same("rename-same-directory", "rename, same directory", Operation::Rename, 2),
];

/// Its curves, as far as this machine has enough processors.
pub(super) fn curves() -> Vec<Benchmark> {
    curves_up_to(processors())
}

fn curves_up_to(processors: usize) -> Vec<Benchmark> {
    let counts = counts(2 * processors as u64);
    let by_threads =
        SHARED.into_iter().flat_map(|one| benchmarks_by(Workers::Threads, one, &counts));
    let later = |one: &SharedWork| if BY_PROCESSES_FIRST.contains(&one.name) { 1 } else { 3 };
    let by_processes = SHARED.into_iter().flat_map(|one| {
        benchmarks_by(
            Workers::Processes,
            SharedWork { rank: one.rank + later(&one), ..one },
            &counts,
        )
    });
    by_threads.chain(by_processes).collect()
}

/// Threads also share a descriptor table and a memory map. The effect shows in the operations that
/// do little else, and in one that does much.
const BY_PROCESSES_FIRST: [&str; 5] = [
    "read-own-files",
    "read-same-file",
    "stat-same-directory",
    "create-own-directories",
    "create-same-directory",
];

/// Every number up to 4, then powers of two.
fn counts(most: u64) -> Vec<u64> {
    let doubled = (3..u64::BITS).map(|log2| 1 << log2);
    [1, 2, 3, 4].into_iter().chain(doubled).take_while(|&count| count <= most).collect()
}

fn benchmarks_by(workers: Workers, shared: SharedWork, counts: &[u64]) -> Vec<Benchmark> {
    let (axis, words) = match workers {
        Workers::Threads => ("threads", ""),
        Workers::Processes => ("processes", ", by processes"),
    };
    let name = format!("{}-by-{axis}", shared.name);
    let title = format!("{}{words}", shared.title);
    let curve = Curve { name: &name, title: &title, axis, unit: "count" };
    let benchmark = |threads: u64| Benchmark {
        dimension: Dimension::Scaling,
        exercises: vec![exercised_dimension(shared.operation)],
        cache_state: cache_state(shared.operation),
        // One is the baseline for the others.
        baseline: (threads > 1).then(|| format!("{name}-1")),
        rank: shared.rank,
        ..Benchmark::from_workload(
            Workload { workers, ..workload(shared, usize_of(threads)) },
            file_set(shared, threads),
        )
        .answering(Question::Throughput)
    };
    curve.points(counts, benchmark)
}

/// Growing files are made for each replicate, and take blocks that the file system may have to look
/// for.
fn cache_state(operation: Operation) -> CacheState {
    match operation.subject() {
        Subject::Growing(_) => CacheState::Any,
        Subject::Data(_) | Subject::Names(..) => CacheState::Warm,
    }
}

fn exercised_dimension(operation: Operation) -> Dimension {
    match operation.subject() {
        Subject::Data(_) | Subject::Growing(GrowingOperation::Append) => Dimension::InMemory,
        Subject::Growing(
            GrowingOperation::AppendFsync | GrowingOperation::Fsync | GrowingOperation::Fdatasync,
        ) => Dimension::Io,
        Subject::Growing(GrowingOperation::Truncate) => Dimension::OnDiskLayout,
        Subject::Names(..) => Dimension::Metadata,
    }
}

fn workload(shared: SharedWork, threads: usize) -> Workload {
    let SharedWork { operation, sharing, span_bytes, .. } = shared;
    // All pages in each pass, so that a later pass is not the first to write one.
    let is_write = operation == Operation::Write;
    let access = if is_write { Access::Shuffled } else { Access::Uniform };
    Workload { access, threads, sharing, span_bytes, ..workload_of(operation) }
}

/// The same amount for each thread, whether each has its own or all share everything.
fn file_set(shared: SharedWork, threads: u64) -> FileSetKind {
    let count = match shared.sharing {
        Sharing::Own => usize_of(threads),
        Sharing::Same => 1,
    };
    let together = threads / count as u64;
    match shared.operation.subject() {
        Subject::Data(DataOperation::Read) => {
            FileSetKind::Files(FileSpec { count, bytes: READ_BYTES, are_written: false })
        }
        // Growing files are made for each thread in any case.
        Subject::Growing(_) => {
            FileSetKind::Files(FileSpec { count: 1, bytes: READ_BYTES, are_written: false })
        }
        Subject::Data(DataOperation::Write | DataOperation::Mixed { .. }) => {
            FileSetKind::Files(FileSpec { count, bytes: WRITE_BYTES * together, are_written: true })
        }
        Subject::Names(..) => {
            let of = DirectorySpec::with_entries(shared.entries);
            FileSetKind::Directories(DirectorySpec { additions: ADDITIONS, count, ..of })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_up_to_four_then_doubled_up_to_twice_the_processors() {
        assert_eq!(counts(2), [1, 2]);
        assert_eq!(counts(4), [1, 2, 3, 4]);
        assert_eq!(counts(24), [1, 2, 3, 4, 8, 16]);
        assert_eq!(counts(64), [1, 2, 3, 4, 8, 16, 32, 64]);
    }

    #[test]
    #[expect(clippy::wildcard_enum_match_arm, reason = "a test looks for one of them")]
    fn each_has_as_much_to_do_however_many_they_are() {
        for one in curves_up_to(4) {
            let operations = one.operations().expect("it is one of operations");
            let threads = operations.workload.threads as u64;
            assert_eq!(one.curve.as_ref().map(|point| point.value), Some(threads as f64));
            match operations.file_set {
                FileSetKind::Files(files) if files.are_written => {
                    let pages = operations.blocks_per_thread(0);
                    assert_eq!(pages, WRITE_BYTES / 4096, "{}", one.name);
                }
                FileSetKind::Directories(set) => assert_eq!(set.additions, ADDITIONS),
                _ => {}
            }
            let has_baseline = one.baseline.is_some();
            assert_eq!(has_baseline, threads > 1, "{}", one.name);
            assert_eq!(operations.metrics()[0].name, "throughput", "{}", one.name);
        }
    }

    #[test]
    fn own_is_one_each_and_same_is_one_for_all() {
        let all = curves_up_to(4);
        let file_set = |name: &str| {
            let found = all.iter().find(|one| one.name == name).expect("it is declared");
            found.operations().expect("it is one of operations").file_set
        };
        let directories = |name: &str| file_set(name).directories().expect("of names").0;
        assert_eq!(directories("create-own-directories-by-threads-4"), 4);
        assert_eq!(directories("create-same-directory-by-threads-4"), 1);
        let of_one =
            DirectorySpec { count: 1, additions: ADDITIONS, ..DirectorySpec::with_entries(1) };
        assert_eq!(file_set("stat-same-name-by-threads-4"), FileSetKind::Directories(of_one));
        let FileSetKind::Files(files) = file_set("write-same-file-by-threads-3") else {
            panic!("of data")
        };
        assert_eq!((files.count, files.bytes), (1, 3 * WRITE_BYTES));
        let FileSetKind::Files(files) = file_set("write-own-files-by-threads-3") else {
            panic!("of data")
        };
        assert_eq!((files.count, files.bytes), (3, WRITE_BYTES));
    }
}
