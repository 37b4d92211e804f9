//! The operations: one system call each.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// An operation on a file system. All but [`Operation::GetPpid`] are given absolute paths in a
/// directory that holds some files, or descriptors of files in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// `creat` of a name that does not exist.
    Create,
    /// `pwrite64` of 4 KiB into an empty file.
    Write,
    /// `pwrite64` of 4 KiB over the only ones of a file.
    Overwrite,
    /// `pread64` of 4 KiB, the whole file.
    Read,
    /// `newfstatat` of a path.
    Stat,
    /// `open` of a file for reading.
    Open,
    /// `close` of a file opened for reading.
    Close,
    /// `rename` within a directory, to a name that does not exist.
    Rename,
    /// `unlink` of a file of 4 KiB.
    Unlink,
    /// `mkdir`.
    Mkdir,
    /// `rmdir` of an empty directory.
    Rmdir,
    /// `link`: another name in the same directory.
    Link,
    /// `symlink`.
    Symlink,
    /// `getdents64` of a directory from its start, into 32 KiB.
    Readdir,
    /// `truncate` of a file of 4 KiB to nothing.
    Truncate,
    /// `fsync` of a file into which 4 KiB were just written.
    Fsync,
    /// `getppid`, which touches no file system: what entering the kernel costs.
    #[serde(rename = "getppid")]
    GetPpid,
}

/// There is no operation of that name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no operation '{name}'; there are {}", Operation::names())]
pub struct UnknownOperation {
    name: String,
}

impl Operation {
    /// All, in the order of their numbers in marks.
    pub const ALL: [Self; 17] = [
        Self::Create,
        Self::Write,
        Self::Overwrite,
        Self::Read,
        Self::Stat,
        Self::Open,
        Self::Close,
        Self::Rename,
        Self::Unlink,
        Self::Mkdir,
        Self::Rmdir,
        Self::Link,
        Self::Symlink,
        Self::Readdir,
        Self::Truncate,
        Self::Fsync,
        Self::GetPpid,
    ];

    /// The name by which the command line takes it, and of its benchmark.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Write => "write",
            Self::Overwrite => "overwrite",
            Self::Read => "read",
            Self::Stat => "stat",
            Self::Open => "open",
            Self::Close => "close",
            Self::Rename => "rename",
            Self::Unlink => "unlink",
            Self::Mkdir => "mkdir",
            Self::Rmdir => "rmdir",
            Self::Link => "link",
            Self::Symlink => "symlink",
            Self::Readdir => "readdir",
            Self::Truncate => "truncate",
            Self::Fsync => "fsync",
            Self::GetPpid => "getppid",
        }
    }

    /// What it does, in words.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Create => "create a file",
            Self::Write => "write 4 KiB into an empty file",
            Self::Overwrite => "write 4 KiB over 4 KiB",
            Self::Read => "read 4 KiB",
            Self::Stat => "stat a file",
            Self::Open => "open a file",
            Self::Close => "close a file",
            Self::Rename => "rename a file in its directory",
            Self::Unlink => "unlink a file of 4 KiB",
            Self::Mkdir => "make a directory",
            Self::Rmdir => "remove an empty directory",
            Self::Link => "link a file",
            Self::Symlink => "make a symbolic link",
            Self::Readdir => "read a directory",
            Self::Truncate => "truncate a file of 4 KiB",
            Self::Fsync => "fsync a file of 4 KiB just written",
            Self::GetPpid => "getppid, a system call without a file system",
        }
    }

    /// Its number in marks, below [`footprint_trace::mark::OPERATIONS`].
    #[must_use]
    pub fn number(self) -> u16 {
        let at = Self::ALL.iter().position(|&operation| operation == self);
        at.and_then(|at| u16::try_from(at).ok()).unwrap_or(u16::MAX)
    }

    /// The operation of a mark.
    #[must_use]
    pub fn of_number(number: u16) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }

    fn names() -> String {
        let names: Vec<&str> = Self::ALL.iter().map(|operation| operation.name()).collect();
        names.join(", ")
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Operation {
    type Err = UnknownOperation;

    fn from_str(name: &str) -> Result<Self, UnknownOperation> {
        let found = Self::ALL.into_iter().find(|operation| operation.name() == name);
        found.ok_or_else(|| UnknownOperation { name: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_come_back() {
        for operation in Operation::ALL {
            assert_eq!(operation.name().parse(), Ok(operation));
            assert_eq!(Operation::of_number(operation.number()), Some(operation));
            let json = serde_json::to_string(&operation).unwrap();
            assert_eq!(json, format!("\"{operation}\""));
        }
        let error = "creat".parse::<Operation>().expect_err("no such operation").to_string();
        assert!(error.contains("create, write"), "{error}");
    }
}
