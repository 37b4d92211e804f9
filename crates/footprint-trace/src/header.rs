//! The start of a trace: what was traced.

use std::io::{self, Read, Write};

use crate::TraceError;
use crate::chunk::read_whole;

/// The first bytes of every trace.
pub const MAGIC: [u8; 8] = *b"\x89FPTRAC\n";

/// The format version that is written, which is also the newest that can be read.
pub const VERSION: u32 = 2;

/// The first version with attachments.
pub(crate) const VERSION_ATTACHMENTS: u32 = 2;

/// The oldest version that can be read.
const VERSION_OLDEST: u32 = 1;

const LENGTH_AFTER_VERSION: usize = 2 + 1 + 1 + 8 + 8;

/// Whether one program was traced, or a whole machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// One program in user mode: each of its threads is a vCPU.
    Program,
    /// A machine with its kernel.
    Machine,
}

/// How much of the execution is in the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// All of it.
    Whole,
    /// Only what each vCPU executed between a begin mark and an end mark.
    Marked,
}

/// What was traced, and how large the trace may become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The guest's architecture, as in `e_machine` of ELF files: 62 for x86-64.
    pub architecture: u16,
    /// A program or a machine.
    pub scope: Scope,
    /// Everything, or marked regions.
    pub coverage: Coverage,
    /// Size limit of the trace in bytes, not counting attachments.
    pub limit_bytes: u64,
}

impl Header {
    pub(crate) fn write(&self, sink: &mut impl Write) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(Self::BYTES);
        bytes.extend(MAGIC);
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend(self.architecture.to_le_bytes());
        bytes.push(u8::from(self.scope == Scope::Machine));
        bytes.push(u8::from(self.coverage == Coverage::Marked));
        bytes.extend(self.limit_bytes.to_le_bytes());
        bytes.extend(crate::chunk::checksum(&bytes).to_le_bytes());
        sink.write_all(&bytes)
    }

    /// Size of a header in bytes.
    pub(crate) const BYTES: usize = 12 + LENGTH_AFTER_VERSION;

    /// Reads a header and the format version.
    pub(crate) fn read(source: &mut impl Read) -> Result<(Self, u32), TraceError> {
        let mut bytes = [0; Self::BYTES];
        let got = read_whole(source, &mut bytes)?;
        let start = got.min(MAGIC.len());
        if bytes[..start] != MAGIC[..start] {
            return Err(TraceError::Foreign);
        }
        let version = u32::from_le_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]);
        if got >= 12 && version > VERSION {
            return Err(TraceError::Newer { found: version, known: VERSION });
        }
        if got < Self::BYTES {
            return Err(TraceError::Truncated { at_bytes: 0 });
        }
        let header = Self::decode(&bytes);
        let damaged = TraceError::Damaged { at_bytes: 8, what: "its header" };
        header.map(|header| (header, version)).ok_or(damaged)
    }

    /// Decodes the fields. The magic bytes have been checked, and the version is not too new.
    fn decode(bytes: &[u8; Self::BYTES]) -> Option<Self> {
        let (fields, sum) = bytes.split_last_chunk::<8>()?;
        let version = u32::from_le_bytes([fields[8], fields[9], fields[10], fields[11]]);
        if version < VERSION_OLDEST || *sum != crate::chunk::checksum(fields).to_le_bytes() {
            return None;
        }
        let scope = match fields[14] {
            0 => Scope::Program,
            1 => Scope::Machine,
            _ => return None,
        };
        let coverage = match fields[15] {
            0 => Coverage::Whole,
            1 => Coverage::Marked,
            _ => return None,
        };
        Some(Self {
            architecture: u16::from_le_bytes([fields[12], fields[13]]),
            scope,
            coverage,
            limit_bytes: u64::from_le_bytes(*fields.last_chunk()?),
        })
    }
}
