//! A thin layer over system calls that no safe wrapper covers.
//!
//! Loop and block device requests, `cachestat`, `mincore` and file mappings, the private mount
//! namespace, and the fork that starts the guardian. Each function makes one call and turns the
//! kernel's answer into a value or an [`io::Error`]; there is no policy here.
#![expect(unsafe_code, reason = "these system calls have no safe wrapper")]

use std::fs::File;
use std::io;
use std::mem::{MaybeUninit, size_of};
use std::ops::{Range, RangeInclusive};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::ptr;

mod local_time;
mod processes;
mod refused;
mod signals;
mod trace;

pub use local_time::local_time_text;
pub use processes::{
    ProcessUsage, close_all_but, die_with_parent, duplicate_onto, fork, fork_blocking_signals,
    on_own_descriptors, processor_time_of, unshare_mounts, unshare_user_and_mounts,
    unshare_working_directory, wait_with_usage, with_own_descriptors,
};
pub use refused::refused_call;
pub use signals::{block_signals, end_by, leave_signals_to, stop_then_end};
pub use trace::{
    PendingCall, Registers, Traced, go_on, pending_call, read_memory, stay_stopped, step_through,
    stop_at, trace, wait_for_traced,
};

const LOOP_CONFIGURE: libc::Ioctl = 0x4C0A;
const LOOP_CTL_GET_FREE: libc::Ioctl = 0x4C82;
const LOOP_GET_STATUS64: libc::Ioctl = 0x4C05;
const LOOP_SET_CAPACITY: libc::Ioctl = 0x4C07;
const BLKFLSBUF: libc::Ioctl = 0x1261;
const BLKDISCARD: libc::Ioctl = 0x1277;
const BLKGETSIZE64: libc::Ioctl = 0x8008_1272;
const BTRFS_IOC_TREE_SEARCH_V2: libc::Ioctl = 0xC070_9411;
const FS_IOC_FIEMAP: libc::Ioctl = 0xC020_660B_u32 as libc::Ioctl;
const FIEMAP_FLAG_SYNC: u32 = 1;
const BLKSSZGET: libc::Ioctl = 0x1268;
const BLKPBSZGET: libc::Ioctl = 0x127B;
const LO_FLAGS_AUTOCLEAR: u32 = 4;
const LO_FLAGS_DIRECT_IO: u32 = 16;
/// The same on every architecture, since the call was added after the tables were unified.
const SYS_CACHESTAT: libc::c_long = 451;

/// `struct loop_info64` of linux/loop.h.
#[repr(C)]
struct LoopInfo64 {
    device: u64,
    inode: u64,
    rdevice: u64,
    offset: u64,
    size_limit: u64,
    number: u32,
    encrypt_type: u32,
    encrypt_key_size: u32,
    flags: u32,
    file_name: [u8; 64],
    crypt_name: [u8; 64],
    encrypt_key: [u8; 32],
    init: [u64; 2],
}

/// `struct loop_config` of linux/loop.h.
#[repr(C)]
struct LoopConfig {
    fd: u32,
    block_size: u32,
    info: LoopInfo64,
    reserved: [u64; 8],
}

const _: () = assert!(size_of::<LoopInfo64>() == 232 && size_of::<LoopConfig>() == 304);

/// `struct fiemap_extent` of linux/fiemap.h; lengths and offsets are in bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct RawExtent {
    /// Offset in the file, in bytes.
    pub logical: u64,
    /// Offset on the device, in bytes.
    pub physical: u64,
    /// Length in bytes.
    pub length: u64,
    reserved_64: [u64; 2],
    /// `FIEMAP_EXTENT_...`.
    pub flags: u32,
    reserved: [u32; 3],
}

/// `struct fiemap` of linux/fiemap.h, followed by space for extents.
#[repr(C)]
struct Fiemap {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
    extents: [RawExtent; Self::EXTENTS],
}

impl Fiemap {
    /// Small enough for the stack: a few pages.
    const EXTENTS: usize = 128;
}

