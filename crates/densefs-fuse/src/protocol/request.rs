//! What the kernel asks.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use densefs::Errno;
use densefs::modes::{Caller, NO_GROUPS};

/// A request of the kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'b> {
    /// What it asks for: one of [`super::operation`].
    pub(crate) operation: u32,
    /// Its number, which no other request gets.
    pub(crate) unique: u64,
    /// The kernel's number of the inode that it is about.
    pub(crate) node: u64,
    uid: u32,
    gid: u32,
    /// Who asks; 0 if the kernel does so by itself.
    pub(crate) process: u32,
    body: &'b [u8],
}

impl<'b> Request<'b> {
    /// The request in these bytes; none if they are none.
    pub(crate) fn parse(bytes: &'b [u8]) -> Option<Self> {
        let mut header = Fields(bytes);
        let length = header.u32().ok()?;
        let (operation, unique) = (header.u32().ok()?, header.u64().ok()?);
        let (node, uid, gid) = (header.u64().ok()?, header.u32().ok()?, header.u32().ok()?);
        let process = header.u32().ok()?;
        header.skip(4).ok()?;
        let is_whole = usize::try_from(length) == Ok(bytes.len());
        let body = header.0;
        is_whole.then_some(Self { operation, unique, node, uid, gid, process, body })
    }

    /// What follows the header.
    pub(crate) fn fields(&self) -> Fields<'b> {
        Fields(self.body)
    }

    /// On whose behalf the kernel asks. It has already checked permissions and applied the umask.
    pub(crate) fn caller(&self) -> Caller<'static> {
        let &Self { uid, gid, .. } = self;
        Caller { uid, gid, groups: &NO_GROUPS, umask: 0, is_checked: true, may_lead_out: false }
    }
}

/// What is left of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields<'b>(&'b [u8]);

impl<'b> Fields<'b> {
    fn take<const LENGTH: usize>(&mut self) -> Result<[u8; LENGTH], Errno> {
        let (first, rest) = self.0.split_first_chunk().ok_or(Errno::INVAL)?;
        self.0 = rest;
        Ok(*first)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Errno> {
        self.take().map(u32::from_ne_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Errno> {
        self.take().map(u64::from_ne_bytes)
    }

    /// Passes over some bytes.
    pub(crate) fn skip(&mut self, bytes: usize) -> Result<(), Errno> {
        self.0 = self.0.get(bytes..).ok_or(Errno::INVAL)?;
        Ok(())
    }

    /// A name, which a byte of zero ends.
    pub(crate) fn name(&mut self) -> Result<&'b OsStr, Errno> {
        let end = self.0.iter().position(|&byte| byte == 0).ok_or(Errno::INVAL)?;
        let (name, rest) = self.0.split_at(end);
        self.0 = &rest[1..];
        Ok(OsStr::from_bytes(name))
    }

    /// So many of the bytes that are left.
    pub(crate) fn bytes(&self, length: u32) -> Result<&'b [u8], Errno> {
        self.0.get(..length as usize).ok_or(Errno::INVAL)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(length: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend(length.to_ne_bytes());
        bytes.extend(1_u32.to_ne_bytes());
        bytes.extend(8_u64.to_ne_bytes());
        bytes.extend(2_u64.to_ne_bytes());
        [1000_u32, 100, 7, 0].iter().for_each(|word| bytes.extend(word.to_ne_bytes()));
        bytes.extend(b"a name\0rest");
        bytes
    }

    #[test]
    fn a_request_has_a_header_and_fields() {
        let bytes = bytes(51);
        let request = Request::parse(&bytes).expect("it is whole");
        assert_eq!((request.operation, request.unique, request.node), (1, 8, 2));
        assert_eq!((request.caller().uid, request.caller().gid), (1000, 100));
        let mut fields = request.fields();
        assert_eq!(fields.name(), Ok(OsStr::new("a name")));
        assert_eq!(fields.bytes(4), Ok(&b"rest"[..]));
        assert_eq!(fields.bytes(5), Err(Errno::INVAL));
        assert_eq!(fields.name(), Err(Errno::INVAL));
        assert_eq!(fields.u64(), Err(Errno::INVAL));
        assert_eq!(fields.u32(), Ok(u32::from_ne_bytes(*b"rest")));
    }

    #[test]
    fn what_is_cut_off_is_no_request() {
        let whole = bytes(51);
        assert!((0..whole.len()).all(|length| Request::parse(&whole[..length]).is_none()));
        assert!(Request::parse(&bytes(52)).is_none());
    }
}
