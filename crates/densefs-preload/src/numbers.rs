//! The descriptors of the program: which of its numbers stand for files in the arena.
//!
//! For each of them the kernel has a *placeholder* at the same number, opened with `O_PATH`, so
//! that it does not give the number away, and a call that we do not see fails instead of doing
//! something else.
//!
//! Making and closing placeholders costs more than opening and closing files in the arena. Those of
//! closed files are therefore kept for the next files, until the program opens something of the
//! kernel's, which then gets the lowest number, as POSIX demands.

use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering};

use crate::raw;

/// Numbers that can stand for files in the arena. What the kernel's limit allows beyond them is
/// left to files of its own.
const NUMBERS: usize = 1 << 16;
/// Numbers below this are kept for reuse.
const REUSED: c_int = 64;

/// What all calls on descriptors look at, mostly at the first line of it.
#[repr(C, align(64))]
struct Numbers {
    /// Whether calls are counted.
    are_counted: AtomicBool,
    /// The arena's descriptor for each number, plus 1; 0 if the number does not stand for one.
    descriptors: [AtomicU32; NUMBERS],
}

static ALL: Numbers = Numbers {
    are_counted: AtomicBool::new(false),
    descriptors: [const { AtomicU32::new(0) }; NUMBERS],
};
/// The highest number that has ever stood for one.
static HIGHEST: AtomicI32 = AtomicI32::new(-1);
/// Closed numbers whose placeholders are kept, one bit each.
static KEPT: AtomicU64 = AtomicU64::new(0);
/// Whether the kernel may have a free number below those that are kept.
static MAY_BE_LOWER: AtomicBool = AtomicBool::new(false);
/// What placeholders are duplicates of.
static PLACEHOLDER: AtomicI32 = AtomicI32::new(-1);

/// Sets what placeholders are duplicates of.
pub(crate) fn set_placeholder(descriptor: c_int) {
    PLACEHOLDER.store(descriptor, Ordering::Relaxed);
}

/// That descriptor.
pub(crate) fn placeholder() -> c_int {
    PLACEHOLDER.load(Ordering::Relaxed)
}

/// Whether calls are counted.
#[inline(always)]
pub(crate) fn are_counted() -> bool {
    ALL.are_counted.load(Ordering::Relaxed)
}

/// Notes that they are.
pub(crate) fn set_counted() {
    ALL.are_counted.store(true, Ordering::Relaxed);
}

fn slot(number: c_int) -> Option<&'static AtomicU32> {
    ALL.descriptors.get(usize::try_from(number).ok()?)
}

/// The arena's descriptor that a number stands for.
#[inline(always)]
pub(crate) fn inside(number: c_int) -> Option<c_int> {
    let descriptor = slot(number)?.load(Ordering::Relaxed);
    descriptor.checked_sub(1).map(u32::cast_signed)
}

/// Whether a number is free as far as the program knows, and its placeholder is kept.
pub(crate) fn is_kept(number: c_int) -> bool {
    (0..REUSED).contains(&number) && KEPT.load(Ordering::Relaxed) & 1 << number != 0
}

fn note(number: c_int, descriptor: c_int) {
    if let Some(slot) = slot(number) {
        slot.store(descriptor.cast_unsigned() + 1, Ordering::Relaxed);
        HIGHEST.fetch_max(number, Ordering::Relaxed);
    }
}

/// Takes a number that is kept, if it is below all that the kernel has.
#[inline]
fn take_kept(below: c_int) -> Option<c_int> {
    let mut kept = KEPT.load(Ordering::Relaxed);
    loop {
        let lowest = kept.trailing_zeros().cast_signed();
        if lowest >= below.min(REUSED) {
            return None;
        }
        let without = kept & !(1 << lowest);
        match KEPT.compare_exchange_weak(kept, without, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => return Some(lowest),
            Err(now) => kept = now,
        }
    }
}

/// Gives a descriptor of the arena the lowest free number; an error is negative.
#[inline]
pub(crate) fn add(descriptor: c_int) -> isize {
    if !MAY_BE_LOWER.load(Ordering::Relaxed)
        && let Some(number) = take_kept(REUSED)
    {
        note(number, descriptor);
        return number as isize;
    }
    add_by_kernel(descriptor)
}