const _: () = assert!(size_of::<RawExtent>() == 56 && size_of::<Fiemap>() == 32 + 128 * 56);

/// `struct btrfs_ioctl_search_args_v2` of linux/btrfs.h, with space for the results.
#[repr(C)]
struct BtrfsSearch {
    tree: u64,
    object_min: u64,
    object_max: u64,
    offset_min: u64,
    offset_max: u64,
    transaction_min: u64,
    transaction_max: u64,
    type_min: u32,
    type_max: u32,
    items: u32,
    reserved_32: u32,
    reserved: [u64; 4],
    found_bytes: u64,
    found: [u64; Self::FOUND_WORDS],
}

impl BtrfsSearch {
    const FOUND_WORDS: usize = 1024;
    /// `struct btrfs_ioctl_search_header`, which precedes each item.
    const HEADER_BYTES: usize = 32;
}

const _: () = assert!(size_of::<BtrfsSearch>() == 112 + 8 * BtrfsSearch::FOUND_WORDS);

/// What `cachestat(2)` counts for a file, in pages.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct CacheStat {
    /// Pages in the page cache.
    pub cached: u64,
    /// How many of these are dirty.
    pub dirty: u64,
    /// How many of these are being written back.
    pub writeback: u64,
    /// Pages that used to be in it.
    pub evicted: u64,
    /// How many of these would come back as part of the working set.
    pub recently_evicted: u64,
}

fn checked(result: libc::c_int) -> io::Result<u32> {
    u32::try_from(result).map_err(|_| io::Error::last_os_error())
}

/// The number of a loop device that was free a moment ago; another process may take it first.
pub fn loop_get_free(control: &File) -> io::Result<u32> {
    // SAFETY: the request takes no argument and the descriptor is open.
    checked(unsafe { libc::ioctl(control.as_raw_fd(), LOOP_CTL_GET_FREE) })
}

/// Attaches `image` to the loop device, requesting direct I/O, and detaches it when its last user
/// is gone.
pub fn loop_configure(device: &File, image: &File) -> io::Result<()> {
    // SAFETY: every field is an integer or an array of integers, for which zero is valid.
    let mut config: LoopConfig = unsafe { MaybeUninit::zeroed().assume_init() };
    config.fd = image.as_raw_fd().cast_unsigned();
    config.info.flags = LO_FLAGS_AUTOCLEAR | LO_FLAGS_DIRECT_IO;
    // SAFETY: the kernel only reads `config`, whose layout is the kernel's (asserted above).
    checked(unsafe { libc::ioctl(device.as_raw_fd(), LOOP_CONFIGURE, &raw const config) }).map(drop)
}

/// Makes the loop device as large as its image is now.
pub fn loop_set_capacity(device: &File) -> io::Result<()> {
    // SAFETY: the request takes no argument and the descriptor is open.
    checked(unsafe { libc::ioctl(device.as_raw_fd(), LOOP_SET_CAPACITY) }).map(drop)
}

/// Device and inode numbers of a loop device's image, whatever its name resolves to.
pub fn loop_image(device: &File) -> io::Result<(u64, u64)> {
    // SAFETY: every field is an integer or an array of integers, for which zero is valid.
    let mut info: LoopInfo64 = unsafe { MaybeUninit::zeroed().assume_init() };
    // SAFETY: the kernel writes one `loop_info64` to this address (layout asserted above).
    let status = unsafe { libc::ioctl(device.as_raw_fd(), LOOP_GET_STATUS64, &raw mut info) };
    checked(status).map(|_| (info.device, info.inode))
}

/// How much memory the kernel can use, in bytes.
pub fn memory_bytes() -> io::Result<u64> {
    let mut info = MaybeUninit::<libc::sysinfo>::zeroed();
    // SAFETY: the call writes at most one `struct sysinfo` to this address.
    checked(unsafe { libc::sysinfo(info.as_mut_ptr()) })?;
    // SAFETY: zeros are a valid `struct sysinfo`, and the call has filled it.
    let info = unsafe { info.assume_init() };
    Ok(info.totalram.saturating_mul(u64::from(info.mem_unit.max(1))))
}

