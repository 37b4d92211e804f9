//! Categories of code, coarse enough to see which part of a kernel a footprint is due to.
//!
//! A table is a text file of rules, one a line, of which the first that matches wins:
//!
//! ```text
//! # comment
//! path   fs/ext4/*     file system
//! symbol kmem_cache_*  malloc
//! module xfs           file system
//! path   include/*     -
//! ```
//!
//! A function whose source file is known goes by the rules of paths, one without by those of
//! symbols and modules (`vmlinux`, or a program's or library's path). In a pattern, `*` stands for
//! any characters and `?` for one; suffixes of symbols such as `.cold` do not count. The category
//! is the rest of the line; `-` is none: the function belongs to whatever called it. What no rule
//! matches is [`OTHER`].

mod glob;
mod table;

pub use table::{Categories, CategoryError, Subject};

/// The category of what no rule matches.
pub const OTHER: &str = "other";
