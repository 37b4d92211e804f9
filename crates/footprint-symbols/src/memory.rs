//! What a guest's memory is used for, as a table that the guest makes and hands back.
//!
//! Each line is one range: the first address in hexadecimal, the size in bytes, and `memory`,
//! `page_cache`, `page_descriptors`, `per_cpu` or `slab`. A slab is followed by the distance
//! between objects in bytes, the size of an object in bytes, and the name of its cache.

use std::fmt;

use crate::SymbolsError;

/// A range of memory with one use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    /// First address.
    pub address: u64,
    /// Size in bytes.
    pub bytes: u64,
    /// What it is used for.
    pub usage: Usage,
}

/// What a range of memory is used for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Usage {
    /// Objects of one cache.
    Slab {
        /// Distance between objects in bytes.
        element_bytes: u32,
        /// Size of an object in bytes.
        object_bytes: u32,
        /// Name of the cache.
        cache: String,
    },
    /// Pages of files.
    PageCache,
    /// Page descriptors: `struct page`.
    PageDescriptors,
    /// One processor's per-CPU variables, those of `vmlinux` first.
    PerCpu,
    /// Memory for any use, in the direct mapping.
    Memory,
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { address, bytes, usage } = self;
        match usage {
            Usage::Slab { element_bytes, object_bytes, cache } => {
                write!(f, "{address:x} {bytes} slab {element_bytes} {object_bytes} {cache}")
            }
            Usage::PageCache => write!(f, "{address:x} {bytes} page_cache"),
            Usage::PageDescriptors => write!(f, "{address:x} {bytes} page_descriptors"),
            Usage::PerCpu => write!(f, "{address:x} {bytes} per_cpu"),
            Usage::Memory => write!(f, "{address:x} {bytes} memory"),
        }
    }
}

/// Parses a table and sorts it.
///
/// # Errors
/// A line is invalid.
pub fn parse(text: &str) -> Result<Vec<Range>, SymbolsError> {
    let range = |(number, text): (usize, &str)| {
        let line = number + 1;
        let wrong = || SymbolsError::Line { what: "the table of memory", line, text: text.into() };
        parse_line(text).ok_or_else(wrong)
    };
    let mut ranges = text.lines().enumerate().map(range).collect::<Result<Vec<_>, _>>()?;
    ranges.sort_by_key(|range| range.address);
    Ok(ranges)
}

fn parse_line(text: &str) -> Option<Range> {
    let mut words = text.splitn(6, ' ');
    let address = u64::from_str_radix(words.next()?, 16).ok()?;
    let bytes = words.next()?.parse().ok().filter(|&bytes: &u64| bytes > 0)?;
    address.checked_add(bytes - 1)?;
    let usage = match (words.next()?, words.next(), words.next(), words.next()) {
        ("page_cache", None, None, None) => Usage::PageCache,
        ("page_descriptors", None, None, None) => Usage::PageDescriptors,
        ("per_cpu", None, None, None) => Usage::PerCpu,
        ("memory", None, None, None) => Usage::Memory,
        ("slab", Some(element), Some(object), Some(cache)) if !cache.is_empty() => Usage::Slab {
            element_bytes: element.parse().ok().filter(|&bytes| bytes > 0)?,
            object_bytes: object.parse().ok()?,
            cache: cache.to_owned(),
        },
        _ => return None,
    };
    Some(Range { address, bytes, usage })
}

