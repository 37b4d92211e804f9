//! Reading a trace as a stream, in memory bounded by a chunk and the traced code.

use std::collections::HashSet;
use std::io::Read;

use crate::TraceError;
use crate::block::{Block, BlockId, BlockTable};
use crate::chunk::{self, FRAME_BYTES, Kind};
use crate::event::{Event, EventDecoder};
use crate::header::Header;
use crate::varint;

/// Why a trace does not hold all that was executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cut {
    /// It reached its limit of size.
    Limit,
    /// There were more vCPUs than the plugin can record.
    Vcpus,
}

/// What a trace says of itself at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    /// Why it was cut off; none if it is whole.
    pub cut: Option<Cut>,
    /// Processes that the traced one forked; nothing of them is in the trace.
    pub forks: u64,
    /// Chunks before the end.
    pub chunks: u64,
}

impl Ending {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let cut = match self.cut {
            None => 0,
            Some(Cut::Limit) => 1,
            Some(Cut::Vcpus) => 2,
        };
        let mut bytes = vec![cut];
        varint::put(&mut bytes, self.forks);
        varint::put(&mut bytes, self.chunks);
        bytes
    }

    fn decode(payload: &[u8]) -> Option<Self> {
        let (&cut, mut rest) = payload.split_first()?;
        let cut = match cut {
            0 => None,
            1 => Some(Cut::Limit),
            2 => Some(Cut::Vcpus),
            _ => return None,
        };
        let forks = varint::take(&mut rest)?;
        let chunks = varint::take(&mut rest)?;
        rest.is_empty().then_some(Self { cut, forks, chunks })
    }
}

/// Reads a trace, event by event. Give it a buffered source.
#[derive(Debug)]
pub struct TraceReader<R: Read> {
    source: R,
    header: Header,
    blocks: BlockTable,
    /// Where the next chunk begins.
    at_bytes: u64,
    chunks: u64,
    payload: Vec<u8>,
    /// Bytes of the payload that are decoded.
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
    /// The bytes are no trace, a newer one, or stop.
    pub fn new(mut source: R) -> Result<Self, TraceError> {
        let header = Header::read(&mut source)?;
        Ok(Self {
            source,
            header,
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

    /// The vCPU of the event returned last. Events of one vCPU are in its order; those of several
    /// are ordered among each other only by the chunk.
    pub fn vcpu(&self) -> u32 {
        self.vcpu
    }

    /// The block of an [`Event::Execute`] returned before.
    pub fn block(&self, id: BlockId) -> Option<Block<'_>> {
        self.blocks.get(id)
    }

    /// What the trace says of itself; none before all events were returned.
    pub fn ending(&self) -> Option<&Ending> {
        self.ending.as_ref()
    }

    /// The next event; none after the last.
    ///
    /// # Errors
    /// The trace stops before its end, or is damaged. Events returned before are as recorded.
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

    /// Reads one chunk; of events it becomes the payload, of anything else it is taken in.
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
            Kind::Blocks => {
                self.blocks.decode(&payload).ok_or_else(|| damaged("a block"))?;
                payload.clear();
            }
            Kind::Events => {
                let mut rest = &payload[..];
                let vcpu = varint::take(&mut rest).and_then(|vcpu| u32::try_from(vcpu).ok());
                self.vcpu = vcpu.ok_or_else(|| damaged("a vCPU's number"))?;
                self.taken = payload.len() - rest.len();
                let blocks = u32::try_from(self.blocks.len());
                let has_block = self.begun.contains(&self.vcpu);
                self.decoder = EventDecoder::new(blocks.unwrap_or(u32::MAX), has_block);
            }
            Kind::End => {
                self.take_end(&payload).ok_or_else(|| damaged("its end"))?;
                payload.clear();
            }
        }
        self.at_bytes += bytes;
        self.chunks += 1;
        self.payload = payload;
        Ok(())
    }

    /// Takes the ending in, if it is one of this trace and the last of the source.
    fn take_end(&mut self, payload: &[u8]) -> Option<()> {
        let ending = Ending::decode(payload)?;
        let is_last = matches!(chunk::read_whole(&mut self.source, &mut [0]), Ok(0));
        if !is_last || ending.chunks != self.chunks {
            return None;
        }
        self.ending = Some(ending);
        Some(())
    }
}
