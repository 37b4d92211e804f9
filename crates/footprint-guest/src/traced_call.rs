//! The calls that can be traced, one row each. Each is a single system call.
//!
//! All but `getppid` get absolute paths in a directory that contains some files, or descriptors of
//! files in it.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use thiserror::Error;
use workload::Operation;

use crate::door::BYTES;
use crate::marked::ReturnValue;
use crate::unresolved_call::Argument::{Buffer, Descriptor, Name, Number};
use crate::unresolved_call::{AT_FDCWD, ENTRIES_BYTES, Leftover, MODE, Prepare, UnresolvedCall};

/// A system call that a guest executes to be traced.
#[derive(Clone, Copy)]
pub struct TracedCall(&'static CallRow);

/// What is known about a call.
pub(crate) struct CallRow {
    name: &'static str,
    title: &'static str,
    /// The benchmark operation that it corresponds to; `None` for a call that does not touch a file
    /// system.
    operation: Option<Operation>,
    /// Whether it is traced if the user names no calls.
    by_default: bool,
    pub(crate) returns: ReturnValue,
    /// How to remove what it leaves behind.
    pub(crate) leftover: Leftover,
    pub(crate) prepare: Prepare,
}

/// There is no call of that name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no operation '{name}'{}", hint(name))]
pub struct UnknownCall {
    name: String,
}

/// Suggests the operation that was probably meant, or lists all of them if none is similar.
fn hint(name: &str) -> String {
    let meant = textual::did_you_mean(name, TracedCall::all().map(TracedCall::name));
    if meant.is_empty() { format!(": choose from {}", TracedCall::names()) } else { meant }
}

const fn row(
    name: &'static str,
    title: &'static str,
    operation: Operation,
    prepare: Prepare,
) -> CallRow {
    let (by_default, returns, leftover) = (false, ReturnValue::Number, Leftover::File);
    CallRow { name, title, operation: Some(operation), by_default, returns, leftover, prepare }
}

/// The position is the call's number in marks, which traces store: append new ones at the end.
static ROWS: [CallRow; 18] = [
    CallRow {
        by_default: true,
        returns: ReturnValue::Descriptor,
        ..row("create", "create a file", Operation::Create, |at| {
            let arguments = vec![Name(at.path.clone()), MODE];
            Ok(UnresolvedCall::new(libc::SYS_creat, arguments).leaves(&at.path))
        })
    },
    CallRow {
        by_default: true,
        ..row("write", "write 4 KiB into an empty file", Operation::Append, |at| {
            let file = at.door.create_new(&at.path)?;
            let arguments = vec![Descriptor, Buffer, Number(BYTES as u64), Number(0)];
            Ok(UnresolvedCall::new(libc::SYS_pwrite64, arguments).on(file).leaves(&at.path))
        })
    },
    row("overwrite", "overwrite 4 KiB", Operation::Write, |at| {
        at.door.full(&at.path)?;
        let file = at.door.open_to_write(&at.path)?;
        let arguments = vec![Descriptor, Buffer, Number(BYTES as u64), Number(0)];
        Ok(UnresolvedCall::new(libc::SYS_pwrite64, arguments).on(file).leaves(&at.path))
    }),
    CallRow {
        by_default: true,
        ..row("read", "read 4 KiB", Operation::Read, |at| {
            at.door.full(&at.path)?;
            let file = at.door.open_to_write(&at.path)?;
            let arguments = vec![Descriptor, Buffer, Number(BYTES as u64), Number(0)];
            Ok(UnresolvedCall::new(libc::SYS_pread64, arguments).on(file).leaves(&at.path))
        })
    },
    CallRow {
        by_default: true,
        ..row("stat", "stat a file", Operation::StatPresent, |at| {
            at.door.full(&at.path)?;
            let arguments = vec![AT_FDCWD, Name(at.path.clone()), Buffer, Number(0)];
            Ok(UnresolvedCall::new(libc::SYS_newfstatat, arguments).leaves(&at.path))
        })
    },
    CallRow {
        returns: ReturnValue::Descriptor,
        ..row("open", "open a file", Operation::Open, |at| {
            at.door.full(&at.path)?;
            let arguments = vec![Name(at.path.clone()), Number(0)];
            Ok(UnresolvedCall::new(libc::SYS_open, arguments).leaves(&at.path))
        })
    },
    row("close", "close a file", Operation::Close, |at| {
        at.door.full(&at.path)?;
        let call = UnresolvedCall::new(libc::SYS_close, vec![Descriptor]);
        Ok(call.closes(at.door.open(&at.path)?).leaves(&at.path))
    }),
    CallRow {
        by_default: true,
        ..row("rename", "rename a file in its directory", Operation::Rename, |at| {
            at.door.full(&at.path)?;
            let arguments = vec![Name(at.path.clone()), Name(at.other.clone())];
            Ok(UnresolvedCall::new(libc::SYS_rename, arguments).leaves(&at.other))
        })
    },
    CallRow {
        by_default: true,
        ..row("unlink", "unlink a file of 4 KiB", Operation::Unlink, |at| {
            at.door.full(&at.path)?;
            Ok(UnresolvedCall::new(libc::SYS_unlink, vec![Name(at.path.clone())]))
        })
    },
    CallRow {
        leftover: Leftover::Directory,
        ..row("mkdir", "make a directory", Operation::Mkdir, |at| {
            let arguments = vec![Name(at.path.clone()), MODE];
            Ok(UnresolvedCall::new(libc::SYS_mkdir, arguments).leaves(&at.path))
        })
    },
    row("rmdir", "remove an empty directory", Operation::Rmdir, |at| {
        at.door.create_directory(&at.path)?;
        Ok(UnresolvedCall::new(libc::SYS_rmdir, vec![Name(at.path.clone())]))
    }),
    // The new name is in the same directory.
    row("link", "link a file", Operation::Link, |at| {
        let arguments = vec![Name(at.directory.join("entry-00")), Name(at.path.clone())];
        Ok(UnresolvedCall::new(libc::SYS_link, arguments).leaves(&at.path))
    }),
    row("symlink", "make a symbolic link", Operation::Symlink, |at| {
        let arguments = vec![Name(PathBuf::from("entry-00")), Name(at.path.clone())];
        Ok(UnresolvedCall::new(libc::SYS_symlink, arguments).leaves(&at.path))
    }),
    // From its first entry.
    row("readdir", "read a directory", Operation::Readdir, |at| {
        let arguments = vec![Descriptor, Buffer, Number(ENTRIES_BYTES as u64)];
        Ok(UnresolvedCall::new(libc::SYS_getdents64, arguments).on(at.door.open(at.directory)?))
    }),
    row("truncate", "truncate a file of 4 KiB", Operation::Truncate, |at| {
        at.door.full(&at.path)?;
        let arguments = vec![Name(at.path.clone()), Number(0)];
        Ok(UnresolvedCall::new(libc::SYS_truncate, arguments).leaves(&at.path))
    }),
    row("fsync", "fsync a file of 4 KiB just written", Operation::Fsync, |at| {
        let file = at.door.full(&at.path)?;
        let call = UnresolvedCall::new(libc::SYS_fsync, vec![Descriptor]);
        Ok(call.on(file).leaves(&at.path).dirty())
    }),
    // Shows what entering the kernel costs.
    CallRow {
        name: "getppid",
        title: "getppid, a system call without a file system",
        operation: None,
        by_default: true,
        returns: ReturnValue::Number,
        leftover: Leftover::File,
        prepare: |_| Ok(UnresolvedCall::new(libc::SYS_getppid, vec![])),
    },
    row("fdatasync", "fdatasync a file of 4 KiB just written", Operation::Fdatasync, |at| {
        let file = at.door.full(&at.path)?;
        let call = UnresolvedCall::new(libc::SYS_fdatasync, vec![Descriptor]);
        Ok(call.on(file).leaves(&at.path).dirty())
    }),
];

impl TracedCall {
    /// All calls, in the order of their numbers in marks.
    pub fn all() -> impl Iterator<Item = Self> {
        ROWS.iter().map(Self)
    }

    /// The calls that are traced if the user names none.
    pub fn by_default() -> impl Iterator<Item = Self> {
        Self::all().filter(|call| call.0.by_default)
    }

    /// Its name on the command line, which is also that of its benchmark.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// What it does, in words.
    #[must_use]
    pub fn title(self) -> &'static str {
        self.0.title
    }

    /// The benchmark operation that it corresponds to; `None` for a call that does not touch a file
    /// system.
    #[must_use]
    pub fn operation(self) -> Option<Operation> {
        self.0.operation
    }

    /// Its number in marks, below [`footprint_trace::mark::OPERATIONS`].
    #[must_use]
    pub fn number(self) -> u16 {
        let at = Self::all().position(|call| call == self);
        at.and_then(|at| u16::try_from(at).ok()).unwrap_or(u16::MAX)
    }

    /// The call with this number in marks.
    #[must_use]
    pub fn from_number(number: u16) -> Option<Self> {
        ROWS.get(usize::from(number)).map(Self)
    }

    pub(crate) fn row(self) -> &'static CallRow {
        self.0
    }

    fn names() -> String {
        Self::all().map(Self::name).collect::<Vec<_>>().join(", ")
    }
}

impl PartialEq for TracedCall {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for TracedCall {}

impl fmt::Debug for TracedCall {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl fmt::Display for TracedCall {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for TracedCall {
    type Err = UnknownCall;

    fn from_str(name: &str) -> Result<Self, UnknownCall> {
        let found = Self::all().find(|call| call.name() == name);
        found.ok_or_else(|| UnknownCall { name: name.to_owned() })
    }
}

impl Serialize for TracedCall {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for TracedCall {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_come_back() {
        for call in TracedCall::all() {
            assert_eq!(call.name().parse(), Ok(call));
            assert_eq!(TracedCall::from_number(call.number()), Some(call));
            let json = serde_json::to_string(&call).unwrap();
            assert_eq!(json, format!("\"{call}\""));
            assert_eq!(serde_json::from_str::<TracedCall>(&json).unwrap(), call);
        }
        let error = "nonsense".parse::<TracedCall>().expect_err("no such call").to_string();
        assert!(error.contains("create, write"), "{error}");
        let names: Vec<&str> = TracedCall::by_default().map(TracedCall::name).collect();
        assert_eq!(names, ["create", "write", "read", "stat", "rename", "unlink", "getppid"]);
    }
}
