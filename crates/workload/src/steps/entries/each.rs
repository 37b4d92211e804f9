//! The calls on names that are timed, each with where its names come from.

use rustix::io::Errno;

use super::NameFrom::{Chosen, Fresh as FreshName, Missing, Nowhere};
use super::{EntryCall, EntryStep, NameFrom};
use crate::calls::Calls;
use crate::error::EngineError;
use crate::fault::Fault;
use crate::names::EntryName;
use crate::names::NameKind::{self, Directory as DirectoryKind, Entry, File, Link as LinkKind};
use crate::run_loop::Step;

/// Defines an [`EntryCall`]: its name, the system call, where its names come from, and the call
/// itself. Those that start with `opens` return a descriptor, which is closed afterwards, untimed.
macro_rules! entry_call {
    (
        $(#[$about:meta])* opens $name:ident, $call:literal, $first:expr, $second:expr,
        |$calls:ident, $directory:ident, $one:ident, $two:ident| $body:expr
    ) => {
        entry_call! {
            $(#[$about])* $name, $call, $first, $second => K::Descriptor,
            |$calls, $directory, $one, $two| $body, |by, held| by.close(held)
        }
    };
    (
        $(#[$about:meta])* $name:ident, $call:literal, $first:expr, $second:expr,
        |$calls:ident, $directory:ident, $one:ident, $two:ident| $body:expr
    ) => {
        entry_call! {
            $(#[$about])* $name, $call, $first, $second => (),
            |$calls, $directory, $one, $two| $body, |_by, _held| ()
        }
    };
    (
        $(#[$about:meta])* $name:ident, $call:literal, $first:expr, $second:expr => $held:ty,
        |$calls:ident, $directory:ident, $one:ident, $two:ident| $body:expr,
        |$by:ident, $left:ident| $release:expr
    ) => {
        $(#[$about])*
        #[derive(Debug)]
        pub(crate) struct $name;

        impl EntryCall for $name {
            const CALL: &'static str = $call;
            const FIRST: NameFrom = $first;
            const SECOND: NameFrom = $second;
            type Held<K: Calls> = $held;

            #[inline(always)]
            fn call<K: Calls>(
                $calls: &K,
                $directory: &K::Open,
                $one: &EntryName,
                $two: &EntryName,
            ) -> Result<$held, Errno> {
                $body
            }

            #[inline(always)]
            fn release<K: Calls>($by: &K, $left: $held) {
                $release
            }
        }
    };
}

entry_call! {
    /// `openat` of an entry.
    opens Open, "openat", Chosen(Entry), Nowhere,
    |calls, directory, name, _none| calls.openat(directory, name)
}
entry_call! {
    /// `openat` of an entry and `close`.
    OpenClose, "openat", Chosen(Entry), Nowhere,
    |calls, directory, name, _none| {
        calls.openat(directory, name).map(|descriptor| calls.close(descriptor))
    }
}
entry_call! {
    /// `openat` that makes a new file.
    opens Create, "openat", FreshName(File), Nowhere,
    |calls, directory, name, _none| calls.creat(directory, name)
}
entry_call! {
    /// `fstatat` of an entry.
    Stat, "fstatat", Chosen(Entry), Nowhere,
    |calls, directory, name, _none| calls.fstatat(directory, name)
}
entry_call! {
    /// `fstatat` of a name that does not exist; finding it would be the failure.
    StatMissing, "fstatat", Missing, Nowhere,
    |calls, directory, name, _none| {
        match calls.fstatat(directory, name) {
            Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(errno),
            Ok(()) => Err(Errno::EXIST),
        }
    }
}
entry_call! {
    /// `faccessat` of an entry.
    CheckAccess, "faccessat", Chosen(Entry), Nowhere,
    |calls, directory, name, _none| calls.faccessat(directory, name)
}
entry_call! {
    /// `linkat` of an entry to a new name.
    Link, "linkat", Chosen(Entry), FreshName(LinkKind),
    |calls, directory, old, new| calls.linkat(directory, old, new)
}
entry_call! {
    /// `symlinkat` of a new name that points to an entry.
    Symlink, "symlinkat", FreshName(NameKind::Symlink), Chosen(Entry),
    |calls, directory, new, old| calls.symlinkat(old, directory, new)
}
entry_call! {
    /// `unlinkat` of a file made before.
    Unlink, "unlinkat", FreshName(File), Nowhere,
    |calls, directory, name, _none| calls.unlinkat(directory, name)
}
entry_call! {
    /// `mkdirat` of a new directory.
    Mkdir, "mkdirat", FreshName(DirectoryKind), Nowhere,
    |calls, directory, name, _none| calls.mkdirat(directory, name)
}
entry_call! {
    /// `unlinkat` of a directory made before.
    Rmdir, "unlinkat", FreshName(DirectoryKind), Nowhere,
    |calls, directory, name, _none| calls.rmdirat(directory, name)
}

/// `close` of a descriptor from an untimed open.
#[derive(Debug)]
pub(crate) struct Close<K: Calls>(pub(crate) EntryStep<K, Open>);

impl<K: Calls> Step for Close<K> {
    #[inline]
    fn before(&mut self, index: u64, slot: usize) -> Result<(), Fault> {
        self.0.before(index, slot)?;
        self.0.timed(index, slot).map(drop)
    }

    /// A file opened for reading has nothing left to write, so a close has no error to report.
    #[inline]
    fn timed(&mut self, _index: u64, slot: usize) -> Result<u64, Fault> {
        self.0.release(slot);
        Ok(0)
    }

    fn explain(&self, fault: Fault, slot: usize) -> EngineError {
        self.0.explain(fault, slot)
    }
}
