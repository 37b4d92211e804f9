//! Numbers as they are written: decimals, whose differences are exact.
//!
//! If values agree in their leading digits, a double has few digits left for their differences:
//! 1000000000000.4 retains three decimals, and so would an analysis of variance of such values.
//! Therefore the difference from a common offset is computed from the text, and only then rounded
//! to a double.

/// Values are represented as differences from an offset if they are at least this many times their
/// range. Below that, using the values themselves costs less than three of a double's sixteen
/// digits.
const RANGES: f64 = 1000.0;

/// The number `mantissa` / 10^`scale`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    mantissa: i128,
    scale: i32,
}

impl Decimal {
    /// Parses a number that [`str::parse`] accepts as a double: digits with an optional sign, point
    /// and exponent. `None` if there are more digits than the mantissa has room for (38 always
    /// fit), or if the text is not such a number.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (digits, exponent) = match text.split_once(['e', 'E']) {
            Some((digits, exponent)) => (digits, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (negative, digits) = match digits.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, digits.strip_prefix('+').unwrap_or(digits)),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let fraction = fraction.trim_end_matches('0');
        let mut mantissa = 0_i128;
        for digit in whole.chars().chain(fraction.chars()) {
            let digit = i128::from(digit.to_digit(10)?);
            mantissa = mantissa.checked_mul(10)?.checked_add(digit)?;
        }
        let scale = i32::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
        Some(Self { mantissa: if negative { -mantissa } else { mantissa }, scale })
    }

    /// `self` minus `other`, exactly. `None` if the result has more digits than the mantissa has
    /// room for.
    pub(crate) fn less(self, other: Self) -> Option<Self> {
        let scale = self.scale.max(other.scale);
        let mantissa = self.mantissa_at(scale)?.checked_sub(other.mantissa_at(scale)?)?;
        Some(Self { mantissa, scale })
    }

    /// The nearest double; if there is a tie, the even one.
    pub(crate) fn nearest(self) -> Option<f64> {
        let exponent = self.scale.checked_neg()?;
        format!("{}e{exponent}", self.mantissa).parse().ok().filter(|value: &f64| value.is_finite())
    }

    /// The mantissa of the same number at a different scale, which must not be smaller.
    fn mantissa_at(self, scale: i32) -> Option<i128> {
        let power = u32::try_from(scale.checked_sub(self.scale)?).ok()?;
        if self.mantissa == 0 {
            return Some(0);
        }
        self.mantissa.checked_mul(10_i128.checked_pow(power)?)
    }
}

/// Values minus an offset.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Differences {
    pub(crate) offset: f64,
    pub(crate) values: Vec<f64>,
}

impl Differences {
    /// `values` are the doubles of the numbers in `texts`. If they agree in leading digits, and
    /// have no more than fit in a [`Decimal`], the result is their differences from the first one,
    /// exact except for the final rounding; otherwise it is `values` unchanged.
    pub(crate) fn new(texts: &[&str], values: Vec<f64>) -> Self {
        if share_digits(&values)
            && let Some(differences) = differences(texts)
        {
            return Self { offset: values[0], values: differences };
        }
        Self { offset: 0.0, values }
    }
}

fn share_digits(values: &[f64]) -> bool {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (low > 0.0 || high < 0.0) && (high - low) * RANGES <= low.abs().min(high.abs())
}

