//! The part of the kernel's protocol, as <linux/fuse.h> defines it, that one file needs.

/// What a request asks for: `enum fuse_opcode`.
pub(crate) mod operation {
    pub(crate) const FORGET: u32 = 2;
    pub(crate) const GETATTR: u32 = 3;
    pub(crate) const SETATTR: u32 = 4;
    pub(crate) const OPEN: u32 = 14;
    pub(crate) const READ: u32 = 15;
    pub(crate) const WRITE: u32 = 16;
    pub(crate) const STATFS: u32 = 17;
    pub(crate) const RELEASE: u32 = 18;
    pub(crate) const FSYNC: u32 = 20;
    pub(crate) const FLUSH: u32 = 25;
    pub(crate) const INIT: u32 = 26;
    pub(crate) const DESTROY: u32 = 38;
    pub(crate) const BATCH_FORGET: u32 = 42;
    pub(crate) const FALLOCATE: u32 = 43;
}

/// The largest read or write: 256 pages, which is as much as kernels allow by default.
pub(crate) const REQUEST_BYTES_MAX: usize = 1 << 20;
/// The pages of such a request.
const PAGES_MAX: u16 = 256;
/// What comes before the bytes of a write: `fuse_in_header` and `fuse_write_in`. What is read of
/// other requests is in these bytes too.
pub(crate) const HEAD_BYTES: usize = 80;
/// A `SETATTR` sets the size: `FATTR_SIZE`.
const SET_SIZE: u32 = 1 << 3;
/// The protocol's version: the first that knows all that is used here.
const VERSION: (u32, u32) = (7, 31);
/// `FUSE_ASYNC_READ`, `FUSE_BIG_WRITES`, `FUSE_ASYNC_DIO` and `FUSE_MAX_PAGES`: several requests at
/// a time, and large ones.
const FEATURES: u32 = 1 | 1 << 5 | 1 << 15 | 1 << 22;
/// `FOPEN_DIRECT_IO`, `FOPEN_NOFLUSH` and `FOPEN_PARALLEL_DIRECT_WRITES`.
const OPEN_FLAGS: u32 = 1 | 1 << 5 | 1 << 6;
const BLOCK: u32 = 4096;
/// A regular file that its owner may read and write.
pub(crate) const MODE: u32 = 0o100_600;

/// The first bytes of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'b>(&'b [u8; HEAD_BYTES]);

impl<'b> Request<'b> {
    pub(crate) fn new(head: &'b [u8; HEAD_BYTES]) -> Self {
        Self(head)
    }

    fn u32(&self, at: usize) -> u32 {
        self.0[at..].first_chunk().map_or(0, |bytes| u32::from_ne_bytes(*bytes))
    }

    fn u64(&self, at: usize) -> u64 {
        self.0[at..].first_chunk().map_or(0, |bytes| u64::from_ne_bytes(*bytes))
    }

    /// One of [`operation`].
    pub(crate) fn operation(&self) -> u32 {
        self.u32(4)
    }

    /// Its number, which no other request gets.
    pub(crate) fn unique(&self) -> u64 {
        self.u64(8)
    }

    /// Of `INIT`: the features that the kernel has.
    fn features(&self) -> u32 {
        self.u32(52)
    }

    /// Of `READ`, `WRITE` and `FALLOCATE`: where it begins.
    pub(crate) fn offset(&self) -> u64 {
        self.u64(48)
    }

    /// Of `READ` and `WRITE`: how many bytes.
    pub(crate) fn bytes(&self) -> usize {
        (self.u32(56) as usize).min(REQUEST_BYTES_MAX)
    }

    /// Of `FALLOCATE`: how many bytes, and the mode of fallocate(2).
    pub(crate) fn space(&self) -> (u64, u32) {
        (self.u64(56), self.u32(64))
    }

    /// Of `SETATTR`: the new size, if it sets that.
    pub(crate) fn new_size(&self) -> Option<u64> {
        (self.u32(40) & SET_SIZE != 0).then(|| self.u64(56))
    }
}

/// An answer that is not the bytes of the image, without its header.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reply {
    bytes: [u8; 104],
    length: usize,
}

