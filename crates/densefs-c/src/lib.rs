//! DenseFS for C. `include/densefs.h` documents the functions.
//!
//! Each function converts its arguments for [`densefs_process::DenseFs`], and the outcome into a
//! result and `errno`.
#![expect(unsafe_code, reason = "callers from C vouch for their pointers")]

mod answer;
mod arguments;
mod attached;
mod attaching;
pub mod attributes;
pub mod control;
pub mod directories;
pub mod extended;
pub mod files;
pub mod locks;
pub mod mapped;
pub mod names;
pub mod permissions;
pub mod resolved;
pub mod status;
pub mod streams;
pub mod temporary;
pub mod tree_stream;
pub mod tree_walk;
pub mod vectors;

pub use answer::has_led_outside;
pub use arguments::set_prefix_length;
pub use attached::{attach, attached, set_device};
pub use attaching::{dfs_attach, dfs_detach};
