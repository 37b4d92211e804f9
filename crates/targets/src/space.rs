//! How much room a target has, and how to give it more.

/// Room in a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    /// How much an ordinary user can still write. For file systems in memory, this is no more than
    /// the kernel has available, and for images, no more than their share of the scratch directory.
    pub free_bytes: u64,
    /// The size of the file system, or what is free on ramfs, which has no size.
    pub total_bytes: u64,
    /// How many files can still be made; `None` if the file system has no limit.
    pub free_inodes: Option<u64>,
    /// Whether the scratch directory leaves an image less room than its file system has.
    pub is_held_by_scratch: bool,
}

impl Space {
    /// What would give a target of ours more room, as the object of a sentence: `give a larger
    /// size=`.
    #[must_use]
    pub fn enlarged_by(&self) -> &'static str {
        match self.is_held_by_scratch {
            true => "another directory with --scratch, since this one has no more space",
            false => "a larger size=",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_larger_size_is_no_advice_where_the_scratch_directory_is_the_limit() {
        let space = |is_held_by_scratch| Space {
            free_bytes: 0,
            total_bytes: 0,
            free_inodes: None,
            is_held_by_scratch,
        };
        assert!(space(false).enlarged_by().contains("size="));
        let held = space(true).enlarged_by();
        assert!(held.contains("--scratch") && !held.contains("size="), "{held}");
    }
}
