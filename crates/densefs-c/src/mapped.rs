//! Mapping files into memory.

use std::ffi::{c_int, c_void};

use densefs_process::{Errno, MapRequest, Placement, Protection};

use crate::answer::{fail, result};
use crate::arguments::{non_negative, number};
use crate::attached::attached;

/// The flags that `MAP_SHARED_VALIDATE` accepts. All others are ignored without it.
const KNOWN: c_int = libc::MAP_TYPE
    | libc::MAP_FIXED
    | libc::MAP_FIXED_NOREPLACE
    | libc::MAP_POPULATE
    | libc::MAP_NONBLOCK
    | libc::MAP_NORESERVE
    | libc::MAP_LOCKED
    | libc::MAP_STACK
    | libc::MAP_DENYWRITE
    | libc::MAP_EXECUTABLE;

/// Maps bytes of a file into memory.
///
/// # Safety
/// With `MAP_FIXED`, nobody may use what is mapped there.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_mmap(
    start: *mut c_void,
    length: usize,
    protection: c_int,
    flags: c_int,
    file: c_int,
    at: libc::off_t,
) -> *mut c_void {
    let mapped = request(start.addr(), length, protection, flags, at).and_then(|request| {
        // SAFETY: guaranteed by the caller.
        unsafe { attached()?.map(number(file)?, &request) }
    });
    match mapped {
        Ok(start) => std::ptr::with_exposed_provenance_mut(start),
        Err(why) => {
            fail(why.0);
            libc::MAP_FAILED
        }
    }
}

/// Unmaps memory, whatever is mapped there.
///
/// # Safety
/// Nobody may use it any more.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_munmap(start: *mut c_void, length: usize) -> c_int {
    // SAFETY: guaranteed by the caller.
    result(unsafe { densefs_process::unmap(start.addr(), length) })
}

fn request(
    start: usize,
    length: usize,
    protection: c_int,
    flags: c_int,
    at: libc::off_t,
) -> Result<MapRequest, Errno> {
    let is_shared = match flags & libc::MAP_TYPE {
        libc::MAP_SHARED => true,
        libc::MAP_SHARED_VALIDATE if flags & !KNOWN == 0 => true,
        libc::MAP_SHARED_VALIDATE => return Err(Errno::OPNOTSUPP),
        libc::MAP_PRIVATE => false,
        _ => return Err(Errno::INVAL),
    };
    // There is no file behind anonymous memory.
    if flags & libc::MAP_ANONYMOUS != 0 {
        return Err(Errno::INVAL);
    }
    let placement = if flags & libc::MAP_FIXED_NOREPLACE != 0 {
        Placement::ExactlyIfFree(start)
    } else if flags & libc::MAP_FIXED != 0 {
        Placement::Exactly(start)
    } else {
        Placement::Anywhere { hint: start }
    };
    let may = |bit: c_int| protection & bit != 0;
    let protection = Protection {
        reads: may(libc::PROT_READ),
        writes: may(libc::PROT_WRITE),
        executes: may(libc::PROT_EXEC),
    };
    Ok(MapRequest { placement, length, offset: non_negative(at)?, protection, is_shared })
}
