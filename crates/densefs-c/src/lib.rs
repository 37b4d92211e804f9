//! DenseFS from C: `include/densefs.h` says what each function does.
//!
//! Each function turns its arguments into those of [`densefs_process::DenseFs`], and what that
//! says into a result and `errno`.
#![expect(unsafe_code, reason = "callers from C vouch for their pointers")]

mod answer;
pub mod attributes;
pub mod directories;
pub mod extended;
pub mod files;
pub mod locks;
pub mod names;

use std::arch::asm;
use std::ffi::{OsStr, c_char, c_int, c_void};
use std::mem::ManuallyDrop;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use densefs_process::{Base, DenseFs, Errno};

use answer::{fail, result};

/// The [`DenseFs`] that the process has attached, not a pointer to it, which would be a further
/// line of the caches for each call. One that was left stays in memory: another thread may be in a
/// call.
static ATTACHED: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// What the process has attached.
#[inline(always)]
fn files() -> Result<ManuallyDrop<DenseFs>, Errno> {
    let files = ATTACHED.load(Ordering::Acquire);
    if files.is_null() {
        return Err(Errno::NXIO);
    }
    // SAFETY: `dfs_attach` has made it of one, and nobody drops it.
    Ok(ManuallyDrop::new(unsafe { DenseFs::from_raw(files) }))
}

/// A path from C.
///
/// # Safety
/// It must be null, or a text that stays as it is for `'a`.
#[inline]
unsafe fn path<'a>(text: *const c_char) -> Result<&'a Path, Errno> {
    if text.is_null() {
        return Err(Errno::FAULT);
    }
    // SAFETY: the caller vouches for it.
    let bytes = unsafe { std::slice::from_raw_parts(text.cast(), length(text)) };
    Ok(Path::new(OsStr::from_bytes(bytes)))
}

/// Bytes of a text. Here and not in libc, as a call there touches more lines of the caches.
///
/// # Safety
/// It must be a text.
#[inline(always)]
unsafe fn length(text: *const c_char) -> usize {
    const BLOCK: usize = 16;
    // A block that begins at a multiple of its length lies on one page, as a byte of the text does.
    let within = text.addr() % BLOCK;
    let mut block = text.wrapping_sub(within);
    // SAFETY: the text's first byte is in the block.
    let mut zeros = unsafe { zeros_in(block) } >> within << within;
    while zeros == 0 {
        block = block.wrapping_add(BLOCK);
        // SAFETY: as all before have been read, the text's next byte is in this one.
        zeros = unsafe { zeros_in(block) };
    }
    block.addr() + zeros.trailing_zeros() as usize - text.addr()
}

/// Which of 16 bytes are zero, a bit for each.
///
/// # Safety
/// They must be readable, and begin at a multiple of 16.
#[inline(always)]
unsafe fn zeros_in(block: *const c_char) -> u32 {
    let zeros;
    // SAFETY: the caller vouches for it.
    unsafe {
        asm!(
            "pxor {bytes}, {bytes}",
            "pcmpeqb {bytes}, xmmword ptr [{block}]",
            "pmovmskb {zeros:e}, {bytes}",
            bytes = out(xmm_reg) _,
            block = in(reg) block,
            zeros = out(reg) zeros,
            options(readonly, nostack, preserves_flags),
        );
    }
    zeros
}

/// Where a path starts, from a descriptor of a call that takes one.
#[inline]
fn base(descriptor: c_int) -> Result<Base, Errno> {
    if descriptor == libc::AT_FDCWD {
        return Ok(Base::Working);
    }
    number(descriptor).map(Base::Descriptor)
}

/// A descriptor.
#[inline]
fn number(descriptor: c_int) -> Result<u32, Errno> {
    u32::try_from(descriptor).map_err(|_| Errno::BADF)
}

/// Attaches an arena.
///
/// # Safety
/// `arena` must be a text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dfs_attach(arena: *const c_char, flags: c_int) -> c_int {
    // SAFETY: the caller vouches for it.
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
            // Another thread was faster.
            // SAFETY: it was one just before, and nobody else has it.
            drop(unsafe { DenseFs::from_raw(files) });
            fail(libc::EBUSY)
        }
        Err(why) => fail(why.errno()),
    }
}

/// Closes all that is open, and leaves the arena.
#[unsafe(no_mangle)]
pub extern "C" fn dfs_detach() -> c_int {
    result(files().and_then(|files| {
        files.close_all()?;
        ATTACHED.store(ptr::null_mut(), Ordering::Release);
        Ok(())
    }))
}
