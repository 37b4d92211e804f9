//! Reads a btrfs' metadata for names and free space into memory.
//!
//! Listing a directory leaves most of it out: one leaf has a name by its hash, another by its place
//! in the listing, a third the way back from the file. Looking a file up by name or listing it
//! touches at most the first two, once; after that the kernel answers from its caches of names and
//! attributes, while the leaves may be evicted. A change needs all three, and free space.

use std::fs::File;
use std::io;
use std::path::Path;

use system_calls::BtrfsKey;

/// The tree that the file is in, `BTRFS_EXTENT_TREE_OBJECTID`, `BTRFS_FREE_SPACE_TREE_OBJECTID`.
const TREES: [u64; 3] = [0, 2, 10];
const FIRST_KEY: BtrfsKey = BtrfsKey { object: 0, kind: 0, offset: 0 };
const LAST_KEY: BtrfsKey = BtrfsKey { object: u64::MAX, kind: u32::MAX, offset: u64::MAX };

/// Reads every leaf of the trees that are needed to change names, on the btrfs mounted at `root`.
///
/// # Errors
/// The kernel's error: this needs root, and a btrfs.
pub fn read_in_trees(root: &Path) -> io::Result<()> {
    let directory = File::open(root)?;
    for tree in TREES {
        match read_in_tree(&directory, tree) {
            // Free space may be tracked elsewhere than in a tree.
            Err(error) if tree != 0 && error.kind() == io::ErrorKind::NotFound => {}
            other => other?,
        }
    }
    Ok(())
}

fn read_in_tree(directory: &File, tree: u64) -> io::Result<()> {
    let mut next = Some(FIRST_KEY);
    while let Some(first) = next {
        let found = system_calls::btrfs_search(directory, tree, first..=LAST_KEY)?;
        next = found.last().and_then(|(last, _)| after(*last));
    }
    Ok(())
}

/// The next key; `None` after the last.
fn after(key: BtrfsKey) -> Option<BtrfsKey> {
    if let Some(offset) = key.offset.checked_add(1) {
        return Some(BtrfsKey { offset, ..key });
    }
    // A key's type has eight bits, although it is passed in more.
    if key.kind < u32::from(u8::MAX) {
        return Some(BtrfsKey { kind: key.kind + 1, offset: 0, ..key });
    }
    Some(BtrfsKey { object: key.object.checked_add(1)?, kind: 0, offset: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_key_is_the_least_that_is_greater() {
        let key = |object, kind, offset| BtrfsKey { object, kind, offset };
        assert_eq!(after(key(5, 1, 7)), Some(key(5, 1, 8)));
        assert_eq!(after(key(5, 1, u64::MAX)), Some(key(5, 2, 0)));
        assert_eq!(after(key(5, 255, u64::MAX)), Some(key(6, 0, 0)));
        assert_eq!(after(key(u64::MAX, 255, u64::MAX)), None);
    }

    #[test]
    fn what_is_no_btrfs_has_no_trees() {
        assert!(read_in_trees(Path::new("/proc/self")).is_err());
    }
}
