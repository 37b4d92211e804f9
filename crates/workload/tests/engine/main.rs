//! The engine on real file systems: the current directory's, and tmpfs at `/dev/shm`.

mod common;
mod data;
mod depths;
mod direct;
mod failures;
mod file_sets;
mod flags;
mod functions;
mod library;
mod mixes;
mod names;
mod on_device;
mod paths;
mod repeatable;
mod rewrites;
mod span;
mod start;
mod uring;
mod uring_refusals;
