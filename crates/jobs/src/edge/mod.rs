//! The calls that move bytes, and the memory that they move them from and to.

pub(crate) mod aio;
pub(crate) mod calls;
pub(crate) mod mapping;
pub(crate) mod memory;
pub(crate) mod posix;
pub(crate) mod ring;
pub(crate) mod thread;
