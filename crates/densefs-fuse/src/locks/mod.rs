//! What the server remembers about file locks that programs take through the mount: who may have
//! some, and which requests wait for one.

mod holders;
mod turns;
mod waits;

pub(crate) use holders::{Holders, Key};
pub(crate) use turns::{Turn, Turns};
pub(crate) use waits::Waits;
