//! Times in a target's text: a whole number and a unit.

/// Units, the largest first, with their nanoseconds.
const UNITS: [(&str, u64); 3] = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000)];

/// Parses a time, such as `2ms`, as nanoseconds.
pub(super) fn parse_time_ns(text: &str) -> Option<u64> {
    let unit_at = text.find(|letter: char| !letter.is_ascii_digit())?;
    let (digits, unit) = text.split_at(unit_at);
    let (_, unit_ns) = UNITS.into_iter().find(|(name, _)| *name == unit)?;
    digits.parse::<u64>().ok()?.checked_mul(unit_ns)
}

/// The text of a time, in the largest unit of which it is a whole number.
pub(super) fn time_text(ns: u64) -> String {
    let whole = UNITS.into_iter().find(|(_, unit_ns)| ns.is_multiple_of(*unit_ns));
    let (unit, unit_ns) = whole.unwrap_or(UNITS[2]);
    format!("{}{unit}", ns / unit_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_whole_numbers_with_a_unit() {
        for (text, ns) in [("1s", 1_000_000_000), ("2ms", 2_000_000), ("1500us", 1_500_000)] {
            assert_eq!(parse_time_ns(text), Some(ns));
            assert_eq!(time_text(ns), text);
        }
        assert_eq!(time_text(5_000_000_000), "5s");
        for text in ["", "2", "ms", "1.5ms", "-1ms", "2 ms", "2m", "2ns", "20000000000s"] {
            assert_eq!(parse_time_ns(text), None, "{text}");
        }
    }
}
