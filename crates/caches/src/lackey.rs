//! Accesses as printed by valgrind's lackey (`--tool=lackey --trace-mem=yes`).
//!
//! `I  04001000,3` is a fetch of three bytes, ` L 1ffefff8,8` a load, ` S ...` a store, ` M ...` a
//! load followed by a store of the same bytes. Addresses are hexadecimal, sizes decimal. Valgrind's
//! own lines, `==1234== ...`, and empty lines are skipped. There may be any number of blanks.

use std::io::{self, BufRead, Read};

use crate::access::{Access, Purpose};

/// The maximum line length: valgrind's own lines may be long, but not without limit.
const LINE_BYTES_MAX: usize = 4096;

/// Why a text is not a stream of accesses.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LackeyError {
    /// A line is not in lackey's format.
    #[error(
        "line {number}: `{line}` is not an access: give lines such as `I  04001000,3` or ` L \
         1ffefff8,8`, as written by valgrind --tool=lackey --trace-mem=yes --log-file=FILE"
    )]
    Line {
        /// The line number, from 1.
        number: u64,
        /// The beginning of the line.
        line: String,
    },
    /// There are no accesses.
    #[error("it contains no accesses: run lackey with --trace-mem=yes")]
    Empty,
    /// It cannot be read.
    #[error("it cannot be read: {0}")]
    Read(#[from] io::Error),
}

/// Reads accesses up to the end and passes them to `take`, one line at a time: memory use does not
/// depend on the length.
///
/// # Errors
///
/// [`LackeyError`] at the first line that is not an access, after `take` has been called for those
/// before it, and at the end if there were none.
pub fn read(mut text: impl BufRead, mut take: impl FnMut(Access)) -> Result<(), LackeyError> {
    let mut line = Vec::new();
    let (mut number, mut accesses) = (0, 0_u64);
    loop {
        line.clear();
        let most = LINE_BYTES_MAX as u64;
        if text.by_ref().take(most).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        number += 1;
        let is_whole = line.len() < LINE_BYTES_MAX || line.ends_with(b"\n");
        match parse(line.trim_ascii()).filter(|_| is_whole) {
            Some(Line::Passed) => {}
            Some(Line::One(access)) => {
                accesses += 1;
                take(access);
            }
            Some(Line::Modify(load)) => {
                accesses += 1;
                take(load);
                take(Access { purpose: Purpose::Store, ..load });
            }
            None => return Err(refused(number, &line)),
        }
    }
    if accesses == 0 { Err(LackeyError::Empty) } else { Ok(()) }
}

fn refused(number: u64, line: &[u8]) -> LackeyError {
    const SHOWN: usize = 40;
    let line = String::from_utf8_lossy(line);
    let printable = line.trim().chars().map(|c| if c.is_control() { '?' } else { c });
    LackeyError::Line { number, line: printable.take(SHOWN).collect() }
}

/// The content of a line.
enum Line {
    /// Not an access; skipped.
    Passed,
    /// An access.
    One(Access),
    /// A load, and a store of the same bytes.
    Modify(Access),
}

fn parse(line: &[u8]) -> Option<Line> {
    if line.is_empty() || line.starts_with(b"==") {
        return Some(Line::Passed);
    }
    let (&letter, rest) = line.split_first()?;
    let rest = rest.strip_prefix(b" ")?.trim_ascii_start();
    let comma = rest.iter().position(|&byte| byte == b',')?;
    let address = number(&rest[..comma], 16)?;
    let bytes = u32::try_from(number(&rest[comma + 1..], 10)?).ok().filter(|&bytes| bytes > 0)?;
    let access = |purpose| Access { purpose, address, bytes };
    match letter {
        b'I' => Some(Line::One(access(Purpose::Fetch))),
        b'L' => Some(Line::One(access(Purpose::Load))),
        b'S' => Some(Line::One(access(Purpose::Store))),
        b'M' => Some(Line::Modify(access(Purpose::Load))),
        _ => None,
    }
}

/// A number consisting only of digits.
fn number(digits: &[u8], radix: u32) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u64, |number, &byte| {
        let digit = char::from(byte).to_digit(radix)?;
        number.checked_mul(u64::from(radix))?.checked_add(u64::from(digit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Result<Vec<Access>, LackeyError> {
        let mut accesses = Vec::new();
        read(text.as_bytes(), |access| accesses.push(access)).map(|()| accesses)
    }

    #[test]
    fn lines_of_lackey_are_accesses() {
        let text = "==12== Lackey, an example Valgrind tool\n\nI  04001000,3\n L 1ffefff8,8\n \
                    S 1f,16\n M ffffffffffffffff,1\n==12== \n";
        let one = |purpose, address, bytes| Access { purpose, address, bytes };
        let wanted = [
            one(Purpose::Fetch, 0x0400_1000, 3),
            one(Purpose::Load, 0x1ffe_fff8, 8),
            one(Purpose::Store, 0x1f, 16),
            one(Purpose::Load, u64::MAX, 1),
            one(Purpose::Store, u64::MAX, 1),
        ];
        assert_eq!(all(text).expect("a trace"), wanted);
        assert_eq!(all("I 40,3").expect("no newline").len(), 1);
    }

    #[test]
    fn what_is_no_access_is_refused_by_its_line() {
        let long = format!("I  40,{}1", "0".repeat(LINE_BYTES_MAX));
        let wrong = [
            "hello",
            "I",
            "I  ",
            "I  40",
            "I  40,",
            "I  ,3",
            "I  40,0",
            "I  40,-1",
            "I  4g,1",
            "I40,3",
            "X  40,3",
            "I  10000000000000000,1",
            "I  40,4294967296",
            "\0",
            "I  40,3 4",
            &long,
        ];
        for wrong in wrong {
            let refusal = all(&format!("I  40,3\n{wrong}\n")).expect_err(wrong).to_string();
            assert!(refusal.starts_with("line 2: `"), "{wrong}: {refusal}");
            assert!(!refusal.contains('\0'), "{refusal}");
        }
        for empty in ["", "\n\n", "==1== nothing\n"] {
            assert!(matches!(all(empty), Err(LackeyError::Empty)), "{empty}");
        }
    }
}
