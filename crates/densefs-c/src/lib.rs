//! DenseFS from C: `include/densefs.h` says what each function does.
//!
//! Each function turns its arguments into those of [`densefs_process::DenseFs`], and what that
//! says into a result and `errno`.
#![expect(unsafe_code, reason = "callers from C vouch for their pointers")]

mod answer;
mod arguments;
mod attached;
pub mod attributes;
pub mod directories;
pub mod extended;
pub mod files;
pub mod locks;
pub mod names;

pub use attached::{dfs_attach, dfs_detach};
