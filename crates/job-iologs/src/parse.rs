//! A line of a log, read.
//!
//! Words stand between blanks. fio tells an operation from an action on a file by how many words
//! it can read, and ignores words behind those, and lines that are neither. What it would read
//! wrongly is an error here: `4096k` is 4096 to it, `-1` is the largest number, and a length of
//! 2^32 is 0.

use crate::entry::{Entry, EntryAction, IoKind, IologVersion};

/// A line of a log after the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line<'line> {
    /// What it says.
    Entry(Entry<'line>),
    /// It says nothing that can be replayed.
    Unusable(Unusable),
}

/// A line that fio reports and ignores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unusable {
    /// Its time, if it begins with one.
    pub time_us: Option<u64>,
    /// What is wrong.
    pub reason: UnusableReason,
}

/// What is wrong with a line that is ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnusableReason {
    /// Another first line: what several jobs append to one log begins again.
    SecondLog,
    /// Too few words, or words where numbers belong.
    Malformed,
    /// An action that doesn't exist, or not with so many words.
    UnknownAction(String),
    /// A `wait` in version 3.
    WaitWithTime,
}

/// Why a word is not a number that fits.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NumberError {
    /// Not digits alone.
    Unclear(String),
    /// Too large.
    Large {
        /// What is there.
        text: String,
        /// The largest number possible there.
        largest: u64,
    },
}

/// Reads a line without its end.
pub(crate) fn parse(version: IologVersion, line: &[u8]) -> Result<Line<'_>, NumberError> {
    if line.starts_with(version.header().as_bytes()) {
        return Ok(unusable(None, UnusableReason::SecondLog));
    }
    let mut words = Words { rest: line };
    let malformed = |time_us| Ok(unusable(time_us, UnusableReason::Malformed));
    let time_us = match version {
        IologVersion::Two => None,
        IologVersion::Three => match words.number(u64::MAX)? {
            Some(time_us) => Some(time_us),
            None => return malformed(None),
        },
    };
    let (Some(name), Some(action)) = (words.next(), words.next()) else {
        return malformed(time_us);
    };
    if version == IologVersion::Three && action == b"wait" {
        return Ok(unusable(time_us, UnusableReason::WaitWithTime));
    }
    let known = match words.number(u64::MAX)? {
        None => file_action(action),
        Some(offset) => match words.number(u64::from(u32::MAX))? {
            None => return malformed(time_us),
            Some(length) => io_action(action, offset, length),
        },
    };
    Ok(match known {
        Some(action) => Line::Entry(Entry { time_us, name, action }),
        None => unusable(time_us, UnusableReason::UnknownAction(text(action))),
    })
}

fn unusable(time_us: Option<u64>, reason: UnusableReason) -> Line<'static> {
    Line::Unusable(Unusable { time_us, reason })
}

fn file_action(name: &[u8]) -> Option<EntryAction> {
    match name {
        b"add" => Some(EntryAction::Add),
        b"open" => Some(EntryAction::Open),
        b"close" => Some(EntryAction::Close),
        _ => None,
    }
}

fn io_action(name: &[u8], offset: u64, length: u64) -> Option<EntryAction> {
    let kind = match name {
        b"read" => IoKind::Read,
        b"write" => IoKind::Write,
        b"trim" => IoKind::Trim,
        b"sync" => IoKind::Sync,
        b"datasync" => IoKind::Datasync,
        b"sync_file_range" => IoKind::SyncFileRange,
        b"wait" => return Some(EntryAction::Wait { until_ms: offset }),
        _ => return None,
    };
    let length = u32::try_from(length).expect("words.number() has checked it");
    Some(EntryAction::Io { kind, offset, length })
}

/// A word as messages show it.
pub(crate) fn text(word: &[u8]) -> String {
    const SHOWN: usize = 80;
    let mut text = String::from_utf8_lossy(&word[..word.len().min(SHOWN)]).into_owned();
    text.retain(|character| !character.is_control());
    if word.len() > SHOWN {
        text.push_str("...");
    }
    text
}

/// A number with zeros before it or too large.
fn parse_long(digits: &[u8]) -> Option<u64> {
    digits
        .iter()
        .try_fold(0_u64, |value, digit| value.checked_mul(10)?.checked_add(u64::from(digit - b'0')))
}

/// The words of a line that have not been read.
struct Words<'line> {
    rest: &'line [u8],
}

impl<'line> Words<'line> {
    fn next(&mut self) -> Option<&'line [u8]> {
        self.skip_blanks();
        let end = self.rest.iter().position(|&byte| is_blank(byte)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        (!word.is_empty()).then_some(word)
    }

    /// The next word if it is a number, else none, and the word is still there.
    fn number(&mut self, largest: u64) -> Result<Option<u64>, NumberError> {
        self.skip_blanks();
        // Up to 19 digits cannot overflow.
        let mut value = 0_u64;
        let mut digits = 0;
        while let Some(&byte) = self.rest.get(digits)
            && byte.is_ascii_digit()
        {
            value = value.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'));
            digits += 1;
        }
        let ends = self.rest.get(digits).is_none_or(|&byte| is_blank(byte));
        if digits == 0 || !ends {
            return self.no_number(digits);
        }
        let (word, rest) = self.rest.split_at(digits);
        let exact = if digits < 20 { Some(value) } else { parse_long(word) };
        match exact.filter(|&value| value <= largest) {
            Some(value) => {
                self.rest = rest;
                Ok(Some(value))
            }
            None => Err(NumberError::Large { text: text(word), largest }),
        }
    }

