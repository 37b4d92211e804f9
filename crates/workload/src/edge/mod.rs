//! The thin edge to what has no safe wrapper: memory that a file is mapped to, and stdio's streams.
//! Each function does one thing; no policy.

mod mapping;
mod stream;

pub(crate) use mapping::{MapAccess, Mapping};
pub use stream::Stream;
