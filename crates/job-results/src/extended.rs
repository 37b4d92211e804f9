//! Where a percentile falls among samples, computed in 80 bits as fio does on x86.
//!
//! 99.9 % of 1000 samples is 999, or a hair more or less, depending on how it is rounded: 99.9 is
//! not a binary fraction. Rounded otherwise, it would be another sample than fio's.

/// A number that is not negative, with the 64 bits of mantissa of IEEE 754's double extended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extended {
    mantissa: u64,
    exponent: i32,
}

impl Extended {
    /// `samples / 100 * percent`, rounded after each step. The division is a multiplication by a
    /// rounded hundredth, as compilers make of it that may: `gcc -ffast-math`, as fio is compiled.
    pub(crate) fn rank(percent: f64, samples: u64) -> Self {
        const HUNDREDTH: Extended = Extended { mantissa: 0xa3d7_0a3d_70a3_d70a, exponent: -70 };
        let product = u128::from(HUNDREDTH.mantissa) * u128::from(samples);
        let share = Self::rounded(product, HUNDREDTH.exponent);
        let (mantissa, exponent) = parts(percent);
        let product = u128::from(share.mantissa) * u128::from(mantissa);
        Self::rounded(product, share.exponent + exponent)
    }

    /// Whether a count is at least this.
    pub(crate) fn is_reached_by(self, count: u64) -> bool {
        let (count, mantissa) = (u128::from(count), u128::from(self.mantissa));
        match self.exponent {
            0..=63 => count >= mantissa << self.exponent,
            64.. => mantissa == 0,
            -63..=-1 => count << -self.exponent >= mantissa,
            // The number is less than one.
            ..=-64 => count > 0 || mantissa == 0,
        }
    }

    /// `number * 2^exponent`, rounded to the nearest, to the even one of two.
    fn rounded(number: u128, exponent: i32) -> Self {
        let excess = (128 - number.leading_zeros()).saturating_sub(64);
        let kept = number >> excess;
        let half = if excess > 0 { 1_u128 << (excess - 1) } else { 0 };
        let cut = number - (kept << excess);
        let is_odd = kept & 1 == 1;
        let is_up = excess > 0 && (cut > half || (cut == half && is_odd));
        let excess = i32::try_from(excess).expect("there are 128 bits");
        match u64::try_from(kept + u128::from(is_up)) {
            Ok(mantissa) => Self { mantissa, exponent: exponent + excess },
            Err(_) => Self { mantissa: 1 << 63, exponent: exponent + excess + 1 },
        }
    }
}

/// Mantissa and exponent of a number that is not negative.
fn parts(number: f64) -> (u64, i32) {
    let bits = number.to_bits();
    let fraction = bits & ((1 << 52) - 1);
    let exponent = (bits >> 52 & 0x7ff) as i32;
    if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_percentages_reach_whole_counts() {
        for percent in 1..=100_u32 {
            let rank = Extended::rank(f64::from(percent), 1_000);
            let count = u64::from(percent) * 10;
            assert!(!rank.is_reached_by(count - 1), "{percent}");
            assert!(rank.is_reached_by(count + 1), "{percent}");
        }
    }

    /// The hash is that of the same grid in C, `0.01L * samples * percent`.
    #[test]
    fn ranks_are_those_of_the_processor() {
        let tens = (1..10).map(|tens| f64::from(tens) * 10.0);
        let tail = [95.0, 99.0, 99.5, 99.9, 99.95, 99.99, 0.1, 33.3, 66.6, 99.999];
        let some = [1, 3, 7, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 2_048, 10_000, 12_345];
        let many = [20_000, 100_000, 1_000_000, 123_456_789];
        let mut hash = 0_u64;
        for percent in [1.0, 5.0].into_iter().chain(tens).chain(tail) {
            for samples in some.into_iter().chain(many) {
                let rank = Extended::rank(percent, samples);
                let about = crate::numbers::whole(percent / 100.0 * samples as f64);
                let reaching = (about.saturating_sub(2)..).find(|count| rank.is_reached_by(*count));
                hash = hash.wrapping_mul(31).wrapping_add(reaching.expect("there is no end"));
            }
        }
        assert_eq!(hash, 2843472448035753544);
        assert!(!Extended::rank(99.9, 1_000).is_reached_by(999));
    }

    #[test]
    fn nothing_is_reached_at_once() {
        assert!(Extended::rank(50.0, 0).is_reached_by(0));
        assert!(!Extended::rank(1e-30, 1).is_reached_by(0));
        assert!(Extended::rank(1e-30, 1).is_reached_by(1));
    }
}