#[cold]
#[inline(never)]
fn add_by_kernel(descriptor: c_int) -> isize {
    let made = raw::duplicate(placeholder(), 0);
    let number = c_int::try_from(made).unwrap_or(-1);
    let kept = take_kept(if number < 0 { REUSED } else { number });
    match kept {
        Some(kept) => {
            if number >= 0 {
                raw::close(number);
                MAY_BE_LOWER.store(false, Ordering::Relaxed);
            }
            note(kept, descriptor);
            kept as isize
        }
        None => finish(made, descriptor),
    }
}

/// Gives a descriptor of the arena the lowest free number from `lowest` on.
pub(crate) fn add_from(descriptor: c_int, lowest: c_int) -> isize {
    release();
    finish(raw::duplicate(placeholder(), lowest), descriptor)
}

/// Notes what the kernel's answer, a number or an error, stands for.
fn finish(made: isize, descriptor: c_int) -> isize {
    let Ok(number) = c_int::try_from(made) else { return made };
    if number < 0 {
        return made;
    }
    if slot(number).is_none() {
        raw::close(number);
        return -(libc::EMFILE as isize);
    }
    note(number, descriptor);
    made
}

/// Notes that a number, at which there is a placeholder, stands for a descriptor of the arena.
pub(crate) fn adopt(number: c_int, descriptor: c_int) {
    note(number, descriptor);
}

/// Gives a descriptor of the arena this number, whatever it was; the caller has closed what it
/// stood for in the arena.
#[expect(unsafe_code, reason = "a system call")]
pub(crate) fn add_at(descriptor: c_int, number: c_int) -> isize {
    if slot(number).is_none() {
        return -(libc::EBADF as isize);
    }
    forget(number);
    let arguments = [placeholder(), number, libc::O_CLOEXEC].map(raw::number);
    let [from, to, how] = arguments;
    // SAFETY: the program wants this number replaced.
    let made = unsafe { raw::system_call(libc::SYS_dup3, [from, to, how, 0, 0, 0]) };
    finish(made, descriptor)
}

/// Frees a number; returns what it stood for. Its placeholder is kept for another file.
#[inline]
pub(crate) fn free(number: c_int) -> Option<c_int> {
    let descriptor = slot(number)?.swap(0, Ordering::Relaxed).checked_sub(1)?;
    if number < REUSED {
        KEPT.fetch_or(1 << number, Ordering::Relaxed);
    } else {
        raw::close(number);
        MAY_BE_LOWER.store(true, Ordering::Relaxed);
    }
    Some(descriptor.cast_signed())
}

/// Forgets a number that the kernel gives another meaning; returns what it stood for.
pub(crate) fn forget(number: c_int) -> Option<c_int> {
    if (0..REUSED).contains(&number) {
        KEPT.fetch_and(!(1 << number), Ordering::Relaxed);
    }
    let descriptor = slot(number)?.swap(0, Ordering::Relaxed).checked_sub(1)?;
    Some(descriptor.cast_signed())
}

/// Gives the numbers that are kept back to the kernel, which is about to need the lowest free one.
#[inline(always)]
pub(crate) fn release() {
    if KEPT.load(Ordering::Relaxed) != 0 {
        release_kept();
    }
}

#[cold]
#[inline(never)]
fn release_kept() {
    let mut kept = KEPT.swap(0, Ordering::Relaxed);
    while kept != 0 {
        let number = kept.trailing_zeros().cast_signed();
        kept &= kept - 1;
        raw::close(number);
    }
    MAY_BE_LOWER.store(true, Ordering::Relaxed);
}

/// Notes that the program has closed a number of the kernel's.
#[inline(always)]
pub(crate) fn closed_outside() {
    if !MAY_BE_LOWER.load(Ordering::Relaxed) {
        MAY_BE_LOWER.store(true, Ordering::Relaxed);
    }
}

/// All numbers that stand for files in the arena, with the arena's descriptors.
pub(crate) fn all() -> impl Iterator<Item = Numbered> {
    (0..=HIGHEST.load(Ordering::Relaxed))
        .filter_map(|number| inside(number).map(|descriptor| Numbered { number, descriptor }))
}

/// A number of the program, and what it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Numbered {
    pub(crate) number: c_int,
    pub(crate) descriptor: c_int,
}
