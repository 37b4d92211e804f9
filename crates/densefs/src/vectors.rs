//! Numbers that are compared many at a time, as all x86-64 processors can. A kernel keeps the
//! registers for it to its programs, so there it is done one by one.

/// Numbers that are ranked at a time.
pub(crate) const RANKED: usize = 16;

/// How many of the first `count` numbers are lower than each.
#[cfg(target_feature = "sse2")]
#[inline(always)]
#[expect(unsafe_code, reason = "instructions that not all targets have")]
pub(crate) fn ranks(numbers: &[i32; RANKED], count: usize) -> [u32; RANKED] {
    use core::arch::x86_64::{
        __m128i, _mm_cmpgt_epi32, _mm_loadu_si128, _mm_set1_epi32, _mm_setzero_si128,
        _mm_storeu_si128, _mm_sub_epi32,
    };
    const VECTORS: usize = size_of::<[i32; RANKED]>() / size_of::<__m128i>();
    let mut ranks = [0; RANKED];
    // SAFETY: what this is compiled for has these instructions; both arrays are as long as so many
    // vectors.
    unsafe {
        let from = numbers.as_ptr().cast::<__m128i>();
        let into = ranks.as_mut_ptr().cast::<__m128i>();
        let vectors: [_; VECTORS] = core::array::from_fn(|at| _mm_loadu_si128(from.add(at)));
        let mut lower = [_mm_setzero_si128(); VECTORS];
        for &other in numbers.iter().take(count) {
            let other = _mm_set1_epi32(other);
            for (lower, these) in lower.iter_mut().zip(vectors) {
                // What a comparison finds is -1.
                *lower = _mm_sub_epi32(*lower, _mm_cmpgt_epi32(these, other));
            }
        }
        for (at, lower) in lower.into_iter().enumerate() {
            _mm_storeu_si128(into.add(at), lower);
        }
    }
    ranks
}

/// The same, one by one.
#[cfg(not(target_feature = "sse2"))]
pub(crate) fn ranks(numbers: &[i32; RANKED], count: usize) -> [u32; RANKED] {
    numbers.map(|one| numbers.iter().take(count).map(|other| u32::from(one > *other)).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_come_before_a_number_as_are_lower() {
        let mut numbers = [0; RANKED];
        for (place, number) in numbers.iter_mut().enumerate() {
            *number = i32::try_from(place * 7 % 11).unwrap() - 3;
        }
        for count in 0..=RANKED {
            let ranks = ranks(&numbers, count);
            for (rank, number) in ranks.iter().zip(numbers) {
                let lower = numbers[..count].iter().filter(|&&other| other < number).count();
                assert_eq!(usize::try_from(*rank).unwrap(), lower);
            }
        }
    }
}
