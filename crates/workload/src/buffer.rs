//! Buffers for transfers: aligned as `O_DIRECT` wants them, and resident before anything is timed.

/// The strictest alignment that direct I/O asks for in practice: a page, which covers every logical
/// block size.
const ALIGNMENT_BYTES: usize = 4096;

/// The byte that unverified writes consist of.
pub(crate) const FILLER: u8 = 0xa5;

/// A buffer whose first byte lies on a page boundary.
#[derive(Debug)]
pub(crate) struct AlignedBuffer {
    storage: Vec<u8>,
    start: usize,
    length: usize,
}

impl AlignedBuffer {
    /// `length` bytes of [`FILLER`]. Writing them here means that no page is faulted in by a timed
    /// operation.
    pub(crate) fn new(length: usize) -> Self {
        let storage = vec![FILLER; length + ALIGNMENT_BYTES];
        let address = storage.as_ptr().addr();
        Self { start: address.next_multiple_of(ALIGNMENT_BYTES) - address, storage, length }
    }

    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.storage[self.start..self.start + self.length]
    }

    #[inline]
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.storage[self.start..self.start + self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_begin_on_a_page_and_stay_there_when_moved() {
        for length in [1, 512, 4096, 1 << 20] {
            let buffers: Vec<_> = (0..3).map(|_| AlignedBuffer::new(length)).collect();
            for buffer in buffers.into_iter().rev() {
                assert_eq!(buffer.bytes().as_ptr().addr() % ALIGNMENT_BYTES, 0);
                assert_eq!(buffer.bytes().len(), length);
            }
        }
    }
}
