//! The journal as text: one line per event, each with its number and a checksum, so that lines that
//! were changed, lost or duplicated are noticed and do not silently change a figure.

use std::collections::HashSet;

use serde::Serialize;

use crate::bounded;
use crate::journal::Line;
use crate::manifest::Manifest;
use crate::plain::make_plain;
use crate::plausible;

/// The text before a line's checksum, which covers everything before this.
const CHECKSUM: &[u8] = b",\"crc32\":";
/// The text before a line's number.
const NUMBER: &[u8] = b",\"line\":";

/// Line numbers above this are invalid.
const LINES_MAX: usize = 1_000_000_000;
/// Numbers of damaged places and of lines after which reading stops; the longest run has a fiftieth
/// of these lines. Each takes memory, and a text can contain one in every two bytes.
const DAMAGE_MAX: usize = 1000;
pub(crate) const LINES_READ_MAX: usize = 1 << 19;

/// A damaged place in a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub why: String,
}

/// The content of a journal.
#[derive(Debug, Default)]
pub(crate) struct Parsed {
    /// The valid lines, in order.
    pub(crate) lines: Vec<Line>,
    /// The places that are damaged.
    pub(crate) damage: Vec<Damage>,
    /// Length of the complete lines; what follows was being written when the process died.
    pub(crate) whole_bytes: u64,
    /// The number of the last line.
    pub(crate) last: usize,
}

impl Parsed {
    /// Why reading stops here, if there is too much.
    fn too_much(&self) -> Option<String> {
        if self.damage.len() >= DAMAGE_MAX {
            return Some(format!("{DAMAGE_MAX} lines before are damaged"));
        }
        (self.lines.len() >= LINES_READ_MAX)
            .then(|| format!("a run has at most {LINES_READ_MAX} lines"))
    }
}

/// The text of a line.
pub(crate) fn text_of(line: &impl Serialize, number: usize) -> Vec<u8> {
    let mut text = serde_json::to_vec(line).expect("a line has text keys only");
    assert_eq!(text.pop(), Some(b'}'), "a line is an object");
    text.extend_from_slice(NUMBER);
    text.extend_from_slice(number.to_string().as_bytes());
    let checksum = crc32fast::hash(&text);
    text.extend_from_slice(CHECKSUM);
    text.extend_from_slice(checksum.to_string().as_bytes());
    text.extend_from_slice(b"}\n");
    text
}

/// Parses complete lines. Once a line has a checksum, all lines after it must have one, since lines
/// from before checksums were introduced come first.
pub(crate) fn parse(text: &[u8], manifest: &Manifest) -> Parsed {
    let whole_bytes = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    let mut reader = Reader {
        parsed: Parsed { whole_bytes: whole_bytes as u64, ..Parsed::default() },
        metrics: manifest.cells.iter().map(|cell| cell.metrics.len()).collect(),
        replicates: HashSet::new(),
        added: 0,
        has_checksums: false,
        place: 0,
        unread: 0,
    };
    for line in text[..whole_bytes].split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        if let Some(why) = reader.parsed.too_much() {
            reader.place += 1;
            reader.damaged(format!("nothing is read from here on: {why}"));
            break;
        }
        reader.take(line);
    }
    reader.parsed
}

struct Reader {
    parsed: Parsed,
    /// Number of metrics of each cell, including cells that searches added.
    metrics: Vec<usize>,
    /// Blocks and cells of the replicates so far.
    replicates: HashSet<(u32, u32)>,
    /// Number of elements in the cells that searches added.
    added: usize,
    has_checksums: bool,
    /// The current line, from 1.
    place: usize,
    /// Lines since the last known number whose own number is unknown.
    unread: usize,
}

impl Reader {
    fn take(&mut self, text: &[u8]) {
        self.place += 1;
        let number = match number_of(text) {
            Some(Ok(number)) => {
                self.has_checksums = true;
                number
            }
            None if !self.has_checksums => self.parsed.last + self.unread + 1,
            unknown => {
                self.unread += 1;
                let why = unknown.map_or("it has no checksum", |why| why.err().unwrap_or_default());
                return self.damaged(why.to_owned());
            }
        };
        if number <= self.parsed.last {
            return self.damaged("it is a duplicate or out of order".to_owned());
        }
        let gap = number - self.parsed.last - 1;
        if gap > self.unread {
            self.damaged(missing(gap - self.unread));
        }
        (self.parsed.last, self.unread) = (number, 0);
        match self.believed(text) {
            Ok(line) => self.parsed.lines.push(line),
            Err(why) => self.damaged(why),
        }
    }

    /// Parses a line and checks that it is plausible.
    fn believed(&mut self, text: &[u8]) -> Result<Line, String> {
        let elements = bounded::elements(text, bounded::OF_LINE)?;
        let line: Line = line_of(text).map_err(|error| error.to_string())?;
        plausible::line(&line, text, &self.metrics)?;
        if let Line::CellAdded(added) = &line {
            self.added += elements;
            if self.added > bounded::OF_CELLS_ADDED {
                return Err("the cells added so far are too many".to_owned());
            }
            self.metrics.push(added.definition.metrics.len());
        }
        if let Line::Replicate(replicate) = &line
            && !self.replicates.insert((replicate.block, replicate.cell))
        {
            return Err("its cell already has a replicate in this block".to_owned());
        }
        Ok(line)
    }

