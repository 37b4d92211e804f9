//! Numbers for people, with a sensible number of digits.

/// Significant digits of a figure.
const DIGITS: i32 = 5;

/// A figure with five significant digits, without an exponent if it is between a millionth and a
/// billion.
#[must_use]
pub fn figure(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude == 0.0 {
        return "0".to_owned();
    }
    if !(1e-6..1e9).contains(&magnitude) {
        return format!("{value:.4e}");
    }
    #[expect(clippy::cast_possible_truncation, reason = "between -6 and 9")]
    let exponent = magnitude.log10().floor() as i32;
    let decimals = usize::try_from(DIGITS - 1 - exponent).unwrap_or(0);
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// A p-value with two significant digits, and nothing more precise below one ten-thousandth.
#[must_use]
pub fn p_value(p: f64) -> String {
    if p < 1e-4 {
        return "< 0.0001".to_owned();
    }
    let decimals = if p < 0.000_995 {
        5
    } else if p < 0.00995 {
        4
    } else if p < 0.0995 {
        3
    } else {
        2
    };
    format!("{p:.decimals$}")
}

/// A p-value in a sentence: `p = 0.024`, `p < 0.0001`.
#[must_use]
pub fn p_equation(p: f64) -> String {
    let value = p_value(p);
    if value.starts_with('<') { format!("p {value}") } else { format!("p = {value}") }
}

/// A level or a share in percent, without unnecessary decimals.
#[must_use]
pub fn percent(share: f64) -> String {
    // Levels such as 0.95 have no exact binary representation.
    let rounded = (share * 1e10).round() / 1e8;
    format!("{rounded} %")
}

/// A number with commas as thousands separators.
#[must_use]
pub fn grouped(value: f64) -> String {
    let digits = format!("{value}");
    let (whole, rest) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    let mut text = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text + rest
}

/// A number with at most two digits, unless it is 100 or more.
#[must_use]
pub fn two_digits(value: f64) -> String {
    if value < 9.95 { format!("{value:.1}").replace(".0", "") } else { format!("{value:.0}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_keep_five_digits() {
        for (value, text) in [
            (0.0, "0"),
            (814.066_67, "814.07"),
            (-1_469.066_7, "-1469.1"),
            (50_175_929.0, "50175929"),
            (0.000_123_456, "0.00012346"),
            (2.0, "2"),
            (1e-7, "1.0000e-7"),
            (1.5e12, "1.5000e12"),
        ] {
            assert_eq!(figure(value), text);
        }
    }

    #[test]
    fn p_values_and_levels_are_short() {
        for (p, text) in [
            (0.0, "p < 0.0001"),
            (0.000_099, "p < 0.0001"),
            (0.000_47, "p = 0.00047"),
            (0.000_999, "p = 0.0010"),
            (0.0042, "p = 0.0042"),
            (0.009_97, "p = 0.010"),
            (0.0243, "p = 0.024"),
            (0.0997, "p = 0.10"),
            (0.41, "p = 0.41"),
            (1.0, "p = 1.00"),
        ] {
            assert_eq!(p_equation(p), text);
        }
        assert_eq!((percent(0.95), percent(0.999)), ("95 %".into(), "99.9 %".into()));
    }

    #[test]
    fn thousands_are_grouped() {
        let texts = [1.0, 999.0, 1000.0, 1_234_567.0, 12_345.5].map(grouped);
        assert_eq!(texts, ["1", "999", "1,000", "1,234,567", "12,345.5"]);
    }
}
