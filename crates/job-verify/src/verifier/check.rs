//! Whether a block that was read is one that was written.

use std::borrow::Cow;

use super::{Verifier, length_in_header, number_in_header};
use crate::checksum::write_checksum;
use crate::content::first_difference;
use crate::header::{Header, MAGIC, checksum_of};
use crate::method::{CHECKSUM_BYTES_MAX, HEADER_BYTES, Method, overhead_of};
use crate::verifier::mismatch::{Cause, Failure, Mismatch};

/// What is known about a block that was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    /// Where in the file the block lies, in bytes.
    pub file_offset: u64,
    /// The number of its write, where it must be that one: see
    /// [`HeaderRules`](crate::HeaderRules).
    pub number: Option<u64>,
    /// The seed of its content, where it must be that one: see
    /// [`HeaderRules`](crate::HeaderRules).
    pub seed: Option<u64>,
}

/// An interval of a block, its header in front.
struct Interval<'a> {
    file_offset: u64,
    /// Where it begins in its block.
    begin: usize,
    bytes: Cow<'a, [u8]>,
}

impl Verifier {
    /// Checks a block that was read.
    ///
    /// As in fio, a header that is not as it should be ends the check. Other contents do not, but
    /// for [`is_fatal`](super::VerifySpec::is_fatal): each interval of a block is looked at.
    ///
    /// # Errors
    /// What is wrong, and whether that is an error for fio: only the last interval counts there.
    pub fn check(&self, block: &[u8], expected: &Expected) -> Result<(), Failure> {
        let spec = &self.spec;
        if spec.method == Method::Null || block.is_empty() {
            return Ok(());
        }
        let mut mismatches = Vec::new();
        let mut is_error = false;
        for interval in self.intervals(block, expected.file_offset) {
            if is_error && spec.is_fatal {
                break;
            }
            let found = self.check_interval(&interval, expected);
            is_error = found.is_some();
            let Some(cause) = found else { continue };
            let ends = cause.is_of_header();
            mismatches.push(self.mismatch(&interval, cause, block.len(), expected.file_offset));
            if ends {
                break;
            }
        }
        if mismatches.is_empty() { Ok(()) } else { Err(Failure { mismatches, is_error }) }
    }

    /// Checks that a block that was trimmed reads as zeros: what `trim_verify_zero` asks for.
    ///
    /// # Errors
    /// Where the first byte is that is none.
    pub fn check_zeros(&self, block: &[u8], file_offset: u64) -> Result<(), Failure> {
        let Some(at) = block.iter().position(|byte| *byte != 0) else { return Ok(()) };
        let mismatch = Mismatch {
            cause: Cause::NotZero { at },
            method: self.spec.method,
            file_offset,
            length: block.len(),
            begin: 0,
            block_offset: file_offset,
            block_length: block.len(),
        };
        Err(Failure { mismatches: vec![mismatch], is_error: true })
    }

