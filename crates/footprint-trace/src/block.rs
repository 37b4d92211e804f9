//! Blocks: sequences of instructions that always execute as a whole once they have started.

use crate::varint;

/// The number of a block: its position among the trace's block descriptions, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockId(pub u32);

/// A sequence of instructions at consecutive addresses. Only the last can fail or access memory, so
/// executing the block executes each of them once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedBlock<'a> {
    /// Address of the first instruction.
    pub address: u64,
    /// Length of each instruction in bytes; never empty, and no length is 0.
    pub lengths: &'a [u8],
    /// The instructions' bytes, one after the other.
    pub code: &'a [u8],
}

impl<'a> TracedBlock<'a> {
    /// Each instruction's address and bytes.
    pub fn instructions(&self) -> impl Iterator<Item = (u64, &'a [u8])> + use<'a> {
        let (mut address, mut rest) = (self.address, self.code);
        self.lengths.iter().map(move |&length| {
            let (code, after) = rest.split_at(usize::from(length).min(rest.len()));
            let instruction = (address, code);
            address = address.wrapping_add(u64::from(length));
            rest = after;
            instruction
        })
    }

    /// Whether there is at least one instruction, none has length 0, and the lengths add up to the
    /// number of code bytes.
    pub(crate) fn is_sound(&self) -> bool {
        let bytes: usize = self.lengths.iter().map(|&length| usize::from(length)).sum();
        !self.lengths.is_empty() && !self.lengths.contains(&0) && bytes == self.code.len()
    }

    /// Appends the description; `previous` is the address of the preceding block in the chunk, or
    /// 0.
    pub(crate) fn encode(&self, previous: u64, bytes: &mut Vec<u8>) {
        varint::put(bytes, varint::zigzag(previous, self.address));
        varint::put(bytes, self.lengths.len() as u64);
        bytes.extend(self.lengths);
        bytes.extend(self.code);
    }
}

/// All blocks described so far, by number.
#[derive(Debug, Default)]
pub(crate) struct BlockTable {
    entries: Vec<BlockEntry>,
    bytes: Vec<u8>,
}

#[derive(Debug)]
struct BlockEntry {
    address: u64,
    at: usize,
    instructions: usize,
    code_bytes: usize,
}

impl BlockTable {
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn get(&self, id: BlockId) -> Option<TracedBlock<'_>> {
        let entry = self.entries.get(id.0 as usize)?;
        let bytes = &self.bytes[entry.at..][..entry.instructions + entry.code_bytes];
        let (lengths, code) = bytes.split_at(entry.instructions);
        Some(TracedBlock { address: entry.address, lengths, code })
    }

    /// Adds the descriptions in a chunk, or returns `None` if it contains anything else.
    pub(crate) fn decode(&mut self, mut payload: &[u8]) -> Option<()> {
        let mut previous = 0;
        while !payload.is_empty() {
            previous = varint::unzigzag(previous, varint::take(&mut payload)?);
            let instructions = usize::try_from(varint::take(&mut payload)?).ok()?;
            let lengths = payload.get(..instructions)?;
            let code_bytes = lengths.iter().map(|&length| usize::from(length)).sum();
            let whole = payload.get(..instructions.checked_add(code_bytes)?)?;
            let code = &whole[instructions..];
            if !(TracedBlock { address: previous, lengths, code }).is_sound() {
                return None;
            }
            let at = self.bytes.len();
            self.entries.push(BlockEntry { address: previous, at, instructions, code_bytes });
            self.bytes.extend(whole);
            payload = &payload[whole.len()..];
        }
        Some(())
    }
}
