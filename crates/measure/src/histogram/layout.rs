//! Which values share a bucket: the log-linear layout of an HdrHistogram with two significant
//! digits and a unit of 1.
//!
//! Values up to 255 have a bucket each. Above that, every octave (from one power of two to the
//! next) is divided into 128 buckets of equal width, so a bucket is never wider than 1/128 of the
//! values in it, and its middle is within 0.4 % of each. The whole range of `u64` is covered.

/// Values below this have a bucket each.
const EXACT_VALUES: u64 = 256;
/// The octave of the largest exact values; octaves are counted from there.
const LAST_EXACT_OCTAVE: u32 = (EXACT_VALUES - 1).ilog2();
/// Buckets per octave above the exact values.
const PER_OCTAVE: usize = 128;

/// How many buckets there are: 256 exact ones and 56 octaves of 128.
pub(super) const BUCKETS: usize = bucket_of(u64::MAX) + 1;
const _: () = assert!(BUCKETS == 256 + 56 * PER_OCTAVE);

/// The index of the bucket that contains `value`, always below [`BUCKETS`].
///
/// It has no branch, and the compiler can see that the result is below [`BUCKETS`].
#[inline(always)]
pub(super) const fn bucket_of(value: u64) -> usize {
    let shift = (value | (EXACT_VALUES - 1)).ilog2() - LAST_EXACT_OCTAVE;
    // Only eight bits are left after the shift, so the lowest byte is the whole value.
    let leading_bits = (value >> shift).to_le_bytes()[0];
    shift as usize * PER_OCTAVE + leading_bits as usize
}

/// The least and the greatest value of bucket `index`.
pub(super) const fn bounds_of(index: usize) -> (u64, u64) {
    let shift = (index / PER_OCTAVE).saturating_sub(1);
    let low = ((index - shift * PER_OCTAVE) as u64) << shift;
    (low, low + ((1 << shift) - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::Histogram as Hdr;

    #[test]
    fn every_bucket_equals_that_of_hdrhistogram_with_two_digits() {
        let hdr = Hdr::<u64>::new_with_bounds(1, u64::MAX, 2).unwrap();
        let mut expected_low = 0;
        for index in 0..BUCKETS {
            let (low, high) = bounds_of(index);
            assert_eq!(low, expected_low, "the buckets leave no gap");
            assert_eq!((bucket_of(low), bucket_of(high)), (index, index));
            assert_eq!(hdr.lowest_equivalent(high), low);
            // At the very end HdrHistogram subtracts 1 from a sum that has already saturated.
            assert_eq!(hdr.highest_equivalent(low), high.min(u64::MAX - 1));
            expected_low = high.wrapping_add(1);
        }
        assert_eq!(expected_low, 0, "the last bucket ends at the greatest u64");
    }

    #[test]
    fn the_middle_of_a_bucket_is_within_one_percent() {
        for (low, high) in (0..BUCKETS).map(bounds_of) {
            let middle = low + (high - low) / 2;
            assert!((high - middle) as f64 <= 0.005 * low as f64, "{low} to {high}");
        }
    }
}
