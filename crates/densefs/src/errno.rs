//! Error numbers, as system calls return them.

use core::fmt;

/// An error of a system call, by its number on Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Errno(pub i32);

macro_rules! errno {
    ($($(#[$about:meta])* $name:ident = $number:literal, $says:literal;)*) => {
        impl Errno {
            $($(#[$about])* #[doc = $says] pub const $name: Self = Self($number);)*

            /// The message of strerror(3).
            #[must_use]
            pub fn sentence(self) -> &'static str {
                match self.0 {
                    $($number => $says,)*
                    _ => "Unknown error",
                }
            }
        }
    };
}

errno! {
    PERM = 1, "Operation not permitted";
    NOENT = 2, "No such file or directory";
    INTR = 4, "Interrupted system call";
    IO = 5, "Input/output error";
    NXIO = 6, "No such device or address";
    TOOBIG = 7, "Argument list too long";
    BADF = 9, "Bad file descriptor";
    /// Retry; for internal use, except for file locks.
    AGAIN = 11, "Resource temporarily unavailable";
    NOMEM = 12, "Cannot allocate memory";
    ACCES = 13, "Permission denied";
    FAULT = 14, "Bad address";
    BUSY = 16, "Device or resource busy";
    EXIST = 17, "File exists";
    XDEV = 18, "Invalid cross-device link";
    NODEV = 19, "No such device";
    NOTDIR = 20, "Not a directory";
    ISDIR = 21, "Is a directory";
    INVAL = 22, "Invalid argument";
    NFILE = 23, "Too many open files in system";
    MFILE = 24, "Too many open files";
    FBIG = 27, "File too large";
    NOSPC = 28, "No space left on device";
    SPIPE = 29, "Illegal seek";
    ROFS = 30, "Read-only file system";
    MLINK = 31, "Too many links";
    RANGE = 34, "Numerical result out of range";
    NAMETOOLONG = 36, "File name too long";
    NOLCK = 37, "No locks available";
    NOSYS = 38, "Function not implemented";
    NOTEMPTY = 39, "Directory not empty";
    LOOP = 40, "Too many levels of symbolic links";
    NODATA = 61, "No data available";
    OPNOTSUPP = 95, "Operation not supported";
    OVERFLOW = 75, "Value too large for defined data type";
    /// What was found has changed, and must be looked up again.
    STALE = 116, "Stale file handle";
    /// The arena is corrupt.
    CORRUPT = 117, "Structure needs cleaning";
    /// A path leads out of this file system, for callers that can go on from there
    /// ([`crate::modes::Caller::may_lead_out`]). No error of Linux has this number.
    OUTSIDE = 4000, "Path leads out of the file system";
}

impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.sentence())
    }
}

impl core::error::Error for Errno {}
