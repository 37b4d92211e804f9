//! What the guests of a rig do to measure a network file system with its cache.
//!
//! One guest serves a directory with the kernel's NFS server. Others mount it, with a local cache
//! (FS-Cache, maintained by cachefilesd) or without, read, and count. Host and guest exchange one
//! [`Question`] and one [`Answer`] at a time; [`inside`] answers. [`counters`] reads the kernel's
//! counters, in a guest or on any other machine.

#![forbid(unsafe_code)]

mod cache;
mod client;
pub mod content;
pub mod counters;
mod culling;
pub mod inside;
mod messages;
mod programs;
mod server;
pub mod task;

pub use culling::{CullLimits, FreePercents};
pub use messages::{
    Answer, CachePlace, CommandResult, Question, Settled, TaskMeasurement, Version,
};
pub use programs::PROGRAMS;
pub use server::measured;

/// The role of the guest that serves.
pub const SERVER: &str = "server";
/// The role of a guest that reads, numbered from 0.
#[must_use]
pub fn client(number: usize) -> String {
    match number {
        0 => "client".to_owned(),
        _ => format!("client-{}", number + 1),
    }
}
