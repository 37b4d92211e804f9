//! Where a text has the bytes of a `syscall` instruction.

#![expect(unsafe_code, reason = "instructions that compare many bytes")]

use std::arch::x86_64::{
    _mm_and_si128, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_or_si128, _mm_set1_epi8,
    _mm_setzero_si128,
};

/// The two bytes of the instruction.
pub(super) const SYSTEM_CALL: [u8; 2] = [0x0f, 0x05];

/// How many bytes are looked at at once.
const BLOCK: usize = 64;

/// Where the bytes are in `text` from `start` on. They need not be an instruction there.
pub(super) fn next(text: &[u8], start: usize) -> Option<usize> {
    let is_here = |at: &usize| text.get(*at..*at + 2) == Some(&SYSTEM_CALL);
    let mut block = start;
    loop {
        // The bytes of a block, and one more.
        let Some(bytes) = text.get(block..=block + BLOCK) else {
            return (block..text.len()).find(is_here);
        };
        if may_have(bytes)
            && let Some(found) = (block..block + BLOCK).find(is_here)
        {
            return Some(found);
        }
        block += BLOCK;
    }
}

/// Whether they begin in the block.
#[inline]
fn may_have(block: &[u8]) -> bool {
    let (heres, nexts) = (block[..BLOCK].as_chunks().0, block[1..].as_chunks().0);
    // SAFETY: all processors of this architecture have these instructions, and the loads are of 16
    // bytes from anywhere.
    unsafe {
        let [first, second] = SYSTEM_CALL.map(|byte| _mm_set1_epi8(byte.cast_signed()));
        let mut found = _mm_setzero_si128();
        for (here, next) in heres.iter().zip(nexts) {
            let here: &[u8; 16] = here;
            let next: &[u8; 16] = next;
            let is_first = _mm_cmpeq_epi8(_mm_loadu_si128(here.as_ptr().cast()), first);
            let is_second = _mm_cmpeq_epi8(_mm_loadu_si128(next.as_ptr().cast()), second);
            found = _mm_or_si128(found, _mm_and_si128(is_first, is_second));
        }
        _mm_movemask_epi8(found) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn occurrences(text: &[u8]) -> impl Iterator<Item = usize> {
        std::iter::successors(next(text, 0), |found| next(text, found + 1))
    }

    #[test]
    fn every_occurrence_is_found_wherever_it_is_in_a_block() {
        for length in 0..200 {
            let mut text = vec![0x0f_u8; length];
            assert_eq!(occurrences(&text).count(), 0);
            for at in 1..length {
                text[at] = 0x05;
                let found: Vec<usize> = occurrences(&text).collect();
                assert_eq!(found, [at - 1]);
                text[at] = 0x0f;
            }
        }
    }

    #[test]
    fn neighbouring_occurrences_are_found() {
        let text = [SYSTEM_CALL; 100].concat();
        assert!(occurrences(&text).eq((0..200).step_by(2)));
    }
}
