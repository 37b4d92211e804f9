//! Numbers as fio prints them.

use crate::presentation::{BandwidthUnit, Kilobyte};

/// How many of what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantity {
    /// Something that is merely counted.
    Count(u64),
    /// Bytes.
    Bytes(u64),
    /// Bytes per second.
    Bandwidth(u64, BandwidthUnit),
    /// Thousands or 1024 bytes per second.
    KiloBandwidth(u64, BandwidthUnit),
}

/// Prefixes of units.
const DECIMAL: [&str; 7] = ["", "k", "M", "G", "T", "P", "E"];
const BINARY: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/// A quantity in at most so many characters before its unit, the point among them. It is divided by
/// 1000 or 1024 until its whole part fits, and what then has room is its fraction. Each division
/// drops what earlier ones left, so a fraction may be a little too small.
pub(crate) fn scaled(quantity: Quantity, room: usize, kilobyte: Kilobyte) -> String {
    let prefixes = match kilobyte {
        Kilobyte::Binary => BINARY,
        Kilobyte::Decimal => DECIMAL,
    };
    let (mut whole, mut prefix, unit) = match quantity {
        Quantity::Count(count) => (count, 0, ""),
        Quantity::Bytes(bytes) => (bytes, 0, "B"),
        Quantity::Bandwidth(bytes, BandwidthUnit::Bytes) => (bytes, 0, "B/s"),
        Quantity::KiloBandwidth(kilo, BandwidthUnit::Bytes) => (kilo, 1, "B/s"),
        Quantity::Bandwidth(bytes, BandwidthUnit::Bits) => (bytes.wrapping_mul(8), 0, "bit/s"),
        Quantity::KiloBandwidth(kilo, BandwidthUnit::Bits) => (kilo.wrapping_mul(8), 1, "bit/s"),
    };
    let divisor = kilobyte.bytes();
    let mut remainder = None;
    while prefix < prefixes.len() && digits(whole) > room {
        remainder = Some(whole % divisor);
        whole /= divisor;
        prefix += 1;
    }
    let prefix = prefixes.get(prefix).unwrap_or(&"");
    let decimals = room.saturating_sub(digits(whole) + 1);
    let fraction = match remainder {
        None => String::new(),
        Some(remainder) if decimals == 0 => {
            whole += u64::from(remainder >= divisor / 2);
            String::new()
        }
        Some(remainder) => {
            let fraction = format!("{:.decimals$}", remainder as f64 / divisor as f64);
            whole += u64::from(fraction.starts_with('1'));
            fraction[1..].to_owned()
        }
    };
    format!("{whole}{fraction}{prefix}{unit}")
}

/// Decimal digits of a number.
fn digits(number: u64) -> usize {
    number.checked_ilog10().unwrap_or(0) as usize + 1
}

/// A number with so many decimals, as C's `printf` writes it.
pub(crate) fn decimal(number: f64, decimals: usize) -> String {
    if number.is_nan() {
        let sign = if number.is_sign_negative() { "-" } else { "" };
        return format!("{sign}nan");
    }
    format!("{number:.decimals$}")
}

/// A number without its decimals; 0 if it is negative.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it says so")]
pub(crate) fn whole(number: f64) -> u64 {
    number as u64
}

/// A number with six decimals, as C's `%f` writes it.
pub(crate) fn six(number: f64) -> String {
    decimal(number, 6)
}

/// What the C library says about an error number.
pub(crate) fn error_text(number: i32) -> String {
    let text = std::io::Error::from_raw_os_error(number).to_string();
    let end = text.rfind(" (os error").unwrap_or(text.len());
    text[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(number: u64, room: usize) -> String {
        scaled(Quantity::Count(number), room, Kilobyte::Decimal)
    }

    #[test]
    fn numbers_fit() {
        let texts = [15_515, 100_000, 999_999, 9_999, 10_049, 0].map(|number| count(number, 4));
        assert_eq!(texts, ["15.5k", "100k", "1000k", "9999", "10.0k", "0"]);
        assert_eq!(count(123_456_789, 6), "123457k");
        assert_eq!([count(1_999_999, 4), count(19_999_999, 4)], ["2000k", "20.0M"]);
        assert_eq!(count(5_000, 0), "0");
    }

    #[test]
    fn units_have_their_prefixes() {
        let sizes = [Kilobyte::Binary, Kilobyte::Decimal]
            .map(|kilobyte| scaled(Quantity::Bytes(8_388_608), 4, kilobyte));
        assert_eq!(sizes, ["8192KiB", "8389kB"]);
        let rate = Quantity::Bandwidth(63_550_060, BandwidthUnit::Bytes);
        let rates = [Kilobyte::Binary, Kilobyte::Decimal].map(|kilobyte| scaled(rate, 4, kilobyte));
        assert_eq!(rates, ["60.6MiB/s", "63.6MB/s"]);
        let bits = Quantity::Bandwidth(1_000_000, BandwidthUnit::Bits);
        assert_eq!(scaled(bits, 4, Kilobyte::Decimal), "8000kbit/s");
        let kilo = Quantity::KiloBandwidth(62_060, BandwidthUnit::Bytes);
        assert_eq!(scaled(kilo, 4, Kilobyte::Binary), "60.6MiB/s");
    }

    /// The hash is that of 176,000 texts of fio's function `num2str`.
    #[test]
    fn texts_are_those_of_fio() {
        let (mut hash, mut random) = (0_u64, 1_u64);
        let mut take = |text: &str| {
            let shifted = |hash: u64, byte| hash.wrapping_mul(31).wrapping_add(u64::from(byte));
            hash = text.bytes().fold(hash, shifted);
        };
        for round in 0..2_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005);
            random = random.wrapping_add(1_442_695_040_888_963_407);
            let number = random >> (random % 64);
            let number = if number >> 60 > 0 { number >> 4 } else { number };
            let (bytes, bits) = (BandwidthUnit::Bytes, BandwidthUnit::Bits);
            let rate = if round % 2 > 0 { Quantity::KiloBandwidth } else { Quantity::Bandwidth };
            let counts = [Quantity::Count(number), Quantity::Bytes(number)];
            for room in 0..=10 {
                for kilobyte in [Kilobyte::Decimal, Kilobyte::Binary] {
                    for quantity in
                        counts.into_iter().chain([bytes, bits].map(|unit| rate(number, unit)))
                    {
                        take(&scaled(quantity, room, kilobyte));
                    }
                }
            }
        }
        assert_eq!(hash, 12_843_101_012_196_557_229);
    }

    #[test]
    fn errors_have_their_text() {
        assert_eq!(error_text(5), "Input/output error");
        assert_eq!(error_text(0), "Success");
    }

    #[test]
    fn what_is_not_a_number_is_so_in_c() {
        assert_eq!(decimal(-f64::NAN, 2), "-nan");
        assert_eq!(six(0.0078125), "0.007812");
    }
}
