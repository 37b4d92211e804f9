//! Reads a trace as a stream, in memory bounded by one chunk and the size of the traced code.

use std::collections::HashSet;
use std::io::Read;

use crate::TraceError;
use crate::attachments;
use crate::block::{BlockId, BlockTable, TracedBlock};
use crate::chunk::{self, ChunkKind, FRAME_BYTES};
use crate::event::{Event, EventDecoder};
use crate::header::{Header, VERSION_ATTACHMENTS};
use crate::varint;

pub use crate::ending::{CutReason, Ending};

/// Reads a trace, event by event. The source should be buffered. Attachments are checked and
/// skipped; use [`attachments::read`] to read one.
#[derive(Debug)]
pub struct TraceReader<R: Read> {
    source: R,
    header: Header,
    version: u32,
    blocks: BlockTable,
    /// Where the next chunk begins.
    at_bytes: u64,
    chunks: u64,
    payload: Vec<u8>,
    /// How many bytes of the payload have been decoded.
    taken: usize,
    decoder: EventDecoder,
    vcpu: u32,
    /// vCPUs that have executed a block.
    begun: HashSet<u32>,
    ending: Option<Ending>,
}

impl<R: Read> TraceReader<R> {
    /// Reads and checks the header.
    ///
    /// # Errors
    /// The bytes are not a trace, have a newer format, or end too early.
    pub fn new(mut source: R) -> Result<Self, TraceError> {
        let (header, version) = Header::read(&mut source)?;
        Ok(Self {
            source,
            header,
            version,
            blocks: BlockTable::default(),
            at_bytes: Header::BYTES as u64,
            chunks: 0,
            payload: Vec::new(),
            taken: 0,
            decoder: EventDecoder::new(0, false),
            vcpu: 0,
            begun: HashSet::new(),
            ending: None,
        })
    }

    /// What was traced.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The vCPU of the event returned last. The events of one vCPU are in order; those of different
    /// vCPUs are ordered relative to each other only by chunk.
    pub fn vcpu(&self) -> u32 {
        self.vcpu
    }

    /// The block of an [`Event::Execute`] that was returned earlier.
    pub fn block(&self, id: BlockId) -> Option<TracedBlock<'_>> {
        self.blocks.get(id)
    }

    /// What the trace's end says; `None` until all events have been returned.
    pub fn ending(&self) -> Option<&Ending> {
        self.ending.as_ref()
    }

    /// The next event, or `None` after the last.
    ///
    /// # Errors
    /// The trace stops before its end, or is damaged. Events returned earlier are valid.
    #[inline]
    pub fn next_event(&mut self) -> Result<Option<Event>, TraceError> {
        while self.taken == self.payload.len() {
            if self.ending.is_some() {
                return Ok(None);
            }
            self.read_chunk()?;
        }
        let mut rest = &self.payload[self.taken..];
        let Some(event) = self.decoder.take(&mut rest) else {
            return Err(self.damaged("an event"));
        };
        self.taken = self.payload.len() - rest.len();
        Ok(Some(event))
    }

    fn damaged(&self, what: &'static str) -> TraceError {
        TraceError::Damaged { at_bytes: self.at_bytes, what }
    }

    /// Reads one chunk. Events become the payload; anything else is processed here.
    fn read_chunk(&mut self) -> Result<(), TraceError> {
        if self.decoder.has_block() {
            self.begun.insert(self.vcpu);
        }
        let at_bytes = self.at_bytes;
        let damaged = |what| TraceError::Damaged { at_bytes, what };
        let mut payload = std::mem::take(&mut self.payload);
        self.taken = 0;
        let kind = chunk::read(&mut self.source, at_bytes, &mut payload)?;
        let bytes = (payload.len() + FRAME_BYTES) as u64;
        match kind {
            ChunkKind::Blocks => {
                self.blocks.decode(&payload).ok_or_else(|| damaged("a block"))?;
                payload.clear();
            }
            ChunkKind::Events => {
                let mut rest = &payload[..];
                let vcpu = varint::take(&mut rest).and_then(|vcpu| u32::try_from(vcpu).ok());
                self.vcpu = vcpu.ok_or_else(|| damaged("a vCPU's number"))?;
                self.taken = payload.len() - rest.len();
                let blocks = u32::try_from(self.blocks.len());
                let has_block = self.begun.contains(&self.vcpu);
                self.decoder = EventDecoder::new(blocks.unwrap_or(u32::MAX), has_block);
            }
            ChunkKind::Attachment => {
                self.check_attachment(&payload)?;
                payload.clear();
            }
            ChunkKind::End => {
                let ending = Ending::decode(&payload);
                let ending = ending.filter(|ending| ending.follows(None, self.chunks));
                self.ending = Some(ending.ok_or_else(|| damaged("its end"))?);
                payload.clear();
            }
        }
        self.at_bytes += bytes;
        self.chunks += 1;
        if self.ending.is_some() {
            self.read_additions(&mut payload)?;
        }
        self.payload = payload;
        Ok(())
    }

    fn check_attachment(&self, payload: &[u8]) -> Result<(), TraceError> {
        if self.version < VERSION_ATTACHMENTS {
            return Err(self.damaged("an unknown kind of chunk"));
        }
        attachments::decode(payload).map(|_| ()).ok_or_else(|| self.damaged("an attachment"))
    }

    /// Reads what follows the first end: attachments, each addition with another end. An addition
    /// that stops before its end was not finished and is ignored.
    fn read_additions(&mut self, payload: &mut Vec<u8>) -> Result<(), TraceError> {
        if self.version < VERSION_ATTACHMENTS {
            let is_last = chunk::read_whole(&mut self.source, &mut [0])? == 0;
            return if is_last { Ok(()) } else { Err(self.damaged("its end")) };
        }
        loop {
            match chunk::read(&mut self.source, self.at_bytes, payload) {
                Err(TraceError::Truncated { .. }) => break,
                Ok(ChunkKind::Attachment) => self.check_attachment(payload)?,
                Ok(ChunkKind::End) => {
                    let ending = Ending::decode(payload)
                        .filter(|ending| ending.follows(self.ending.as_ref(), self.chunks));
                    self.ending = Some(ending.ok_or_else(|| self.damaged("its end"))?);
                }
                Ok(ChunkKind::Blocks | ChunkKind::Events) => return Err(self.damaged("its end")),
                Err(error) => return Err(error),
            }
            self.at_bytes += (payload.len() + FRAME_BYTES) as u64;
            self.chunks += 1;
        }
        payload.clear();
        Ok(())
    }
}
