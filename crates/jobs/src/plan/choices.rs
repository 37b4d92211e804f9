//! Options with few values.

/// How space for files is allocated when they are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fallocate {
    /// Not at all.
    None,
    /// `fallocate`, if the file system can.
    Native,
    /// `posix_fallocate`.
    Posix,
    /// `fallocate`, and the size stays.
    Keep,
    /// `ftruncate`.
    Truncate,
}

/// What `posix_fadvise` says of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fadvise {
    /// Nothing.
    None,
    /// What the job does.
    ByAccess,
    /// That accesses are random.
    Random,
    /// That they are sequential.
    Sequential,
}

/// What files are opened with, so that writes are durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncFlag {
    /// Nothing.
    None,
    /// `O_SYNC`.
    Sync,
    /// `O_DSYNC`.
    DataSync,
}

/// Who may access a file at the same time (`lockfile`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockFile {
    /// All.
    None,
    /// One job.
    Exclusive,
    /// Readers, or one writer.
    ReadWrite,
}

/// Which jobs end with this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitWhat {
    /// Those of its group.
    Group,
    /// Those that run.
    Stonewall,
    /// All.
    All,
}

/// How long what is written is said to live (`write_hint`), as the kernel numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum WriteHint {
    /// Nothing is said.
    None = 1,
    /// Short.
    Short,
    /// Longer.
    Medium,
    /// Long.
    Long,
    /// As long as it can be.
    Extreme,
}