/// The size of a block device in bytes.
pub fn block_device_size_bytes(device: impl AsFd) -> io::Result<u64> {
    let mut size_bytes = 0_u64;
    // SAFETY: the request writes one u64 to this address.
    checked(unsafe { libc::ioctl(device.as_fd().as_raw_fd(), BLKGETSIZE64, &raw mut size_bytes) })?;
    Ok(size_bytes)
}

/// The logical and the physical block size of a block device, in bytes.
pub fn block_bytes(device: &File) -> io::Result<(u32, u32)> {
    let mut logical: libc::c_int = 0;
    let mut physical: libc::c_uint = 0;
    // SAFETY: the request writes one int to this address.
    checked(unsafe { libc::ioctl(device.as_raw_fd(), BLKSSZGET, &raw mut logical) })?;
    // SAFETY: the request writes one unsigned int to this address.
    checked(unsafe { libc::ioctl(device.as_raw_fd(), BLKPBSZGET, &raw mut physical) })?;
    Ok((logical.cast_unsigned(), physical))
}

/// Tells a block device that the first `size_bytes` are no longer needed.
pub fn block_discard(device: &File, size_bytes: u64) -> io::Result<()> {
    let range = [0_u64, size_bytes];
    // SAFETY: the request reads two u64 from this address.
    checked(unsafe { libc::ioctl(device.as_raw_fd(), BLKDISCARD, &raw const range) }).map(drop)
}

/// Writes back and drops the block device's own page cache.
pub fn block_flush_buffers(device: impl AsFd) -> io::Result<()> {
    // SAFETY: the request ignores its argument.
    checked(unsafe { libc::ioctl(device.as_fd().as_raw_fd(), BLKFLSBUF, 0) }).map(drop)
}

/// Counts pages of the file in the page cache, from byte `start` on for `length_bytes`, where 0
/// means up to the end of the file; ENOSYS before Linux 6.5.
pub fn cachestat(file: impl AsFd, start: u64, length_bytes: u64) -> io::Result<CacheStat> {
    let range = [start, length_bytes];
    let mut stat = CacheStat::default();
    let fd = file.as_fd().as_raw_fd();
    // SAFETY: the kernel reads two u64 from `range` and writes five to `stat`.
    let result =
        unsafe { libc::syscall(SYS_CACHESTAT, fd, &raw const range, &raw mut stat, 0_u32) };
    if result == 0 { Ok(stat) } else { Err(io::Error::last_os_error()) }
}

/// A mapping of part of a file that is never accessed: the kernel has no page table entries for it
/// except those requested with [`FileMapping::populate`].
#[derive(Debug)]
pub struct FileMapping {
    /// The address as an integer, which makes the type `Send` and `Sync`.
    address: usize,
    length_bytes: usize,
}

impl FileMapping {
    /// Maps `length_bytes` (not 0) of the file from `start`, a multiple of the page size, without
    /// any access rights.
    pub fn new(file: impl AsFd, start: u64, length_bytes: u64) -> io::Result<Self> {
        Self::mapped(file, start, length_bytes, libc::PROT_NONE)
    }

    /// Maps it for [`FileMapping::populate`]. The mapping is advised to be read in random order, so
    /// that the kernel does no read-ahead, and does not consider its pages used when it is unmapped
    /// (`vma_has_recency` in `linux/mm_inline.h`).
    pub fn to_populate(file: impl AsFd, start: u64, length_bytes: u64) -> io::Result<Self> {
        let map = Self::mapped(file, start, length_bytes, libc::PROT_READ)?;
        map.advise(0..map.pages(), libc::MADV_RANDOM)?;
        Ok(map)
    }

