//! What blocks are filled with below their headers: random bytes, or a pattern.
//!
//! Random bytes are a seed that is multiplied again and again: as cheap as can be, and as fio makes
//! them. In a block, they go on across its headers.

/// The golden ratio times 2^64, as fio has it.
const FACTOR: u64 = 0x61c8_8646_80b5_83eb;
/// What the seed is multiplied with for each of the streams.
const STREAMS: [u64; 4] = [1, 2, 3, 5];

/// Bytes that an offset takes in a pattern.
pub const OFFSET_BYTES: usize = 8;

/// A pattern: `verify_pattern`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pattern {
    /// The bytes, with anything where an offset comes.
    pub bytes: Vec<u8>,
    /// Where the offset of the block comes, in eight bytes, lowest first: `%o`.
    pub offsets: Vec<usize>,
}

impl Pattern {
    /// The bytes for a block at an offset. The offset is that of the whole block, wherever in it.
    pub(crate) fn at(&self, file_offset: u64) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        for place in &self.offsets {
            let room = bytes.get_mut(*place..).unwrap_or_default();
            let length = room.len().min(OFFSET_BYTES);
            room[..length].copy_from_slice(&file_offset.to_le_bytes()[..length]);
        }
        bytes
    }
}

/// Fills a buffer with what follows from a seed, in four streams that do not wait for each other.
pub fn fill_randomly(seed: u64, buffer: &mut [u8]) {
    let mut streams = STREAMS.map(|prime| seed.wrapping_mul(prime));
    let mut quadruples = buffer.chunks_exact_mut(8 * STREAMS.len());
    for places in &mut quadruples {
        for (place, word) in places.chunks_exact_mut(8).zip(&mut streams) {
            place.copy_from_slice(&word.to_ne_bytes());
            *word = word.wrapping_mul(FACTOR);
        }
    }
    let mut word = streams[0];
    for place in quadruples.into_remainder().chunks_mut(8) {
        place.copy_from_slice(&word.to_ne_bytes()[..place.len()]);
        word = word.wrapping_mul(FACTOR);
    }
}

/// Fills a buffer randomly but for its last `percent` percent, which are a pattern, or zeros if
/// that is empty.
pub(crate) fn fill_compressible(seed: u64, percent: u8, pattern: &[u8], buffer: &mut [u8]) {
    let random = buffer.len() as u64 * u64::from(100_u8.saturating_sub(percent)) / 100;
    let random = usize::try_from(random).unwrap_or(buffer.len());
    let (random, rest) = buffer.split_at_mut(random);
    fill_randomly(seed, random);
    repeat(pattern, rest);
}

/// Repeats a pattern over a buffer. An empty one is a zero.
pub fn repeat(pattern: &[u8], buffer: &mut [u8]) {
    if pattern.is_empty() {
        buffer.fill(0);
        return;
    }
    let mut filled = pattern.len().min(buffer.len());
    buffer[..filled].copy_from_slice(&pattern[..filled]);
    while filled < buffer.len() {
        let (done, rest) = buffer.split_at_mut(filled);
        let length = rest.len().min(filled);
        rest[..length].copy_from_slice(&done[..length]);
        filled += length;
    }
}

/// The first byte that differs from a pattern, which is at its byte `phase` where the content
/// begins: its index, and the byte that it should be.
pub(crate) fn first_difference(
    pattern: &[u8],
    phase: usize,
    content: &[u8],
) -> Option<(usize, u8)> {
    let period = pattern.len();
    let begins_well = content.iter().zip(pattern.iter().cycle().skip(phase)).take(period);
    let repeats = content.len() <= period || content[period..] == content[..content.len() - period];
    if repeats && begins_well.clone().all(|(byte, wanted)| byte == wanted) {
        return None;
    }
    let wanted = pattern.iter().cycle().skip(phase);
    let mut compared = content.iter().zip(wanted).enumerate();
    compared.find(|(_, (byte, wanted))| byte != wanted).map(|(at, (_, wanted))| (at, *wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_filled_to_the_end() {
        let mut buffer = [0; 44];
        fill_randomly(3, &mut buffer);
        let after = 3_u64.wrapping_mul(FACTOR);
        let words = [3, 6, 9, 15, after].map(u64::to_ne_bytes).concat();
        assert_eq!(buffer[..40], words);
        assert_eq!(buffer[40..], after.wrapping_mul(FACTOR).to_ne_bytes()[..4]);
        repeat(b"abc", &mut buffer[..8]);
        assert_eq!(&buffer[..8], b"abcabcab");
        repeat(b"", &mut buffer);
        assert_eq!(buffer, [0; 44]);
    }

    #[test]
    fn compressible_buffers_end_in_what_compresses() {
        let mut buffer = [0; 10];
        fill_compressible(u64::MAX, 50, b"xy", &mut buffer);
        assert_eq!(buffer, *b"\xff\xff\xff\xff\xffxyxyx");
    }

    #[test]
    fn offsets_are_cut_where_a_pattern_ends() {
        let pattern = Pattern { bytes: vec![7; 12], offsets: vec![0, 10, 99] };
        assert_eq!(pattern.at(0x0102), [2, 1, 0, 0, 0, 0, 0, 0, 7, 7, 2, 1]);
    }

    #[test]
    fn differences_from_a_pattern_are_found() {
        assert_eq!(first_difference(b"abc", 1, b"bcabca"), None);
        assert_eq!(first_difference(b"abc", 1, b"bcabxa"), Some((4, b'c')));
        assert_eq!(first_difference(b"abc", 0, b"xbc"), Some((0, b'a')));
        assert_eq!(first_difference(b"abc", 2, b"c"), None);
        assert_eq!(first_difference(b"abc", 0, b"xbcxbcx"), Some((0, b'a')));
    }
}
