//! System calls that a filter may refuse, as in containers: what to call instead, or how to report
//! it.

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::io::Errno;

/// Whether a call failed the way that filtered calls do, though there may be other reasons.
pub(crate) fn is_refused(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::PERM | Errno::NOSYS))
}

/// What to do about it.
pub(crate) const ADVICE: &str =
    "if a container's filter of system calls (seccomp) blocks it, allow it there";

/// Adds the name of the call to its error, and advice if the call may have been filtered.
pub(crate) fn named(call: &'static str) -> impl Fn(io::Error) -> io::Error {
    move |error| {
        let advice = if is_refused(&error) { format!("; {ADVICE}") } else { String::new() };
        io::Error::new(error.kind(), format!("{call}: {error}{advice}"))
    }
}

/// Writes all dirty data of the file system at `root`, or of all file systems if the call for a
/// single one is refused.
pub(crate) fn sync(root: &Path) -> io::Result<()> {
    match rustix::fs::syncfs(File::open(root)?).map_err(io::Error::from) {
        Err(error) if is_refused(&error) => {
            rustix::fs::sync();
            Ok(())
        }
        synced => synced,
    }
}
