//! Text in lines that never exceed a width, counted in characters.

use super::Options;
use super::units::{UNBREAKABLE, unbroken};

/// The widest report, whatever the terminal.
pub(crate) const WIDTH_MOST: usize = 120;
/// The narrowest: below, tables cannot be told from noise.
pub(crate) const WIDTH_LEAST: usize = 40;

/// What is not parted from the number before it.
const UNITS: [&str; 5] = [" KiB", " MiB", " GiB", " TiB", " %"];

/// How a line is set off, where there is colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// Not at all.
    Plain,
    /// A heading.
    Heading,
    /// Behind the rest, such as the head of a table.
    Dim,
    /// Something doubtful.
    Doubt,
    /// Something that failed.
    Failure,
}

/// Indents of a paragraph, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Indent {
    /// Of the first line.
    pub(crate) first: usize,
    /// Of the others.
    pub(crate) rest: usize,
}

impl Indent {
    /// A sentence within a section; its continuation hangs.
    pub(crate) const SENTENCE: Self = Self { first: 2, rest: 6 };
}

/// Text under construction.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    text: String,
    width: usize,
    colour: bool,
}

impl Page {
    /// An empty page.
    pub(crate) fn new(options: &Options) -> Self {
        let width = options.width.clamp(WIDTH_LEAST, WIDTH_MOST);
        Self { text: String::new(), width, colour: options.colour }
    }

    /// Characters that a line may have.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Whether the text so far has this character.
    pub(crate) fn contains(&self, character: char) -> bool {
        self.text.contains(character)
    }

    /// A heading of a section, with an empty line before it.
    pub(crate) fn heading(&mut self, text: &str) {
        if !self.text.is_empty() {
            self.blank();
        }
        self.paragraph(text, Indent { first: 0, rest: 2 }, Style::Heading);
    }

    /// An empty line.
    pub(crate) fn blank(&mut self) {
        self.text.push('\n');
    }

    /// A sentence, wrapped at words.
    pub(crate) fn sentence(&mut self, text: &str) {
        self.paragraph(text, Indent::SENTENCE, Style::Plain);
    }

    /// One item of a list.
    pub(crate) fn item(&mut self, text: &str, style: Style) {
        self.paragraph(&format!("- {text}"), Indent { first: 2, rest: 4 }, style);
    }

    /// A text in any style, wrapped at words.
    pub(crate) fn paragraph(&mut self, text: &str, indent: Indent, style: Style) {
        for line in wrap(text, indent, self.width) {
            self.line(&line, style);
        }
    }

    /// A name and what belongs to it, aligned in two columns; long text is wrapped in its own.
    pub(crate) fn entry(&mut self, name: &str, name_width: usize, text: &str) {
        let start = 2 + name_width.min(self.width / 2) + 2;
        let lines = wrap(text, Indent { first: start, rest: start }, self.width);
        let name = shortened(&clean(name), start - 4);
        let mut lines = lines.into_iter();
        let first = lines.next().unwrap_or_default();
        let after: String = first.chars().skip(start).collect();
        self.line(format!("  {name:<width$}  {after}", width = start - 4).trim_end(), Style::Plain);
        lines.for_each(|line| self.line(&line, Style::Plain));
    }

    /// One line that is known to fit.
    pub(crate) fn line(&mut self, line: &str, style: Style) {
        debug_assert!(line.chars().count() <= self.width, "too wide: {line}");
        let code = match style {
            _ if !self.colour => "",
            Style::Plain => "",
            Style::Heading => "1",
            Style::Dim => "2",
            Style::Doubt => "33",
            Style::Failure => "31",
        };
        if code.is_empty() {
            self.text.push_str(line);
        } else {
            self.text.push_str(&format!("\u{1b}[{code}m{line}\u{1b}[0m"));
        }
        self.text.push('\n');
    }

    /// The text.
    pub(crate) fn finish(self) -> String {
        self.text
    }
}

/// Breaks `text` at spaces into lines of at most `width` characters; a word that is longer than a
/// line is broken where the line ends.
pub(crate) fn wrap(text: &str, indent: Indent, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = " ".repeat(indent.first);
    let mut used = indent.first;
    let mut is_empty = true;
    let text = UNITS.iter().fold(clean(text), |text, unit| text.replace(unit, &unbroken(unit)));
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

/// At most `width` characters; where some are left out there is a `~`. Of a path the end is kept,
/// which tells more.
pub(crate) fn shortened(text: &str, width: usize) -> String {
    let count = text.chars().count();
    if count <= width {
        return text.to_owned();
    }
    let kept = width.saturating_sub(1);
    if text.starts_with('/') {
        let end: String = text.chars().skip(count - kept).collect();
        format!("~{end}")
    } else {
        let start: String = text.chars().take(kept).collect();
        format!("{start}~")
    }
}

/// The text without line ends and control characters, which names of others may hold.
pub(crate) fn clean(text: &str) -> String {
    record::plain_text(text).into_owned()
}

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn list(items: &[String], and: &str) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [init @ .., last] => format!("{} {and} {last}", init.join(", ")),
    }
}

/// `1 block`, `2 blocks`.
pub(crate) fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
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
    fn names_are_shortened_at_the_end_that_tells_less() {
        assert_eq!(shortened("ext4-without-journal", 8), "ext4-wi~");
        assert_eq!(shortened("/mnt/data/fast", 8), "~ta/fast");
        assert_eq!(shortened("xfs", 8), "xfs");
    }

    #[test]
    fn colour_is_only_there_on_request() {
        let of = |colour| {
            let mut page = Page::new(&Options { width: 80, colour });
            page.heading("Metadata");
            page.finish()
        };
        assert_eq!(of(false), "Metadata\n");
        assert_eq!(of(true), "\u{1b}[1mMetadata\u{1b}[0m\n");
    }

    #[test]
    fn control_characters_of_names_do_not_reach_the_terminal() {
        assert_eq!(clean("a\u{1b}[31m\nb"), "a?[31m b");
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
