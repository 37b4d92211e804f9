//! Extended attributes on their way in and out. Those that cannot be kept are counted.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use densefs::{Errno, Follow, SetAttribute};
use rustix::fs::{XattrFlags, lgetxattr, llistxattr, lsetxattr};

use super::{CopyError, Lost, at, inside};
use crate::dense_fs::DenseFs;
use crate::extended::XattrTarget;

/// The largest value, here and there.
const VALUE_MAX: usize = 65_536;
/// Most bytes of all attributes of an inode of a DenseFS together, and what each takes besides its
/// name and value.
const ALL_MAX: usize = 131_072;
const HEAD: usize = 5;

/// Copies extended attributes.
pub(super) struct Attributes {
    names: Vec<u8>,
    value: Vec<u8>,
    pub(super) lost: Lost,
}

impl Attributes {
    pub(super) fn new() -> Self {
        Self { names: vec![0; ALL_MAX], value: vec![0; VALUE_MAX], lost: Lost::default() }
    }

    /// Copies those of a file outside to a path in the DenseFS, relative to its root.
    pub(super) fn bring_in(
        &mut self,
        source: &Path,
        files: &DenseFs,
        path: &Path,
    ) -> Result<(), CopyError> {
        let length = match llistxattr(source, self.names.as_mut_slice()) {
            Ok(length) => length,
            Err(rustix::io::Errno::NOTSUP) => return Ok(()),
            Err(why) => {
                self.lost.add(|| lost_one(b"all", source, &why));
                return Ok(());
            }
        };
        let target = at(path);
        let mut kept = 0;
        for name in names_in(&self.names[..length]) {
            let value = match lgetxattr(source, OsStr::from_bytes(name), &mut *self.value) {
                Ok(length) => &self.value[..length],
                Err(rustix::io::Errno::NODATA) => continue,
                Err(why) => {
                    self.lost.add(|| lost_one(name, source, &why));
                    continue;
                }
            };
            let bytes = HEAD + name.len() + value.len();
            let of = XattrTarget::Named(&target, Follow::No);
            match files.set_attribute(of, name, value, SetAttribute::Any) {
                Ok(()) => kept += bytes,
                Err(Errno::NOSPC) if kept + bytes <= ALL_MAX => {
                    return Err(inside(path)(Errno::NOSPC));
                }
                Err(why @ (Errno::CORRUPT | Errno::NOENT)) => return Err(inside(path)(why)),
                Err(why) => self.lost.add(|| lost_one(name, source, &why)),
            }
        }
        Ok(())
    }

    /// Copies those of a path in the DenseFS, relative to its root, to a file outside.
    pub(super) fn take_out(
        &mut self,
        files: &DenseFs,
        path: &Path,
        target: &Path,
    ) -> Result<(), CopyError> {
        let source = at(path);
        let of = || XattrTarget::Named(&source, Follow::No);
        let length = files.attribute_names(of(), &mut self.names).map_err(inside(path))?;
        for name in names_in(&self.names[..length]) {
            let value = match files.attribute(of(), name, &mut self.value) {
                Ok(length) => &self.value[..length],
                Err(Errno::NODATA) => continue,
                Err(why @ Errno::CORRUPT) => return Err(inside(path)(why)),
                Err(why) => {
                    self.lost.add(|| lost_one(name, target, &why));
                    continue;
                }
            };
            let how = XattrFlags::empty();
            if let Err(why) = lsetxattr(target, OsStr::from_bytes(name), value, how) {
                self.lost.add(|| lost_one(name, target, &std::io::Error::from(why)));
            }
        }
        Ok(())
    }
}

/// The names in a list in which each is followed by a zero.
fn names_in(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    list.split(|&byte| byte == 0).filter(|name| !name.is_empty())
}

fn lost_one(name: &[u8], path: &Path, why: &dyn std::fmt::Display) -> String {
    format!("{} of {}: {why}", String::from_utf8_lossy(name), path.display())
}
