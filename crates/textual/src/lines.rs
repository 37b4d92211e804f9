//! Text in lines that never exceed a width, counted in characters.

use crate::plain::plain_text;

/// A space at which lines are not broken.
pub const UNBREAKABLE: char = '\u{a0}';

/// Units that are kept together with the preceding number.
const UNITS: [&str; 5] = [" KiB", " MiB", " GiB", " TiB", " %"];

/// Indents of a paragraph, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Indent {
    /// Indent of the first line.
    pub first: usize,
    /// Indent of the other lines.
    pub rest: usize,
}

/// The text with its spaces made unbreakable.
#[must_use]
pub fn unbroken(text: &str) -> String {
    text.replace(' ', &UNBREAKABLE.to_string())
}

/// Breaks `text` at spaces into lines of at most `width` characters; a word that is longer than a
/// line is split at the end of the line.
#[must_use]
pub fn wrap(text: &str, indent: Indent, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = " ".repeat(indent.first);
    let mut used = indent.first;
    let mut is_empty = true;
    let text = UNITS
        .iter()
        .fold(plain_text(text).into_owned(), |text, unit| text.replace(unit, &unbroken(unit)));
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let mut word: Vec<char> =
            word.chars().map(|c| if c == UNBREAKABLE { ' ' } else { c }).collect();
        loop {
            let space = usize::from(!is_empty);
            if used + space + word.len() <= width {
                line.extend(std::iter::repeat_n(' ', space).chain(word.iter().copied()));
                used += space + word.len();
                is_empty = false;
                break;
            }
            if is_empty {
                let rest = word.split_off((width - used).max(1));
                line.extend(word);
                word = rest;
            }
            lines.push(std::mem::replace(&mut line, " ".repeat(indent.rest)));
            (used, is_empty) = (indent.rest, true);
        }
    }
    if !is_empty || lines.is_empty() {
        lines.push(line);
    }
    lines
}

/// Wraps a sentence into lines of at most `width` columns, each followed by a newline: the first
/// begins with `first`, all others with `rest`.
#[must_use]
pub fn paragraph(first: &str, rest: &str, text: &str, width: usize) -> String {
    let (before_first, before_rest) = (first.chars().count(), rest.chars().count());
    let room = width.max(before_first.max(before_rest) + 1);
    let lines = wrap(text, Indent { first: before_first, rest: before_rest }, room);
    let mut all = String::new();
    for (place, line) in lines.iter().enumerate() {
        let (before, columns) =
            if place == 0 { (first, before_first) } else { (rest, before_rest) };
        let words: String = line.chars().skip(columns).collect();
        all.push_str(format!("{before}{words}").trim_end());
        all.push('\n');
    }
    all
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_stay_whole_and_continuations_hang() {
        let indent = Indent { first: 2, rest: 4 };
        let lines = wrap("one two three four", indent, 12);
        assert_eq!(lines, ["  one two", "    three", "    four"]);
    }

    #[test]
    fn a_figure_stays_with_its_unit() {
        let lines = wrap("about 6.1\u{a0}us", Indent { first: 0, rest: 0 }, 10);
        assert_eq!(lines, ["about", "6.1 us"]);
        assert_eq!(wrap("read of 4 KiB", Indent { first: 0, rest: 0 }, 10), ["read of", "4 KiB"]);
    }

    #[test]
    fn a_word_longer_than_a_line_is_broken() {
        let lines = wrap("a /very/long/path", Indent { first: 0, rest: 2 }, 8);
        assert_eq!(lines, ["a", "  /very/", "  long/p", "  ath"]);
    }

    #[test]
    fn lines_begin_as_they_are_told() {
        assert_eq!(paragraph("- ", "  ", "one two three", 9), "- one two\n  three\n");
        assert_eq!(paragraph("- ", "  ", "", 9), "-\n");
    }

    proptest! {
        #[test]
        fn no_line_is_too_wide_and_no_word_is_lost(
            text in "([a-z\u{a0}]{1,60} ?){0,30}",
            first in 0_usize..10,
            rest in 0_usize..10,
            width in 20_usize..100,
        ) {
            let lines = wrap(&text, Indent { first, rest }, width);
            prop_assert!(lines.iter().all(|line| line.chars().count() <= width));
            let is_letter = char::is_ascii_lowercase;
            let letters = |text: &str| text.chars().filter(is_letter).collect::<String>();
            prop_assert_eq!(letters(&lines.concat()), letters(&text));
        }
    }
}
