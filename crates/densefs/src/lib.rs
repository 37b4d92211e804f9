//! DenseFS: a compact file system in an arena that processes share.
//!
//! This is the core. It reaches processes, the C library and the clock only through [`Seams`], and
//! refers to everything by offset, so the same bytes work in shared memory, in a mapped file and in
//! a test's heap. It follows "DenseFS: a Cache-Compact Filesystem" (Z. Weiss, A. C. Arpaci-Dusseau,
//! R. H. Arpaci-Dusseau, Hot Topics in Storage 2018): an inode and its name fit into one cache
//! line. `SPEC.md` in this crate's directory defines every byte.
//!
//! A file system in memory of one's own, used by one thread:
//!
//! ```
//! use core::ptr::NonNull;
//! use core::sync::atomic::AtomicU32;
//!
//! use densefs::format::{FormatRequest, make};
//! use densefs::modes::{Caller, Mode};
//! use densefs::{Arena, Errno, Life, Member, Seams, flags};
//!
//! /// Nobody else is there to wait for, and all memory is there from the start.
//! #[derive(Clone, Copy)]
//! struct Alone;
//!
//! impl Seams for Alone {
//!     fn now_ns(&self) -> u64 {
//!         1_000_000_000
//!     }
//!     fn supply(&self, _first_page: u32, _pages: u32) -> bool {
//!         true
//!     }
//!     fn life(&self, _slot: u32) -> Life {
//!         Life::Alive
//!     }
//!     fn after_repair(&self, _slot: u32) {}
//!     fn wait(&self, _word: &AtomicU32, _value: u32) -> bool {
//!         false
//!     }
//!     fn wake(&self, _word: &AtomicU32) {}
//! }
//!
//! #[derive(Clone)]
//! #[repr(align(4096))]
//! struct Page([u8; 4096]);
//!
//! # fn main() -> Result<(), Errno> {
//! const PAGES: u32 = 2048;
//! let mut memory = vec![Page([0; 4096]); PAGES as usize];
//! // SAFETY: the memory begins with a page, and lives as long as the arena.
//! let arena = unsafe { Arena::new(NonNull::from(&mut memory[..]).cast(), PAGES * 64) };
//! let root = Mode { uid: 0, gid: 0, mode: 0o755 };
//! // Anything that others cannot guess.
//! let (secret, ino_secret) = (0x5eed, 0x1234);
//! make(arena, Alone, &FormatRequest { secret, ino_secret, root, threads: None })?;
//!
//! let member = Member::new(arena, Alone, 1, 1)?;
//! let how = flags::READ_WRITE | flags::CREATE;
//! let file = member.open(&Caller::ROOT, member.root()?, b"file", how, 0o644)?;
//! assert_eq!(member.write_to(file, 0, b"some text")?, 9);
//! let mut text = [0; 16];
//! assert_eq!(member.read_from(file, 5, &mut text)?, 4);
//! assert_eq!(&text[..4], b"text");
//! member.close(file)?;
//! # Ok(())
//! # }
//! ```
//!
//! Anybody who can write to an arena can write anything to it at any time. So every offset is
//! checked where it is used, every loop is bounded, and nothing ever borrows from the arena.

#![no_std]
#![deny(unsafe_code)]

#[cfg(test)]
extern crate std;
// Lets unit tests and integration tests share files.
#[cfg(test)]
extern crate self as densefs;

// Stores must become visible in the order in which they are made, and loads must happen in order.
// Only this architecture guarantees both.
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
/// What the environment of unit tests is like.
#[cfg(test)]
const IS_SHARED: bool = true;
#[cfg(test)]
#[path = "../tests/core/memory.rs"]
mod memory;
mod mode_table;
pub mod modes;
mod name;
mod opens;
#[cfg(test)]
mod quiet;
#[cfg(test)]
mod random;
mod seams;
mod space;
mod stamp;
pub mod time;
mod tree;
mod vectors;
#[cfg(test)]
#[path = "../tests/core/world.rs"]
#[expect(dead_code, reason = "unit tests need less of it")]
mod world;

pub use arena::{Arena, Trust};
pub use content::{MappedRun, SIZE_MAX, SeekTarget};
pub use descriptors::{MapAccess, MappedFile, RangeHolder, Whence, flags};
pub use errno::Errno;
pub use extended::SetAttribute;
pub use file_locks::{FileLock, LockOwner};
pub use layout::InodeBytes;
pub use listing::{Batch, EntrySink, ListedEntry, POSITION_FIRST};
pub use member::{Member, Node};
pub use name::NAME_MAX;
pub use seams::{Life, Seams};
pub use tree::{
    EntryName, Follow, LastName, NewTime, NewTimes, Owner, PATH_MAX, Remove, Rename, Start, Stat,
    Unclear, is_only_name, is_refused_unseen,
};