    fn mapped(
        file: impl AsFd,
        start: u64,
        length_bytes: u64,
        protection: libc::c_int,
    ) -> io::Result<Self> {
        let length_bytes = usize::try_from(length_bytes).map_err(io::Error::other)?;
        let (fd, start) = (file.as_fd().as_raw_fd(), start.cast_signed());
        let flags = libc::MAP_SHARED;
        // SAFETY: a new mapping at an address chosen by the kernel does not affect existing memory.
        let map =
            unsafe { libc::mmap(ptr::null_mut(), length_bytes, protection, flags, fd, start) };
        if map == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Self { address: map.expose_provenance(), length_bytes })
    }

    /// Finds out which pages of the mapping, from `first` on, one for each byte of `answers`, are
    /// in the page cache and up to date: the lowest bit of each byte says so.
    pub fn mincore(&self, first: usize, answers: &mut [u8]) -> io::Result<()> {
        let (start, length_bytes) = self.part(first..first.saturating_add(answers.len()));
        // SAFETY: the pages are in the mapping, and `answers` has one byte for each of them.
        checked(unsafe { libc::mincore(start, length_bytes, answers.as_mut_ptr()) }).map(drop)
    }

    /// Has the kernel map these pages, reading those that are not in the page cache; EFAULT for
    /// pages beyond the end of the file.
    pub fn populate(&self, pages: Range<usize>) -> io::Result<()> {
        self.advise(pages, libc::MADV_POPULATE_READ)
    }

    /// The page number of its first page in the address space of this process.
    pub fn first_page(&self) -> usize {
        self.address / rustix::param::page_size()
    }

    fn advise(&self, pages: Range<usize>, advice: libc::c_int) -> io::Result<()> {
        let (start, length_bytes) = self.part(pages);
        // SAFETY: the part is in the mapping, and neither of the two kinds of advice in use changes
        // the contents of memory.
        checked(unsafe { libc::madvise(start, length_bytes, advice) }).map(drop)
    }

    fn pages(&self) -> usize {
        self.length_bytes.div_ceil(rustix::param::page_size())
    }

    /// The address and the length in bytes of some of its pages.
    fn part(&self, pages: Range<usize>) -> (*mut libc::c_void, usize) {
        let of = self.pages();
        assert!(pages.start <= pages.end && pages.end <= of, "{pages:?} of {of} pages");
        let page_bytes = rustix::param::page_size();
        let start = ptr::with_exposed_provenance_mut(self.address + pages.start * page_bytes);
        (start, pages.len() * page_bytes)
    }
}

impl Drop for FileMapping {
    fn drop(&mut self) {
        let start = ptr::with_exposed_provenance_mut(self.address);
        // SAFETY: the mapping is ours, and there are never any references to its memory.
        unsafe { libc::munmap(start, self.length_bytes) };
    }
}

/// Some of the file's extents from byte `start` on, after writing back dirty data; empty if there
/// are no more.
pub fn fiemap(file: impl AsFd, start: u64) -> io::Result<Vec<RawExtent>> {
    let mut map = Fiemap {
        start,
        // The kernel rejects a range that ends beyond the greatest offset.
        length: u64::MAX - start,
        flags: FIEMAP_FLAG_SYNC,
        mapped_extents: 0,
        extent_count: 128,
        reserved: 0,
        extents: [RawExtent::default(); Fiemap::EXTENTS],
    };
    // SAFETY: the layout is the kernel's (asserted above), and the kernel writes at most
    // `extent_count` extents.
    checked(unsafe { libc::ioctl(file.as_fd().as_raw_fd(), FS_IOC_FIEMAP, &raw mut map) })?;
    let mapped = usize::try_from(map.mapped_extents).map_err(io::Error::other)?;
    Ok(map.extents[..mapped.min(Fiemap::EXTENTS)].to_vec())
}

/// Starts writing back the file's dirty pages, without waiting and without flushing the device.
pub fn write_out(file: &File) -> io::Result<()> {
    let flags = libc::SYNC_FILE_RANGE_WRITE;
    // SAFETY: all arguments are numbers, and the descriptor is open.
    checked(unsafe { libc::sync_file_range(file.as_raw_fd(), 0, 0, flags) }).map(drop)
}

