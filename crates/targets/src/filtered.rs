//! Calls that a filter refuses, as those of containers may: what does the same instead, or how to
//! say it.

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::io::Errno;

/// Whether a call failed as one does that is refused so, among other reasons.
pub(crate) fn is_refused(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::PERM | Errno::NOSYS))
}

/// What to do about it.
pub(crate) const ADVICE: &str =
    "if a container's filter of system calls (seccomp) blocks it, allow it there";

/// The error with the name of its call, and with what to do where it may be refused.
pub(crate) fn named(call: &'static str) -> impl Fn(io::Error) -> io::Error {
    move |error| {
        let advice = if is_refused(&error) { format!("; {ADVICE}") } else { String::new() };
        io::Error::new(error.kind(), format!("{call}: {error}{advice}"))
    }
}

/// Writes all dirty data of the file system at `root`; of all file systems where the call for one
/// is refused.
pub(crate) fn sync(root: &Path) -> io::Result<()> {
    match rustix::fs::syncfs(File::open(root)?).map_err(io::Error::from) {
        Err(error) if is_refused(&error) => {
            rustix::fs::sync();
            Ok(())
        }
        synced => synced,
    }
}
