//! The bytes of a state file behind its header.

use super::{CompletedWrite, RandomState, VerifyState};

/// Bytes of the header of a state file.
pub(super) const HEADER_BYTES: usize = 24;

const NAME_BYTES: usize = 64;
const RANDOM_BYTES: usize = 48;
const WRITE_BYTES: usize = 16;

pub(super) fn body(state: &VerifyState) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend((state.completed.len() as u64).to_le_bytes());
    bytes.extend(state.depth.to_le_bytes());
    bytes.extend(state.files.to_le_bytes());
    bytes.extend(state.begun.to_le_bytes());
    bytes.extend(state.thread_index.to_le_bytes());
    let (is_wide, words) = match state.random {
        RandomState::Narrow(words) => (0_u64, words.map(u32::to_le_bytes).concat()),
        RandomState::Wide(words) => (1, words.map(u64::to_le_bytes).concat()),
    };
    bytes.extend(is_wide.to_le_bytes());
    extend_to(&mut bytes, &words, RANDOM_BYTES);
    let name = &state.name[..state.name.len().min(NAME_BYTES - 1)];
    extend_to(&mut bytes, name, NAME_BYTES);
    let writes = bytes.len();
    for write in &state.completed {
        bytes.extend(write.file.to_le_bytes());
        bytes.extend(write.offset.to_le_bytes());
    }
    let room = places(state.depth, state.files).unwrap_or(0) * WRITE_BYTES;
    bytes.resize(bytes.len().max(writes + room), 0);
    bytes
}

fn extend_to(bytes: &mut Vec<u8>, part: &[u8], length: usize) {
    let end = bytes.len() + length;
    bytes.extend(part);
    bytes.resize(end, 0);
}

/// How many writes there is room for.
fn places(depth: u32, files: u32) -> Option<usize> {
    usize::try_from(depth).ok()?.checked_mul(usize::try_from(files).ok()?)
}

pub(super) fn parse(body: &[u8]) -> Option<VerifyState> {
    let mut reader = Reader::new(body);
    let count = reader.u64()?;
    let (depth, files) = (reader.u32()?, reader.u32()?);
    let (begun, thread_index) = (reader.u64()?, reader.u64()?);
    let is_wide = reader.u64()? != 0;
    let mut words = Reader::new(reader.take(RANDOM_BYTES)?);
    let random = if is_wide {
        RandomState::Wide([words.u64()?, words.u64()?, words.u64()?, words.u64()?, words.u64()?])
    } else {
        RandomState::Narrow([words.u32()?, words.u32()?, words.u32()?])
    };
    let name = reader.take(NAME_BYTES)?;
    let name = name.split(|byte| *byte == 0).next().unwrap_or(name).to_vec();
    let (writes, _) = reader.rest().as_chunks::<WRITE_BYTES>();
    let writes = writes.get(..usize::try_from(count).ok()?)?;
    let completed = writes.iter().map(|write| {
        let mut fields = Reader::new(write);
        Some(CompletedWrite { file: fields.u64()?, offset: fields.u64()? })
    });
    let completed = completed.collect::<Option<Vec<_>>>()?;
    Some(VerifyState { depth, files, begun, thread_index, random, name, completed })
}

/// Reads one number after another.
pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        let (first, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(u64::from_le_bytes(*first))
    }

    fn u32(&mut self) -> Option<u32> {
        let (first, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(u32::from_le_bytes(*first))
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (first, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(first)
    }
}
