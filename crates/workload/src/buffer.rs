//! Buffers for transfers: aligned for `O_DIRECT`, and resident before anything is timed.

use std::hint::black_box;

use crate::content::{Content, mix};

/// One page, which covers the logical block sizes of common devices. If direct I/O needs more,
/// preparing the session fails.
pub(crate) const ALIGNMENT_BYTES: usize = 4096;

/// Requests in a [`Payload`] begin at multiples of this, a cache line, so that copying any of them
/// costs the same.
const LINE_BYTES: usize = 64;

/// Fills read buffers, so that a read which moves nothing cannot pass verification.
pub(crate) const FILLER: u8 = 0xa5;

/// A buffer that starts on a page boundary. Direct I/O requires this. Elsewhere, the start of a
/// buffer affects how fast the kernel copies, by a tenth on some processors, so only buffers with
/// the same alignment can be compared.
#[derive(Debug)]
pub struct AlignedBuffer {
    storage: Vec<u8>,
    start: usize,
    length: usize,
}

impl AlignedBuffer {
    /// `length` bytes of filler (0xa5). Writing them here keeps page faults out of timed
    /// operations.
    #[must_use]
    pub fn new(length: usize) -> Self {
        let storage = vec![FILLER; length + ALIGNMENT_BYTES];
        let address = storage.as_ptr().addr();
        Self { start: address.next_multiple_of(ALIGNMENT_BYTES) - address, storage, length }
    }

    /// The content.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.storage[self.start..self.start + self.length]
    }

    /// The content, mutable.
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.storage[self.start..self.start + self.length]
    }
}

/// The data for writes and appends: several requests side by side, used in turn.
///
/// File systems that compress look for repetition within 128 KiB or less (btrfs and `ZFS` compress
/// that much at once, `f2fs` less), so storing the same request again and again would cost them
/// almost nothing. A payload therefore has 128 KiB of incompressible content, or one request if
/// that is larger, and the first word of a request changes each time it is used.
#[derive(Debug)]
pub(crate) struct Payload {
    buffer: AlignedBuffer,
    request_bytes: usize,
    stride_bytes: usize,
    next: usize,
}

impl Payload {
    /// The distance after which content repeats, unless requests are larger.
    const PERIOD_BYTES: usize = 128 << 10;

    /// Incompressible requests, as few as possible.
    pub(crate) fn incompressible(request_bytes: usize, content: Content) -> Self {
        Self::incompressible_apart(request_bytes, content, 1)
    }

    /// At least `requests` incompressible requests.
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

    /// Room for `requests` requests, which the caller fills in.
    pub(crate) fn unwritten(request_bytes: usize, requests: usize) -> Self {
        let stride_bytes = request_bytes.next_multiple_of(LINE_BYTES);
        let buffer = AlignedBuffer::new(stride_bytes * requests);
        Self { buffer, request_bytes, stride_bytes, next: 0 }
    }

    /// Returns where the next request in turn begins.
    #[inline(always)]
    pub(crate) fn take_turn(&mut self) -> usize {
        let start = self.next;
        let next = start + self.stride_bytes;
        self.next = if next == self.buffer.length { 0 } else { next };
        start
    }

    /// The index of the request that begins here.
    #[inline(always)]
    pub(crate) fn number_of(&self, start: usize) -> usize {
        start / self.stride_bytes
    }

    /// Takes the next request, gives it a first word unique to operation `index`, and warms it.
    /// Untimed.
    #[inline(always)]
    pub(crate) fn take_stamped(&mut self, index: u64) -> usize {
        let start = self.take_turn();
        if let Some(word) = self.request_mut(start).first_chunk_mut() {
            *word = mix(index).to_le_bytes();
        }
        self.warm(start);
        start
    }

    /// Brings a request into the nearest cache, so that the timed call does not pay for the payload
    /// having many requests.
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

    /// Counts the 8-byte words, at any alignment, that repeat within `requests` turns.
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
