//! What the value of an option is, by its kind.

use crate::options::{FioOption, Kind};
use crate::quantity::{KbBase, Size, time_us};

/// A value that its option can have.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Whether it is on.
    Switch(bool),
    /// For reads, writes and trims; `None` where nothing is said.
    Numbers([Option<i64>; 3]),
    /// Sizes in bytes, likewise.
    Sizes([Option<u64>; 3]),
    /// From and to, in bytes, likewise.
    Ranges([Option<(u64, u64)>; 3]),
    /// A size in bytes.
    Bytes(u64),
    /// A size or a share.
    Size(Size),
    /// A time in microseconds.
    Microseconds(u64),
    /// Times from and to, in microseconds.
    MicrosecondsRange(u64, u64),
    /// Several numbers.
    Floats(Vec<f64>),
    /// A word, and what follows it after a colon.
    Choice(&'static str, Option<String>),
    /// Text.
    Text(String),
}

/// Numbers that can stand in one value, at most.
const FLOATS_MAX: usize = 20;

impl FioOption {
    /// The value that `text` is; `None` stands for no `=`.
    ///
    /// # Errors
    /// Why it is none, in words that can stand after a colon.
    pub fn value(&self, text: Option<&str>, base: KbBase) -> Result<Value, String> {
        let Some(text) = text else {
            return if self.kind == Kind::Flag {
                Ok(Value::Switch(true))
            } else if self.kind == Kind::OptionalText {
                Ok(Value::Text(String::new()))
            } else {
                Err(format!("it needs a value: {}=...", self.name))
            };
        };
        let text = text.trim();
        if text.is_empty() && self.kind != Kind::OptionalText {
            return Err("it has no value after the `=`".to_owned());
        }
        match self.kind {
            Kind::Flag | Kind::Bool => match text {
                "0" => Ok(Value::Switch(false)),
                "1" => Ok(Value::Switch(true)),
                _ => Err(format!("`{text}` is neither 0 nor 1")),
            },
            Kind::Numbers(least, most) => {
                let one = |text: &str| number(text, least, most, base);
                three(text, is_end_of_number, one).map(Value::Numbers)
            }
            Kind::Sizes => three(text, is_end_of_number, |text| size(text, base)).map(Value::Sizes),
            Kind::Ranges => {
                three(text, |one| one == ',', |text| range(text, base)).map(Value::Ranges)
            }
            Kind::Size => base.bytes(text).map(Value::Bytes),
            Kind::SizeOrShare => base.size(text).map(Value::Size),
            Kind::Seconds => time_us(text, true).map(Value::Microseconds),
            Kind::SecondsRange => times(text),
            Kind::Microseconds => time_us(text, false).map(Value::Microseconds),
            Kind::Floats(least, most) => floats(text, least, most),
            Kind::Choice(words) => choice(text, words),
            Kind::Text | Kind::OptionalText => Ok(Value::Text(text.to_owned())),
        }
    }
}

/// What fio takes for the end of one of several numbers, except in calculations.
fn is_end_of_number(one: char) -> bool {
    matches!(one, ',' | ':')
}

