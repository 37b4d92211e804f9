//! DenseFS: a compact file system in an arena that processes share.
//!
//! This is the core. It knows nothing of processes, of a C library or of the time of day, but by
//! [`Seams`]; it refers to everything by offsets, so the same bytes serve in shared memory, in a
//! mapped file and in a test's heap. It follows "DenseFS: a Cache-Compact Filesystem" (Z. Weiss,
//! A. C. Arpaci-Dusseau, R. H. Arpaci-Dusseau, Hot Topics in Storage 2018): one line of the
//! processor's caches holds an inode with its name. `SPEC.md` beside this crate says what each byte
//! means.
//!
//! Whoever can write an arena can write anything into it at any time. So every offset is checked
//! where it is used, every loop is bounded, and nothing in the arena is ever borrowed.

#![no_std]
#![deny(unsafe_code)]

#[cfg(test)]
extern crate std;
// So that tests of either kind can share files.
#[cfg(test)]
extern crate self as densefs;

// What is stored first has to be seen first: the order of stores, and that of loads, is that of the
// program on this architecture.
#[cfg(not(target_arch = "x86_64"))]
compile_error!("DenseFS relies on the order of stores and loads of x86-64");

mod annex;
pub mod arena;
pub mod check;
#[cfg(test)]
mod churn;
mod content;
mod descriptors;
mod directory;
mod errno;
mod extended;
mod file_locks;
pub mod format;
mod geometry;
#[cfg(test)]
mod interleaved;
mod layout;
mod listing;
mod member;
#[cfg(test)]
#[path = "../tests/core/memory.rs"]
mod memory;
mod mode_table;
pub mod modes;
mod name;
#[cfg(test)]
mod quiet;
#[cfg(test)]
mod random;
mod seams;
mod space;
mod stamp;
mod tree;
mod vectors;

pub use arena::Arena;
pub use content::{SIZE_MOST, Sought};
pub use descriptors::{Whence, flags};
pub use errno::Errno;
pub use extended::SetAttribute;
pub use file_locks::{FileLock, LockOwner};
pub use listing::{Batch, Listed, POSITION_FIRST, Taker};
pub use member::{Member, Node};
pub use name::NAME_MOST;
pub use seams::{Life, Seams};
pub use tree::{
    Follow, Last, NewTime, NewTimes, Owner, PATH_MOST, Remove, Rename, Start, Stat, Unclear,
};
