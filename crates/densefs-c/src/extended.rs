//! Extended attributes.

use std::ffi::{CStr, c_char, c_int, c_void};

use densefs_process::{Errno, Follow, SetAttribute, XattrTarget};

use crate::answer::{length, result};
use crate::arguments::{bytes, bytes_mut, number, path};
use crate::attached::attached;

/// The largest value, and the longest name, as on Linux.
const VALUE_MAX: usize = 65_536;
const NAME_MAX: usize = 255;

/// The name of an attribute.
///
/// # Safety
/// It must be null, or a C string that does not change during `'a`.
unsafe fn attribute_name<'a>(text: *const c_char) -> Result<&'a [u8], Errno> {
    if text.is_null() {
        return Err(Errno::FAULT);
    }
    // SAFETY: guaranteed by the caller.
    let name = unsafe { CStr::from_ptr(text) }.to_bytes();
    if name.is_empty() || name.len() > NAME_MAX { Err(Errno::RANGE) } else { Ok(name) }
}

/// The file at a path, or a final symbolic link itself.
///
/// # Safety
/// It must be null, or a C string that does not change during `'a`.
unsafe fn target<'a>(text: *const c_char, follow: Follow) -> Result<XattrTarget<'a>, Errno> {
    // SAFETY: guaranteed by the caller.
    Ok(XattrTarget::Named(unsafe { path(text) }?, follow))
}

fn open<'a>(file: c_int) -> Result<XattrTarget<'a>, Errno> {
    number(file).map(XattrTarget::Open)
}

fn set(
    of: Result<XattrTarget<'_>, Errno>,
    name: Result<&[u8], Errno>,
    value: Result<&[u8], Errno>,
    how: c_int,
) -> c_int {
    const BOTH: c_int = libc::XATTR_CREATE | libc::XATTR_REPLACE;
    let how = match how {
        0 => Ok(SetAttribute::Any),
        libc::XATTR_CREATE => Ok(SetAttribute::New),
        libc::XATTR_REPLACE => Ok(SetAttribute::Present),
        BOTH => Ok(SetAttribute::NewAndPresent),
        _ => Err(Errno::INVAL),
    };
    result((|| {
        // The file comes last.
        let (how, name, value) = (how?, name?, value?);
        if value.len() > VALUE_MAX {
            return Err(Errno::TOOBIG);
        }
        attached()?.set_attribute(of?, name, value, how)
    })())
}

fn get(
    of: Result<XattrTarget<'_>, Errno>,
    name: Result<&[u8], Errno>,
    into: Result<&mut [u8], Errno>,
) -> isize {
    length(name.and_then(|name| attached()?.attribute(of?, name, into?)))
}

fn list(of: Result<XattrTarget<'_>, Errno>, into: Result<&mut [u8], Errno>) -> isize {
    length((|| attached()?.attribute_names(of?, into?))())
}

fn remove(of: Result<XattrTarget<'_>, Errno>, name: Result<&[u8], Errno>) -> c_int {
    result(name.and_then(|name| attached()?.remove_attribute(of?, name)))
}

macro_rules! calls {
    ($what:ty, $of:expr, $set:ident, $get:ident, $list:ident, $remove:ident) => {
        /// Sets an attribute.
        ///
        /// # Safety
        /// Text arguments must be C strings, and there must be `size` bytes.
        #[cfg_attr(feature = "names", unsafe(no_mangle))]
        pub unsafe extern "C" fn $set(
            of: $what,
            attribute: *const c_char,
            value: *const c_void,
            size: usize,
            how: c_int,
        ) -> c_int {
            // SAFETY: guaranteed by the caller.
            unsafe { set($of(of), attribute_name(attribute), bytes(value, size), how) }
        }

        /// The value of an attribute.
        ///
        /// # Safety
        /// Text arguments must be C strings, and there must be room for `size` bytes.
        #[cfg_attr(feature = "names", unsafe(no_mangle))]
        pub unsafe extern "C" fn $get(
            of: $what,
            attribute: *const c_char,
            into: *mut c_void,
            size: usize,
        ) -> isize {
            // SAFETY: guaranteed by the caller.
            unsafe { get($of(of), attribute_name(attribute), bytes_mut(into, size)) }
        }

        /// The names of all attributes.
        ///
        /// # Safety
        /// Text arguments must be C strings, and there must be room for `size` bytes.
        #[cfg_attr(feature = "names", unsafe(no_mangle))]
        pub unsafe extern "C" fn $list(of: $what, into: *mut c_char, size: usize) -> isize {
            // SAFETY: guaranteed by the caller.
            unsafe { list($of(of), bytes_mut(into.cast(), size)) }
        }

        /// Removes an attribute.
        ///
        /// # Safety
        /// Text arguments must be C strings.
        #[cfg_attr(feature = "names", unsafe(no_mangle))]
        pub unsafe extern "C" fn $remove(of: $what, attribute: *const c_char) -> c_int {
            // SAFETY: guaranteed by the caller.
            unsafe { remove($of(of), attribute_name(attribute)) }
        }
    };
}

calls!(
    *const c_char,
    |text| target(text, Follow::Yes),
    dfs_setxattr,
    dfs_getxattr,
    dfs_listxattr,
    dfs_removexattr
);
calls!(
    *const c_char,
    |text| target(text, Follow::No),
    dfs_lsetxattr,
    dfs_lgetxattr,
    dfs_llistxattr,
    dfs_lremovexattr
);
calls!(c_int, open, dfs_fsetxattr, dfs_fgetxattr, dfs_flistxattr, dfs_fremovexattr);
