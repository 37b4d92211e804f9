//! Sizes in bytes, in powers of 1024 and with the corresponding unit names.

/// A size: exact if it is a whole number of units, otherwise with `digits` significant digits.
#[must_use]
pub fn size(bytes: f64, digits: usize) -> String {
    let (scaled, unit) = scaled(bytes, ["bytes", "KiB", "MiB", "GiB", "TiB"]);
    if scaled.fract() == 0.0 {
        return format!("{scaled} {unit}");
    }
    // A value that is rounded up to a power of ten gets that power's number of decimals: 0.9996 is
    // 1.00.
    let rounding = 0.5 * 0.1_f64.powi(i32::try_from(digits).unwrap_or(i32::MAX));
    let mut decimals = digits.saturating_sub(1);
    let mut power = 10.0;
    while decimals > 0 && scaled.abs() * (1.0 + rounding) >= power {
        (decimals, power) = (decimals - 1, power * 10.0);
    }
    format!("{scaled:.decimals$} {unit}")
}

/// A position on an axis with this unit, exactly: `64 KiB`, `1,000`.
#[must_use]
pub fn on_axis(value: f64, unit: &str) -> String {
    if unit != "bytes" {
        return crate::grouped(value);
    }
    let (scaled, unit) = scaled(value, ["B", "KiB", "MiB", "GiB", "TiB"]);
    format!("{scaled} {unit}")
}

/// The value in the largest unit in which it is at least 1 after rounding.
fn scaled(bytes: f64, units: [&'static str; 5]) -> (f64, &'static str) {
    let (mut scaled, mut unit) = (bytes, units[0]);
    for next in &units[1..] {
        if scaled.abs() >= 1023.5 {
            (scaled, unit) = (scaled / 1024.0, next);
        }
    }
    (scaled, unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: f64 = 1024.0 * 1024.0;

    #[test]
    fn sizes_are_exact_where_they_can_be() {
        for (bytes, three, four) in [
            (0.0, "0 bytes", "0 bytes"),
            (1000.0, "1000 bytes", "1000 bytes"),
            (65_536.0, "64 KiB", "64 KiB"),
            (1.5 * 1024.0, "1.50 KiB", "1.500 KiB"),
            (62.29 * MIB, "62.3 MiB", "62.29 MiB"),
            (215.27 * MIB, "215 MiB", "215.3 MiB"),
            (1_050_673_152.0, "1002 MiB", "1002 MiB"),
            (9.9996 * MIB, "10.0 MiB", "10.00 MiB"),
            (MIB - 1.0, "1.00 MiB", "1.000 MiB"),
            (4096.0 * MIB, "4 GiB", "4 GiB"),
            (8_345_276_416.0, "7.77 GiB", "7.772 GiB"),
        ] {
            assert_eq!((size(bytes, 3).as_str(), size(bytes, 4).as_str()), (three, four));
        }
    }

    #[test]
    fn places_are_exact() {
        let places = [(1000.0, "bytes"), (1536.0, "bytes"), (4.0 * MIB, "bytes"), (1e6, "files")];
        let texts = places.map(|(value, unit)| on_axis(value, unit));
        assert_eq!(texts, ["1000 B", "1.5 KiB", "4 MiB", "1,000,000"]);
    }
}
