//! File content that can be generated and checked anywhere.
//!
//! Every 8-byte word is a hash of (seed, file, word number), so any range at any alignment can be
//! computed on its own. The hash takes two multiplications and two shifts: a few gigabytes per
//! second on one core. Words differ enough that a file system can neither compress nor deduplicate
//! them.

const WORD_BYTES: u64 = 8;

/// The content of one file: a pure function of the byte offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Content {
    key: u64,
}

/// The first byte that differs from the expected content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mismatch {
    /// Offset in the file.
    pub offset_bytes: u64,
    /// The expected byte.
    pub expected: u8,
    /// The actual byte.
    pub found: u8,
}

impl Content {
    /// The content of file number `file_id` in the file set with this `seed`.
    #[must_use]
    pub fn new(seed: u64, file_id: u64) -> Self {
        Self { key: mix(seed ^ mix(file_id.wrapping_add(1))) }
    }

    /// Fills `buffer` with the content from `offset_bytes` on.
    pub fn fill(self, buffer: &mut [u8], offset_bytes: u64) {
        let (head_bytes, mut word) = self.head(buffer.len(), offset_bytes);
        let (head, body) = buffer.split_at_mut(head_bytes);
        self.fill_part(head, offset_bytes);
        let mut words = body.chunks_exact_mut(8);
        for chunk in &mut words {
            chunk.copy_from_slice(&self.word(word).to_le_bytes());
            word += 1;
        }
        self.fill_part(words.into_remainder(), word * WORD_BYTES);
    }

    /// Compares `buffer` with the content from `offset_bytes` on.
    ///
    /// # Errors
    /// The first byte that differs.
    pub fn check(self, buffer: &[u8], offset_bytes: u64) -> Result<(), Mismatch> {
        if self.agrees(buffer, offset_bytes) {
            return Ok(());
        }
        for (offset_bytes, &found) in (offset_bytes..).zip(buffer) {
            let expected = self.byte(offset_bytes);
            if expected != found {
                return Err(Mismatch { offset_bytes, expected, found });
            }
        }
        Ok(())
    }

    fn agrees(self, buffer: &[u8], offset_bytes: u64) -> bool {
        let (head_bytes, mut word) = self.head(buffer.len(), offset_bytes);
        let (head, body) = buffer.split_at(head_bytes);
        let (words, tail) = body.as_chunks::<8>();
        // Differences are accumulated instead of branched on: usually there are none.
        let mut difference = 0;
        for chunk in words {
            difference |= u64::from_le_bytes(*chunk) ^ self.word(word);
            word += 1;
        }
        difference == 0
            && self.part_agrees(head, offset_bytes)
            && self.part_agrees(tail, word * WORD_BYTES)
    }

    /// How many bytes come before the first whole word, and the number of that word.
    fn head(self, length: usize, offset_bytes: u64) -> (usize, u64) {
        let word = offset_bytes.div_ceil(WORD_BYTES);
        let head_bytes = usize::try_from(word * WORD_BYTES - offset_bytes).unwrap_or(0);
        (head_bytes.min(length), word)
    }

    fn fill_part(self, part: &mut [u8], offset_bytes: u64) {
        for (offset_bytes, byte) in (offset_bytes..).zip(part) {
            *byte = self.byte(offset_bytes);
        }
    }

    fn part_agrees(self, part: &[u8], offset_bytes: u64) -> bool {
        (offset_bytes..).zip(part).all(|(offset, &byte)| self.byte(offset) == byte)
    }

    fn byte(self, offset_bytes: u64) -> u8 {
        let within = usize::try_from(offset_bytes % WORD_BYTES).unwrap_or(0);
        self.word(offset_bytes / WORD_BYTES).to_le_bytes()[within]
    }

    #[inline]
    fn word(self, number: u64) -> u64 {
        mix(self.key.wrapping_add(number))
    }
}

/// A bijection on 64 bits whose output shows no pattern of its input. The multipliers are those of
/// `SplitMix64` (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA
/// 2014, figure 19), whose first shift is omitted because the inputs are counters.
#[inline]
pub(crate) fn mix(value: u64) -> u64 {
    let mut mixed = value.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(content: Content, offset_bytes: u64, length: usize) -> Vec<u8> {
        let mut buffer = vec![0; length];
        content.fill(&mut buffer, offset_bytes);
        buffer
    }

    #[test]
    fn any_range_at_any_alignment_is_a_window_of_the_whole() {
        let content = Content::new(7, 3);
        let whole = filled(content, 0, 100);
        for start in 0..40 {
            for length in 0..40 {
                let range = filled(content, start as u64, length);
                assert_eq!(range, whole[start..start + length], "start {start} length {length}");
                assert_eq!(content.check(&range, start as u64), Ok(()));
            }
        }
    }

    #[test]
    fn each_flipped_byte_is_found_where_it_is() {
        let content = Content::new(1, 0);
        for start in [0_u64, 3, 4096] {
            for flipped in 0..50 {
                let mut buffer = filled(content, start, 50);
                let expected = buffer[flipped];
                buffer[flipped] ^= 0x10;
                let found = buffer[flipped];
                let offset_bytes = start + flipped as u64;
                let mismatch = Mismatch { offset_bytes, expected, found };
                assert_eq!(content.check(&buffer, start), Err(mismatch));
            }
        }
    }

    #[test]
    fn files_and_seeds_have_content_of_their_own() {
        let first = filled(Content::new(1, 0), 0, 4096);
        assert_ne!(first, filled(Content::new(1, 1), 0, 4096));
        assert_ne!(first, filled(Content::new(2, 0), 0, 4096));
        assert_eq!(first, filled(Content::new(1, 0), 0, 4096));
    }

    #[test]
    fn every_byte_value_is_about_as_frequent() {
        let mut counts = [0_u32; 256];
        for byte in filled(Content::new(5, 5), 0, 1 << 20) {
            counts[usize::from(byte)] += 1;
        }
        // 4096 expected of each; ten standard deviations of a binomial are 640.
        assert!(counts.iter().all(|count| (3456..4736).contains(count)), "{counts:?}");
    }
}
