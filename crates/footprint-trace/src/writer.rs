//! Writing a trace as a stream, in bounded memory and up to a stated size.

use std::io::{self, Write};

use crate::attachments;
use crate::block::{BlockId, TracedBlock};
use crate::chunk::{self, FRAME_BYTES, Kind};
use crate::ending::{Cut, Ending};
use crate::event::EventEncoder;
use crate::header::Header;
use crate::trace_file::TraceFile;
use crate::varint;

/// Descriptions of blocks are written when they have so many bytes, or before events.
const BLOCKS_BYTES: usize = 1 << 16;

/// Bytes that the largest end chunk needs.
const END_BYTES: u64 = FRAME_BYTES as u64 + 1 + 2 * varint::BYTES_MAX as u64;

/// The least limit: a header, an end and something between.
pub const LIMIT_BYTES_MIN: u64 = 1 << 20;

/// Writes a trace. Once it would exceed its limit, or the sink fails, nothing more is written but
/// the end, which says so.
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

    /// Describes a block: the number is what events name it by.
    ///
    /// # Errors
    /// The sink's, and `InvalidInput` for a block that has no instruction, an instruction without
    /// bytes, or other bytes than its instructions have.
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

    /// Writes the events of a vCPU and clears the encoder. Blocks that they name must have been
    /// described.
    ///
    /// # Errors
    /// The sink's; the trace is useless then.
    pub fn write_events(&mut self, vcpu: u32, events: &mut EventEncoder) -> io::Result<()> {
        if !events.is_empty() && !self.is_full {
            self.write_descriptions()?;
            let mut payload = Vec::with_capacity(events.bytes().len() + varint::BYTES_MAX);
            varint::put(&mut payload, u64::from(vcpu));
            payload.extend(events.bytes());
            self.write_chunk(Kind::Events, &payload)?;
        }
        events.clear();
        Ok(())
    }

    /// Attaches bytes under a name of 1 to 255 bytes; those of one name follow each other. They do
    /// not count towards the limit.
    ///
    /// # Errors
    /// The sink's, and `InvalidInput` for another name.
    pub fn attach(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.chunks += attachments::write(&mut self.sink, name, bytes)?;
        Ok(())
    }

    /// Ends the trace and gives the sink back. `cut` says why it does not hold everything, unless
    /// the limit already does; `forks` counts processes that were left out.
    ///
    /// # Errors
    /// The sink's.
    pub fn finish(mut self, cut: Option<Cut>, forks: u64) -> io::Result<W> {
        let cut = if self.is_full { Some(Cut::Limit) } else { cut };
        let ending = Ending { cut, forks, chunks: self.chunks };
        chunk::write(&mut self.sink, Kind::End, &ending.encode())?;
        self.sink.flush()?;
        Ok(self.sink)
    }

    fn write_descriptions(&mut self) -> io::Result<()> {
        if self.descriptions.is_empty() {
            return Ok(());
        }
        let descriptions = std::mem::take(&mut self.descriptions);
        let result = self.write_chunk(Kind::Blocks, &descriptions);
        self.descriptions = descriptions;
        self.descriptions.clear();
        self.previous_address = 0;
        result
    }

    fn write_chunk(&mut self, kind: Kind, payload: &[u8]) -> io::Result<()> {
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
    /// Has the file hold all that was written, and an end that says [`Cut::Killed`] until there is
    /// more.
    ///
    /// # Errors
    /// The file's.
    pub fn commit(&mut self, forks: u64) -> io::Result<()> {
        let mut end = Vec::new();
        let cut = if self.is_full { Cut::Limit } else { Cut::Killed };
        let ending = Ending { cut: Some(cut), forks, chunks: self.chunks };
        chunk::write(&mut end, Kind::End, &ending.encode())?;
        self.sink.commit(&end)
    }
}
