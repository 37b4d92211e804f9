//! By which calls bytes travel.

use super::given::Values;

/// An engine, by fio's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineChoice {
    /// `read`, `write` and `lseek`.
    Sync,
    /// `pread` and `pwrite`.
    Psync,
    /// `readv` and `writev`, neighbouring operations together.
    Vsync,
    /// `preadv` and `pwritev`.
    Pvsync,
    /// `preadv2` and `pwritev2`.
    Pvsync2,
    /// `io_submit` and `io_getevents`.
    Libaio,
    /// POSIX asynchronous I/O.
    PosixAio,
    /// `io_uring`.
    IoUring,
    /// Mapped memory.
    Mmap,
    /// None: every operation is complete at once.
    Null,
    /// `splice`.
    Splice,
    /// `fallocate`.
    Falloc,
    /// `ftruncate`.
    Ftruncate,
    /// Files are made.
    FileCreate,
    /// Their attributes are asked for.
    FileStat,
    /// They are removed.
    FileDelete,
    /// They are renamed.
    FileRename,
    /// Directories are made.
    DirCreate,
    /// Their attributes are asked for.
    DirStat,
    /// They are removed.
    DirDelete,
}

impl EngineChoice {
    /// All, with their names.
    pub const ALL: [(&'static str, Self); 20] = [
        ("sync", Self::Sync),
        ("psync", Self::Psync),
        ("vsync", Self::Vsync),
        ("pvsync", Self::Pvsync),
        ("pvsync2", Self::Pvsync2),
        ("libaio", Self::Libaio),
        ("posixaio", Self::PosixAio),
        ("io_uring", Self::IoUring),
        ("mmap", Self::Mmap),
        ("null", Self::Null),
        ("splice", Self::Splice),
        ("falloc", Self::Falloc),
        ("ftruncate", Self::Ftruncate),
        ("filecreate", Self::FileCreate),
        ("filestat", Self::FileStat),
        ("filedelete", Self::FileDelete),
        ("filerename", Self::FileRename),
        ("dircreate", Self::DirCreate),
        ("dirstat", Self::DirStat),
        ("dirdelete", Self::DirDelete),
    ];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        let of = |(name, engine): &(&'static str, Self)| (*engine == self).then_some(*name);
        Self::ALL.iter().find_map(of).expect("the table has every engine")
    }

    /// The engine of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find_map(|(one, engine)| (*one == name).then_some(*engine))
    }

    /// Whether an operation is complete when its call returns.
    #[must_use]
    pub const fn is_synchronous(self) -> bool {
        match self {
            Self::Sync
            | Self::Psync
            | Self::Pvsync
            | Self::Pvsync2
            | Self::Mmap
            | Self::Splice
            | Self::Falloc
            | Self::Ftruncate
            | Self::FileCreate
            | Self::FileStat
            | Self::FileDelete
            | Self::FileRename
            | Self::DirCreate
            | Self::DirStat
            | Self::DirDelete => true,
            Self::Vsync | Self::Libaio | Self::PosixAio | Self::IoUring | Self::Null => false,
        }
    }

    /// Whether its operations are on whole files or directories by name.
    #[must_use]
    pub const fn is_by_name(self) -> bool {
        let is_of_files =
            matches!(self, Self::FileCreate | Self::FileStat | Self::FileDelete | Self::FileRename);
        is_of_files || self.is_of_directories()
    }

    /// Whether what its files would be are directories.
    #[must_use]
    pub const fn is_of_directories(self) -> bool {
        matches!(self, Self::DirCreate) || self.needs_directories()
    }

    /// Whether its directories are made before it starts.
    #[must_use]
    pub const fn needs_directories(self) -> bool {
        matches!(self, Self::DirStat | Self::DirDelete)
    }

    /// Whether threads that share the job's files can execute its operations.
    #[must_use]
    pub const fn can_be_offloaded(self) -> bool {
        match self {
            Self::Psync
            | Self::Pvsync
            | Self::Pvsync2
            | Self::Libaio
            | Self::PosixAio
            | Self::IoUring
            | Self::Null
            | Self::Falloc
            | Self::Ftruncate => true,
            // They have a position in the file, or mappings or neighbours of operations.
            Self::Sync | Self::Vsync | Self::Mmap | Self::Splice => false,
            Self::FileCreate
            | Self::FileStat
            | Self::FileDelete
            | Self::FileRename
            | Self::DirCreate
            | Self::DirStat
            | Self::DirDelete => false,
        }
    }

    /// Whether it needs no files.
    #[must_use]
    pub const fn needs_no_files(self) -> bool {
        matches!(self, Self::Null | Self::FileCreate) || self.is_of_directories()
    }
}

/// Options that some engines have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct EngineOptions {
    /// Completions are polled for.
    pub high_priority: bool,
    /// The share of operations of `pvsync2` whose completions are.
    pub high_priority_percent: u32,
    /// Operations that would wait fail instead.
    pub no_wait: bool,
    /// Completions are taken from the ring that the kernel shares, without a call.
    pub userspace_reap: bool,
    /// Buffers are registered.
    pub fixed_buffers: bool,
    /// Files are registered.
    pub registered_files: bool,
    /// A thread of the kernel looks for submissions.
    pub kernel_polls: bool,
    /// Its processor.
    pub kernel_polls_on: Option<u32>,
    /// Whether single buffers go without a vector; `None` as the kernel likes best.
    pub is_vectored: Option<bool>,
    /// One in this many operations is handed to a thread of the kernel; 0 for none.
    pub force_async: u32,
    /// Whether mapped files are to be in huge pages.
    pub huge_pages: bool,
    /// What `filestat` and `dirstat` call.
    pub stat: StatCall,
    /// Whether threads execute the operations.
    pub is_offloaded: bool,
}

/// A call that asks for attributes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StatCall {
    /// `stat`.
    #[default]
    Stat,
    /// `lstat`.
    Lstat,
    /// `statx`.
    Statx,
}

impl EngineOptions {
    pub(super) fn read(given: Values<'_>) -> Self {
        Self {
            high_priority: given.switch("hipri", false),
            high_priority_percent: given.small("hipri_percentage", 100),
            no_wait: given.switch("nowait", false),
            userspace_reap: given.switch("userspace_reap", false),
            fixed_buffers: given.switch("fixedbufs", false),
            registered_files: given.switch("registerfiles", false),
            kernel_polls: given.switch("sqthread_poll", false),
            kernel_polls_on: given
                .is_given("sqthread_poll_cpu")
                .then(|| given.small("sqthread_poll_cpu", 0)),
            is_vectored: match given.number("nonvectored", -1) {
                0 => Some(true),
                1 => Some(false),
                _ => None,
            },
            force_async: given.small("force_async", 0),
            huge_pages: given.small("thp", 0) > 0,
            stat: match given.choice("stat_type") {
                Some(("lstat", _)) => StatCall::Lstat,
                Some(("statx", _)) => StatCall::Statx,
                _ => StatCall::Stat,
            },
            is_offloaded: matches!(given.choice("io_submit_mode"), Some(("offload", _))),
        }
    }
}
