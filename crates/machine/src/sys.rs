//! The thin edge to system calls that no safe wrapper covers.
//!
//! Everything unsafe in this crate is here: loop and block device requests, `cachestat` and
//! `mincore`, the private mount namespace, and the fork that starts the guardian. Each function
//! does one call and turns the kernel's answer into a value or an [`io::Error`]; no policy.
#![expect(unsafe_code, reason = "these system calls have no safe wrapper")]

use std::fs::File;
use std::io;
use std::mem::{MaybeUninit, size_of};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::ptr;

use rustix::process::{Pid, Signal};

const LOOP_CONFIGURE: libc::Ioctl = 0x4C0A;
const LOOP_CTL_GET_FREE: libc::Ioctl = 0x4C82;
const BLKFLSBUF: libc::Ioctl = 0x1261;
const BLKDISCARD: libc::Ioctl = 0x1277;
const BLKGETSIZE64: libc::Ioctl = 0x8008_1272;
const LO_FLAGS_AUTOCLEAR: u32 = 4;
const LO_FLAGS_DIRECT_IO: u32 = 16;
/// One number on every architecture: the call came after the tables were unified.
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

/// What `cachestat(2)` counts for a file, in pages.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CacheStat {
    pub(crate) cached: u64,
    pub(crate) dirty: u64,
    pub(crate) writeback: u64,
    pub(crate) evicted: u64,
    pub(crate) recently_evicted: u64,
}

fn checked(result: libc::c_int) -> io::Result<u32> {
    u32::try_from(result).map_err(|_| io::Error::last_os_error())
}

/// The number of a loop device that was free a moment ago; somebody else may take it first.
pub(crate) fn loop_get_free(control: &File) -> io::Result<u32> {
    // SAFETY: the request takes no argument and the descriptor is open.
    checked(unsafe { libc::ioctl(control.as_raw_fd(), LOOP_CTL_GET_FREE) })
}

/// Binds `image` to the loop device: direct I/O wanted, and the binding ends with its last user.
pub(crate) fn loop_configure(device: &File, image: &File) -> io::Result<()> {
    // SAFETY: every field is an integer or an array of integers, for which zero is a value.
    let mut config: LoopConfig = unsafe { MaybeUninit::zeroed().assume_init() };
    config.fd = image.as_raw_fd().cast_unsigned();
    config.info.flags = LO_FLAGS_AUTOCLEAR | LO_FLAGS_DIRECT_IO;
    // SAFETY: the kernel only reads `config`, whose layout is the kernel's (asserted above).
    checked(unsafe { libc::ioctl(device.as_raw_fd(), LOOP_CONFIGURE, &raw const config) }).map(drop)
}

/// The size of a block device in bytes.
pub(crate) fn block_device_size_bytes(device: &File) -> io::Result<u64> {
    let mut size_bytes = 0_u64;
    // SAFETY: the request writes one u64 to the address given.
    checked(unsafe { libc::ioctl(device.as_raw_fd(), BLKGETSIZE64, &raw mut size_bytes) })?;
    Ok(size_bytes)
}

/// Tells a block device that the first `size_bytes` are no longer needed.
pub(crate) fn block_discard(device: &File, size_bytes: u64) -> io::Result<()> {
    let range = [0_u64, size_bytes];
    // SAFETY: the request reads two u64 from the address given.
    checked(unsafe { libc::ioctl(device.as_raw_fd(), BLKDISCARD, &raw const range) }).map(drop)
}

/// Writes and drops what the page cache holds of the block device itself.
pub(crate) fn block_flush_buffers(device: &File) -> io::Result<()> {
    // SAFETY: the request takes no argument that is looked at.
    checked(unsafe { libc::ioctl(device.as_raw_fd(), BLKFLSBUF, 0) }).map(drop)
}

/// Counts the pages of a file's first `length_bytes` in the page cache, of all of it where that is
/// 0; ENOSYS before Linux 6.5.
pub(crate) fn cachestat(file: impl AsFd, length_bytes: u64) -> io::Result<CacheStat> {
    let range = [0_u64, length_bytes];
    let mut stat = CacheStat::default();
    let fd = file.as_fd().as_raw_fd();
    // SAFETY: the kernel reads two u64 from `range` and writes five to `stat`.
    let result =
        unsafe { libc::syscall(SYS_CACHESTAT, fd, &raw const range, &raw mut stat, 0_u32) };
    if result == 0 { Ok(stat) } else { Err(io::Error::last_os_error()) }
}

