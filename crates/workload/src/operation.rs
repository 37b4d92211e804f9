//! The operations, each defined by one row.
//!
//! A new operation is a variant and a row. Its subject decides which list of steps it must be added
//! to (`session/call_step.rs`), and nothing compiles until it is.

use crate::names::NameKind;
use crate::role::Role;

/// Defines the operations, and the list of all of them.
macro_rules! operations {
    ($($(#[$about:meta])* $name:ident,)*) => {
        /// What is done in each operation.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Operation {
            $($(#[$about])* $name,)*
            /// A read or a write of one request of a write file, at random: the read share of Chen
            /// and Patterson. [`crate::Tally`] counts each. Verified reads need a file that no
            /// unverified write has touched since it was made.
            Mixed {
                /// The probability of a read, in percent: 0 to 100.
                read_percent: u8,
            },
        }

        impl Operation {
            /// All except the mixes, in the order of their definition.
            pub const ALL: [Self; [$(stringify!($name)),*].len()] = [$(Self::$name),*];
        }
    };
}

operations! {
    /// `pread` of one request from a read file.
    Read,
    /// `pwrite` of one request over existing bytes of a write file.
    Write,
    /// `write` of one request at the end (`O_APPEND`) of a file made for it.
    Append,
    /// `fsync`, after an untimed append of one request.
    Fsync,
    /// `fdatasync`, after an untimed append of one request.
    Fdatasync,
    /// `openat` of an entry for reading; the close is untimed.
    Open,
    /// `close` of a descriptor; the open is untimed.
    Close,
    /// `openat` that makes a new empty file (`O_CREAT | O_EXCL`); the close is untimed.
    Create,
    /// `fstatat` of an entry.
    StatPresent,
    /// `fstatat` of a name that does not exist.
    StatMissing,
    /// `faccessat` of an entry, for reading.
    CheckAccess,
    /// All the `getdents64` calls that list a directory once; the seek to its start is untimed.
    Readdir,
    /// `renameat` of an entry to another name in its directory, and later back.
    Rename,
    /// `linkat` of an entry to a new name.
    Link,
    /// `symlinkat` of a new name that points to an entry.
    Symlink,
    /// `unlinkat` of an empty file made before the run.
    Unlink,
    /// `mkdirat` of a new directory.
    Mkdir,
    /// `unlinkat` of an empty directory made before the run.
    Rmdir,
    /// `ftruncate` to zero of a file that an untimed write made one request long.
    Truncate,
    /// `openat` of an entry and `close`, timed as one.
    OpenClose,
    /// `write` at the end and `fsync`, timed as one.
    AppendFsync,
    /// `openat` of an entry, `read` of one request and `close`, timed as one.
    ReadFile,
    /// `openat` that makes a new file, `write` of one request and `close`, timed as one.
    NewFile,
}

/// What an operation acts on, and what it does there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// Existing bytes of the data files.
    Data(DataOperation),
    /// Files that prepare makes and restore removes, and that grow by one request at a time.
    Growing(GrowingOperation),
    /// The directory set.
    Names(NameOperation, Entries),
}

/// What is done to existing bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataOperation {
    /// They are read, from the read files.
    Read,
    /// They are overwritten, in the write files.
    Write,
    /// Either of the two, in the write files.
    Mixed {
        /// The probability of a read, in percent.
        read_percent: u8,
    },
}

/// What is done to a file that grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrowingOperation {
    /// [`Operation::Append`].
    Append,
    /// [`Operation::Fsync`].
    Fsync,
    /// [`Operation::Fdatasync`].
    Fdatasync,
    /// [`Operation::Truncate`].
    Truncate,
    /// [`Operation::AppendFsync`].
    AppendFsync,
}

/// What is done with names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameOperation {
    /// [`Operation::Open`].
    Open,
    /// [`Operation::Close`].
    Close,
    /// [`Operation::OpenClose`].
    OpenClose,
    /// [`Operation::ReadFile`].
    ReadFile,
    /// [`Operation::Create`].
    Create,
    /// [`Operation::NewFile`].
    NewFile,
    /// [`Operation::StatPresent`].
    StatPresent,
    /// [`Operation::StatMissing`].
    StatMissing,
    /// [`Operation::CheckAccess`].
    CheckAccess,
    /// [`Operation::Readdir`].
    Readdir,
    /// [`Operation::Rename`].
    Rename,
    /// [`Operation::Link`].
    Link,
    /// [`Operation::Symlink`].
    Symlink,
    /// [`Operation::Unlink`].
    Unlink,
    /// [`Operation::Mkdir`].
    Mkdir,
    /// [`Operation::Rmdir`].
    Rmdir,
}