fn differences(texts: &[&str]) -> Option<Vec<f64>> {
    let first = Decimal::parse(texts.first()?)?;
    texts.iter().map(|text| Decimal::parse(text)?.less(first)?.nearest()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(mantissa: i128, scale: i32) -> Option<Decimal> {
        Some(Decimal { mantissa, scale })
    }

    #[test]
    fn signs_points_and_exponents_are_read() {
        for (text, wanted) in [
            ("0", decimal(0, 0)),
            ("-0", decimal(0, 0)),
            ("+12", decimal(12, 0)),
            ("-12.50", decimal(-125, 1)),
            (".5", decimal(5, 1)),
            ("5.", decimal(5, 0)),
            ("1.5e3", decimal(15, -2)),
            ("1.5E+3", decimal(15, -2)),
            ("-2.25e-3", decimal(-225, 5)),
            ("007", decimal(7, 0)),
            ("1000000000000.4", decimal(10_000_000_000_004, 1)),
            ("99999999999999999999999999999999999999", decimal(10_i128.pow(38) - 1, 0)),
        ] {
            assert_eq!(Decimal::parse(text), wanted, "{text}");
        }
    }

    #[test]
    fn what_does_not_fit_or_is_no_decimal_is_none() {
        let long = format!("0.{}", "2".repeat(39));
        for text in [&long[..], "1e2147483648", "1e99999999999", ".1e-2147483648", "9e-2147483648"]
        {
            assert!(Decimal::parse(text).is_none(), "{text}");
        }
        for text in
            ["", "-", ".", "e3", "1e", "1e+-3", "--1", "+-1", "1.2.3", "1_0", " 1", "\u{663}"]
        {
            assert!(Decimal::parse(text).is_none() && text.parse::<f64>().is_err(), "{text}");
        }
        assert!(["inf", "-infinity", "nan"].iter().all(|text| Decimal::parse(text).is_none()));
    }

    #[test]
    fn nearest_doubles_are_those_that_texts_are_parsed_to() {
        for text in [
            "0",
            "-1.5e3",
            "0.1",
            "1000000000000.4",
            "2.5e-310",
            "1e23",
            "-123456.789e-10",
            "1.7e308",
        ] {
            let wanted: f64 = text.parse().unwrap();
            assert_eq!(Decimal::parse(text).unwrap().nearest(), Some(wanted), "{text}");
        }
        assert_eq!(Decimal::parse("1e309").unwrap().nearest(), None);
    }

    #[test]
    fn differences_are_exact() {
        let less = |a: &str, b: &str| Decimal::parse(a)?.less(Decimal::parse(b)?)?.nearest();
        assert_eq!(less("1000000000000.4", "1000000000000.3"), Some(0.1));
        assert_eq!(less("1e12", "1000000000000.3"), Some(-0.3));
        assert_eq!(less("1.5e3", "15e2"), Some(0.0));
        assert_eq!(less("-5", "-7.25"), Some(2.25));
        assert_eq!(less("0e2000000000", "1.5"), Some(-1.5));
        assert_eq!(less("1e30", "1e-30"), None);
        assert_eq!(less("1e2000000000", "1e-2000000000"), None);
        let largest = i128::MAX.to_string();
        assert_eq!(less(&largest, "-1"), None);
    }

    fn differences_of(texts: &[&str]) -> Differences {
        Differences::new(texts, texts.iter().map(|text| text.parse().unwrap()).collect())
    }

    #[test]
    fn values_that_share_digits_are_told_apart_beyond_doubles() {
        let got = differences_of(&["1000000000000000000.1", "1000000000000000000.2"]);
        assert_eq!(got, Differences { offset: 1e18, values: vec![0.0, 0.1] });
        let got = differences_of(&["-1e6", "-1000000.25", "-999999.9"]);
        assert_eq!(got, Differences { offset: -1e6, values: vec![0.0, -0.25, 0.1] });
        let got = differences_of(&["5", "5.0", "50e-1"]);
        assert_eq!(got, Differences { offset: 5.0, values: vec![0.0; 3] });
        let got = differences_of(&["1e300", "1.0000001e300"]);
        assert_eq!(got, Differences { offset: 1e300, values: vec![0.0, 1e293] });
    }

    #[test]
    fn all_other_values_are_as_they_were_parsed() {
        let long = format!("1000000.{}", "1".repeat(40));
        for texts in [
            &["2876", "2607", "2325.5"][..],
            &["-1000000.1", "1000000.1"],
            &["0", "0"],
            &[&long, "1000000.2"],
            &["1000000.2", &long],
            &["1e-320", "1.5e-320"],
        ] {
            let values = texts.iter().map(|text| text.parse().unwrap()).collect();
            assert_eq!(differences_of(texts), Differences { offset: 0.0, values }, "{texts:?}");
        }
    }
}