    /// Tells words that begin like numbers from others.
    fn no_number(&mut self, digits: usize) -> Result<Option<u64>, NumberError> {
        let is_signed = matches!(self.rest, [b'+' | b'-', digit, ..] if digit.is_ascii_digit());
        if digits == 0 && !is_signed {
            return Ok(None);
        }
        Err(NumberError::Unclear(text(self.next().unwrap_or_default())))
    }

    fn skip_blanks(&mut self) {
        while let [first, rest @ ..] = self.rest
            && is_blank(*first)
        {
            self.rest = rest;
        }
    }
}

/// What isspace(3) says in the C locale.
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

#[cfg(test)]
mod tests {
    use super::{Line, NumberError, UnusableReason, parse};
    use crate::entry::{Entry, EntryAction, IoKind, IologVersion};

    fn entry(version: IologVersion, line: &str) -> Entry<'_> {
        match parse(version, line.as_bytes()) {
            Ok(Line::Entry(entry)) => entry,
            other => panic!("{line}: {other:?}"),
        }
    }

    fn reason(version: IologVersion, line: &str) -> UnusableReason {
        match parse(version, line.as_bytes()) {
            Ok(Line::Unusable(unusable)) => unusable.reason,
            other => panic!("{line}: {other:?}"),
        }
    }

    const KINDS: [IoKind; 6] = [
        IoKind::Read,
        IoKind::Write,
        IoKind::Trim,
        IoKind::Sync,
        IoKind::Datasync,
        IoKind::SyncFileRange,
    ];

    fn io(kind: IoKind, offset: u64, length: u32) -> EntryAction {
        EntryAction::Io { kind, offset, length }
    }

    #[test]
    fn lines_of_version_3() {
        let of = |line| {
            let Entry { time_us, name, action } = entry(IologVersion::Three, line);
            (time_us, name, action)
        };
        let name: &[u8] = b"/f";
        assert_eq!(of("0 /f add"), (Some(0), name, EntryAction::Add));
        assert_eq!(of("12 /f open"), (Some(12), name, EntryAction::Open));
        assert_eq!(of("12 /f close later"), (Some(12), name, EntryAction::Close));
        for kind in KINDS {
            let line = format!("7 /f {} 8192 4096", kind.name());
            let Entry { time_us, name, action } = entry(IologVersion::Three, &line);
            assert_eq!((time_us, name, action), (Some(7), name, io(kind, 8_192, 4_096)));
        }
        assert_eq!(of("\t7\t/f  read\x0b0\x0c1\r"), (Some(7), name, io(IoKind::Read, 0, 1)));
        assert_eq!(of("7 /f read 0 1 words behind"), (Some(7), name, io(IoKind::Read, 0, 1)));
        let largest = format!("{0} /f read {0} {1}", u64::MAX, u32::MAX);
        assert_eq!(
            entry(IologVersion::Three, &largest).action,
            io(IoKind::Read, u64::MAX, u32::MAX)
        );
    }

    #[test]
    fn lines_of_version_2() {
        let of = |line| {
            let Entry { time_us, name, action } = entry(IologVersion::Two, line);
            assert_eq!((time_us, name), (None, b"/f".as_slice()));
            action
        };
        assert_eq!(of("/f add"), EntryAction::Add);
        assert_eq!(of("/f trim 512 1024"), io(IoKind::Trim, 512, 1_024));
        assert_eq!(of("/f wait 300 0"), EntryAction::Wait { until_ms: 300 });
    }

    #[test]
    fn lines_that_fio_ignores() {
        use UnusableReason::{Malformed, SecondLog, WaitWithTime};
        let unknown = |action: &str| UnusableReason::UnknownAction(action.to_owned());
        let three = |line| reason(IologVersion::Three, line);
        for line in ["", "# comment", "fio version 2 iolog", "7", "7 /f", "7 /f write 0"] {
            assert_eq!(three(line), Malformed, "{line}");
        }
        assert_eq!(three("fio version 3 iolog"), SecondLog);
        assert_eq!(three("7 /f close 5"), Malformed);
        assert_eq!(three("7 /f open 0 4096"), unknown("open"));
        assert_eq!(three("7 /f write"), unknown("write"));
        assert_eq!(three("7 a name with blanks read 0 4096"), unknown("name"));
        assert_eq!(three("7 /f wait 3 4"), WaitWithTime);
        assert_eq!(three("7 /f wait"), WaitWithTime);
        let two = |line| reason(IologVersion::Two, line);
        assert_eq!(two("/f wait 300"), Malformed);
        assert_eq!(two("/f wait"), unknown("wait"));
        assert_eq!(two("7 /f read 0 4096"), unknown("/f"));
    }

    #[test]
    fn numbers_that_fio_would_read_wrongly() {
        let of = |line: &str| parse(IologVersion::Three, line.as_bytes()).expect_err("an error");
        let unclear = |text: &str| NumberError::Unclear(text.to_owned());
        assert_eq!(of("7 /f write 0 4096k"), unclear("4096k"));
        assert_eq!(of("7 /f write -8192 4096"), unclear("-8192"));
        assert_eq!(of("+7 /f write 0 4096"), unclear("+7"));
        assert_eq!(of("7/f write 0 4096"), unclear("7/f"));
        let large = |text: &str, largest| NumberError::Large { text: text.to_owned(), largest };
        let zeros = format!("{}7 /f add", "0".repeat(30));
        assert_eq!(entry(IologVersion::Three, &zeros).time_us, Some(7));
        let beyond = "18446744073709551616";
        assert_eq!(of(&format!("{beyond} /f add")), large(beyond, u64::MAX));
        assert_eq!(of("7 /f write 0 4294967296"), large("4294967296", 4_294_967_295));
    }
}