/// Up to three values. The last one also stands for those after it, unless an end follows it: with
/// `4k,8k`, writes and trims have 8k; with `4k,`, only reads have a value.
fn three<T: Copy>(
    text: &str,
    is_end: impl Fn(char) -> bool,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<[Option<T>; 3], String> {
    let pieces: Vec<&str> =
        if text.starts_with('(') { vec![text] } else { text.split(is_end).collect() };
    if pieces.len() > 3 {
        return Err(format!(
            "`{text}` has {} values; reads, writes and trims have one each",
            pieces.len()
        ));
    }
    let mut found = [None; 3];
    for (place, piece) in found.iter_mut().zip(&pieces) {
        if !piece.trim().is_empty() {
            *place = Some(parse(piece.trim())?);
        }
    }
    if let Some(last) = found[pieces.len() - 1] {
        found[pieces.len()..].fill(Some(last));
    }
    if found.iter().all(Option::is_none) {
        return Err(format!("`{text}` has no number"));
    }
    Ok(found)
}

fn number(text: &str, least: i64, most: i64, base: KbBase) -> Result<i64, String> {
    let outside = || format!("`{text}` is outside of {least} to {most}");
    let found = match text.strip_prefix('-') {
        Some(digits) if least < 0 => digits.parse::<i64>().ok().map(|number| -number),
        _ => i64::try_from(base.bytes(text)?).ok(),
    };
    found.filter(|number| (least..=most).contains(number)).ok_or_else(outside)
}

fn size(text: &str, base: KbBase) -> Result<u64, String> {
    match base.bytes(text)? {
        0 => Err(format!("`{text}` is nothing")),
        bytes => Ok(bytes),
    }
}

/// `1k-4k`, or a size alone, which both its ends are.
fn range(text: &str, base: KbBase) -> Result<(u64, u64), String> {
    let (from, to) = text.split_once('-').or_else(|| text.split_once(':')).unwrap_or((text, text));
    let (from, to) = (size(from, base)?, size(to, base)?);
    Ok((from.min(to), from.max(to)))
}

/// `1-3`, or a time alone, which both its ends are.
fn times(text: &str) -> Result<Value, String> {
    let is_end = |one| matches!(one, '-' | ',' | ':');
    let (from, to) = text.split_once(is_end).unwrap_or((text, text));
    let (from, to) = (time_us(from, true)?, time_us(to, true)?);
    if from > to {
        return Err(format!("`{text}` begins after its end"));
    }
    Ok(Value::MicrosecondsRange(from, to))
}

fn floats(text: &str, least: f64, most: f64) -> Result<Value, String> {
    let one = |text: &str| {
        let number = text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        let number = number.ok_or_else(|| format!("`{text}` is not a number"))?;
        if (least..=most).contains(&number) {
            Ok(number)
        } else {
            Err(format!("`{text}` is outside of {least} to {most}"))
        }
    };
    let all: Vec<f64> = text.split(':').map(one).collect::<Result<_, _>>()?;
    if all.len() > FLOATS_MAX {
        return Err(format!("it has {} numbers; {FLOATS_MAX} are the most", all.len()));
    }
    Ok(Value::Floats(all))
}

fn choice(text: &str, words: &'static [&'static str]) -> Result<Value, String> {
    let (word, rest) = match text.split_once(':') {
        Some((word, rest)) => (word, Some(rest.to_owned())),
        None => (text, None),
    };
    match words.iter().find(|one| **one == word) {
        Some(word) => Ok(Value::Choice(word, rest)),
        None => Err(format!("`{word}` is none of {}", words.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::find;

    fn of(name: &str, text: &str) -> Result<Value, String> {
        find(name).expect(name).value(Some(text), KbBase::Binary)
    }

    #[test]
    fn values_are_for_reads_writes_and_trims() {
        let sizes = |text| match of("bs", text) {
            Ok(Value::Sizes(sizes)) => sizes,
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(sizes("4k"), [Some(4096); 3]);
        assert_eq!(sizes("4k,8k"), [Some(4096), Some(8192), Some(8192)]);
        assert_eq!(sizes("4k,8k,16k"), [Some(4096), Some(8192), Some(16384)]);
        assert_eq!(sizes("4k,"), [Some(4096), None, None]);
        assert_eq!(sizes(",8k"), [None, Some(8192), Some(8192)]);
        assert_eq!(sizes(",8k,"), [None, Some(8192), None]);
        assert_eq!(sizes(",,8k"), [None, None, Some(8192)]);
        assert_eq!(sizes("(4k*2)"), [Some(8192); 3]);
        assert!(of("bs", "4k,8k,1k,2k").expect_err("too many").contains("has 4 values"));
        assert!(of("bs", ",").expect_err("nothing").contains("no number"));
    }

    #[test]
    fn each_kind_has_its_values() {
        assert_eq!(of("iodepth", "32"), Ok(Value::Numbers([Some(32); 3])));
        assert_eq!(of("nice", "-5"), Ok(Value::Numbers([Some(-5); 3])));
        assert_eq!(of("size", "50%"), Ok(Value::Size(Size::Percent(50))));
        assert_eq!(of("size", "1g"), Ok(Value::Size(Size::Bytes(1 << 30))));
        assert_eq!(of("runtime", "10"), Ok(Value::Microseconds(10_000_000)));
        assert_eq!(of("thinktime", "10"), Ok(Value::Microseconds(10)));
        let range = |from, to| Ok(Value::MicrosecondsRange(from, to));
        assert_eq!(of("startdelay", "2"), range(2_000_000, 2_000_000));
        assert_eq!(of("startdelay", "500ms-3"), range(500_000, 3_000_000));
        assert_eq!(of("startdelay", "1,2"), range(1_000_000, 2_000_000));
        assert_eq!(of("direct", "1"), Ok(Value::Switch(true)));
        assert_eq!(of("rw", "read:512k"), Ok(Value::Choice("read", Some("512k".to_owned()))));
        assert_eq!(of("percentile_list", "99:99.9"), Ok(Value::Floats(vec![99.0, 99.9])));
        assert_eq!(of("filename", "/a:/b"), Ok(Value::Text("/a:/b".to_owned())));
        let range = Some((1024, 4096));
        assert_eq!(of("bsrange", "4k-1k"), Ok(Value::Ranges([range; 3])));
        assert_eq!(of("bsrange", "1k-4k,8k:8k"), {
            let other = Some((8192, 8192));
            Ok(Value::Ranges([range, other, other]))
        });
        let none = find("time_based").map(|one| one.value(None, KbBase::Binary));
        assert_eq!(none, Some(Ok(Value::Switch(true))));
    }

    #[test]
    fn what_an_option_cannot_be_is_refused() {
        for (name, text, why) in [
            ("direct", "yes", "neither 0 nor 1"),
            ("direct", "", "no value after the `=`"),
            ("rw", "reed", "`reed` is none of read, write"),
            ("nice", "20", "outside of -20 to 19"),
            ("nice", "-21", "outside of -20 to 19"),
            ("rwmixread", "101", "outside of 0 to 100"),
            ("iodepth", "-1", "negative"),
            ("runtime", "-1", "negative"),
            ("startdelay", "3-1", "`3-1` begins after its end"),
            ("startdelay", "3-", "has no number"),
            ("bs", "x", "no number"),
            ("percentile_list", "99:x", "`x` is not a number"),
            ("percentile_list", "99:101", "`101` is outside of 0 to 100"),
            ("bs", "0", "`0` is nothing"),
            ("iodepth", "0", "outside of 1 to"),
            ("percentile_list", "99:inf", "`inf` is not a number"),
            ("bsrange", "4k-", "no number"),
        ] {
            let error = of(name, text).expect_err(text);
            assert!(error.contains(why), "{name}={text}: {error}");
        }
        let long = vec!["1"; 21].join(":");
        assert!(of("percentile_list", &long).expect_err("too many").contains("20 are the most"));
        let error = find("bs").map(|one| one.value(None, KbBase::Binary));
        assert!(error.expect("bs").expect_err("no value").contains("bs=..."));
    }
}
