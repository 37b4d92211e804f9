//! The file system that the process has attached.

use std::ffi::{c_int, c_void};
use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use densefs_process::{DenseFs, Errno, flags};

use crate::arguments::number;

/// The device number of all files, unless it is set. No real device has it.
const DEVICE: u64 = 0xdf5;

/// What the calls of the process are about. In one cache line, as calls that tell attributes need
/// both.
#[repr(align(64))]
struct Attached {
    /// The [`DenseFs`] that the process has attached, in the form of [`DenseFs::into_raw`]. A
    /// pointer to a `DenseFs` would cost another cache line per call. One that was detached stays
    /// in memory, since another thread may be in a call.
    files: AtomicPtr<c_void>,
    /// The device number of all its files.
    device: AtomicU64,
}

static ATTACHED: Attached =
    Attached { files: AtomicPtr::new(ptr::null_mut()), device: AtomicU64::new(DEVICE) };

/// The file system that the process has attached, on which all functions of this library work. It
/// is valid for as long as the process lives, also if it is detached meanwhile.
///
/// # Errors
/// [`Errno::NXIO`] if none is attached.
#[inline(always)]
pub fn attached() -> Result<ManuallyDrop<DenseFs>, Errno> {
    let files = ATTACHED.files.load(Ordering::Acquire);
    if files.is_null() {
        return Err(Errno::NXIO);
    }
    // SAFETY: `attach` made it with `into_raw`, and nobody drops it.
    Ok(ManuallyDrop::new(unsafe { DenseFs::from_raw(files) }))
}

/// Makes the functions of this library work on this file system, as `dfs_attach` does with one that
/// it attaches itself.
///
/// # Errors
/// [`Errno::BUSY`] if they work on one already.
pub fn attach(files: DenseFs) -> Result<(), Errno> {
    let files = files.into_raw();
    let (was, is) = (Ordering::AcqRel, Ordering::Relaxed);
    if ATTACHED.files.compare_exchange(ptr::null_mut(), files, was, is).is_ok() {
        return Ok(());
    }
    // SAFETY: nobody else has this pointer, which was just made.
    drop(unsafe { DenseFs::from_raw(files) });
    Err(Errno::BUSY)
}

/// Closes everything that is open, and detaches the file system.
pub(crate) fn detach() -> Result<(), Errno> {
    attached()?.close_all()?;
    ATTACHED.files.store(ptr::null_mut(), Ordering::Release);
    Ok(())
}

/// The device number that all files have in what the functions of this library tell of them.
#[inline(always)]
pub(crate) fn device() -> u64 {
    ATTACHED.device.load(Ordering::Relaxed)
}

/// Sets that number, as `st_dev` is to have it. To be called at the start: programs take files with
/// different device numbers for different files.
pub fn set_device(device: u64) {
    ATTACHED.device.store(device, Ordering::Relaxed);
}

/// The descriptor of a file that was not opened with `O_PATH`.
pub(crate) fn usable(descriptor: c_int) -> Result<u32, Errno> {
    let file = number(descriptor)?;
    let is_path = attached()?.flags(file)? & flags::PATH != 0;
    if is_path { Err(Errno::BADF) } else { Ok(file) }
}
