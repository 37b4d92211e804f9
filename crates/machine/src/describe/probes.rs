//! Calls that are tried to see whether they work, on in-memory files or without changing any file.

use std::fs::File;
use std::io;

use rustix::fs::{MemfdFlags, memfd_create};

use system_calls::{self, FileMapping};

/// Whether `cachestat` works.
pub(super) fn cachestat() -> io::Result<()> {
    system_calls::cachestat(file_in_memory()?, 0, 0).map(drop)
}

/// Whether `mincore` works.
pub(super) fn mincore() -> io::Result<()> {
    let page_bytes = rustix::param::page_size() as u64;
    FileMapping::new(file_in_memory()?, 0, page_bytes)?.mincore(0, &mut [0])
}

/// Whether the kernel permits `FIEMAP`. That the file system of this executable does not support it
/// says nothing about others.
pub(super) fn fiemap() -> io::Result<()> {
    match system_calls::fiemap(File::open("/proc/self/exe")?, 0) {
        Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => Ok(()),
        answered => answered.map(drop),
    }
}

/// A one-page file in memory that only we can access.
fn file_in_memory() -> io::Result<File> {
    let file = File::from(memfd_create("fsprism", MemfdFlags::CLOEXEC)?);
    file.set_len(rustix::param::page_size() as u64)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_agree_with_the_calls_they_stand_for() {
        mincore().expect("every kernel has it");
        fiemap().expect("every kernel has it");
        let counted = system_calls::cachestat(file_in_memory().expect("there is memory"), 0, 0);
        assert_eq!(cachestat().is_ok(), counted.is_ok());
    }
}
