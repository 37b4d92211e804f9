//! Buffers for transfers: aligned as `O_DIRECT` wants them, and resident before anything is timed.

use std::hint::black_box;

use crate::content::{Content, mix};

/// A page, which covers the logical blocks of the usual devices. Direct I/O that wants more is
/// refused when a session is prepared.
pub(crate) const ALIGNMENT_BYTES: usize = 4096;

/// Requests in a [`Payload`] begin at multiples of this, a cache line, so that all are copied
/// alike.
const LINE_BYTES: usize = 64;

/// What a read must not find in its buffer if it moves nothing.
pub(crate) const FILLER: u8 = 0xa5;

/// A buffer whose first byte lies on a page boundary. Direct I/O wants that; elsewhere, where a
/// buffer begins decides how fast the kernel copies, on some processors by a tenth, so that only
/// buffers that begin alike can be compared.
#[derive(Debug)]
pub struct AlignedBuffer {
    storage: Vec<u8>,
    start: usize,
    length: usize,
}

impl AlignedBuffer {
    /// `length` bytes of filler (0xa5). Writing them here means that no page is faulted in by a
    /// timed operation.
    #[must_use]
    pub fn new(length: usize) -> Self {
        let storage = vec![FILLER; length + ALIGNMENT_BYTES];
        let address = storage.as_ptr().addr();
        Self { start: address.next_multiple_of(ALIGNMENT_BYTES) - address, storage, length }
    }

    /// What it holds.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.storage[self.start..self.start + self.length]
    }

    /// The same, to be read into or changed.
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.storage[self.start..self.start + self.length]
    }
}

/// What writes and appends write: requests side by side, taken in turn.
///
/// File systems that compress look for repetition within 128 KiB or less (btrfs and `ZFS` compress
/// that much at once, `f2fs` less), so a request written again and again would cost them almost
/// nothing to store. A payload therefore holds 128 KiB of incompressible content, or one request if
/// that is larger. Its first word is another one each time it is taken.
#[derive(Debug)]
pub(crate) struct Payload {
    buffer: AlignedBuffer,
    request_bytes: usize,
    stride_bytes: usize,
    next: usize,
}

impl Payload {
    /// How far apart content is that comes again, unless requests are larger.
    const PERIOD_BYTES: usize = 128 << 10;

    /// Incompressible requests, as few as may be.
    pub(crate) fn incompressible(request_bytes: usize, content: Content) -> Self {
        Self::incompressible_apart(request_bytes, content, 1)
    }

    /// So many incompressible requests at least.
    pub(crate) fn incompressible_apart(
        request_bytes: usize,
        content: Content,
        requests: usize,
    ) -> Self {
        let period = Self::PERIOD_BYTES.div_ceil(request_bytes.next_multiple_of(LINE_BYTES));
        let requests = requests.max(period);
        let mut payload = Self::unwritten(request_bytes, requests);
        content.fill(payload.buffer.bytes_mut(), 0);
        payload
    }

    /// Room for `requests` that their user writes.
    pub(crate) fn unwritten(request_bytes: usize, requests: usize) -> Self {
        let stride_bytes = request_bytes.next_multiple_of(LINE_BYTES);
        let buffer = AlignedBuffer::new(stride_bytes * requests);
        Self { buffer, request_bytes, stride_bytes, next: 0 }
    }

    /// Where the request of the next turn begins.
    #[inline(always)]
    pub(crate) fn take_turn(&mut self) -> usize {
        let start = self.next;
        let next = start + self.stride_bytes;
        self.next = if next == self.buffer.length { 0 } else { next };
        start
    }

    /// How many requests lie before the one that begins here.
    #[inline(always)]
    pub(crate) fn number_of(&self, start: usize) -> usize {
        start / self.stride_bytes
    }

    /// The next turn, with a first word of its own for operation `index`, and warm. Untimed.
    #[inline(always)]
    pub(crate) fn take_stamped(&mut self, index: u64) -> usize {
        let start = self.take_turn();
        if let Some(word) = self.request_mut(start).first_chunk_mut() {
            *word = mix(index).to_le_bytes();
        }
        self.warm(start);
        start
    }

    /// Brings a request into the nearest cache, so that the timed call does not pay for there being
    /// many.
    #[inline(always)]
    pub(crate) fn warm(&self, start: usize) {
        if self.stride_bytes < self.buffer.length {
            let lines = self.request(start).iter().step_by(LINE_BYTES);
            black_box(lines.fold(0, |all, byte| all ^ byte));
        }
    }

    #[inline(always)]
    pub(crate) fn request(&self, start: usize) -> &[u8] {
        &self.buffer.bytes()[start..start + self.request_bytes]
    }

    #[inline(always)]
    pub(crate) fn request_mut(&mut self, start: usize) -> &mut [u8] {
        &mut self.buffer.bytes_mut()[start..start + self.request_bytes]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

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

    /// The 8-byte words, at any alignment, that come twice in what `requests` turns give.
    fn repeated_words(request_bytes: usize, requests: u64) -> usize {
        let mut payload = Payload::incompressible(request_bytes, Content::new(1, 1));
        let mut written = Vec::new();
        for index in 0..requests {
            let start = payload.take_stamped(index);
            written.extend_from_slice(payload.request(start));
        }
        let mut seen = BTreeSet::new();
        written.windows(8).filter(|word| !seen.insert(word.to_vec())).count()
    }

    #[test]
    fn nothing_comes_again_within_what_file_systems_compress_at_once() {
        for (request_bytes, requests) in [(512, 256), (4096, 32), (12_288, 10), (200_000, 1)] {
            assert_eq!(repeated_words(request_bytes, requests), 0, "{request_bytes}");
        }
        assert!(repeated_words(4096, 33) > 4000, "then the first comes again");
    }

    #[test]
    fn requests_apart_are_taken_once_each_before_one_comes_again() {
        for (request_bytes, requests) in [(4096, 100), (200_000, 3), (4096, 1)] {
            let content = Content::new(1, 1);
            let mut payload = Payload::incompressible_apart(request_bytes, content, requests);
            let starts: BTreeSet<_> = (0..requests).map(|_| payload.take_turn()).collect();
            assert_eq!(starts.len(), requests, "{request_bytes}");
        }
    }

    #[test]
    fn requests_that_come_again_begin_with_another_word() {
        let mut payload = Payload::incompressible(4096, Content::new(1, 1));
        let first_words: BTreeSet<_> = (0..1000)
            .map(|index| {
                let start = payload.take_stamped(index);
                payload.request(start)[..8].to_vec()
            })
            .collect();
        assert_eq!(first_words.len(), 1000);
    }

    #[test]
    fn requests_are_whole_and_as_aligned_as_their_size() {
        for request_bytes in [1, 7, 512, 1000, 4096, 1 << 20] {
            let mut payload = Payload::incompressible(request_bytes, Content::new(1, 1));
            let alignment = 1 << request_bytes.trailing_zeros().min(12);
            for index in 0..3000 {
                let start = payload.take_stamped(index);
                let request = payload.request(start);
                assert_eq!(request.len(), request_bytes);
                assert_eq!(request.as_ptr().addr() % alignment, 0);
            }
        }
    }
}
