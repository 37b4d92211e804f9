//! Variable-length integers: little-endian groups of seven bits (LEB128), with signed differences
//! mapped to unsigned numbers (zigzag), so that small differences of either sign are short.

/// Bytes of the longest encoding.
pub(crate) const BYTES_MAX: usize = 10;

/// Appends `value`.
#[inline]
pub(crate) fn put(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    bytes.push((value & 0x7f) as u8);
}

/// Takes a number off the front of `bytes`; `None` if it is incomplete or exceeds 64 bits.
#[inline]
pub(crate) fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for (index, &byte) in bytes.iter().enumerate().take(BYTES_MAX) {
        if index == BYTES_MAX - 1 && byte > 1 {
            return None;
        }
        value |= u64::from(byte & 0x7f) << (7 * index);
        if byte < 0x80 {
            *bytes = &bytes[index + 1..];
            return Some(value);
        }
    }
    None
}

/// The difference `to - from`, modulo 2^64, as a number that is small if they are close.
#[inline]
pub(crate) fn zigzag(from: u64, to: u64) -> u64 {
    let difference = to.wrapping_sub(from);
    (difference << 1) ^ (0_u64.wrapping_sub(difference >> 63))
}

/// The `to` that [`zigzag`] encoded as `coded`.
#[inline]
pub(crate) fn unzigzag(from: u64, coded: u64) -> u64 {
    from.wrapping_add((coded >> 1) ^ 0_u64.wrapping_sub(coded & 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_and_too_long_ones_do_not() {
        for value in [0, 1, 127, 128, 16_383, 16_384, u64::MAX / 2, u64::MAX] {
            let mut bytes = Vec::new();
            put(&mut bytes, value);
            for length in 0..bytes.len() {
                assert_eq!(take(&mut &bytes[..length]), None);
            }
            let mut rest = &bytes[..];
            assert_eq!((take(&mut rest), rest.len()), (Some(value), 0));
        }
        let too_long = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2];
        assert_eq!(take(&mut &too_long[..]), None);
    }

    #[test]
    fn near_differences_are_small_numbers() {
        assert_eq!((zigzag(5, 5), zigzag(5, 4), zigzag(5, 6), zigzag(0, 64)), (0, 1, 2, 128));
        for (from, to) in [(0, u64::MAX), (u64::MAX, 0), (1 << 63, 0), (7, 1 << 63)] {
            assert_eq!(unzigzag(from, zigzag(from, to)), to);
        }
    }
}
