//! The narrowing conversions of this crate, each with the fact that makes it exact.

/// An index from a number known to be below the length of something in memory.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "lengths of things in memory fit usize")]
pub(crate) fn index(number: u64) -> usize {
    number as usize
}

/// floor(first x second / 2^64).
#[inline]
pub(crate) fn multiply_high(first: u64, second: u64) -> u64 {
    ((u128::from(first) * u128::from(second)) >> 64) as u64
}

/// first x second modulo `modulus`, without overflow.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "a remainder is below its 64-bit modulus")]
pub(crate) fn multiply_modulo(first: u64, second: u64, modulus: u64) -> u64 {
    if (first | second) >> 32 == 0 {
        return first * second % modulus;
    }
    (u128::from(first) * u128::from(second) % u128::from(modulus)) as u64
}

/// The whole part of a number that is not negative; conversion saturates beyond 2^64.
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the whole part is what is asked for"
)]
pub(crate) fn whole(number: f64) -> u64 {
    number as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_agree_with_wide_arithmetic() {
        let numbers = [0, 1, 3, u64::from(u32::MAX), 1 << 32, 1 << 40, u64::MAX - 1, u64::MAX];
        for first in numbers {
            for second in numbers {
                let product = u128::from(first) * u128::from(second);
                assert_eq!(u128::from(multiply_high(first, second)), product >> 64);
                for modulus in [1, 2, 97, 1 << 33, u64::MAX] {
                    let expected = product % u128::from(modulus);
                    assert_eq!(u128::from(multiply_modulo(first, second, modulus)), expected);
                }
            }
        }
    }
}
