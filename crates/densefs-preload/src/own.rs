//! The descriptors that are ours, which the program does not know, and must not close.

use std::ffi::c_int;
use std::sync::atomic::{AtomicI32, Ordering};

use crate::{counting, handed_sites, numbers};

/// Ours begin here.
static LOWEST: AtomicI32 = AtomicI32::new(c_int::MAX);
/// The pipe of a child that has not executed a program yet; otherwise -1.
static PIPE: AtomicI32 = AtomicI32::new(-1);
/// How many of the highest numbers are ours.
const RESERVED: c_int = 64;
/// Below this, even if the limit is higher: the kernel's table of descriptors is as long as the
/// highest one.
const HIGHEST: c_int = 1024;

/// Decides where ours begin, and has the library put its own there. To be called at the start, and
/// when the program has changed its limit: with a lower one, ours must begin lower. Those that are
/// there already stay.
pub(crate) fn choose_lowest() {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let limit = limit.and_then(|limit| c_int::try_from(limit).ok()).unwrap_or(HIGHEST);
    let lowest = limit.min(HIGHEST) - RESERVED.min(limit / 2);
    let lowest = LOWEST.fetch_min(lowest, Ordering::Relaxed).min(lowest);
    densefs_process::keep_numbers_from(lowest.cast_unsigned());
}

/// Where ours begin.
pub(crate) fn lowest() -> c_int {
    LOWEST.load(Ordering::Relaxed)
}

/// Whether a descriptor is ours.
#[inline(always)]
pub(crate) fn is_own(number: c_int) -> bool {
    number >= lowest() && is_one_of_ours(number)
}

#[cold]
fn is_one_of_ours(number: c_int) -> bool {
    all().contains(&number)
}

/// All of ours.
pub(crate) fn all() -> Vec<c_int> {
    let sites = handed_sites::number().unwrap_or(-1);
    let mut all =
        vec![numbers::placeholder(), counting::number(), sites, PIPE.load(Ordering::Relaxed)];
    if let Ok(files) = densefs_c::attached() {
        files.own_numbers(&mut |number| all.push(number));
    }
    all.retain(|&number| number >= 0);
    all
}

/// Notes that a pipe is ours.
pub(crate) fn set_pipe(number: c_int) {
    PIPE.store(number, Ordering::Relaxed);
}
