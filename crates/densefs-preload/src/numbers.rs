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
use std::ops::Range;
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
    /// Whether calls do not take the short way of [`crate::symbols`].
    take_the_long_way: AtomicBool,
    /// The arena's descriptor for each number, plus 1; 0 if the number does not stand for one.
    descriptors: [AtomicU32; NUMBERS],
}

static ALL: Numbers = Numbers {
    take_the_long_way: AtomicBool::new(false),
    descriptors: [const { AtomicU32::new(0) }; NUMBERS],
};

/// Everything else, in one cache line.
#[repr(C, align(64))]
struct Common {
    /// Closed numbers whose placeholders are kept, one bit each.
    kept: AtomicU64,
    /// The highest number that has ever stood for a file in the arena.
    highest: AtomicI32,
    /// What placeholders are duplicates of.
    placeholder: AtomicI32,
    /// Whether the kernel may have a free number below one that is kept, or will be when it is
    /// closed.
    may_be_lower: AtomicBool,
}

static COMMON: Common = Common {
    kept: AtomicU64::new(0),
    highest: AtomicI32::new(-1),
    placeholder: AtomicI32::new(-1),
    may_be_lower: AtomicBool::new(false),
};

/// Sets what placeholders are duplicates of.
pub(crate) fn set_placeholder(descriptor: c_int) {
    COMMON.placeholder.store(descriptor, Ordering::Relaxed);
}

/// That descriptor.
pub(crate) fn placeholder() -> c_int {
    COMMON.placeholder.load(Ordering::Relaxed)
}

/// Whether calls do not take the short way of [`crate::symbols`].
#[inline(always)]
pub(crate) fn take_the_long_way() -> bool {
    ALL.take_the_long_way.load(Ordering::Relaxed)
}

/// Has all calls take the long way.
pub(crate) fn close_the_short_way() {
    ALL.take_the_long_way.store(true, Ordering::Relaxed);
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
    (0..REUSED).contains(&number) && COMMON.kept.load(Ordering::Relaxed) & 1 << number != 0
}

fn note(number: c_int, descriptor: c_int) {
    if let Some(slot) = slot(number) {
        slot.store(descriptor.cast_unsigned() + 1, Ordering::Relaxed);
        if number > COMMON.highest.load(Ordering::Relaxed) {
            COMMON.highest.fetch_max(number, Ordering::Relaxed);
        }
    }
}

/// Takes the lowest number that is kept and in this range.
#[inline]
fn take_kept(range: Range<c_int>) -> Option<c_int> {
    if range.start >= REUSED {
        return None;
    }
    let mut kept = COMMON.kept.load(Ordering::Relaxed);
    loop {
        let lowest = (kept & u64::MAX << range.start.max(0)).trailing_zeros().cast_signed();
        if lowest >= range.end.min(REUSED) {
            return None;
        }
        let without = kept & !(1 << lowest);
        let order = Ordering::Relaxed;
        match COMMON.kept.compare_exchange_weak(kept, without, order, order) {
            Ok(_) => return Some(lowest),
            Err(now) => kept = now,
        }
    }
}

/// Gives a descriptor of the arena the lowest free number; an error is negative.
#[inline]
pub(crate) fn add(descriptor: c_int) -> isize {
    add_from(descriptor, 0)
}

/// Gives a descriptor of the arena the lowest free number from `lowest` on.
#[inline]
pub(crate) fn add_from(descriptor: c_int, lowest: c_int) -> isize {
    if !COMMON.may_be_lower.load(Ordering::Relaxed)
        && let Some(number) = take_kept(lowest..REUSED)
    {
        note(number, descriptor);
        return number as isize;
    }
    add_by_kernel(descriptor, lowest)
}