/// A key in a btrfs tree. Keys are ordered by their fields in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BtrfsKey {
    /// The object's ID.
    pub object: u64,
    /// The item's type.
    pub kind: u32,
    /// What it means depends on the type.
    pub offset: u64,
}

/// Some of the items with this object and type in a tree of the btrfs that the file is on, from
/// `offset_min` on, with their offsets; empty if there are no more.
pub fn btrfs_items(
    file: impl AsFd,
    tree: u64,
    object: u64,
    kind: u32,
    offset_min: u64,
) -> io::Result<Vec<(u64, Vec<u8>)>> {
    let key = |offset| BtrfsKey { object, kind, offset };
    let found = btrfs_search(file, tree, key(offset_min)..=key(u64::MAX))?;
    Ok(found.into_iter().map(|(key, item)| (key.offset, item)).collect())
}

/// Some of the items within a range of keys in a tree of the btrfs that the file is on; empty if
/// there are no more. Tree 0 means the one that the file is in.
pub fn btrfs_search(
    file: impl AsFd,
    tree: u64,
    keys: RangeInclusive<BtrfsKey>,
) -> io::Result<Vec<(BtrfsKey, Vec<u8>)>> {
    let (min, max) = keys.into_inner();
    let mut search = BtrfsSearch {
        tree,
        object_min: min.object,
        object_max: max.object,
        offset_min: min.offset,
        offset_max: max.offset,
        transaction_min: 0,
        transaction_max: u64::MAX,
        type_min: min.kind,
        type_max: max.kind,
        items: u32::MAX,
        reserved_32: 0,
        reserved: [0; 4],
        found_bytes: (8 * BtrfsSearch::FOUND_WORDS) as u64,
        found: [0; BtrfsSearch::FOUND_WORDS],
    };
    // SAFETY: the layout is the kernel's (asserted above), and the kernel writes at most
    // `found_bytes` after it.
    checked(unsafe {
        libc::ioctl(file.as_fd().as_raw_fd(), BTRFS_IOC_TREE_SEARCH_V2, &raw mut search)
    })?;
    let bytes: Vec<u8> = search.found.iter().flat_map(|word| word.to_ne_bytes()).collect();
    let mut rest = &bytes[..];
    let mut items = Vec::new();
    for _ in 0..search.items {
        let Some((header, behind)) = rest.split_first_chunk::<{ BtrfsSearch::HEADER_BYTES }>()
        else {
            break;
        };
        // Transaction, object, offset; then type and length, 32 bits each.
        let word = |at: usize| u64::from_ne_bytes(std::array::from_fn(|byte| header[at + byte]));
        let half = |at: usize| u32::from_ne_bytes(std::array::from_fn(|byte| header[at + byte]));
        let length = usize::try_from(half(28)).map_err(io::Error::other)?;
        let Some((item, behind)) = behind.split_at_checked(length) else { break };
        let key = BtrfsKey { object: word(8), kind: half(24), offset: word(16) };
        items.push((key, item.to_vec()));
        rest = behind;
    }
    Ok(items)
}

/// Tests whether an `io_uring` can be created, by creating the smallest possible one and closing
/// it.
pub fn try_io_uring() -> io::Result<()> {
    /// `struct io_uring_params` of `linux/io_uring.h`.
    const PARAMETERS_BYTES: usize = 120;
    let mut parameters = [0_u64; PARAMETERS_BYTES / size_of::<u64>()];
    // SAFETY: the kernel reads and writes `parameters`, which has the size of its structure.
    let fd = unsafe { libc::syscall(libc::SYS_io_uring_setup, 1_u32, parameters.as_mut_ptr()) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    let fd = i32::try_from(fd).map_err(io::Error::other)?;
    // SAFETY: the kernel has just returned this descriptor, and nothing else owns it.
    drop(unsafe { OwnedFd::from_raw_fd(fd) });
    Ok(())
}
