//! Sorts the entries of a bucket all at once, with vector instructions that every x86-64 processor
//! has. A kernel leaves the vector registers to user programs, so builds for kernels sort one by
//! one.

use crate::arena::Line;
use crate::layout::bucket;

/// The entries of a bucket; the end may be unused.
pub(crate) type Sorted = [u64; bucket::ENTRIES];

/// Where the tag begins in the word that represents an entry, above its cell and its place.
pub(crate) const TAG_AT: u32 = 36;
/// Where the place begins.
pub(crate) const PLACE_AT: u32 = 32;

const _: () = assert!(bucket::ENTRIES <= 1 << (TAG_AT - PLACE_AT));

/// Sorts entries of a bucket by tag: those whose bits are set. `above` is put into the high half of
/// each word. The rest of `into` is undefined.
#[inline(always)]
pub(crate) fn sort(line: Line<'_>, bits: u32, above: u32, into: &mut Sorted) {
    #[cfg(target_feature = "sse2")]
    // Places are used from the first on, so the last ones are often empty.
    if bits >> (2 * WIDTH) == 0 {
        sort_first::<2>(line, bits, above, into);
    } else {
        sort_first::<{ bucket::ENTRIES / WIDTH }>(line, bits, above, into);
    }
    #[cfg(not(target_feature = "sse2"))]
    sort_one_by_one(line, bits, above, into);
}

/// 32-bit words in a vector.
#[cfg(target_feature = "sse2")]
const WIDTH: usize = 4;

/// Sorts the places in the first `VECTORS` vectors.
///
/// The rank of an entry is the number of entries with a lower tag, or with the same tag and a lower
/// place. Branches on the order would cost more than all these comparisons.
#[cfg(target_feature = "sse2")]
#[inline(always)]
#[expect(unsafe_code, reason = "instructions that not all targets have")]
fn sort_first<const VECTORS: usize>(line: Line<'_>, bits: u32, above: u32, into: &mut Sorted) {
    use core::arch::x86_64::{
        __m128i, _mm_and_si128, _mm_andnot_si128, _mm_cmpeq_epi32, _mm_cmpgt_epi32, _mm_or_si128,
        _mm_set1_epi32, _mm_setr_epi32, _mm_setzero_si128, _mm_shuffle_epi32, _mm_slli_epi32,
        _mm_srli_si128, _mm_storeu_si128, _mm_sub_epi32, _mm_unpackhi_epi8, _mm_unpackhi_epi16,
        _mm_unpackhi_epi32, _mm_unpacklo_epi8, _mm_unpacklo_epi16, _mm_unpacklo_epi32,
    };
    const { assert!(bucket::ENTRIES == 12 && bucket::TAG.byte() == 4 && VECTORS <= 3) };
    let (mut words, mut ranks) = ([[0_u64; WIDTH]; VECTORS], [[0_u32; WIDTH]; VECTORS]);
    // SAFETY: the target has these instructions, and all stores are to arrays with room for them.
    unsafe {
        let [head, cells @ ..] = line.vectors();
        let zero = _mm_setzero_si128();
        let tags = _mm_srli_si128::<4>(head);
        let (low, high) = (_mm_unpacklo_epi8(tags, zero), _mm_unpackhi_epi8(tags, zero));
        let tags = [
            _mm_unpacklo_epi16(low, zero),
            _mm_unpackhi_epi16(low, zero),
            _mm_unpacklo_epi16(high, zero),
        ];
        let (above, bits) =
            (_mm_set1_epi32(above.cast_signed()), _mm_set1_epi32(bits.cast_signed()));
        let mut keys = [zero; VECTORS];
        for (vector, key) in keys.iter_mut().enumerate() {
            let first = [0, 4, 8][vector];
            let places = _mm_setr_epi32(first, first + 1, first + 2, first + 3);
            let bit = _mm_setr_epi32(1 << first, 2 << first, 4 << first, 8 << first);
            let these = _mm_or_si128(_mm_slli_epi32::<4>(tags[vector]), places);
            // Unused places get the highest key.
            let is_none = _mm_cmpeq_epi32(_mm_and_si128(bits, bit), zero);
            let last = _mm_and_si128(is_none, _mm_set1_epi32(i32::MAX));
            *key = _mm_or_si128(last, _mm_andnot_si128(is_none, these));
            let above = _mm_or_si128(these, above);
            let to: *mut __m128i = words[vector].as_mut_ptr().cast();
            _mm_storeu_si128(to, _mm_unpacklo_epi32(cells[vector], above));
            _mm_storeu_si128(to.add(1), _mm_unpackhi_epi32(cells[vector], above));
        }
        let mut lower = [zero; VECTORS];
        for four in keys {
            let each = [
                _mm_shuffle_epi32::<0b00_00_00_00>(four),
                _mm_shuffle_epi32::<0b01_01_01_01>(four),
                _mm_shuffle_epi32::<0b10_10_10_10>(four),
                _mm_shuffle_epi32::<0b11_11_11_11>(four),
            ];
            for one in each {
                for (lower, these) in lower.iter_mut().zip(keys) {
                    // A true comparison is -1.
                    *lower = _mm_sub_epi32(*lower, _mm_cmpgt_epi32(these, one));
                }
            }
        }
        for (four, lower) in ranks.iter_mut().zip(lower) {
            _mm_storeu_si128(four.as_mut_ptr().cast(), lower);
        }
        for (word, rank) in words.as_flattened().iter().zip(ranks.as_flattened()) {
            // At most all other keys are lower, so the rank is less than the number of places.
            debug_assert!((*rank as usize) < into.len());
            *into.get_unchecked_mut(*rank as usize) = *word;
        }
    }
}

