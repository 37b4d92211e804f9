//! What the guests of a rig do to measure a network file system with its cache.
//!
//! One guest serves a directory with the kernel's NFS server. Another mounts it, with a local cache
//! (FS-Cache, kept by cachefilesd) or without, reads, and counts. Host and guest exchange a
//! [`Question`] and an [`Answer`] at a time; [`inside`] answers. [`counters`] reads what the kernel
//! counts, in a guest as on any machine.

#![forbid(unsafe_code)]

mod cache;
mod client;
pub mod content;
pub mod counters;
pub mod inside;
mod messages;
mod programs;
mod server;
pub mod task;

pub use messages::{Answer, Measured, Question, Settled, Version};
pub use programs::PROGRAMS;

/// The role of the guest that serves.
pub const SERVER: &str = "server";
/// The role of the guest that reads.
pub const CLIENT: &str = "client";
