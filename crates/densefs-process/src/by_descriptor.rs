//! What is found by a descriptor, where others have a path.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use densefs::{Errno, flags};

use crate::dense_fs::DenseFs;

impl DenseFs {
    /// The path of an open directory.
    ///
    /// # Errors
    /// As getcwd(3).
    pub fn directory_of(&self, descriptor: u32) -> Result<PathBuf, Errno> {
        self.with(|member, _| {
            member.retry(|| {
                let mut bytes = [0; densefs::PATH_MAX];
                let path = member.path_of(member.node(descriptor)?, &mut bytes)?;
                Ok(PathBuf::from(OsStr::from_bytes(path)))
            })
        })
    }

    /// Opens what a descriptor refers to once more, with these flags of open(2), as Linux does with
    /// the names in `/proc/self/fd`.
    ///
    /// # Errors
    /// As open(2).
    pub fn open_again(&self, descriptor: u32, how: u32) -> Result<u32, Errno> {
        if how & flags::EXCLUSIVE != 0 {
            return Err(Errno::EXIST);
        }
        let how = how & !(flags::CREATE | flags::NO_FOLLOW);
        self.with(|member, caller| {
            member.retry(|| member.open_node(caller, member.node(descriptor)?, how))
        })
    }
}
