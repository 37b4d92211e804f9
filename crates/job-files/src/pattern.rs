//! Patterns that buffers are filled with: `0xdeadbeef`, `-1024`, `"abcd"`, `'file'`, `%o`, and any
//! of them one after another.
//!
//! Source: fio's manual, `buffer_pattern` and `verify_pattern`.

use std::fs;

/// The most bytes that a pattern can have.
pub const PATTERN_BYTES_MAX: usize = 512;
/// Bytes that `%o` stands for.
pub const OFFSET_BYTES: usize = 8;

/// Bytes, some of which stand for the offset of a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pattern {
    /// The bytes, with zeros where an offset comes.
    pub bytes: Vec<u8>,
    /// Where offsets come, of eight bytes each.
    pub offsets: Vec<usize>,
}

/// Reads a pattern.
///
/// # Errors
/// Why it is none.
pub fn parse(text: &str) -> Result<Pattern, String> {
    let mut pattern = Pattern::default();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        rest = match first {
            '"' => quoted(rest, '"').map(|(word, rest)| {
                pattern.bytes.extend_from_slice(word.as_bytes());
                rest
            })?,
            '\'' => {
                let (path, rest) = quoted(rest, '\'')?;
                let content = fs::read(path).map_err(|why| format!("`{path}`: {why}"))?;
                let room = PATTERN_BYTES_MAX.saturating_sub(pattern.bytes.len());
                pattern.bytes.extend(content.into_iter().take(room));
                rest
            }
            '%' => {
                let rest = rest.strip_prefix("%o");
                let rest = rest.ok_or("only %o, the offset of a block, may follow a `%`")?;
                pattern.offsets.push(pattern.bytes.len());
                pattern.bytes.extend([0; OFFSET_BYTES]);
                rest
            }
            _ => number(rest, &mut pattern.bytes)?,
        };
        if pattern.bytes.len() > PATTERN_BYTES_MAX {
            return Err(format!("it has more than {PATTERN_BYTES_MAX} bytes"));
        }
    }
    if pattern.bytes.is_empty() { Err("it has no bytes".to_owned()) } else { Ok(pattern) }
}

fn quoted(text: &str, mark: char) -> Result<(&str, &str), String> {
    text[1..].split_once(mark).ok_or_else(|| format!("a {mark} is missing at the end"))
}

/// A hexadecimal number of any length, or a decimal one, lowest byte first and without zeros before
/// it.
fn number<'a>(text: &'a str, into: &mut Vec<u8>) -> Result<&'a str, String> {
    if let Some(digits) = hexadecimal(text) {
        let (own, rest) = digits;
        let digit = |letter: u8| {
            let digit = char::from(letter).to_digit(16);
            digit.and_then(|digit| u8::try_from(digit).ok()).unwrap_or(0)
        };
        let own = own.as_bytes();
        let (first, pairs) = own.split_at(own.len() % 2);
        into.extend(first.iter().map(|one| digit(*one)));
        into.extend(pairs.chunks_exact(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])));
        return Ok(rest);
    }
    let is_sign = |letter: char| letter == '-' || letter == '+';
    let start = usize::from(text.starts_with(is_sign));
    let digits = text[start..].find(|letter: char| !letter.is_ascii_digit());
    let mut end = digits.map_or(text.len(), |digits| start + digits);
    // In `12` followed by `0xff`, the 0 belongs to what follows.
    if text[..end].ends_with('0') && hexadecimal(&text[end - 1..]).is_some() {
        end -= 1;
    }
    let number = text[..end].parse::<i32>();
    let number = number.map_err(|_| format!("`{text}` is not a number, text or %o"))?;
    let low = number.to_le_bytes();
    let used = low.iter().rposition(|byte| *byte != 0).map_or(1, |last| last + 1);
    into.extend_from_slice(&low[..used]);
    Ok(&text[end..])
}

/// The digits of a number that begins with `0x`, and what follows: `0xff0x14` are two numbers.
fn hexadecimal(text: &str) -> Option<(&str, &str)> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))?;
    let end = digits.find(|letter: char| !letter.is_ascii_hexdigit()).unwrap_or(digits.len());
    let goes_on = digits[end..].starts_with(['x', 'X']) && digits[..end].ends_with('0');
    let end = if goes_on { end - 1 } else { end };
    (end > 0).then(|| digits.split_at(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_what_the_manual_says() {
        let bytes = |text| parse(text).expect(text).bytes;
        assert_eq!(bytes("\"abcd\""), b"abcd");
        assert_eq!(bytes("-1024"), [0, 0xfc, 0xff, 0xff]);
        assert_eq!(bytes("66"), [0x42]);
        assert_eq!(bytes("0"), [0]);
        assert_eq!(bytes("0xFF0X1"), [0xff, 1]);
        assert_eq!(bytes("\"123\"0xFFeeCC"), [0x31, 0x32, 0x33, 0xff, 0xee, 0xcc]);
        assert_eq!(bytes("0xabc"), [0xa, 0xbc]);
        assert_eq!(bytes("120xff"), [12, 0xff]);
        let mixed = parse("-100xab\"1\"%o\"2\"").expect("a pattern");
        assert_eq!(mixed.bytes[..6], [0xf6, 0xff, 0xff, 0xff, 0xab, 0x31]);
        assert_eq!((mixed.bytes.len(), mixed.offsets), (15, vec![6]));
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        for (text, why) in [
            ("", "no bytes"),
            ("\"abc", "is missing at the end"),
            ("%p", "only %o"),
            ("abc", "is not a number"),
            ("0x", "is not a number"),
            ("99999999999", "is not a number"),
            ("'/no/such/file'", "/no/such/file"),
        ] {
            let error = parse(text).expect_err(text);
            assert!(error.contains(why), "{text}: {error}");
        }
        let long = format!("\"{}\"", "x".repeat(513));
        assert!(parse(&long).expect_err("too long").contains("more than 512"));
    }
}