impl Reply {
    /// That it is done, and nothing more.
    pub(crate) fn empty() -> Self {
        Self { bytes: [0; 104], length: 0 }
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    fn with(mut self, more: &[u8]) -> Self {
        let end = self.length + more.len();
        self.bytes[self.length..end].copy_from_slice(more);
        self.length = end;
        self
    }

    fn u16(self, word: u16) -> Self {
        self.with(&word.to_ne_bytes())
    }

    fn u32(self, word: u32) -> Self {
        self.with(&word.to_ne_bytes())
    }

    fn u64(self, word: u64) -> Self {
        self.with(&word.to_ne_bytes())
    }

    /// `struct fuse_init_out`: what both can do, with `depth` requests at a time.
    pub(crate) fn agreed(request: &Request<'_>, depth: u16) -> Self {
        let write_bytes_max = u32::try_from(REQUEST_BYTES_MAX).unwrap_or(u32::MAX);
        let reply = Self::empty().u32(VERSION.0).u32(VERSION.1).u32(write_bytes_max);
        let reply = reply.u32(request.features() & FEATURES).u16(depth).u16(depth);
        let reply = reply.u32(write_bytes_max).u32(1).u16(PAGES_MAX).u16(0);
        (0..8).fold(reply, |reply, _| reply.u32(0))
    }

    /// `struct fuse_attr_out` of a file of so many bytes. Its times are of no interest to anybody.
    pub(crate) fn attributes(size_bytes: u64) -> Self {
        let inode = 1;
        let reply = Self::empty().u64(0).u64(0).u64(inode).u64(size_bytes);
        let reply = (0..4).fold(reply, |reply, _| reply.u64(0));
        let reply = (0..3).fold(reply, |reply, _| reply.u32(0));
        let (links, owner, device) = (1, 0, 0);
        let reply = reply.u32(MODE).u32(links).u32(owner).u32(owner).u32(device);
        reply.u32(BLOCK).u32(0)
    }

    /// `struct fuse_open_out`.
    pub(crate) fn opened() -> Self {
        Self::empty().u64(0).u32(OPEN_FLAGS).u32(0)
    }

    /// `struct fuse_write_out`.
    pub(crate) fn written(bytes: usize) -> Self {
        Self::empty().u32(u32::try_from(bytes).unwrap_or(u32::MAX)).u32(0)
    }

    /// `struct fuse_statfs_out`, of which the kernel's loop device takes the block size.
    pub(crate) fn usage() -> Self {
        let reply = (0..5).fold(Self::empty(), |reply, _| reply.u64(0));
        (0..7).fold(reply.u32(BLOCK).u32(255).u32(BLOCK), |reply, _| reply.u32(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_have_the_sizes_that_the_kernel_expects() {
        let head = [0; HEAD_BYTES];
        let sizes = [
            (Reply::empty(), 0),
            (Reply::agreed(&Request::new(&head), 32), 64),
            (Reply::attributes(1), 104),
            (Reply::opened(), 16),
            (Reply::written(1), 8),
            (Reply::usage(), 80),
        ];
        for (reply, size) in sizes {
            assert_eq!(reply.as_bytes().len(), size);
        }
    }

    #[test]
    fn fields_are_where_the_kernel_puts_them() {
        let mut head = [0; HEAD_BYTES];
        head[4..8].copy_from_slice(&operation::SETATTR.to_ne_bytes());
        head[8..16].copy_from_slice(&7_u64.to_ne_bytes());
        head[48..56].copy_from_slice(&4096_u64.to_ne_bytes());
        head[56..64].copy_from_slice(&512_u64.to_ne_bytes());
        head[64..68].copy_from_slice(&3_u32.to_ne_bytes());
        let request = Request::new(&head);
        assert_eq!((request.operation(), request.unique()), (operation::SETATTR, 7));
        assert_eq!((request.offset(), request.bytes(), request.space()), (4096, 512, (512, 3)));
        assert_eq!(request.new_size(), None);
        head[40..44].copy_from_slice(&SET_SIZE.to_ne_bytes());
        assert_eq!(Request::new(&head).new_size(), Some(512));
    }
}