/// What an operation on names does with a directory's entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entries {
    /// Uses an existing one.
    LookedAt,
    /// Looks up one that does not exist.
    Missed,
    /// Lists all.
    Listed,
    /// Adds one.
    Added {
        /// With an inode of its own.
        inode: bool,
    },
    /// Renames one.
    Moved,
    /// Removes one that was made for it before the run.
    Removed {
        /// Whether they are directories rather than files.
        directories: bool,
    },
}

/// The properties of an operation.
struct Row {
    name: &'static str,
    subject: Subject,
    /// False if untimed work is needed between two of them.
    can_batch: bool,
    /// Whether it waits until data are on the device.
    syncs: bool,
    /// Whether it needs a file system with hard or symbolic links.
    needs_links: bool,
}

impl DataOperation {
    /// Which files it acts on.
    #[must_use]
    pub fn role(self) -> Role {
        match self {
            Self::Read => Role::Read,
            Self::Write | Self::Mixed { .. } => Role::Write,
        }
    }

    /// The share of reads, in percent.
    pub(crate) fn read_percent(self) -> u8 {
        match self {
            Self::Read => 100,
            Self::Write => 0,
            Self::Mixed { read_percent } => read_percent,
        }
    }
}

impl NameOperation {
    /// [`Operation::moves_whole_files`].
    pub(crate) fn moves_whole_files(self) -> bool {
        match self {
            Self::ReadFile | Self::NewFile => true,
            Self::Open
            | Self::Close
            | Self::OpenClose
            | Self::Create
            | Self::StatPresent
            | Self::StatMissing
            | Self::CheckAccess
            | Self::Readdir
            | Self::Rename
            | Self::Link
            | Self::Symlink
            | Self::Unlink
            | Self::Mkdir
            | Self::Rmdir => false,
        }
    }
}

impl Row {
    const fn new(name: &'static str, subject: Subject) -> Self {
        let (can_batch, syncs, needs_links) = (true, false, false);
        Self { name, subject, can_batch, syncs, needs_links }
    }

    const fn data(name: &'static str, what: DataOperation) -> Self {
        Self::new(name, Subject::Data(what))
    }

    const fn growing(name: &'static str, what: GrowingOperation) -> Self {
        Self::new(name, Subject::Growing(what))
    }

    const fn names(name: &'static str, what: NameOperation, entries: Entries) -> Self {
        Self::new(name, Subject::Names(what, entries))
    }
}

impl Operation {
    const fn row(self) -> Row {
        use Entries::{LookedAt, Missed, Moved};
        use {DataOperation as Data, GrowingOperation as Growing, NameOperation as Names};
        const INODE: Entries = Entries::Added { inode: true };
        const REMOVED_FILE: Entries = Entries::Removed { directories: false };
        const REMOVED_DIRECTORY: Entries = Entries::Removed { directories: true };
        match self {
            Self::Read => Row::data("read", Data::Read),
            Self::Write => Row::data("write", Data::Write),
            Self::Mixed { read_percent } => {
                Row::data("mix of reads and writes", Data::Mixed { read_percent })
            }
            Self::Append => Row::growing("append", Growing::Append),
            Self::Fsync => {
                Row { can_batch: false, syncs: true, ..Row::growing("fsync", Growing::Fsync) }
            }
            Self::Fdatasync => {
                let row = Row::growing("fdatasync", Growing::Fdatasync);
                Row { can_batch: false, syncs: true, ..row }
            }
            Self::Truncate => {
                Row { can_batch: false, ..Row::growing("truncate", Growing::Truncate) }
            }
            Self::AppendFsync => {
                Row { syncs: true, ..Row::growing("append+fsync", Growing::AppendFsync) }
            }
            Self::Open => Row::names("open", Names::Open, LookedAt),
            Self::Close => Row::names("close", Names::Close, LookedAt),
            Self::OpenClose => Row::names("open+close", Names::OpenClose, LookedAt),
            Self::ReadFile => Row::names("open+read+close", Names::ReadFile, LookedAt),
            Self::StatPresent => Row::names("stat", Names::StatPresent, LookedAt),
            Self::StatMissing => Row::names("stat of a missing name", Names::StatMissing, Missed),
            Self::CheckAccess => Row::names("access", Names::CheckAccess, LookedAt),
            Self::Readdir => {
                Row { can_batch: false, ..Row::names("readdir", Names::Readdir, Entries::Listed) }
            }
            Self::Create => Row::names("create", Names::Create, INODE),
            Self::NewFile => Row::names("create+write+close", Names::NewFile, INODE),
            Self::Mkdir => Row::names("mkdir", Names::Mkdir, INODE),
            Self::Symlink => {
                Row { needs_links: true, ..Row::names("symlink", Names::Symlink, INODE) }
            }
            Self::Link => {
                let row = Row::names("link", Names::Link, Entries::Added { inode: false });
                Row { needs_links: true, ..row }
            }
            Self::Rename => Row::names("rename", Names::Rename, Moved),
            Self::Unlink => Row::names("unlink", Names::Unlink, REMOVED_FILE),
            Self::Rmdir => Row::names("rmdir", Names::Rmdir, REMOVED_DIRECTORY),
        }
    }

