//! Sizes and times in values: `4k`, `0x1000`, `50%`, `(2 * 1m)`, `10s`, `500ms`.
//!
//! With `kb_base=1024`, fio's default, `k` and `kb` are 1024 and `kib` is 1000; with
//! `kb_base=1000`, all are what the SI and the IEC say. Calculations know only the former.

use crate::expression::{self, Number};

/// What `k` is worth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KbBase {
    /// 1024, and `kib` is 1000.
    #[default]
    Binary,
    /// 1000, and `kib` is 1024.
    Decimal,
}

/// A size, or a share of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// In bytes.
    Bytes(u64),
    /// In percent.
    Percent(u64),
}

const PREFIXES: [char; 5] = ['k', 'm', 'g', 't', 'p'];
const US_PER_S: i128 = 1_000_000;

impl KbBase {
    fn unit(self, word: &str) -> Option<i128> {
        let (own, other) = match self {
            Self::Binary => (1024_i128, 1000_i128),
            Self::Decimal => (1000, 1024),
        };
        if matches!(word, "" | "b") {
            return Some(1);
        }
        let mut letters = word.chars();
        let first = letters.next()?;
        let power = (1..).zip(PREFIXES).find_map(|(power, one)| (one == first).then_some(power))?;
        match letters.as_str() {
            "" | "b" => Some(own.pow(power)),
            "ib" => Some(other.pow(power)),
            // Without the `b`, fio looks at the first letter only.
            "i" => Some(own.pow(power)),
            _ => None,
        }
    }

    /// A size.
    ///
    /// # Errors
    /// Why it is none, as the rest of a sentence: `` `4x` is not a size ... ``.
    pub fn size(self, text: &str) -> Result<Size, String> {
        if let Some(percent) = text.strip_suffix('%') {
            let percent: Option<u64> = percent.parse().ok();
            let percent = percent.filter(|percent| *percent <= 100);
            let why = || format!("`{text}` is not a percentage from 0 to 100");
            return percent.map(Size::Percent).ok_or_else(why);
        }
        self.bytes(text).map(Size::Bytes)
    }

    /// A number of bytes, or a plain number, which may have the same units.
    ///
    /// # Errors
    /// Why it is none.
    pub fn bytes(self, text: &str) -> Result<u64, String> {
        let no_size =
            |why: &str| format!("`{text}` is not a size: {why}; write one such as 4096, 4k or 1g");
        let number = if text.starts_with('(') {
            expression::evaluate(text, |word| Self::Binary.unit(word).filter(|_| !word.is_empty()))
                .map_err(|why| no_size(&why))?
                .number
        } else {
            let (number, word) = parts(text).map_err(|why| no_size(&why))?;
            let unit = self.unit(&word).ok_or_else(|| no_size(&format!("`{word}` is no unit")))?;
            Number::Whole(number.checked_mul(unit).ok_or_else(|| no_size("it is too large"))?)
        };
        whole(number).map_err(|why| no_size(&why))
    }
}

/// A time in microseconds. Without a unit, it is in seconds if `in_seconds`, else in microseconds.
///
/// # Errors
/// Why it is none.
pub fn time_us(text: &str, in_seconds: bool) -> Result<u64, String> {
    let no_time =
        |why: &str| format!("`{text}` is not a time: {why}; write one such as 10s, 500ms or 2m");
    let implied = if in_seconds { US_PER_S } else { 1 };
    let number = if text.starts_with('(') {
        let found = expression::evaluate(text, time_unit).map_err(|why| no_time(&why))?;
        match found.number {
            number if found.has_unit => number,
            Number::Whole(number) => Number::Whole(
                number.checked_mul(implied).ok_or_else(|| no_time("it is too large"))?,
            ),
            Number::Real(number) => Number::Real(number * Number::Whole(implied).real()),
        }
    } else {
        let (number, word) = parts(text).map_err(|why| no_time(&why))?;
        let unit = if word.is_empty() { Some(implied) } else { time_unit(&word) };
        let unit = unit.ok_or_else(|| no_time(&format!("`{word}` is no unit")))?;
        Number::Whole(number.checked_mul(unit).ok_or_else(|| no_time("it is too large"))?)
    };
    whole(number).map_err(|why| no_time(&why))
}

fn time_unit(word: &str) -> Option<i128> {
    match word {
        "us" | "usec" => Some(1),
        "ms" | "msec" => Some(1000),
        "s" => Some(US_PER_S),
        "m" => Some(60 * US_PER_S),
        "h" => Some(3600 * US_PER_S),
        "d" => Some(86_400 * US_PER_S),
        _ => None,
    }
}

