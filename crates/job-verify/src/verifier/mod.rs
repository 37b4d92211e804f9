//! Blocks that can be verified: filled before they are written, checked after they were read.

mod check;
mod dump;
mod interval;
mod mismatch;

use std::borrow::Cow;

use thiserror::Error;

use crate::checksum::write_checksum;
use crate::content::{Pattern, fill_compressible, repeat};
use crate::header::{Header, MAGIC};
use crate::method::{HEADER_BYTES, Method};

pub use check::Expected;
pub use dump::Dump;
pub use interval::IntervalRule;
pub use mismatch::{Cause, Failure, Mismatch};

/// How a job's blocks are verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifySpec {
    /// `verify`.
    pub method: Method,
    /// `verify_interval`: bytes from one header to the next, as [`IntervalRule`] finds them. A
    /// block has a single header if this is 0 or more than the block.
    pub interval_bytes: u32,
    /// `bs_unaligned`: a block has a single header whatever the interval is.
    pub is_unaligned: bool,
    /// `verify_offset`: where the header lies, in bytes. What would be there is at the beginning.
    pub offset_bytes: usize,
    /// `verify_pattern`: what is below headers. Random bytes, if there is none.
    pub pattern: Option<Pattern>,
    /// `buffer_compress_percentage`, 0 to 99: the share of random content that is not random.
    pub compress_percent: u8,
    /// `buffer_pattern`: what that share is filled with. Empty means zeros.
    pub buffer_pattern: Vec<u8>,
    /// `verify_fatal`: the first interval with another content is the last that is looked at.
    pub is_fatal: bool,
}

impl VerifySpec {
    /// A method, and everything else as it is where no option is given.
    pub fn new(method: Method) -> Self {
        Self {
            method,
            interval_bytes: 0,
            is_unaligned: false,
            offset_bytes: 0,
            pattern: None,
            compress_percent: 0,
            buffer_pattern: Vec::new(),
            is_fatal: false,
        }
    }
}

/// What is known about a block that is to be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Where in the file the block goes, in bytes.
    pub file_offset: u64,
    /// How many writes the job has begun before. The header has the lowest 16 bits.
    pub number: u64,
    /// What the random content follows from; 0 if there is a pattern. See the crate's description.
    pub seed: u64,
    /// The job's thread, from 1, in its lowest 16 bits.
    pub thread: u16,
    /// When the write began, by any clock: whole seconds.
    pub time_s: u32,
    /// When the write began: nanoseconds beyond them.
    pub time_ns: u32,
}

/// A block, or what lies between two headers, has no room for a header, a checksum and one byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "a block of {length} bytes is too small for verify={method}: make `bs` or `verify_interval` \
     more than {needed}"
)]
pub struct TooSmall {
    /// The method.
    pub method: Method,
    /// Bytes that there are.
    pub length: usize,
    /// Bytes that headers take, and `verify_offset` before them.
    pub needed: usize,
}

/// Fills blocks and checks them.
#[derive(Clone, Debug)]
pub struct Verifier {
    spec: VerifySpec,
}

impl Verifier {
    /// A verifier for a job. A thread can have its own: it is cheap to clone.
    pub fn new(spec: VerifySpec) -> Self {
        Self { spec }
    }

    /// How blocks are verified.
    pub fn spec(&self) -> &VerifySpec {
        &self.spec
    }

    /// Fills a block that is to be written. With [`Method::Null`] it stays as it is.
    ///
    /// A block that ends within an interval has a shorter last one.
    ///
    /// # Errors
    /// If headers have no room. The block is filled, but without them.
    pub fn fill(&self, block: &mut [u8], written: &Written) -> Result<(), TooSmall> {
        if self.spec.method == Method::Null {
            return Ok(());
        }
        self.fill_content(block, written);
        self.fill_headers(block, written)
    }

