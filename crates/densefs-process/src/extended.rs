//! Extended attributes.

use std::cell::RefCell;
use std::path::Path;

use densefs::modes::Caller;
use densefs::{Errno, Follow, Node, SetAttribute};

use crate::dense_fs::{Base, Core, DenseFs};

/// What has extended attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bearer<'p> {
    /// What a path names.
    Named(&'p Path, Follow),
    /// What is open.
    Open(u32),
}

impl DenseFs {
    /// Copies the value of an attribute; how long it is. Without room for any of it, only that.
    ///
    /// # Errors
    /// As getxattr(2).
    pub fn attribute(&self, of: Bearer<'_>, name: &[u8], into: &mut [u8]) -> Result<usize, Errno> {
        let into = RefCell::new(into);
        self.with_bearer(of, |member, caller, node| {
            member.attribute(caller, node, name, &mut into.borrow_mut())
        })
    }

    /// Copies the names of all attributes, each with a zero behind; how many bytes they take.
    /// Without room for any of it, only that.
    ///
    /// # Errors
    /// As listxattr(2).
    pub fn attribute_names(&self, of: Bearer<'_>, into: &mut [u8]) -> Result<usize, Errno> {
        let into = RefCell::new(into);
        self.with_bearer(of, |member, caller, node| {
            member.attribute_names(caller, node, &mut into.borrow_mut())
        })
    }

    /// Gives it an attribute.
    ///
    /// # Errors
    /// As setxattr(2).
    pub fn set_attribute(
        &self,
        of: Bearer<'_>,
        name: &[u8],
        value: &[u8],
        how: SetAttribute,
    ) -> Result<(), Errno> {
        self.with_bearer(of, |member, caller, node| {
            member.set_attribute(caller, node, (name, value), how)
        })
    }

    /// Takes an attribute away.
    ///
    /// # Errors
    /// As removexattr(2).
    pub fn remove_attribute(&self, of: Bearer<'_>, name: &[u8]) -> Result<(), Errno> {
        self.with_bearer(of, |member, caller, node| member.remove_attribute(caller, node, name))
    }

    fn with_bearer<T>(
        &self,
        of: Bearer<'_>,
        act: impl Fn(Core<'_>, &Caller<'_>, Node) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        match of {
            Bearer::Named(path, follow) => self.with_node((Base::Working, path), follow, act),
            Bearer::Open(descriptor) => self.with(|member, caller| {
                member.again(|| {
                    if member.flags(descriptor)? & densefs::flags::PATH != 0 {
                        return Err(Errno::BADF);
                    }
                    act(member, caller, member.node(descriptor)?)
                })
            }),
        }
    }
}
