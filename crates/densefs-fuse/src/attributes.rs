//! Serves the kernel's requests about extended attributes.

use std::cell::RefCell;
use std::os::unix::ffi::OsStrExt;

use densefs::modes::Caller;
use densefs::{Errno, Node, SetAttribute};

use crate::known_inodes::Core;
use crate::protocol::{Reply, Request};
use crate::server::FuseServer;

impl FuseServer {
    pub(crate) fn set_extended(&self, request: &Request<'_>) -> Result<Reply, Errno> {
        let mut fields = request.fields();
        let (size, how, name) = (fields.u32()?, fields.u32()?.cast_signed(), fields.name()?);
        let (value, caller) = (fields.bytes(size)?, request.caller());
        let how = match how {
            0 => SetAttribute::Any,
            libc::XATTR_CREATE => SetAttribute::New,
            libc::XATTR_REPLACE => SetAttribute::Present,
            _ => return Err(Errno::INVAL),
        };
        self.with(request.node, |core, node| {
            core.set_attribute(&caller, node, name.as_bytes(), value, how)
        })?;
        Ok(Reply::empty())
    }

    pub(crate) fn extended(&self, request: &Request<'_>) -> Result<Reply, Errno> {
        let mut fields = request.fields();
        let size = fields.u32()?;
        fields.skip(4)?;
        let (name, caller) = (fields.name()?, request.caller());
        self.copied(request.node, size, |core, node, into| {
            core.attribute(&caller, node, name.as_bytes(), into)
        })
    }

    pub(crate) fn extended_names(&self, request: &Request<'_>) -> Result<Reply, Errno> {
        let size = request.fields().u32()?;
        // The kernel has not checked which names the caller may see.
        let caller = Caller { is_checked: false, ..request.caller() };
        self.copied(request.node, size, |core, node, into| {
            core.attribute_names(&caller, node, into)
        })
    }

    pub(crate) fn remove_extended(&self, request: &Request<'_>) -> Result<Reply, Errno> {
        let (name, caller) = (request.fields().name()?, request.caller());
        self.with(request.node, |core, node| {
            core.remove_attribute(&caller, node, name.as_bytes())
        })?;
        Ok(Reply::empty())
    }

    /// The bytes that the closure copies, or only their length if the kernel has no room for any.
    fn copied(
        &self,
        number: u64,
        size: u32,
        copy: impl Fn(&Core, Node, &mut [u8]) -> Result<usize, Errno>,
    ) -> Result<Reply, Errno> {
        let bytes = RefCell::new(vec![0; size as usize]);
        let length = self.with(number, |core, node| copy(core, node, &mut bytes.borrow_mut()))?;
        if size == 0 {
            return Ok(Reply::length(length));
        }
        let mut bytes = bytes.into_inner();
        bytes.truncate(length);
        Ok(Reply::bytes(bytes))
    }
}
