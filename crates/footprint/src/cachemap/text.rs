//! A cachemap in 80 columns: a row per line, and a character for every two bytes.

use std::fmt::Write as _;

use super::{Cachemap, MappedLine};

/// Bytes per character, which shows the one touched most often.
const BYTES_PER_CHARACTER: usize = 2;
/// Characters for 0, 1, 2 to 9, 10 to 99, 100 to 999 and more.
const RAMP: [char; 6] = ['.', '-', '+', '*', '#', '@'];
/// Columns before the name: the address, the bytes, and spaces after each.
const BEFORE_NAME: usize = 16 + 1 + 32 + 1;

/// Which lines are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineFilter {
    /// All, in address order.
    All,
    /// At most this many, with the fewest bytes used first.
    Wasteful(usize),
}

/// The map as text, preceded by a legend, with lines cut off at `width` columns.
#[must_use]
pub fn text(map: &Cachemap, rows: LineFilter, width: usize) -> String {
    let lines: Vec<&MappedLine> = match rows {
        LineFilter::All => map.lines.iter().collect(),
        LineFilter::Wasteful(most) => map.by_waste().into_iter().take(most).collect(),
    };
    let mut text =
        String::from("One row per 64-byte line, two bytes per character; times touched:\n");
    text.push_str(". never  - once  + 2-9 times  * 10-99  # 100-999  @ 1000 and more\n\n");
    for line in &lines {
        let room = width.saturating_sub(BEFORE_NAME).max(1);
        let cells: String = line.counts.chunks(BYTES_PER_CHARACTER).map(character).collect();
        let name: String = line.name.chars().take(room).collect();
        let row = format!("{:016x} {cells} {name}", line.address);
        let _ = writeln!(text, "{}", row.trim_end());
    }
    let left = map.lines.len() - lines.len();
    if left > 0 {
        let _ = writeln!(text, "\nand {left} more lines, of which more bytes are used");
    }
    text
}

fn character(counts: &[u64]) -> char {
    let most = counts.iter().copied().max().unwrap_or(0);
    let decade = match most {
        0 => 0,
        1 => 1,
        2..10 => 2,
        10..100 => 3,
        100..1000 => 4,
        _ => 5,
    };
    RAMP[decade]
}

#[cfg(test)]
mod tests {
    use super::super::CachemapOf;
    use super::*;

    #[test]
    fn rows_fit_and_the_most_wasteful_come_first() {
        let line = |address, count, bytes: usize, name: &str| {
            let mut counts = Box::new([0; 64]);
            counts[..bytes].fill(count);
            MappedLine { address, counts, name: name.to_owned(), touches: Vec::new() }
        };
        let lines = vec![
            line(0xffff_8000_0000_0000, 1000, 64, "full"),
            line(0xffff_8000_0000_0040, 7, 3, &"long".repeat(20)),
            line(0xffff_8000_0000_0080, 1, 4, "some"),
        ];
        let map = Cachemap { of: CachemapOf::Data, lines };
        let shown = text(&map, LineFilter::Wasteful(2), 80);
        let rows: Vec<&str> = shown.lines().skip(3).collect();
        assert!(rows[0].starts_with("ffff800000000040 ++.............................. long"));
        assert_eq!(rows[0].len(), 80);
        assert!(rows[1].starts_with("ffff800000000080 --...") && rows[1].ends_with(" some"));
        assert_eq!(rows[3], "and 1 more lines, of which more bytes are used");
        let all = text(&map, LineFilter::All, 80);
        assert!(all.lines().nth(3).unwrap().contains(&"@".repeat(32)), "{all}");
        assert!(!all.contains("more lines"));
    }
}
