//! Categories of code, coarse enough to see which part of a kernel a footprint is due to.
//!
//! A table is a text file with one rule per line, of which the first match wins:
//!
//! ```text
//! # comment
//! path   fs/ext4/*     file system
//! symbol kmem_cache_*  malloc
//! module xfs           file system
//! path   include/*     -
//! ```
//!
//! A function whose source file is known is matched by the rules for paths; any other by those for
//! symbols and modules (`vmlinux`, or a program's or library's path). In a pattern, `*` stands for
//! any characters and `?` for one; suffixes of symbols such as `.cold` are ignored. The category is
//! the rest of the line; `-` means none, so the function belongs to whatever called it. Functions
//! that no rule matches are in [`OTHER`].

mod glob;
mod table;

pub use table::{Categories, CategoryError, Subject};

/// The category of functions that no rule matches.
pub const OTHER: &str = "other";
