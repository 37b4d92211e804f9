//! The engine on real file systems: the current directory's, and tmpfs at `/dev/shm`.

mod common;
mod data;
mod failures;
mod file_sets;
mod names;
mod repeatable;
mod span;