/// Like [`sort`], one by one.
#[cfg(any(test, not(target_feature = "sse2")))]
fn sort_one_by_one(line: Line<'_>, bits: u32, above: u32, into: &mut Sorted) {
    let places = (0..bucket::ENTRIES).filter(|place| bits >> place & 1 == 1);
    for (count, place) in places.enumerate() {
        let tag = u64::from(line.load(bucket::TAG.element(place)));
        let cell = u64::from(line.load(bucket::ENTRY.element(place)));
        let above = u64::from(above) << PLACE_AT | tag << TAG_AT;
        into[count] = above | (place as u64) << PLACE_AT | cell;
        for number in (1..=count).rev() {
            if into[number - 1] < into[number] {
                break;
            }
            into.swap(number - 1, number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::{Ref, Word};
    use crate::memory::Memory;
    use crate::random::Random;

    #[test]
    fn entries_are_put_in_the_order_of_their_tags() {
        let mut memory = Memory::of_pages(1);
        let line = memory.arena().line(Ref(1)).expect("it is there");
        let mut random = Random(0x0123_4567_89ab_cdef);
        for round in 0..10_000 {
            // In odd rounds, some tags are equal.
            let tags = if round % 2 == 0 { 255 } else { 4 };
            for place in 0..bucket::ENTRIES {
                line.store(bucket::TAG.element(place), u8::from_bits(1 + random.below(tags)));
                line.store(bucket::ENTRY.element(place), u32::from_bits(random.below(1 << 32)));
            }
            let bits = u32::from_bits(random.below(1 << bucket::ENTRIES));
            let (mut sorted, mut wanted): (Sorted, Sorted) = Default::default();
            sort(line, bits, 0xabc0_0000, &mut sorted);
            sort_one_by_one(line, bits, 0xabc0_0000, &mut wanted);
            let count = bits.count_ones() as usize;
            assert_eq!(sorted[..count], wanted[..count]);
            assert!(wanted[..count].is_sorted_by_key(|word| word >> PLACE_AT));
        }
    }
}
