//! What is wrong with a block, in words.

use std::error::Error;
use std::fmt;

use super::TooSmall;
use crate::header::MAGIC;
use crate::method::Method;

/// What is wrong with an interval of a block: a header and its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// What is wrong.
    pub cause: Cause,
    /// How it was found.
    pub method: Method,
    /// Where the interval lies in its file, in bytes.
    pub file_offset: u64,
    /// Bytes of the interval.
    pub length: usize,
    /// Where the interval begins in the block, in bytes.
    pub begin: usize,
    /// Where the block lies in its file, in bytes.
    pub block_offset: u64,
    /// Bytes of the block.
    pub block_length: usize,
}

/// What can be wrong. *Expected* is what should be there, or what the header says; *received* is
/// what is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It does not begin as a header does.
    Magic {
        /// How it begins.
        received: u16,
    },
    /// The header is that of another length.
    Length {
        /// Bytes of the interval.
        expected: u32,
        /// Bytes that the header says.
        received: u32,
    },
    /// The header has another seed.
    Seed {
        /// The seed of the write.
        expected: u64,
        /// The seed in the header.
        received: u64,
    },
    /// The header is that of another place.
    Offset {
        /// Where it lies.
        expected: u64,
        /// Where it says that it lies.
        received: u64,
    },
    /// The header is that of another write.
    Number {
        /// The number of the write.
        expected: u16,
        /// The number in the header.
        received: u16,
    },
    /// The header is not what it was.
    HeaderChecksum {
        /// The checksum in the header.
        expected: u32,
        /// The checksum of the header.
        received: u32,
    },
    /// The content is not what it was.
    Checksum {
        /// The checksum behind the header.
        expected: Vec<u8>,
        /// The checksum of the content.
        received: Vec<u8>,
        /// The method in the header, if it is another one.
        other_code: Option<u16>,
    },
    /// The content is not the pattern.
    Pattern {
        /// What the pattern has there.
        expected: u8,
        /// What is there.
        received: u8,
        /// The first byte of the content that differs, below the header.
        at: usize,
    },
    /// What was trimmed does not read as zeros.
    NotZero {
        /// The first byte of the block that is none.
        at: usize,
    },
    /// The header has a method that does not exist, or that this interval has no room for.
    UnknownMethod {
        /// The code in the header.
        code: u16,
    },
    /// `verify=pattern` without `verify_pattern`.
    NoPattern,
    /// There is no room for a header.
    TooSmall(TooSmall),
}

impl Cause {
    /// Whether it is the header that is wrong: what follows in the block is not looked at then.
    pub fn is_of_header(&self) -> bool {
        match self {
            Self::Magic { .. }
            | Self::Length { .. }
            | Self::Seed { .. }
            | Self::Offset { .. }
            | Self::Number { .. }
            | Self::HeaderChecksum { .. }
            | Self::TooSmall(_) => true,
            Self::Checksum { .. }
            | Self::Pattern { .. }
            | Self::NotZero { .. }
            | Self::UnknownMethod { .. }
            | Self::NoPattern => false,
        }
    }
}

/// Everything that is wrong with a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What is wrong, in the order of the block. There is at least one.
    pub mismatches: Vec<Mismatch>,
    /// Whether it is an error for fio 3.33. There, a block with another content is none if its last
    /// interval is as it should be: a message is all that tells.
    pub is_error: bool,
}

impl Error for Failure {}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, mismatch) in self.mismatches.iter().enumerate() {
            let line_end = if index == 0 { "" } else { "\n" };
            write!(formatter, "{line_end}{mismatch}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cause, method, file_offset, length, .. } = self;
        write!(formatter, "offset {file_offset}, {length} bytes")?;
        if self.length != self.block_length {
            let Self { block_offset, block_length, .. } = self;
            write!(formatter, " (of a block at {block_offset}, {block_length} bytes)")?;
        }
        write!(formatter, ": verify={method}: {cause}")
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Magic { received } => {
                write!(formatter, "no header: it would begin with {MAGIC:x}, not {received:x}")
            }
            Self::Length { expected, received } => {
                write!(formatter, "a header for {received} bytes, not {expected}")
            }
            Self::Seed { expected, received } => {
                write!(formatter, "a header with seed {received}, not {expected}")
            }
            Self::Offset { expected, received } => {
                write!(formatter, "a header for offset {received}, not {expected}")
            }
            Self::Number { expected, received } => {
                write!(formatter, "a header of write {received}, not {expected}")
            }
            Self::HeaderChecksum { expected, received } => write!(
                formatter,
                "a damaged header: its checksum is {received:x}, but it says {expected:x}"
            ),
            Self::Checksum { expected, received, other_code } => {
                let (expected, received) = (Hexadecimal(expected), Hexadecimal(received));
                write!(formatter, "expected checksum {expected}, received {received}")?;
                other_code.map_or(Ok(()), |code| {
                    write!(formatter, "; it was written by another method (code {code})")
                })
            }
            Self::Pattern { expected, received, at } => {
                let bits = (expected ^ received).count_ones();
                let bits = if bits == 1 { "1 bit".to_owned() } else { format!("{bits} bits") };
                write!(
                    formatter,
                    "expected {expected:02x}, received {received:02x} ({bits} differ) at byte \
                     {at} of the content"
                )
            }
            Self::NotZero { at } => write!(formatter, "trimmed, but byte {at} is not zero"),
            Self::UnknownMethod { code } => {
                write!(formatter, "a header of an unknown method (code {code})")
            }
            Self::NoPattern => formatter.write_str("`verify_pattern` is missing"),
            Self::TooSmall(too_small) => too_small.fmt(formatter),
        }
    }
}

struct Hexadecimal<'a>(&'a [u8]);

impl fmt::Display for Hexadecimal<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}
