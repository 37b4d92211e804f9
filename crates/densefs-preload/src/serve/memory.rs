//! Files in memory.
#![expect(unsafe_code, reason = "the program vouches for its memory")]

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};

use densefs_c::mapped as dfs;

use crate::call::SystemCall;
use crate::decision::Decision::{self, Done, Pass, Refused};
use crate::numbers;
use crate::outcome::call as calling;
use crate::raw::int;

/// Whether the program has ever mapped a file of the arena.
static HAS_MAPPED: AtomicBool = AtomicBool::new(false);

fn pointer(argument: usize) -> *mut c_void {
    std::ptr::with_exposed_provenance_mut(argument)
}

pub(super) fn mmap(call: &mut SystemCall) -> Decision {
    let [start, size, protection, how, file, at] = call.arguments;
    let is_of_file = int(how) & libc::MAP_ANONYMOUS == 0;
    if let Some(file) = numbers::inside(int(file)).filter(|_| is_of_file) {
        HAS_MAPPED.store(true, Ordering::Relaxed);
        return Done(calling(|| {
            let (protection, how, at) = (int(protection), int(how), at.cast_signed() as i64);
            // SAFETY: the program vouches for its memory.
            let mapped = unsafe { dfs::dfs_mmap(pointer(start), size, protection, how, file, at) };
            mapped.expose_provenance().cast_signed() as i64
        }));
    }
    if HAS_MAPPED.load(Ordering::Relaxed) && int(how) & libc::MAP_FIXED != 0 {
        // It may replace what is mapped there.
        // SAFETY: as the program says, nobody uses it any more.
        unsafe { dfs::dfs_munmap(pointer(start), size) };
    }
    Pass
}

pub(super) fn munmap(call: &mut SystemCall) -> Decision {
    if !HAS_MAPPED.load(Ordering::Relaxed) {
        return Pass;
    }
    let [start, size, ..] = call.arguments;
    // SAFETY: the program vouches for its memory.
    Done(calling(|| unsafe { dfs::dfs_munmap(pointer(start), size) }))
}

/// Memory of the arena's files stays where it is, and as large as it is.
pub(super) fn mremap(call: &mut SystemCall) -> Decision {
    let [start, size, ..] = call.arguments;
    let is_inside =
        HAS_MAPPED.load(Ordering::Relaxed) && densefs_process::is_mapped(start, size.max(1));
    if is_inside { Refused(libc::ENOMEM) } else { Pass }
}
