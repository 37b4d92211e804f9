//! How much room a target has, and what would give it more.

/// Room in a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    /// What an ordinary user may still write; for file systems in memory no more than the
    /// kernel has available, and for images no more than their share of the scratch directory.
    pub free_bytes: u64,
    /// The file system's size; for ramfs, which has none, what is free.
    pub total_bytes: u64,
    /// Files that may still be made; `None` where the file system sets no number.
    pub free_inodes: Option<u64>,
    /// Whether the scratch directory leaves an image less than its file system has.
    pub is_held_by_scratch: bool,
}

impl Space {
    /// What would give a target of ours more, as an object: `give a larger size=`.
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
