//! Events: what one vCPU did, in order. Encoder and decoder are side by side.

use crate::BlockId;
use crate::mark::{Edge, Mark};
use crate::varint;

/// A chunk of events is written once it reaches this size in bytes.
pub const CHUNK_BYTES: usize = 1 << 16;

/// Direction of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessKind {
    /// Memory was read.
    Load,
    /// Memory was written.
    Store,
}

/// A data access by the last instruction of the block that the vCPU executed before it, which is in
/// an earlier chunk if the access comes first in its chunk. An instruction that modifies memory
/// makes a load and a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// Load or store.
    pub kind: AccessKind,
    /// Virtual address of the first byte.
    pub address: u64,
    /// Size in bytes, at least 1.
    pub bytes: u32,
}

/// Something that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A block was executed: each of its instructions was started once.
    Execute(BlockId),
    /// The block's last instruction accessed memory.
    Access(Access),
    /// A mark was executed. Marks are not part of any block.
    Mark {
        /// The mark.
        mark: Mark,
        /// How many times this vCPU had executed the same mark before, from 0.
        repetition: u32,
    },
}

const TAG_EXECUTE: u8 = 0;
const TAG_LOAD: u8 = 1;
const TAG_STORE: u8 = 2;
const TAG_MARK: u8 = 3;
const MORE: u8 = 0x80;
/// Size class of accesses whose size is not a power of two, or is above 64.
const CLASS_EXPLICIT: u8 = 7;

/// The values that addresses and block numbers are encoded relative to. Reset for every chunk.
#[derive(Clone, Debug)]
struct Context {
    /// The last executed block.
    block: u32,
    /// Address of the latest access of each block, indexed by the low byte of the block's number.
    addresses: [u64; 256],
}

impl Context {
    const fn new() -> Self {
        Self { block: 0, addresses: [0; 256] }
    }

    #[inline]
    fn address(&mut self) -> &mut u64 {
        &mut self.addresses[(self.block & 0xff) as usize]
    }
}

/// Encodes the events of one vCPU, a chunk at a time.
#[derive(Debug)]
pub struct EventEncoder {
    bytes: Vec<u8>,
    context: Context,
}

impl Default for EventEncoder {
    fn default() -> Self {
        Self::new()
    }
}

impl EventEncoder {
    /// An encoder without events. Allocates the memory for a whole chunk up front.
    pub fn new() -> Self {
        Self { bytes: Vec::with_capacity(CHUNK_BYTES + 64), context: Context::new() }
    }

    /// Whether the events should be written now.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.bytes.len() >= CHUNK_BYTES
    }

    /// Whether the events must be written now, even in the middle of an instruction.
    #[inline]
    pub fn is_overdue(&self) -> bool {
        self.bytes.len() >= 4 * CHUNK_BYTES
    }

    /// Whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Appends the execution of a block.
    #[inline]
    pub fn execute(&mut self, block: BlockId) {
        let expected = u64::from(self.context.block) + 1;
        let coded = varint::zigzag(expected, u64::from(block.0));
        self.context.block = block.0;
        let head = TAG_EXECUTE | ((coded & 0x1f) as u8) << 2;
        self.put_head(head, coded >> 5);
    }

    /// Appends an access by the last instruction of the last block.
    #[inline]
    pub fn access(&mut self, access: Access) {
        let latest = self.context.address();
        let coded = varint::zigzag(*latest, access.address);
        *latest = access.address;
        let tag = match access.kind {
            AccessKind::Load => TAG_LOAD,
            AccessKind::Store => TAG_STORE,
        };
        let class = if access.bytes.is_power_of_two() && access.bytes <= 64 {
            (access.bytes.trailing_zeros() & 7) as u8
        } else {
            CLASS_EXPLICIT
        };
        let head = tag | class << 2 | ((coded & 3) as u8) << 5;
        self.put_head(head, coded >> 2);
        if class == CLASS_EXPLICIT {
            varint::put(&mut self.bytes, u64::from(access.bytes));
        }
    }

    /// Appends a mark.
    pub fn mark(&mut self, mark: Mark, repetition: u32) {
        self.bytes.push(TAG_MARK | u8::from(mark.edge == Edge::End) << 2);
        varint::put(&mut self.bytes, u64::from(mark.region));
        varint::put(&mut self.bytes, u64::from(mark.operation));
        varint::put(&mut self.bytes, u64::from(repetition));
    }

    #[inline]
    fn put_head(&mut self, head: u8, rest: u64) {
        if rest == 0 {
            self.bytes.push(head);
        } else {
            self.bytes.push(head | MORE);
            varint::put(&mut self.bytes, rest);
        }
    }

    /// The encoded events.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Discards all events; the next one starts a new chunk.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.context = Context::new();
    }
}

