//! The thin layer over what has no safe wrapper: mapped files, stdio streams, and functions of the
//! C library by name. Each function does one thing and makes no decisions.

pub(crate) mod functions;
mod mapping;
mod stream;

pub(crate) use mapping::{MapAccess, Mapping};
pub use stream::Stream;
