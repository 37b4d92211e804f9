//! Where the cache lines go: what code does to the processor's caches.
//!
//! [`simulate`] runs a stream of accesses through caches of any shape and reports what hit, what
//! missed and what had to be written back.
//!
//! There is no clock here and no thread: the same stream and seed give the same answer.

#![forbid(unsafe_code)]

mod access;
pub mod simulate;

pub use access::{Access, Kind};
