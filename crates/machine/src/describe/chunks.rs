//! Where btrfs places its address space on its device.
//!
//! The location that btrfs reports for an extent is a logical address, which chunks map to devices.
//! The chunk tree holds the mapping (`struct btrfs_chunk` of `linux/btrfs_tree.h`); searching it
//! requires root.

use std::fs::File;
use std::io;

/// `BTRFS_CHUNK_TREE_OBJECTID`.
const CHUNK_TREE: u64 = 3;
/// `BTRFS_FIRST_CHUNK_TREE_OBJECTID`.
const FIRST_CHUNK_TREE: u64 = 256;
/// `BTRFS_CHUNK_ITEM_KEY`.
const CHUNK_ITEM: u32 = 228;
/// `BTRFS_BLOCK_GROUP_RAID0`, `RAID10`, `RAID5` and `RAID6`: the profiles that stripe chunks.
const STRIPED: u64 = 1 << 3 | 1 << 6 | 1 << 7 | 1 << 8;

/// A range of a btrfs address space that is contiguous on its device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Start in the logical address space.
    pub address_bytes: u64,
    /// Start on the device; of the first copy if there are several.
    pub device_offset_bytes: u64,
    /// Its length.
    pub length_bytes: u64,
}

/// The chunks of the btrfs that `file` is stored on, by address.
///
/// # Errors
/// What the kernel reports: a missing permission, or a file that is not on btrfs. And
/// [`io::ErrorKind::Unsupported`] if chunks are striped over several devices.
pub fn chunks(file: &File) -> io::Result<Vec<Chunk>> {
    let mut all: Vec<Chunk> = Vec::new();
    loop {
        let min = all.last().map_or(0, |last| last.address_bytes + 1);
        let found = system_calls::btrfs_items(file, CHUNK_TREE, FIRST_CHUNK_TREE, CHUNK_ITEM, min)?;
        if found.is_empty() {
            return Ok(all);
        }
        for (address_bytes, item) in found {
            all.push(chunk(address_bytes, &item)?);
        }
    }
}

/// Reads `struct btrfs_chunk`.
fn chunk(address_bytes: u64, item: &[u8]) -> io::Result<Chunk> {
    let number = |at: usize| {
        let bytes = item.get(at..).and_then(|rest| rest.first_chunk());
        bytes.map(|bytes| u64::from_le_bytes(*bytes)).ok_or(io::ErrorKind::InvalidData)
    };
    let profile = number(24)?;
    if profile & STRIPED != 0 {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let (length_bytes, device_offset_bytes) = (number(0)?, number(56)?);
    Ok(Chunk { address_bytes, device_offset_bytes, length_bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `struct btrfs_chunk` with one stripe.
    fn item(profile: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        for word in [8 << 20, 2, 65_536, profile, 0, 1 << 12 | 1 << 32, 1, 13 << 20, 0, 0] {
            bytes.extend(u64::to_le_bytes(word));
        }
        bytes
    }

    #[test]
    fn a_chunk_is_read_as_the_kernel_lays_it_out() {
        let found = chunk(22 << 20, &item(1)).expect("it is whole");
        let expected =
            Chunk { address_bytes: 22 << 20, device_offset_bytes: 13 << 20, length_bytes: 8 << 20 };
        assert_eq!(found, expected);
        let striped = chunk(0, &item(1 | 1 << 3)).expect_err("it lies in strips");
        assert_eq!(striped.kind(), io::ErrorKind::Unsupported);
        assert!(chunk(0, &item(1)[..60]).is_err(), "it is cut off");
    }

    #[test]
    fn what_is_no_btrfs_has_no_chunks() {
        let file = File::open("/proc/self/status").expect("/proc is mounted");
        assert!(chunks(&file).is_err());
    }
}