/// A whole number and the word behind it, in lower case.
fn parts(text: &str) -> Result<(i128, String), String> {
    let text = text.trim();
    let lower = text.to_ascii_lowercase();
    let (digits, word, radix) = match lower.strip_prefix("0x") {
        Some(rest) => (rest, "", 16),
        None => {
            let signed = lower.strip_prefix(['-', '+']).unwrap_or(&lower);
            let digits = signed.find(|one: char| !one.is_ascii_digit()).unwrap_or(signed.len());
            let (number, word) = lower.split_at(lower.len() - signed.len() + digits);
            (number, word, 10)
        }
    };
    let number = i128::from_str_radix(digits, radix);
    match number {
        Err(_) => Err("it has no number".to_owned()),
        Ok(number) if number < 0 => Err("it is negative".to_owned()),
        Ok(_) if word.starts_with('.') => Err("it is not a whole number".to_owned()),
        Ok(number) => Ok((number, word.trim_start().to_owned())),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the fraction is dropped, as in fio")]
fn whole(number: Number) -> Result<u64, String> {
    let number = match number {
        Number::Whole(number) => number,
        Number::Real(number) => number as i128,
    };
    if number < 0 {
        return Err("it is negative".to_owned());
    }
    u64::try_from(number).map_err(|_| "it is too large".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_those_of_the_base() {
        let both = |text| (KbBase::Binary.bytes(text), KbBase::Decimal.bytes(text));
        for (text, binary, decimal) in [
            ("512", 512, 512),
            ("4k", 4096, 4000),
            ("4K", 4096, 4000),
            ("4kb", 4096, 4000),
            ("4ki", 4096, 4000),
            ("4KiB", 4000, 4096),
            ("1m", 1 << 20, 1_000_000),
            ("1MiB", 1_000_000, 1 << 20),
            ("2g", 2 << 30, 2_000_000_000),
            ("1t", 1 << 40, 1_000_000_000_000),
            ("1p", 1 << 50, 1_000_000_000_000_000),
            ("0x1000", 4096, 4096),
            ("8b", 8, 8),
            ("+3", 3, 3),
            ("(2*4k+1)", 8193, 8193),
            ("(1.5k)", 1536, 1536),
        ] {
            assert_eq!(both(text), (Ok(binary), Ok(decimal)), "{text}");
        }
        assert_eq!(KbBase::Binary.size("50%"), Ok(Size::Percent(50)));
        assert_eq!(KbBase::Binary.size("1m"), Ok(Size::Bytes(1 << 20)));
    }

    #[test]
    fn times_are_in_microseconds() {
        for (text, in_seconds, us) in [
            ("10", true, 10_000_000),
            ("10", false, 10),
            ("10s", false, 10_000_000),
            ("5ms", true, 5000),
            ("7us", true, 7),
            ("7usec", true, 7),
            ("2m", true, 120_000_000),
            ("1h", false, 3_600_000_000),
            ("1d", false, 86_400_000_000),
            ("(2 * 10)", true, 20_000_000),
            ("(2 * 10s)", false, 20_000_000),
            ("(0.5)", true, 500_000),
        ] {
            assert_eq!(time_us(text, in_seconds), Ok(us), "{text}");
        }
    }

    #[test]
    fn what_is_no_quantity_is_refused() {
        for (text, why) in [
            ("", "has no number"),
            ("k", "has no number"),
            ("4x", "`x` is no unit"),
            ("4kk", "`kk` is no unit"),
            ("1.5g", "not a whole number"),
            ("-4k", "negative"),
            ("(1-2)", "negative"),
            ("99999999p", "too large"),
            ("0xyz", "has no number"),
            ("(1", "a `)` is missing"),
        ] {
            let error = KbBase::Binary.bytes(text).expect_err(text);
            assert!(error.contains(why) && error.contains("4096"), "{error}");
        }
        assert!(KbBase::Binary.size("101%").expect_err("too much").contains("from 0 to 100"));
        assert!(KbBase::Binary.size("x%").is_err());
        for (text, why) in [("4x", "`x` is no unit"), ("1.5s", "whole"), ("-1s", "negative")] {
            let error = time_us(text, true).expect_err(text);
            assert!(error.contains(why) && error.contains("500ms"), "{error}");
        }
    }
}