/// Types of the objects in caches that are not named after the type. The names are those passed to
/// `kmem_cache_create` by file systems and the kernel in Linux 5.10 to 6.12.
const TYPES: [(&str, &str); 55] = [
    ("anon_vma_chain", "anon_vma_chain"),
    ("bdev_cache", "bdev_inode"),
    ("bfq_queue", "bfq_queue"),
    ("biovec-max", "bio_vec"),
    ("blkdev_ioc", "io_context"),
    ("btrfs_delayed_data_ref", "btrfs_delayed_data_ref"),
    ("btrfs_delayed_node", "btrfs_delayed_node"),
    ("btrfs_inode", "btrfs_inode"),
    ("btrfs_ordered_extent", "btrfs_ordered_extent"),
    ("btrfs_path", "btrfs_path"),
    ("btrfs_trans_handle", "btrfs_trans_handle"),
    ("cred_jar", "cred"),
    ("dentry", "dentry"),
    ("ext2_inode_cache", "ext2_inode_info"),
    ("ext4_allocation_context", "ext4_allocation_context"),
    ("ext4_extent_status", "extent_status"),
    ("ext4_free_data", "ext4_free_data"),
    ("ext4_inode_cache", "ext4_inode_info"),
    ("ext4_io_end", "ext4_io_end"),
    ("ext4_prealloc_space", "ext4_prealloc_space"),
    ("f2fs_inode_cache", "f2fs_inode_info"),
    ("fat_inode_cache", "msdos_inode_info"),
    ("files_cache", "files_struct"),
    ("filp", "file"),
    ("fs_cache", "fs_struct"),
    ("fuse_inode", "fuse_inode"),
    ("hfs_inode_cache", "hfs_inode_info"),
    ("inode_cache", "inode"),
    ("jbd2_inode", "jbd2_inode"),
    ("jbd2_journal_handle", "jbd2_journal_handle"),
    ("jbd2_journal_head", "journal_head"),
    ("jbd2_transaction_s", "transaction_s"),
    ("kernfs_iattrs_cache", "kernfs_iattrs"),
    ("kernfs_node_cache", "kernfs_node"),
    ("maple_node", "maple_node"),
    ("minix_inode_cache", "minix_inode_info"),
    ("mnt_cache", "mount"),
    ("nat_entry", "nat_entry"),
    ("proc_dir_entry", "proc_dir_entry"),
    ("proc_inode_cache", "proc_inode"),
    ("radix_tree_node", "xa_node"),
    ("shmem_inode_cache", "shmem_inode_info"),
    ("sighand_cache", "sighand_struct"),
    ("signal_cache", "signal_struct"),
    ("sock_inode_cache", "socket_alloc"),
    ("xfs_bmbt_cur", "xfs_btree_cur"),
    ("xfs_bnobt_cur", "xfs_btree_cur"),
    ("xfs_buf_item", "xfs_buf_log_item"),
    ("xfs_da_state", "xfs_da_state"),
    ("xfs_efd_item", "xfs_efd_log_item"),
    ("xfs_efi_item", "xfs_efi_log_item"),
    ("xfs_icr", "xfs_icreate_item"),
    ("xfs_ili", "xfs_inode_log_item"),
    ("xfs_inobt_cur", "xfs_btree_cur"),
    ("xfs_log_ticket", "xlog_ticket"),
];

/// The name of the type of a cache's objects, from the table above; or the cache's own name, which
/// may be that of a type.
pub(crate) fn type_of_cache(cache: &str) -> &str {
    let found = TYPES.binary_search_by_key(&cache, |&(name, _)| name);
    found.map_or(cache, |index| TYPES[index].1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_come_back() {
        let slab = Usage::Slab { element_bytes: 192, object_bytes: 184, cache: "a b".to_owned() };
        let ranges = vec![
            Range { address: 0xffff_8880_0000_1000, bytes: 4096, usage: slab },
            Range { address: 0xffff_8880_0000_2000, bytes: 8192, usage: Usage::PageCache },
            Range { address: 0xffff_8880_0000_4000, bytes: 8192, usage: Usage::Memory },
            Range { address: 0xffff_8880_0000_9000, bytes: 8192, usage: Usage::PerCpu },
            Range { address: 0xffff_ea00_0000_0000, bytes: 64, usage: Usage::PageDescriptors },
        ];
        let text: String = ranges.iter().rev().map(|range| format!("{range}\n")).collect();
        assert_eq!(parse(&text).unwrap(), ranges);
        for wrong in ["x 1 page_cache", "1 0 page_cache", "1 1 slab", "1 1 slab 0 1 a", "1 1 x"] {
            let error = parse(&format!("1 1 page_cache\n{wrong}")).unwrap_err();
            assert!(matches!(error, SymbolsError::Line { line: 2, .. }), "{wrong}");
        }
    }

    #[test]
    fn types_of_caches_are_sorted_and_found() {
        assert!(TYPES.is_sorted());
        assert_eq!(type_of_cache("filp"), "file");
        assert_eq!(type_of_cache("xfs_inode"), "xfs_inode");
    }
}
