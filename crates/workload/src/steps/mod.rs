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
pub(crate) use growing::{Append, AppendFsync, Growing, Sync, Truncate};
pub use noop::Noop;
pub(crate) use path::{
    AppendVectored, Direction, Mapped, OnPath, Path, Psync, ReadShare, ReadsOnly, Requests, Stdio,
    Vectored, WritesOnly,
};
pub(crate) use readdir::Readdir;
pub(crate) use rename::{Rename, Share};
pub(crate) use transfer::{DataFile, Read, Spacing, Spot, Transfer, Write};
