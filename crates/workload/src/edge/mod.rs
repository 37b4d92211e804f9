//! The thin layer over what has no safe wrapper: mapped files, and stdio streams. Each function
//! does one thing and makes no decisions.

mod mapping;
mod stream;

pub(crate) use mapping::{MapAccess, Mapping};
pub use stream::Stream;