    /// The name used in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// What it acts on.
    #[must_use]
    pub fn subject(self) -> Subject {
        self.row().subject
    }

    /// Whether it acts on names.
    #[must_use]
    pub fn is_on_names(self) -> bool {
        matches!(self.subject(), Subject::Names(..))
    }

    /// Whether it reads or writes existing bytes of the data files.
    #[must_use]
    pub fn moves_data_in_place(self) -> bool {
        matches!(self.subject(), Subject::Data(_))
    }

    /// Whether several can be timed as one interval: not if untimed work is needed between two of
    /// them.
    #[must_use]
    pub fn can_batch(self) -> bool {
        self.row().can_batch
    }

    /// Whether it removes names that were made for it before the run.
    #[must_use]
    pub fn removes_names(self) -> bool {
        self.victim().is_some()
    }

    /// The kind of entry that it removes, if it removes any.
    pub(crate) fn victim(self) -> Option<NameKind> {
        match self.entries()? {
            Entries::Removed { directories: true } => Some(NameKind::Directory),
            Entries::Removed { directories: false } => Some(NameKind::File),
            Entries::LookedAt
            | Entries::Missed
            | Entries::Listed
            | Entries::Added { .. }
            | Entries::Moved => None,
        }
    }

    /// What it does with entries, if it acts on names.
    fn entries(self) -> Option<Entries> {
        match self.subject() {
            Subject::Names(_, entries) => Some(entries),
            Subject::Data(_) | Subject::Growing(_) => None,
        }
    }

    /// Whether it changes the entries of directories; [`crate::Session::restore`] undoes that.
    #[must_use]
    pub fn changes_directories(self) -> bool {
        self.entries().is_some_and(|entries| match entries {
            Entries::LookedAt | Entries::Missed | Entries::Listed => false,
            Entries::Added { .. } | Entries::Moved | Entries::Removed { .. } => true,
        })
    }

    /// Whether it makes inodes.
    #[must_use]
    pub fn makes_inodes(self) -> bool {
        self.entries() == Some(Entries::Added { inode: true })
    }

    /// Whether it waits until data are on the device.
    #[must_use]
    pub fn syncs(self) -> bool {
        self.row().syncs
    }

    /// Whether it needs a file system with hard or symbolic links.
    #[must_use]
    pub fn needs_links(self) -> bool {
        self.row().needs_links
    }

    /// Whether it opens a file by name and reads or writes all of it.
    #[must_use]
    pub fn moves_whole_files(self) -> bool {
        match self.subject() {
            Subject::Names(what, _) => what.moves_whole_files(),
            Subject::Data(_) | Subject::Growing(_) => false,
        }
    }

    /// Whether it reads existing bytes, always or sometimes.
    #[must_use]
    pub fn reads_data(self) -> bool {
        match self.subject() {
            Subject::Data(DataOperation::Read | DataOperation::Mixed { .. }) => true,
            Subject::Data(DataOperation::Write) | Subject::Growing(_) | Subject::Names(..) => false,
        }
    }

    /// Whether it changes anything.
    #[must_use]
    pub fn changes_anything(self) -> bool {
        match self.subject() {
            Subject::Data(DataOperation::Read) => false,
            Subject::Data(DataOperation::Write | DataOperation::Mixed { .. }) => true,
            Subject::Growing(_) => true,
            Subject::Names(..) => self.changes_directories(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_a_name_of_its_own_and_acts_on_something() {
        let mut names: Vec<&str> = Operation::ALL.map(Operation::name).to_vec();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Operation::ALL.len());
        let count =
            |has: fn(Operation) -> bool| Operation::ALL.into_iter().filter(|&one| has(one)).count();
        assert_eq!(count(Operation::moves_data_in_place), 2);
        assert_eq!(count(Operation::changes_directories), 8);
        assert_eq!((count(Operation::makes_inodes), count(Operation::syncs)), (4, 3));
        assert_eq!(count(Operation::moves_whole_files), 2);
        // Seven that look at names, one at a list, one at bytes.
        assert_eq!(count(|one| !one.changes_anything()), 9);
    }
}
