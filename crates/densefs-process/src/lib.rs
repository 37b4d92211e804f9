//! DenseFS among processes: an arena in a file that they map, and what the core has to be told.
//!
//! A process that attaches an arena has a *record* in it, by a lock on a byte of the arena's file
//! that belongs to its open file description: the kernel gives the lock back when the last
//! descriptor is closed, which is when the process dies, however it does. Each of its threads has a
//! *slot* that names the record. So whoever waits for the owner of a lock asks the kernel whether
//! the byte is still locked. Nothing that is written in the arena is believed to say who lives, and
//! no passing of time.
//!
//! Before a fork, the parent opens the file anew, has a record made with all that it has open, and
//! leaves both to the child.

mod attachment;
mod attributes;
mod dense_fs;
mod edge;
mod extended;
mod file;
mod files;
mod fork;
mod locks;
mod names;
mod seat;
mod transfer;

pub use attachment::ProcessSeams;
pub use dense_fs::{Base, DenseFs, Entry, Usage};
pub use densefs::modes::Mode;
pub use densefs::{
    Errno, FileLock, Follow, Listed, LockOwner, NewTime, NewTimes, Rename, SetAttribute, Stat,
    Taker, Whence, check, flags,
};
pub use extended::Bearer;
pub use file::{ArenaError, Request, make};
pub use files::File;
pub use locks::Range;
pub use transfer::{Copied, CopyError};
