//! Times of inodes, in nanoseconds since 1970, before that negative: from 1677 to 2262.

const SECOND_NS: i64 = 1_000_000_000;
/// How many seconds a time can be away from 1970.
const SECONDS_MAX: i64 = i64::MAX / SECOND_NS;

/// The time that is closest to this one, without a fraction at the ends, as Linux cuts times off.
/// `within` is less than a second.
pub fn from_parts(seconds: i64, within: u32) -> i64 {
    let kept = seconds.clamp(-SECONDS_MAX, SECONDS_MAX);
    let is_at_end = kept.abs() == SECONDS_MAX;
    kept * SECOND_NS + if is_at_end { 0 } else { i64::from(within) }
}

/// Whole seconds since 1970, rounded down, and the nanoseconds that follow.
#[inline(always)]
pub fn parts(time_ns: i64) -> (i64, u32) {
    const SECOND: u64 = SECOND_NS.cast_unsigned();
    // Counted from the first second of all, so that both divisions are those of positive numbers.
    let since = time_ns.wrapping_add(SECONDS_MAX * SECOND_NS).cast_unsigned();
    let within = (since % SECOND) as u32;
    ((since / SECOND).cast_signed() - SECONDS_MAX, within)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_rounded_down() {
        for (time, expected) in [
            (0, (0, 0)),
            (1_000_000_002, (1, 2)),
            (-1, (-1, 999_999_999)),
            (-1_000_000_000, (-1, 0)),
            (SECONDS_MAX * SECOND_NS - 1, (SECONDS_MAX - 1, 999_999_999)),
            (-SECONDS_MAX * SECOND_NS, (-SECONDS_MAX, 0)),
        ] {
            assert_eq!(parts(time), expected);
            assert_eq!(from_parts(expected.0, expected.1), time);
        }
    }

    #[test]
    fn times_outside_are_the_closest_inside() {
        let last = SECONDS_MAX * SECOND_NS;
        for (seconds, expected) in
            [(i64::MAX, last), (SECONDS_MAX, last), (-SECONDS_MAX, -last), (i64::MIN, -last)]
        {
            assert_eq!(from_parts(seconds, 999_999_999), expected);
        }
    }

    #[test]
    fn no_number_is_too_large() {
        for time in [i64::MIN, i64::MAX] {
            assert!(parts(time).1 < 1_000_000_000);
        }
    }
}