/// Decodes the events of one chunk.
#[derive(Debug)]
pub(crate) struct EventDecoder {
    context: Context,
    /// Number of blocks described so far: events may only refer to these.
    blocks: u32,
    /// Whether a block has been executed that an access can belong to.
    has_block: bool,
}

impl EventDecoder {
    /// A decoder for one chunk. `has_block` says whether its vCPU executed a block in an earlier
    /// chunk.
    pub(crate) fn new(blocks: u32, has_block: bool) -> Self {
        Self { context: Context::new(), blocks, has_block }
    }

    pub(crate) fn has_block(&self) -> bool {
        self.has_block
    }

    /// Takes one event off the front, or returns `None` if the bytes are not a valid event.
    #[inline]
    pub(crate) fn take(&mut self, bytes: &mut &[u8]) -> Option<Event> {
        let (&head, rest) = bytes.split_first()?;
        *bytes = rest;
        match head & 3 {
            TAG_EXECUTE => self.take_execute(head, bytes),
            TAG_MARK => Self::take_mark(head, bytes),
            tag => self.take_access(tag, head, bytes),
        }
    }

    #[inline]
    fn take_execute(&mut self, head: u8, bytes: &mut &[u8]) -> Option<Event> {
        let coded = u64::from(head >> 2 & 0x1f) | take_rest(head, bytes, 5)?;
        let block = varint::unzigzag(u64::from(self.context.block) + 1, coded);
        self.context.block = u32::try_from(block).ok().filter(|&block| block < self.blocks)?;
        self.has_block = true;
        Some(Event::Execute(BlockId(self.context.block)))
    }

    #[inline]
    fn take_access(&mut self, tag: u8, head: u8, bytes: &mut &[u8]) -> Option<Event> {
        if !self.has_block {
            return None;
        }
        let coded = u64::from(head >> 5 & 3) | take_rest(head, bytes, 2)?;
        let latest = self.context.address();
        *latest = varint::unzigzag(*latest, coded);
        let address = *latest;
        let bytes = match head >> 2 & 7 {
            CLASS_EXPLICIT => u32::try_from(varint::take(bytes)?).ok().filter(|&n| n > 0)?,
            class => 1 << class,
        };
        let kind = if tag == TAG_LOAD { AccessKind::Load } else { AccessKind::Store };
        Some(Event::Access(Access { kind, address, bytes }))
    }

    fn take_mark(head: u8, bytes: &mut &[u8]) -> Option<Event> {
        let edge = match head >> 2 {
            0 => Edge::Begin,
            1 => Edge::End,
            _ => return None,
        };
        let region = u8::try_from(varint::take(bytes)?).ok()?;
        let operation = u16::try_from(varint::take(bytes)?).ok()?;
        let repetition = u32::try_from(varint::take(bytes)?).ok()?;
        Some(Event::Mark { mark: Mark { edge, region, operation }, repetition })
    }
}

/// The high bits of a number whose low `bits` bits are in `head`.
#[inline]
fn take_rest(head: u8, bytes: &mut &[u8], bits: u32) -> Option<u64> {
    if head & MORE == 0 {
        return Some(0);
    }
    let rest = varint::take(bytes)?;
    (rest.leading_zeros() >= bits).then_some(rest << bits)
}
