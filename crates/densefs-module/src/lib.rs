//! The sources of DenseFS' kernel module: the core, its entries for the module, and the module's C.
//! They travel in fsprism, so that it can build the module for any kernel that the lab has.

mod counts;

pub use counts::{LineCount, line_counts};

/// Every file: its path below `crates`, and its text.
pub const SOURCES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/sources.rs"));

/// The header that lists the calls in the order of their numbers.
const CALLS: &str = include_str!("../../densefs-kernel/module/calls.h");

/// The number of DenseFS' call in a guest's kernel that stands for an ordinary one of this name;
/// none if there is none.
#[must_use]
pub fn number_of(name: &str) -> Option<i64> {
    let first = CALLS.lines().find_map(|line| line.strip_prefix("#define DENSEFS_FIRST_CALL "))?;
    let mut calls = CALLS.lines().filter_map(|line| line.trim().strip_prefix("call(dfs_"));
    let place = calls.position(|call| call.split(')').next() == Some(name))?;
    Some(first.parse::<i64>().ok()? + i64::try_from(place).ok()?)
}

#[cfg(test)]
mod tests {
    use super::{SOURCES, number_of};

    #[test]
    fn calls_have_numbers_that_linux_does_not_use() {
        assert_eq!(number_of("read"), Some(340));
        assert_eq!(number_of("mmap"), None);
        let last = number_of("renameat2").expect("it is there");
        assert!((350..424).contains(&last), "{last}");
    }

    #[test]
    fn all_parts_are_there() {
        for name in
            ["densefs/src/lib.rs", "densefs-kernel/src/lib.rs", "densefs-kernel/module/Kbuild"]
        {
            assert!(SOURCES.iter().any(|(path, _)| *path == name), "{name}");
        }
    }
}