#[cold]
#[inline(never)]
fn add_by_kernel(descriptor: c_int, lowest: c_int) -> isize {
    let made = raw::duplicate(placeholder(), lowest);
    let number = match c_int::try_from(made) {
        Ok(number @ 0..) => number,
        // All are taken, but perhaps for those that are kept.
        _ if made == -(libc::EMFILE as isize) => REUSED,
        _ => return made,
    };
    let Some(kept) = take_kept(lowest..number) else {
        if lowest > 0 {
            note_lower(number);
        }
        return finish(made, descriptor);
    };
    if made >= 0 {
        keep(number);
    }
    if lowest == 0 && are_all_below(number) {
        COMMON.may_be_lower.store(false, Ordering::Relaxed);
    }
    note(kept, descriptor);
    kept as isize
}

/// Whether this number is above all that are kept or will be.
fn are_all_below(number: c_int) -> bool {
    let kept = || COMMON.kept.load(Ordering::Relaxed);
    let highest = COMMON.highest.load(Ordering::Relaxed);
    number >= REUSED - 1 || number > highest && kept() & u64::MAX << (number + 1) == 0
}

/// Notes that the kernel may have a free number below this one.
#[inline(always)]
fn note_lower(number: c_int) {
    if number < REUSED && !COMMON.may_be_lower.load(Ordering::Relaxed) {
        COMMON.may_be_lower.store(true, Ordering::Relaxed);
    }
}

/// Keeps a number, at which there is a placeholder, for another file.
#[inline(always)]
fn keep(number: c_int) {
    if number < REUSED {
        COMMON.kept.fetch_or(1 << number, Ordering::Relaxed);
    } else {
        raw::close(number);
    }
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
    note_lower(number);
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
    note_lower(number);
    let arguments = [placeholder(), number, libc::O_CLOEXEC].map(raw::number);
    let [from, to, how] = arguments;
    // SAFETY: the program wants this number replaced.
    let made = unsafe { raw::system_call(libc::SYS_dup3, [from, to, how, 0, 0, 0]) };
    finish(made, descriptor)
}

/// Frees a number; returns what it stood for. Its placeholder is kept for another file.
#[inline]
pub(crate) fn free(number: c_int) -> Option<c_int> {
    let slot = slot(number)?;
    // Looking takes less time than taking, if there is nothing.
    slot.load(Ordering::Relaxed).checked_sub(1)?;
    let descriptor = slot.swap(0, Ordering::Relaxed).checked_sub(1)?;
    keep(number);
    Some(descriptor.cast_signed())
}

/// Forgets a number that the kernel gives another meaning; returns what it stood for.
pub(crate) fn forget(number: c_int) -> Option<c_int> {
    if (0..REUSED).contains(&number) {
        COMMON.kept.fetch_and(!(1 << number), Ordering::Relaxed);
    }
    let descriptor = slot(number)?.swap(0, Ordering::Relaxed).checked_sub(1)?;
    Some(descriptor.cast_signed())
}

/// Gives the numbers that are kept back to the kernel, which is about to need the lowest free one.
#[inline(always)]
pub(crate) fn release() {
    if COMMON.kept.load(Ordering::Relaxed) != 0 {
        release_kept();
    }
}

#[cold]
#[inline(never)]
fn release_kept() {
    let mut kept = COMMON.kept.swap(0, Ordering::Relaxed);
    while kept != 0 {
        let number = kept.trailing_zeros().cast_signed();
        kept &= kept - 1;
        raw::close(number);
    }
    COMMON.may_be_lower.store(true, Ordering::Relaxed);
}

/// Notes that the program has closed a number of the kernel's.
#[inline(always)]
pub(crate) fn closed_outside(number: c_int) {
    note_lower(number);
}

/// All numbers that stand for files in the arena, with the arena's descriptors.
pub(crate) fn all() -> impl Iterator<Item = Numbered> {
    (0..=COMMON.highest.load(Ordering::Relaxed))
        .filter_map(|number| inside(number).map(|descriptor| Numbered { number, descriptor }))
}

/// A number of the program, and what it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Numbered {
    pub(crate) number: c_int,
    pub(crate) descriptor: c_int,
}
