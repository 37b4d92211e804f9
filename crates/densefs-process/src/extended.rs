//! Extended attributes.

use std::cell::RefCell;
use std::path::Path;

use densefs::modes::Caller;
use densefs::{Errno, Follow, Node, SetAttribute};

use crate::dense_fs::{Base, Core, DenseFs};

/// A file with extended attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum XattrTarget<'p> {
    /// The file at a path.
    Named(&'p Path, Follow),
    /// An open file, by descriptor.
    Open(u32),
}

impl DenseFs {
    /// Copies the value of an attribute; returns its length. If `into` is empty, only returns the
    /// length.
    ///
    /// # Errors
    /// As getxattr(2).
    pub fn attribute(
        &self,
        of: XattrTarget<'_>,
        name: &[u8],
        into: &mut [u8],
    ) -> Result<usize, Errno> {
        let into = RefCell::new(into);
        self.with_target(of, |member, caller, node| {
            member.attribute(caller, node, name, &mut into.borrow_mut())
        })
    }

    /// Copies the names of all attributes, each followed by a zero; returns their total length. If
    /// `into` is empty, only returns the length.
    ///
    /// # Errors
    /// As listxattr(2).
    pub fn attribute_names(&self, of: XattrTarget<'_>, into: &mut [u8]) -> Result<usize, Errno> {
        let into = RefCell::new(into);
        self.with_target(of, |member, caller, node| {
            member.attribute_names(caller, node, &mut into.borrow_mut())
        })
    }

    /// Sets an attribute.
    ///
    /// # Errors
    /// As setxattr(2).
    pub fn set_attribute(
        &self,
        of: XattrTarget<'_>,
        name: &[u8],
        value: &[u8],
        how: SetAttribute,
    ) -> Result<(), Errno> {
        self.with_target(of, |member, caller, node| {
            member.set_attribute(caller, node, name, value, how)
        })
    }

    /// Removes an attribute.
    ///
    /// # Errors
    /// As removexattr(2).
    pub fn remove_attribute(&self, of: XattrTarget<'_>, name: &[u8]) -> Result<(), Errno> {
        self.with_target(of, |member, caller, node| member.remove_attribute(caller, node, name))
    }

    fn with_target<T>(
        &self,
        of: XattrTarget<'_>,
        act: impl Fn(Core<'_>, &Caller<'_>, Node) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        match of {
            XattrTarget::Named(path, follow) => self.with_node(Base::Working, path, follow, act),
            XattrTarget::Open(descriptor) => self.with(|member, caller| {
                member.retry(|| {
                    if member.flags(descriptor)? & densefs::flags::PATH != 0 {
                        return Err(Errno::BADF);
                    }
                    act(member, caller, member.node(descriptor)?)
                })
            }),
        }
    }
}
