//! DenseFS for processes: an arena in a file that they map, and the environment that the core
//! needs.
//!
//! A process that attaches an arena takes a *record* in it, by locking a byte of the arena's file.
//! The lock belongs to the open file description, so the kernel releases it when the last
//! descriptor is closed; at the latest when the process dies, in whatever way. Each of its threads
//! has a *slot* that names the record. A thread that waits for the owner of a lock asks the kernel
//! whether the byte is still locked. Neither anything written in the arena nor a timeout is taken
//! as evidence of who is alive.
//!
//! Before a fork, the parent opens the file again, takes a record for the child with everything
//! that it has open itself, and leaves both to the child. It can do the same for a program that it
//! is about to execute ([`DenseFs::hand_over`]).

mod areas;
mod attachment;
mod attributes;
mod by_descriptor;
mod claims;
mod control;
mod credentials;
mod dense_fs;
mod edge;
mod extended;
mod file;
mod files;
pub mod fork;
mod hand_over;
mod locks;
mod mapped;
mod memory;
mod names;
mod numbers;
mod records;
mod supply;
mod thread_slot;
mod transfer;
mod users;

pub use attachment::ProcessSeams;
pub use credentials::Ids;
pub use dense_fs::{Base, DenseFs, DirectoryEntry, Usage};
pub use densefs::modes::Mode;
pub use densefs::{
    EntrySink, Errno, FileLock, Follow, ListedEntry, LockOwner, NewTime, NewTimes, Owner, Rename,
    SetAttribute, Stat, Whence, check, flags, time,
};
pub use extended::XattrTarget;
pub use file::{ArenaError, NewArena, make};
pub use files::File;
pub use hand_over::HandOver;
pub use locks::{LockHolder, LockRange, SETTLES_WITHIN, give_up_waiting_if};
pub use mapped::{MapRequest, is_mapped, unmap};
pub use memory::{Placement, Protection};
pub use numbers::keep_numbers_from;
pub use transfer::{Copied, CopyError, CopyTotals, Failures, Lost, Watch};
