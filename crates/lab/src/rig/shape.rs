//! Rate, delay and loss of a link.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What each end of a link does to its outgoing traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// Bits per second, including Ethernet headers; `None` for no limit.
    pub rate_bits_per_s: Option<u64>,
    /// Delay of each packet in microseconds.
    pub delay_us: u32,
    /// Packets lost per million.
    pub loss_ppm: u32,
}

/// A shape that is not valid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WrongShape {
    /// The rate is malformed or out of range.
    #[error(
        "a link's rate must be between 10kbit and 10gbit, such as 6.95mbit or 1gbit, not {0:?}"
    )]
    Rate(String),
    /// The delay is malformed or out of range.
    #[error("a link's delay must be between 0us and 10s, such as 5ms, not {0:?}")]
    Delay(String),
    /// The loss is malformed or out of range.
    #[error("a link's loss must be below 100%, such as 0.1%, not {0:?}")]
    Loss(String),
    /// A link has no such property.
    #[error("a link has a rate, then delay=TIME and loss=PERCENT, but not {0:?}")]
    Unknown(String),
}

/// The rates that the kernel's token bucket filter is good at.
const RATES: std::ops::RangeInclusive<f64> = 1e4..=1e10;
/// The longest delay in microseconds.
const DELAY_US_MAX: f64 = 1e7;

/// Units of rates as in `tc`, longer names first.
const RATE_UNITS: [(&str, f64); 4] = [("kbit", 1e3), ("mbit", 1e6), ("gbit", 1e9), ("bit", 1.0)];
/// Units of time in microseconds, longer names first.
const TIME_UNITS: [(&str, f64); 3] = [("us", 1.0), ("ms", 1e3), ("s", 1e6)];

impl FromStr for Shape {
    type Err = WrongShape;

    /// `6.95mbit`, `100mbit,delay=5ms,loss=0.1%`, `delay=5ms`.
    fn from_str(text: &str) -> Result<Self, WrongShape> {
        let mut shape = Self::default();
        for (place, word) in text.split(',').enumerate() {
            match word.split_once('=') {
                Some(("delay", value)) => shape.delay_us = delay(value)?,
                Some(("loss", value)) => shape.loss_ppm = loss(value)?,
                None if place == 0 => shape.rate_bits_per_s = Some(rate(word)?),
                _ => return Err(WrongShape::Unknown(word.to_owned())),
            }
        }
        Ok(shape)
    }
}

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let rate = self.rate_bits_per_s.map(rate_text);
        let delay = (self.delay_us > 0).then(|| format!("delay={}us", self.delay_us));
        let loss = (self.loss_ppm > 0).then(|| format!("loss={}%", f64::from(self.loss_ppm) / 1e4));
        let words: Vec<String> = [rate, delay, loss].into_iter().flatten().collect();
        f.write_str(if words.is_empty() { "unlimited" } else { "" })?;
        f.write_str(&words.join(","))
    }
}

fn rate_text(bits: u64) -> String {
    let of = |unit: f64, name: &str| format!("{}{name}", bits as f64 / unit);
    match bits {
        1_000_000_000.. => of(1e9, "gbit"),
        1_000_000.. => of(1e6, "mbit"),
        1_000.. => of(1e3, "kbit"),
        _ => of(1.0, "bit"),
    }
}

fn number(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let (number, unit) =
        units.iter().find_map(|(name, unit)| Some((text.strip_suffix(name)?, unit)))?;
    let number: f64 = number.parse().ok()?;
    (number.is_finite() && number >= 0.0).then_some(number * unit)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the range")]
fn rate(text: &str) -> Result<u64, WrongShape> {
    let bits = number(text, &RATE_UNITS).filter(|bits| RATES.contains(bits));
    bits.map(|bits| bits.round() as u64).ok_or_else(|| WrongShape::Rate(text.to_owned()))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the range")]
fn delay(text: &str) -> Result<u32, WrongShape> {
    let delay = number(text, &TIME_UNITS).filter(|delay| *delay <= DELAY_US_MAX);
    delay.map(|delay| delay.round() as u32).ok_or_else(|| WrongShape::Delay(text.to_owned()))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the range")]
fn loss(text: &str) -> Result<u32, WrongShape> {
    let loss = number(text, &[("%", 1e4)]).filter(|loss| *loss < 1e6);
    loss.map(|loss| loss.round() as u32).ok_or_else(|| WrongShape::Loss(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::Shape;

    #[test]
    fn a_shape_is_written_as_it_is_read() {
        for text in ["6.95mbit", "100mbit,delay=5000us,loss=0.1%", "delay=20us", "1gbit"] {
            let shape: Shape = text.parse().unwrap();
            assert_eq!(shape.to_string(), text);
        }
        let shape: Shape = "100mbit,delay=5ms".parse().unwrap();
        assert_eq!((shape.rate_bits_per_s, shape.delay_us), (Some(100_000_000), 5000));
        assert_eq!(Shape::default().to_string(), "unlimited");
    }

    #[test]
    fn what_no_link_has_is_refused() {
        for (text, word) in [
            ("0mbit", "rate"),
            ("0", "rate"),
            ("fast", "rate"),
            ("nanmbit", "rate"),
            ("99gbit", "rate"),
            ("1mbit,delay=5", "delay"),
            ("1mbit,delay=-5ms", "delay"),
            ("1mbit,loss=100%", "loss"),
            ("1mbit,jitter=5ms", "jitter"),
            ("1mbit,2mbit", "2mbit"),
            ("", "rate"),
        ] {
            let error = text.parse::<Shape>().unwrap_err().to_string();
            assert!(error.contains(word), "{text}: {error}");
        }
    }
}
