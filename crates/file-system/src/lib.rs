//! What is known about file systems: one row for each (`table.rs`), which everything else reads.
//!
//! To add a file system, add its row. Targets can then be made of it, `fsprism machine` looks for
//! it, guests get its mkfs and modules, `scripts/setup` installs its package, and what it cannot do
//! is left out of every suite with the row's reason. What the kernel reports about a mounted file
//! system (alignment of direct I/O, extents, space) is not in any row.

mod known;
mod not_made;
mod row;
mod table;

pub use known::{BY_EXEC, BY_LIBRARY, FileSystem, UnknownFileSystem, add, given_label, lacks};
pub use not_made::{NotMade, not_made};
pub use row::{Devices, DirectUnit, Feature, Lack, MkeOptions, Mkfs, Modules, Row, Storage};
