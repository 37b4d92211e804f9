//! The thin edge to what has no safe wrapper: memory that a file is mapped to, stdio's streams,
//! what a thread has used of processors.
//! Each function does one thing; no policy.

mod mapping;
mod stream;
mod usage;

pub(crate) use mapping::{MapAccess, Mapping};
pub(crate) use stream::Stream;
pub(crate) use usage::thread_usage;