    fn intervals<'a>(
        &'a self,
        block: &'a [u8],
        file_offset: u64,
    ) -> impl Iterator<Item = Interval<'a>> {
        let step = self.step(block.len());
        block.chunks(step).enumerate().map(move |(index, bytes)| {
            let begin = index * step;
            let file_offset = file_offset.wrapping_add(begin as u64);
            Interval { file_offset, begin, bytes: self.in_order(bytes) }
        })
    }

    /// An interval with its header in front.
    pub(super) fn in_order<'a>(&self, interval: &'a [u8]) -> Cow<'a, [u8]> {
        if !self.is_moved() || self.room(interval.len()).is_err() {
            return Cow::Borrowed(interval);
        }
        let mut bytes = interval.to_vec();
        self.swap(&mut bytes);
        Cow::Owned(bytes)
    }

    fn check_interval(&self, interval: &Interval<'_>, expected: &Expected) -> Option<Cause> {
        let bytes = &*interval.bytes;
        if let Err(too_small) = self.room(bytes.len()) {
            return Some(Cause::TooSmall(too_small));
        }
        let mut code = self.spec.method.code();
        if self.spec.method.has_headers() {
            let header = bytes.first_chunk().expect("an interval has room for its header");
            if let Some(cause) = check_header(header, interval, expected) {
                return Some(cause);
            }
            code = Header::from_bytes(header).method_code;
        }
        match self.spec.method {
            Method::Null => None,
            Method::Meta if self.spec.pattern.is_none() => None,
            Method::Meta | Method::HeaderAndPattern | Method::Pattern => {
                self.check_pattern(interval, expected.file_offset)
            }
            Method::Md5
            | Method::Crc64
            | Method::Crc32
            | Method::Crc32c
            | Method::Crc16
            | Method::Crc7
            | Method::Sha256
            | Method::Sha512
            | Method::Sha3Of224
            | Method::Sha3Of256
            | Method::Sha3Of384
            | Method::Sha3Of512
            | Method::Xxhash
            | Method::Sha1 => self.check_checksum(bytes, code),
        }
    }

    /// Compares the checksum with that of the content, which begins where the header's own method
    /// says.
    fn check_checksum(&self, bytes: &[u8], code: u16) -> Option<Cause> {
        let method = self.spec.method;
        let Some(content) = overhead_of(code).and_then(|overhead| bytes.get(overhead..)) else {
            return Some(Cause::UnknownMethod { code });
        };
        let stored = &bytes[HEADER_BYTES..HEADER_BYTES + method.checksum_bytes()];
        let mut place = [0; CHECKSUM_BYTES_MAX];
        let computed = &mut place[..method.checksum_bytes()];
        write_checksum(method, content, computed);
        (stored != computed).then(|| Cause::Checksum {
            expected: stored.to_vec(),
            received: computed.to_vec(),
            other_code: (code != method.code()).then_some(code),
        })
    }

    fn check_pattern(&self, interval: &Interval<'_>, block_offset: u64) -> Option<Cause> {
        let Some(pattern) = self.pattern_at(block_offset) else { return Some(Cause::NoPattern) };
        let overhead = self.spec.method.overhead_bytes();
        let phase = (interval.begin + overhead) % pattern.len();
        let content = &interval.bytes[overhead..];
        let (at, expected) = first_difference(&pattern, phase, content)?;
        Some(Cause::Pattern { expected, received: content[at], at })
    }

    fn mismatch(
        &self,
        interval: &Interval<'_>,
        cause: Cause,
        block_length: usize,
        block_offset: u64,
    ) -> Mismatch {
        Mismatch {
            cause,
            method: self.spec.method,
            file_offset: interval.file_offset,
            length: interval.bytes.len(),
            begin: interval.begin,
            block_offset,
            block_length,
        }
    }
}

fn check_header(
    bytes: &[u8; HEADER_BYTES],
    interval: &Interval<'_>,
    expected: &Expected,
) -> Option<Cause> {
    let header = Header::from_bytes(bytes);
    if header.magic != MAGIC {
        return Some(Cause::Magic { received: header.magic });
    }
    let length = length_in_header(interval.bytes.len());
    if header.length != length {
        return Some(Cause::Length { expected: length, received: header.length });
    }
    if let Some(seed) = expected.seed.filter(|seed| *seed != header.seed) {
        return Some(Cause::Seed { expected: seed, received: header.seed });
    }
    if header.file_offset != interval.file_offset {
        let (expected, received) = (interval.file_offset, header.file_offset);
        return Some(Cause::Offset { expected, received });
    }
    let number = expected.number.map(number_in_header);
    if let Some(number) = number.filter(|number| *number != header.number) {
        return Some(Cause::Number { expected: number, received: header.number });
    }
    let computed = checksum_of(bytes);
    (header.checksum != computed)
        .then_some(Cause::HeaderChecksum { expected: header.checksum, received: computed })
}
