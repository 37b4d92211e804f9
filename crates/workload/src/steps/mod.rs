//! The operations, each as a [`Step`](crate::Step): what is chosen before the call, the call
//! itself, and what is done after it.

pub(crate) mod entries;
mod files;
mod growing;
mod noop;
mod path;
mod readdir;
mod rename;
mod transfer;

pub(crate) use files::{NewFile, ReadFile};
pub(crate) use growing::{Append, AppendFsync, GrowingFile, Sync, Truncate};
pub use noop::Noop;
pub(crate) use path::{
    AppendVectored, Direction, Mapped, Path, PathTransfer, Psync, ReadShare, ReadsOnly, Requests,
    Stdio, Vectored, WritesOnly,
};
pub(crate) use readdir::Readdir;
pub(crate) use rename::{EntryShare, Rename};
pub(crate) use transfer::{DataFile, Location, Read, Spacing, Transfer, Write};
