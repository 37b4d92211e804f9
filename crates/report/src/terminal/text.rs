//! The report under construction: no line exceeds its width.

use crate::layout::Options;
use textual::{Indent, plain_text, wrap};

/// The widest report, however wide the terminal.
pub(crate) const WIDTH_MAX: usize = 120;
/// The narrowest report: tables in less space are unreadable.
pub(crate) const WIDTH_MIN: usize = 40;

/// How a line is highlighted, if there is colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// Not highlighted.
    Plain,
    /// A heading.
    Heading,
    /// Less prominent than the rest, such as the head of a table.
    Dim,
    /// Something doubtful.
    Doubt,
    /// Something that failed.
    Failure,
    /// Better than the rest.
    Better,
    /// Worse than the rest.
    Worse,
}

/// A part of a line with its own style.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StyledText {
    pub(crate) text: String,
    pub(crate) style: Style,
}

impl StyledText {
    /// A part without highlighting.
    pub(crate) fn plain(text: String) -> Self {
        Self { text, style: Style::Plain }
    }
}

impl Style {
    /// The number of its escape sequence; `None` for plain text.
    fn code(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Heading => Some("1"),
            Self::Dim => Some("2"),
            Self::Doubt | Self::Worse => Some("33"),
            Self::Failure => Some("31"),
            Self::Better => Some("32"),
        }
    }
}

/// For a sentence on its own, with a hanging indent.
pub(crate) const HANGING: Indent = Indent { first: 0, rest: 2 };

/// For a sentence within a section, with a hanging indent.
pub(crate) const SENTENCE: Indent = Indent { first: 2, rest: 6 };

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
        let width = options.width.clamp(WIDTH_MIN, WIDTH_MAX);
        Self { text: String::new(), width, colour: options.colour }
    }

    /// Characters that a line may have.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Whether the text so far contains this character.
    pub(crate) fn contains(&self, character: char) -> bool {
        self.text.contains(character)
    }

    /// A heading of a section, with an empty line before it.
    pub(crate) fn heading(&mut self, text: &str) {
        if !self.text.is_empty() {
            self.blank();
        }
        self.paragraph(text, HANGING, Style::Heading);
    }

    /// An empty line.
    pub(crate) fn blank(&mut self) {
        self.text.push('\n');
    }

    /// A sentence, wrapped at words.
    pub(crate) fn sentence(&mut self, text: &str) {
        self.paragraph(text, SENTENCE, Style::Plain);
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

    /// A name and its text, aligned in two columns; long text is wrapped in its column.
    pub(crate) fn entry(&mut self, name: &str, name_width: usize, text: &str) {
        let start = 2 + name_width.min(self.width / 2) + 2;
        let lines = wrap(text, Indent { first: start, rest: start }, self.width);
        let name = shortened(&plain_text(name), start - 4);
        let mut lines = lines.into_iter();
        let first = lines.next().unwrap_or_default();
        let after: String = first.chars().skip(start).collect();
        self.line(format!("  {name:<width$}  {after}", width = start - 4).trim_end(), Style::Plain);
        lines.for_each(|line| self.line(&line, Style::Plain));
    }

    /// One line that is known to fit.
    pub(crate) fn line(&mut self, line: &str, style: Style) {
        debug_assert!(line.chars().count() <= self.width, "too wide: {line}");
        self.pieces(&[StyledText { text: line.to_owned(), style }]);
    }

    /// One line that is meant to be copied, and is therefore never cut.
    pub(crate) fn command(&mut self, line: &str, style: Style) {
        self.pieces(&[StyledText { text: line.to_owned(), style }]);
    }

    /// One line of several parts that is known to fit; trailing spaces are removed.
    pub(crate) fn pieces(&mut self, pieces: &[StyledText]) {
        let last = pieces.iter().rposition(|piece| !piece.text.trim_end().is_empty());
        for (at, piece) in pieces.iter().enumerate().take(last.map_or(0, |last| last + 1)) {
            let text = if Some(at) == last { piece.text.trim_end() } else { &piece.text };
            match piece.style.code().filter(|_| self.colour) {
                Some(code) => self.text.push_str(&format!("\u{1b}[{code}m{text}\u{1b}[0m")),
                None => self.text.push_str(text),
            }
        }
        self.text.push('\n');
    }

    /// The text.
    pub(crate) fn finish(self) -> String {
        self.text
    }
}

/// At most `width` characters, with a `~` in place of those that are left out. A path keeps its
/// end, which is more informative.
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