    /// Writes the headers of a block and leaves its content as it is.
    ///
    /// This is what fio does with `refill_buffers=0`, if there is a pattern without `%o`: a buffer
    /// keeps the pattern that it has had since the job began, until something is read into it. With
    /// `verify_offset`, it keeps old headers too, and what is written does not verify then.
    ///
    /// # Errors
    /// If headers have no room.
    pub fn fill_headers(&self, block: &mut [u8], written: &Written) -> Result<(), TooSmall> {
        if !self.spec.method.has_headers() || block.is_empty() {
            return Ok(());
        }
        let step = self.step(block.len());
        let mut file_offset = written.file_offset;
        for interval in block.chunks_mut(step) {
            self.room(interval.len())?;
            self.write_header(interval, &Written { file_offset, ..*written });
            self.swap(interval);
            file_offset = file_offset.wrapping_add(step as u64);
        }
        Ok(())
    }

    fn fill_content(&self, block: &mut [u8], written: &Written) {
        let VerifySpec { compress_percent, buffer_pattern, .. } = &self.spec;
        match self.pattern_at(written.file_offset) {
            Some(pattern) => repeat(&pattern, block),
            None => fill_compressible(written.seed, *compress_percent, buffer_pattern, block),
        }
    }

    fn write_header(&self, interval: &mut [u8], written: &Written) {
        let header = self.header(interval.len(), written);
        let method = self.spec.method;
        let (before, content) = interval.split_at_mut(method.overhead_bytes());
        let (place, checksum) = before.split_at_mut(HEADER_BYTES);
        place.copy_from_slice(&header.to_bytes());
        write_checksum(method, content, checksum);
    }

    fn header(&self, length: usize, written: &Written) -> Header {
        Header {
            magic: MAGIC,
            method_code: self.spec.method.code(),
            length: length_in_header(length),
            seed: written.seed,
            file_offset: written.file_offset,
            time_s: written.time_s,
            time_ns: written.time_ns,
            thread: written.thread,
            number: number_in_header(written.number),
            checksum: 0,
        }
    }

    /// Bytes from a header to the next, in a block of this length.
    fn step(&self, length: usize) -> usize {
        let interval = self.spec.interval_bytes as usize;
        let is_single = interval == 0 || interval > length || self.spec.is_unaligned;
        if is_single { length } else { interval }
    }

    fn pattern_at(&self, file_offset: u64) -> Option<Cow<'_, [u8]>> {
        let pattern = self.spec.pattern.as_ref().filter(|pattern| !pattern.bytes.is_empty())?;
        Some(if pattern.offsets.is_empty() {
            Cow::Borrowed(&pattern.bytes)
        } else {
            Cow::Owned(pattern.at(file_offset))
        })
    }

    /// Whether an interval of this length has room for what comes before its content.
    fn room(&self, length: usize) -> Result<(), TooSmall> {
        let method = self.spec.method;
        let overhead = method.overhead_bytes();
        let reaches = if self.is_moved() { self.spec.offset_bytes + overhead } else { 0 };
        if length > overhead && length >= reaches {
            return Ok(());
        }
        Err(TooSmall { method, length, needed: overhead.max(reaches) })
    }

    /// Whether headers are not where their intervals begin.
    fn is_moved(&self) -> bool {
        self.spec.offset_bytes > 0 && self.spec.method.has_headers()
    }

    /// Exchanges the header and what is in its place. Where both overlap, the header loses its end
    /// on the way back, so that such blocks never verify. Nor do they in fio, whose bytes there
    /// depend on its compiler.
    fn swap(&self, interval: &mut [u8]) {
        if !self.is_moved() {
            return;
        }
        let overhead = self.spec.method.overhead_bytes();
        let place = self.spec.offset_bytes..self.spec.offset_bytes + overhead;
        let first = interval[..overhead].to_vec();
        interval.copy_within(place.clone(), 0);
        interval[place].copy_from_slice(&first);
    }
}

fn length_in_header(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// The lowest 16 bits of a write's number.
fn number_in_header(number: u64) -> u16 {
    let [low, high, ..] = number.to_le_bytes();
    u16::from_le_bytes([low, high])
}

#[cfg(test)]
mod tests;
