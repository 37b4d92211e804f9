//! Writes a trace as a stream, in bounded memory and up to a given size.

use std::io::{self, Write};

use crate::attachments;
use crate::block::{BlockId, TracedBlock};
use crate::chunk::{self, ChunkKind, FRAME_BYTES};
use crate::ending::{CutReason, Ending};
use crate::event::EventEncoder;
use crate::header::Header;
use crate::trace_file::TraceFile;
use crate::varint;

/// Block descriptions are written once they reach this size, or before the next events.
const BLOCKS_BYTES: usize = 1 << 16;

/// Size of the largest end chunk in bytes.
const END_BYTES: u64 = FRAME_BYTES as u64 + 1 + 2 * varint::BYTES_MAX as u64;

/// The smallest size limit that is accepted: a header, an end and something in between.
pub const LIMIT_BYTES_MIN: u64 = 1 << 20;

/// Writes a trace. Once its limit would be exceeded, nothing more is written except the end, which
/// says so.
#[derive(Debug)]
pub struct TraceWriter<W: Write> {
    sink: W,
    limit_bytes: u64,
    written_bytes: u64,
    blocks: u32,
    descriptions: Vec<u8>,
    previous_address: u64,
    chunks: u64,
    is_full: bool,
}

impl<W: Write> TraceWriter<W> {
    /// Writes the header.
    ///
    /// # Errors
    /// The sink's, and `InvalidInput` if the limit is less than [`LIMIT_BYTES_MIN`].
    pub fn new(mut sink: W, header: &Header) -> io::Result<Self> {
        if header.limit_bytes < LIMIT_BYTES_MIN {
            let what = format!("a trace needs a limit of at least {LIMIT_BYTES_MIN} bytes");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        header.write(&mut sink)?;
        Ok(Self {
            sink,
            limit_bytes: header.limit_bytes,
            written_bytes: Header::BYTES as u64,
            blocks: 0,
            descriptions: Vec::with_capacity(BLOCKS_BYTES + 8192),
            previous_address: 0,
            chunks: 0,
            is_full: false,
        })
    }

    /// Whether the limit was reached, so that nothing more is recorded.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// Describes a block and returns the number by which events refer to it.
    ///
    /// # Errors
    /// The sink's, and `InvalidInput` for a block that has no instructions, has an instruction of
    /// length 0, or whose lengths do not add up to its code bytes.
    pub fn describe(&mut self, block: &TracedBlock<'_>) -> io::Result<BlockId> {
        let invalid = |what| io::Error::new(io::ErrorKind::InvalidInput, what);
        if !block.is_sound() || block.code.len() > BLOCKS_BYTES {
            return Err(invalid("a block whose instructions and bytes differ"));
        }
        let id = BlockId(self.blocks);
        self.blocks = self.blocks.checked_add(1).ok_or_else(|| invalid("too many blocks"))?;
        block.encode(self.previous_address, &mut self.descriptions);
        self.previous_address = block.address;
        if self.descriptions.len() >= BLOCKS_BYTES {
            self.write_descriptions()?;
        }
        Ok(id)
    }

    /// Writes the events of a vCPU and clears the encoder. The blocks that they refer to must have
    /// been described.
    ///
    /// # Errors
    /// The sink's, after which the trace is useless.
    pub fn write_events(&mut self, vcpu: u32, events: &mut EventEncoder) -> io::Result<()> {
        if !events.is_empty() && !self.is_full {
            self.write_descriptions()?;
            let mut payload = Vec::with_capacity(events.bytes().len() + varint::BYTES_MAX);
            varint::put(&mut payload, u64::from(vcpu));
            payload.extend(events.bytes());
            self.write_chunk(ChunkKind::Events, &payload)?;
        }
        events.clear();
        Ok(())
    }

    /// Attaches bytes under a name of 1 to 255 bytes; repeated calls with the same name append.
    /// Attachments do not count towards the limit.
    ///
    /// # Errors
    /// The sink's, and `InvalidInput` for an invalid name.
    pub fn attach(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.chunks += attachments::write(&mut self.sink, name, bytes)?;
        Ok(())
    }

    /// Ends the trace and returns the sink. `cut` says why the trace is incomplete, if it is;
    /// reaching the limit takes precedence. `forks` counts the forked processes, which are not
    /// traced.
    ///
    /// # Errors
    /// The sink's.
    pub fn finish(mut self, cut: Option<CutReason>, forks: u64) -> io::Result<W> {
        let cut = if self.is_full { Some(CutReason::Limit) } else { cut };
        let ending = Ending { cut, forks, chunks: self.chunks };
        chunk::write(&mut self.sink, ChunkKind::End, &ending.encode())?;
        self.sink.flush()?;
        Ok(self.sink)
    }

    fn write_descriptions(&mut self) -> io::Result<()> {
        if self.descriptions.is_empty() {
            return Ok(());
        }
        let descriptions = std::mem::take(&mut self.descriptions);
        let result = self.write_chunk(ChunkKind::Blocks, &descriptions);
        self.descriptions = descriptions;
        self.descriptions.clear();
        self.previous_address = 0;
        result
    }

    fn write_chunk(&mut self, kind: ChunkKind, payload: &[u8]) -> io::Result<()> {
        let bytes = (payload.len() + FRAME_BYTES) as u64;
        let fits = self.written_bytes + bytes + END_BYTES <= self.limit_bytes;
        if self.is_full || !fits {
            self.is_full = true;
            return Ok(());
        }
        chunk::write(&mut self.sink, kind, payload)?;
        self.written_bytes += bytes;
        self.chunks += 1;
        Ok(())
    }
}

impl TraceWriter<TraceFile> {
    /// Puts all that was written into the file, with an end that says [`CutReason::Killed`] until
    /// more follows.
    ///
    /// # Errors
    /// The file's.
    pub fn commit(&mut self, forks: u64) -> io::Result<()> {
        let mut end = Vec::new();
        let cut = if self.is_full { CutReason::Limit } else { CutReason::Killed };
        let ending = Ending { cut: Some(cut), forks, chunks: self.chunks };
        chunk::write(&mut end, ChunkKind::End, &ending.encode())?;
        self.sink.commit(&end)
    }
}
