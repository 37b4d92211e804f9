//! The header of a block, 40 bytes in the order of a little-endian machine.
//!
//! | at | bytes | what |
//! | --- | --- | --- |
//! | 0 | 2 | 0xacca |
//! | 2 | 2 | code of the method |
//! | 4 | 4 | length: from this header to the next |
//! | 8 | 8 | seed of the content |
//! | 16 | 8 | offset in the file |
//! | 24 | 4 | time of the write, seconds |
//! | 28 | 4 | time of the write, nanoseconds |
//! | 32 | 2 | number of the job's thread |
//! | 34 | 2 | number of the write |
//! | 36 | 4 | crc32c of the 36 bytes before, without its last inversion |
//!
//! The method's checksum follows, and then the content that it is of. Source: fio 3.33, `verify.h`.

use crate::checksum::crc32c_uninverted;
use crate::method::HEADER_BYTES;

/// What every header begins with.
pub const MAGIC: u16 = 0xacca;

/// Bytes of a header that its own checksum covers.
const COVERED_BYTES: usize = 36;

/// A header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// What it begins with: [`MAGIC`].
    pub magic: u16,
    /// The code of the method: [`Method::code`](crate::Method::code).
    pub method_code: u16,
    /// Bytes from this header to the next.
    pub length: u32,
    /// What the random content follows from.
    pub seed: u64,
    /// Where in the file the header lies.
    pub file_offset: u64,
    /// When the write began: whole seconds.
    pub time_s: u32,
    /// When the write began: nanoseconds beyond them.
    pub time_ns: u32,
    /// The job's thread, from 1.
    pub thread: u16,
    /// How many writes the job had begun before, modulo 65536.
    pub number: u16,
    /// The checksum of what comes before it.
    pub checksum: u32,
}

impl Header {
    /// Reads a header. Nothing is checked.
    pub fn from_bytes(bytes: &[u8; HEADER_BYTES]) -> Self {
        Self {
            magic: u16::from_le_bytes(part(bytes, 0)),
            method_code: u16::from_le_bytes(part(bytes, 2)),
            length: u32::from_le_bytes(part(bytes, 4)),
            seed: u64::from_le_bytes(part(bytes, 8)),
            file_offset: u64::from_le_bytes(part(bytes, 16)),
            time_s: u32::from_le_bytes(part(bytes, 24)),
            time_ns: u32::from_le_bytes(part(bytes, 28)),
            thread: u16::from_le_bytes(part(bytes, 32)),
            number: u16::from_le_bytes(part(bytes, 34)),
            checksum: u32::from_le_bytes(part(bytes, COVERED_BYTES)),
        }
    }

    /// The header as it is written, with its checksum worked out: the field does not count.
    pub fn to_bytes(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..2].copy_from_slice(&self.magic.to_le_bytes());
        bytes[2..4].copy_from_slice(&self.method_code.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.length.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.seed.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.file_offset.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.time_s.to_le_bytes());
        bytes[28..32].copy_from_slice(&self.time_ns.to_le_bytes());
        bytes[32..34].copy_from_slice(&self.thread.to_le_bytes());
        bytes[34..36].copy_from_slice(&self.number.to_le_bytes());
        let checksum = checksum_of(&bytes);
        bytes[COVERED_BYTES..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }
}

/// The checksum that a header should have.
pub(crate) fn checksum_of(bytes: &[u8; HEADER_BYTES]) -> u32 {
    crc32c_uninverted(&bytes[..COVERED_BYTES])
}

fn part<const BYTES: usize>(bytes: &[u8; HEADER_BYTES], at: usize) -> [u8; BYTES] {
    std::array::from_fn(|index| bytes[at + index])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_as_they_are_written() {
        let header = Header {
            magic: MAGIC,
            method_code: 2,
            length: 4096,
            seed: 0x0102_0304_0506_0708,
            file_offset: 1 << 40,
            time_s: 3,
            time_ns: 4,
            thread: 5,
            number: 6,
            checksum: 0,
        };
        let bytes = header.to_bytes();
        let read = Header::from_bytes(&bytes);
        assert_eq!(read.checksum, checksum_of(&bytes));
        assert_eq!(Header { checksum: 0, ..read }, header);
        assert_eq!(bytes[..4], [0xca, 0xac, 2, 0]);
    }
}
