//! The operations that pollute.

use workload::{Operation, Workload};

use super::{OPERATIONS_OF_REPLICATE, ROUNDS, WARMING_ROUNDS};
use crate::file_set_kind::{DirectorySpec, FileSetKind, FileSpec};

/// Bytes of the file that is read or written, in pages chosen at random.
const FILE_BYTES: u64 = 1 << 20;

/// Entries of the directory whose names are looked up: few enough that they stay in the caches as
/// far as the operation allows.
const ENTRIES: u64 = 16;
/// Entries of the directory that is changed, before it is.
const ENTRIES_CHANGED: u64 = 1_000;

/// An operation, by its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PollutingOperation {
    /// Its name on the command line.
    pub(super) name: &'static str,
    /// In words.
    pub(super) title: &'static str,
    operation: Operation,
    on: WorksOn,
    /// Whether it is measured unless others are asked for.
    pub(super) is_default: bool,
}

/// What an operation works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WorksOn {
    /// A file that is read.
    ReadFile,
    /// A file that is written.
    WrittenFile,
    /// Names of a directory, which stays as it is.
    Names,
    /// A directory, which changes.
    Directory,
}

const fn row(
    name: &'static str,
    title: &'static str,
    operation: Operation,
    on: WorksOn,
) -> PollutingOperation {
    PollutingOperation { name, title, operation, on, is_default: false }
}

impl PollutingOperation {
    const fn by_default(self) -> Self {
        Self { is_default: true, ..self }
    }
}

/// All of them.
pub(super) const OPERATIONS: [PollutingOperation; 11] = [
    row("stat", "stat", Operation::StatPresent, WorksOn::Names).by_default(),
    row("create", "create", Operation::Create, WorksOn::Directory).by_default(),
    row("read-4k", "reads of 4 KiB", Operation::Read, WorksOn::ReadFile).by_default(),
    row("write-4k", "writes of 4 KiB", Operation::Write, WorksOn::WrittenFile),
    row("unlink", "unlink", Operation::Unlink, WorksOn::Directory),
    row("rename", "rename", Operation::Rename, WorksOn::Directory),
    row("open", "open", Operation::Open, WorksOn::Names),
    row("open-close", "open and close", Operation::OpenClose, WorksOn::Names),
    row("stat-missing", "stat of a missing name", Operation::StatMissing, WorksOn::Names),
    row("mkdir", "mkdir", Operation::Mkdir, WorksOn::Directory),
    row("rmdir", "rmdir", Operation::Rmdir, WorksOn::Directory),
];

impl PollutingOperation {
    /// What it works on, for so many operations.
    pub(super) fn file_set(self, operations: u64) -> FileSetKind {
        let file =
            |are_written| FileSetKind::Files(FileSpec { count: 1, bytes: FILE_BYTES, are_written });
        let directory = |entries, additions| {
            let spec = DirectorySpec::with_entries(entries);
            FileSetKind::Directories(DirectorySpec { count: 1, additions, ..spec })
        };
        match self.on {
            WorksOn::ReadFile => file(false),
            WorksOn::WrittenFile => file(true),
            WorksOn::Names => directory(ENTRIES, 0),
            WorksOn::Directory => directory(ENTRIES_CHANGED, operations),
        }
    }

    /// How many entries the directory has after so many operations, if they are of names.
    pub(super) fn entries_after(self, operations: u64) -> Option<u64> {
        match self.on {
            WorksOn::ReadFile | WorksOn::WrittenFile => None,
            WorksOn::Names => Some(ENTRIES),
            WorksOn::Directory => {
                let adds = matches!(self.operation, Operation::Create | Operation::Mkdir);
                Some(ENTRIES_CHANGED + if adds { operations } else { 0 })
            }
        }
    }

    /// The operations of a replicate.
    pub(super) fn replicate(self) -> Workload {
        self.workload(ROUNDS + WARMING_ROUNDS, OPERATIONS_OF_REPLICATE)
    }

    /// So many operations, in stretches of this length.
    fn workload(self, stretch: u64, operations: u64) -> Workload {
        Workload {
            operations_per_thread: operations,
            batch: usize::try_from(stretch).expect("a stretch is short"),
            ..Workload::new(self.operation)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_operation_can_be_executed_as_described() {
        for one in OPERATIONS {
            assert_eq!(one.replicate().check(), Ok(()), "{}", one.name);
        }
    }
}
