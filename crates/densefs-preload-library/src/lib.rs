//! The library that programs load before the C library, as a file.
//!
//! fsprism embeds its bytes, so that the binary is all that a user needs. Programs load it from a
//! [`file()`], and so do their descendants, for as long as they live. Nothing of the library is
//! linked here: its functions have the names of the C library's.

mod file;
mod safe;

pub use file::{NoPlace, file};

/// The shared library, for the machine that fsprism is built for.
pub const LIBRARY: &[u8] = include_bytes!(env!("DENSEFS_PRELOAD_LIBRARY"));