/// Counts the pages of the file's first `size_bytes` that are in the page cache.
pub(crate) fn mincore_resident_pages(file: impl AsFd, size_bytes: u64) -> io::Result<u64> {
    /// Pieces keep the vector small: 1 GiB of file needs 256 KiB of it.
    const PIECE_BYTES: u64 = 1 << 30;
    let page_bytes = rustix::param::page_size() as u64;
    let mut resident = 0;
    let mut offset = 0;
    while offset < size_bytes {
        let length = PIECE_BYTES.min(size_bytes - offset);
        let length_pages =
            usize::try_from(length.div_ceil(page_bytes)).map_err(io::Error::other)?;
        let length = usize::try_from(length).map_err(io::Error::other)?;
        let start = offset.cast_signed();
        let fd = file.as_fd().as_raw_fd();
        // SAFETY: a new mapping at an address of the kernel's choice touches no memory of ours.
        let map = unsafe {
            libc::mmap(ptr::null_mut(), length, libc::PROT_READ, libc::MAP_SHARED, fd, start)
        };
        if map == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let mut pages = vec![0_u8; length_pages];
        // SAFETY: `map` is `length` bytes long and `pages` has one byte for each of its pages.
        let result = unsafe { libc::mincore(map, length, pages.as_mut_ptr()) };
        let answer = checked(result);
        // SAFETY: the mapping was made above and nothing refers to it.
        unsafe { libc::munmap(map, length) };
        answer?;
        resident += pages.iter().filter(|&&page| page & 1 == 1).count() as u64;
        offset += PIECE_BYTES;
    }
    Ok(resident)
}

/// Gives this process mounts of its own. The caller has made sure that it has one thread.
pub(crate) fn unshare_mounts() -> io::Result<()> {
    // SAFETY: only the table of descriptors makes this call unsafe, and it stays shared.
    unsafe { rustix::thread::unshare_unsafe(rustix::thread::UnshareFlags::NEWNS) }?;
    Ok(())
}

/// Forks; the child runs `body` with every signal blocked and exits with what it returns.
///
/// The caller has made sure that the process has one thread, so that no lock is held by a thread
/// that the child does not have.
pub(crate) fn fork_blocking_signals(body: impl FnOnce() -> i32) -> io::Result<Pid> {
    let mut all = MaybeUninit::uninit();
    let mut before = MaybeUninit::uninit();
    // SAFETY: both sets live on this stack; sigfillset initialises `all`, pthread_sigmask `before`.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
    }
    // SAFETY: with one thread, the child may do whatever the parent may.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        let status = catch_unwind(AssertUnwindSafe(body)).unwrap_or(101);
        // SAFETY: leaves at once; the parent's buffers and exit handlers are not the child's.
        unsafe { libc::_exit(status) };
    }
    let error = io::Error::last_os_error();
    // SAFETY: `before` was initialised by the first call.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), ptr::null_mut()) };
    Pid::from_raw(pid).filter(|_| pid > 0).ok_or(error)
}

/// Closes every descriptor from 3 up but those in `kept`.
pub(crate) fn close_all_but(kept: &[BorrowedFd<'_>]) {
    let mut numbers: Vec<u32> = kept.iter().map(|fd| fd.as_raw_fd().cast_unsigned()).collect();
    numbers.sort_unstable();
    let mut first = 3;
    for number in numbers.into_iter().chain([u32::MAX]) {
        if first < number {
            // SAFETY: only the freshly forked guardian calls this, and it uses none of these.
            unsafe { libc::close_range(first, number - 1, 0) };
        }
        first = number.saturating_add(1).max(first);
    }
}

/// Puts `file` at the number `target`, as `dup2(2)`, without close-on-exec.
pub(crate) fn duplicate_onto(file: impl AsFd, target: i32) -> io::Result<()> {
    // SAFETY: only the freshly forked guardian calls this, on numbers that nothing there owns.
    checked(unsafe { libc::dup2(file.as_fd().as_raw_fd(), target) }).map(drop)
}

/// Makes the command's process die when the thread that starts it does.
pub(crate) fn die_with_parent(command: &mut Command) {
    let parent = rustix::process::getpid();
    let before_exec = move || {
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        // The parent may have died before the line above.
        if rustix::process::getppid() == Some(parent) {
            Ok(())
        } else {
            Err(io::ErrorKind::Interrupted.into())
        }
    };
    // SAFETY: the closure makes two system calls, allocates nothing and takes no lock.
    unsafe { command.pre_exec(before_exec) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forked_child_exits_with_its_bodys_value() {
        // The body takes no lock, so the threads of the test harness do no harm.
        let pid = fork_blocking_signals(|| 7).expect("fork is permitted");
        let (_, status) =
            rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::empty())
                .expect("the child is ours")
                .expect("waiting was blocking");
        assert_eq!(status.exit_status(), Some(7));
    }
}
