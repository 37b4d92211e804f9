//! Numbers that are compared and moved many at a time, as all x86-64 processors can. A kernel keeps
//! the registers for it to its programs, so there they are compared one by one.

/// Numbers in a vector.
pub(crate) const WIDTH: usize = 4;

/// How many of them are lower than each.
#[cfg(target_feature = "sse2")]
#[inline(always)]
#[expect(unsafe_code, reason = "instructions that not all targets have")]
pub(crate) fn ranks<const VECTORS: usize>(
    numbers: &[[i32; WIDTH]; VECTORS],
) -> [[u32; WIDTH]; VECTORS] {
    use core::arch::x86_64::{
        __m128i, _mm_cmpgt_epi32, _mm_loadu_si128, _mm_setzero_si128, _mm_shuffle_epi32,
        _mm_storeu_si128, _mm_sub_epi32,
    };
    const { assert!(size_of::<[i32; WIDTH]>() == size_of::<__m128i>()) };
    let mut ranks = [[0; WIDTH]; VECTORS];
    // SAFETY: what this is compiled for has these instructions; both arrays are of vectors.
    unsafe {
        let vectors = numbers.each_ref().map(|four| _mm_loadu_si128(four.as_ptr().cast()));
        let mut lower = [_mm_setzero_si128(); VECTORS];
        for four in vectors {
            let each = [
                _mm_shuffle_epi32::<0b00_00_00_00>(four),
                _mm_shuffle_epi32::<0b01_01_01_01>(four),
                _mm_shuffle_epi32::<0b10_10_10_10>(four),
                _mm_shuffle_epi32::<0b11_11_11_11>(four),
            ];
            for other in each {
                for (lower, these) in lower.iter_mut().zip(vectors) {
                    // What a comparison finds is -1.
                    *lower = _mm_sub_epi32(*lower, _mm_cmpgt_epi32(these, other));
                }
            }
        }
        for (four, lower) in ranks.iter_mut().zip(lower) {
            _mm_storeu_si128(four.as_mut_ptr().cast(), lower);
        }
    }
    ranks
}

/// The same, one by one.
#[cfg(not(target_feature = "sse2"))]
pub(crate) fn ranks<const VECTORS: usize>(
    numbers: &[[i32; WIDTH]; VECTORS],
) -> [[u32; WIDTH]; VECTORS] {
    let all = || numbers.as_flattened().iter();
    numbers.map(|four| four.map(|one| all().map(|other| u32::from(one > *other)).sum()))
}

/// Puts those numbers one behind the other whose bits are set; how many there are. What stands
/// behind them means nothing.
#[inline(always)]
#[expect(unsafe_code, reason = "checks would be half of it")]
pub(crate) fn compress<const MOST: usize>(
    numbers: [u64; MOST],
    bits: u32,
    into: &mut [u64; MOST],
) -> usize {
    let mut count = 0;
    for (place, number) in numbers.into_iter().enumerate() {
        // SAFETY: the count is at most that of the numbers before.
        unsafe { *into.get_unchecked_mut(count) = number };
        count += (bits >> place & 1) as usize;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_come_before_a_number_as_are_lower() {
        for seed in 0..20 {
            let numbers: [[i32; WIDTH]; 3] = core::array::from_fn(|vector| {
                core::array::from_fn(|place| {
                    i32::try_from((WIDTH * vector + place) * (7 + seed) % 11).unwrap() - 3
                })
            });
            let ranks = ranks(&numbers);
            let all = numbers.as_flattened();
            for (rank, number) in ranks.as_flattened().iter().zip(all) {
                let lower = all.iter().filter(|&other| other < number).count();
                assert_eq!(usize::try_from(*rank).unwrap(), lower);
            }
        }
    }

    #[test]
    fn those_stay_whose_bits_are_set() {
        for bits in 0..32 {
            let mut into = [0; 5];
            let count = compress([10, 11, 12, 13, 14], bits, &mut into);
            let is_set = |place: &u64| bits >> place & 1 == 1;
            let wanted = (0..5).filter(is_set).map(|place| 10 + place);
            assert!(into[..count].iter().copied().eq(wanted));
        }
    }
}