    fn damaged(&mut self, why: String) {
        self.parsed.damage.push(Damage { line: self.place, why });
    }
}

fn missing(lines: usize) -> String {
    match lines {
        1 => "1 line is missing before it".to_owned(),
        _ => format!("{lines} lines are missing before it"),
    }
}

/// Few lines contain characters that could be control sequences for a terminal. In those, they are
/// neutralised.
fn line_of(text: &[u8]) -> serde_json::Result<Line> {
    if text.is_ascii() && !text.contains(&b'\\') {
        return serde_json::from_slice(text);
    }
    let mut value = serde_json::from_slice(text)?;
    make_plain(&mut value);
    serde_json::from_value(value)
}

/// A line's number, if it has one and a checksum; an error if the checksum does not match.
fn number_of(text: &[u8]) -> Option<Result<usize, &'static str>> {
    let behind = |text: &[u8], mark: &[u8]| {
        let at = text.windows(mark.len()).rposition(|window| window == mark)?;
        Some((at, at + mark.len()))
    };
    let (end, digits) = behind(text, CHECKSUM)?;
    let found = decimal(text[digits..].strip_suffix(b"}")?)?;
    if u64::from(crc32fast::hash(&text[..end])) != found {
        return Some(Err("its checksum does not match"));
    }
    let (_, digits) = behind(&text[..end], NUMBER)?;
    let number = decimal(&text[digits..end])?.try_into().ok().filter(|&it| it <= LINES_MAX);
    Some(number.ok_or("its number is too large for any journal"))
}

fn decimal(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::directory::tests::{manifest, start};

    fn journal(moments: &[f64]) -> Vec<Vec<u8>> {
        moments.iter().zip(1..).map(|(&at, number)| text_of(&start(at), number)).collect()
    }

    fn journal_of(lines: &[Vec<u8>]) -> Parsed {
        parse(&lines.concat(), &manifest())
    }

    fn damage(lines: &[Vec<u8>]) -> Vec<(usize, String)> {
        journal_of(lines).damage.into_iter().map(|damage| (damage.line, damage.why)).collect()
    }

    #[test]
    fn whole_journals_are_read_back() {
        let parsed = journal_of(&journal(&[0.0, 1.5, 2.5]));
        assert_eq!(parsed.lines, [start(0.0), start(1.5), start(2.5)]);
        assert!(parsed.damage.is_empty() && parsed.last == 3);
    }

    #[test]
    fn a_changed_digit_costs_its_line_and_no_other() {
        let mut lines = journal(&[0.0, 1.5, 2.5]);
        let at = lines[1].iter().position(|&byte| byte == b'5').expect("it is 1.5");
        lines[1][at] = b'6';
        assert_eq!(damage(&lines), [(2, "its checksum does not match".to_owned())]);
        assert_eq!(journal_of(&lines).lines, [start(0.0), start(2.5)]);
    }

    #[test]
    fn lost_doubled_and_swapped_lines_are_told() {
        let whole = journal(&[0.0, 1.0, 2.0, 3.0, 4.0]);
        let lost = [whole[0].clone(), whole[4].clone()];
        assert_eq!(damage(&lost), [(2, "3 lines are missing before it".to_owned())]);
        let doubled = [whole[0].clone(), whole[1].clone(), whole[1].clone(), whole[2].clone()];
        assert_eq!(damage(&doubled), [(3, "it is a duplicate or out of order".to_owned())]);
        assert_eq!(journal_of(&doubled).lines.len(), 3);
        let swapped = [whole[1].clone(), whole[0].clone(), whole[2].clone()];
        assert_eq!(damage(&swapped).len(), 2);
        // A foreign line between them does not invalidate any of them.
        let foreign = [whole[0].clone(), b"nonsense\n".to_vec(), whole[1].clone()];
        assert_eq!(damage(&foreign), [(2, "it has no checksum".to_owned())]);
        assert_eq!(journal_of(&foreign).lines.len(), 2);
    }

    #[test]
    fn a_journal_of_nothing_but_damage_is_not_read_to_its_end() {
        let text = b"x\n".repeat(DAMAGE_MAX + 5);
        let damage = parse(&text, &manifest()).damage;
        let last = damage.last().expect("all of it is damaged");
        assert_eq!((damage.len(), last.line), (DAMAGE_MAX + 1, DAMAGE_MAX + 1));
        assert!(last.why.starts_with("nothing is read from here on: 1000 lines"), "{last:?}");
        let parsed = Parsed { lines: vec![start(0.0); LINES_READ_MAX], ..Parsed::default() };
        assert!(parsed.too_much().is_some_and(|why| why.contains("at most 524288 lines")));
    }

    #[test]
    fn a_number_that_no_line_has_is_not_reckoned_with() {
        let line = text_of(&start(0.0), usize::MAX);
        assert_eq!(journal_of(&[line, text_of(&start(1.0), 1)]).lines, [start(1.0)]);
    }

    #[test]
    fn lines_of_before_there_were_checksums_stand_before_all_others() {
        let old = b"{\"kind\":\"start\",\"used_s\":0.5}\n".to_vec();
        let new = text_of(&start(1.0), 2);
        assert_eq!(journal_of(&[old.clone(), new.clone()]).lines, [start(0.5), start(1.0)]);
        let first = text_of(&start(1.0), 1);
        assert_eq!(damage(&[first, old]), [(2, "it has no checksum".to_owned())]);
    }
}
