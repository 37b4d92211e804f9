//! Sockets with names, which the kernel makes and finds in the mounted arena.
#![expect(unsafe_code, reason = "the program vouches for its pointers")]

use std::ffi::c_int;
use std::mem::offset_of;

use crate::call::SystemCall;
use crate::decision::Decision::{self, Pass};
use crate::{mount, prefix};

/// bind(2) and connect(2): where a relative path leads depends on the kernel's working directory.
pub(super) fn with_address(call: &mut SystemCall) -> Decision {
    let [_, address, length, ..] = call.arguments;
    let address = std::ptr::with_exposed_provenance::<libc::sockaddr_un>(address);
    let path_at = offset_of!(libc::sockaddr_un, sun_path);
    if !prefix::is_working_inside() || address.is_null() || length <= path_at {
        return Pass;
    }
    // SAFETY: the program vouches for that many bytes.
    let (family, first) = unsafe { ((*address).sun_family, (*address).sun_path[0]) };
    // A zero begins the name of a socket that is in no directory.
    if c_int::from(family) == libc::AF_UNIX && !matches!(first.cast_unsigned(), 0 | b'/') {
        mount::enter_working_directory();
    }
    Pass
}
