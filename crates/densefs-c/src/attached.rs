//! The file system that the process has attached.

use std::ffi::{c_char, c_int, c_void};
use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use densefs_process::{DenseFs, Errno, flags};

use crate::answer::{fail, result};
use crate::arguments::{number, path};

/// The [`DenseFs`] that the process has attached, in the form of [`DenseFs::into_raw`]. A pointer
/// to a `DenseFs` would cost another cache line per call. One that was detached stays in memory,
/// since another thread may be in a call.
static ATTACHED: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// The file system that the process has attached.
#[inline(always)]
pub(crate) fn attached() -> Result<ManuallyDrop<DenseFs>, Errno> {
    let files = ATTACHED.load(Ordering::Acquire);
    if files.is_null() {
        return Err(Errno::NXIO);
    }
    // SAFETY: `dfs_attach` made it with `into_raw`, and nobody drops it.
    Ok(ManuallyDrop::new(unsafe { DenseFs::from_raw(files) }))
}

/// The descriptor of a file that was not opened with `O_PATH`.
pub(crate) fn usable(descriptor: c_int) -> Result<u32, Errno> {
    let file = number(descriptor)?;
    let is_path = attached()?.flags(file)? & flags::PATH != 0;
    if is_path { Err(Errno::BADF) } else { Ok(file) }
}

/// Attaches an arena.
///
/// # Safety
/// `arena` must be a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dfs_attach(arena: *const c_char, flags: c_int) -> c_int {
    // SAFETY: guaranteed by the caller.
    let arena = match unsafe { path(arena) } {
        Ok(arena) if flags == 0 => arena,
        Ok(_) => return fail(libc::EINVAL),
        Err(why) => return fail(why.0),
    };
    if !ATTACHED.load(Ordering::Relaxed).is_null() {
        return fail(libc::EBUSY);
    }
    match DenseFs::attach(arena) {
        Ok(files) => {
            let files = files.into_raw();
            let (was, is) = (Ordering::AcqRel, Ordering::Relaxed);
            if ATTACHED.compare_exchange(ptr::null_mut(), files, was, is).is_ok() {
                return 0;
            }
            // SAFETY: another thread was faster, so nobody else has this pointer, which was just
            // made.
            drop(unsafe { DenseFs::from_raw(files) });
            fail(libc::EBUSY)
        }
        Err(why) => fail(why.errno()),
    }
}

/// Closes everything that is open, and detaches the arena.
#[unsafe(no_mangle)]
pub extern "C" fn dfs_detach() -> c_int {
    result(attached().and_then(|files| {
        files.close_all()?;
        ATTACHED.store(ptr::null_mut(), Ordering::Release);
        Ok(())
    }))
}
