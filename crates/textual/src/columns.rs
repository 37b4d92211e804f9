//! Tables whose columns line up.

use std::fmt::Write as _;

/// The number of spaces before the first column.
pub const INDENT: usize = 2;
/// The number of spaces between two columns.
pub const GAP: usize = 2;

/// The length of the longest of these texts, in characters.
#[must_use]
pub fn widest<S: AsRef<str>>(texts: impl IntoIterator<Item = S>) -> usize {
    texts.into_iter().map(|text| text.as_ref().chars().count()).max().unwrap_or(0)
}

/// The columns of a table: the first ones are left-aligned, all others right-aligned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// How many columns are left-aligned.
    pub left: usize,
    /// The width of each column.
    pub widths: Vec<usize>,
}

impl Layout {
    /// An indented line with these cells. Missing cells at the end are empty.
    #[must_use]
    pub fn line<S: AsRef<str>>(&self, cells: impl IntoIterator<Item = S>) -> String {
        let mut line = " ".repeat(INDENT);
        for (position, (cell, &width)) in cells.into_iter().zip(&self.widths).enumerate() {
            let (gap, cell) = (if position == 0 { 0 } else { GAP }, cell.as_ref());
            let _infallible = if position < self.left {
                write!(line, "{:gap$}{cell:<width$}", "")
            } else {
                write!(line, "{:gap$}{cell:>width$}", "")
            };
        }
        line.truncate(line.trim_end().len());
        line
    }
}

/// A table of text cells: the first column is left-aligned, all others are right-aligned.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    rows: Vec<Vec<String>>,
}

impl Columns {
    /// A table with this heading.
    #[must_use]
    pub fn headed<S: Into<String>>(heading: impl IntoIterator<Item = S>) -> Self {
        let mut columns = Self::default();
        columns.row(heading);
        columns
    }

    /// Adds a row. Missing cells at the end are empty.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// The table as text, with a newline after each line. Columns that contain only a heading are
    /// left out.
    #[must_use]
    pub fn render(&self) -> String {
        let count = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let cell = |row: &'_ [String], column: usize| row.get(column).cloned().unwrap_or_default();
        let filled =
            |column: &usize| self.rows.iter().skip(1).any(|row| !cell(row, *column).is_empty());
        let shown: Vec<usize> = (0..count).filter(filled).collect();
        let width = |&column: &usize| widest(self.rows.iter().map(|row| cell(row, column)));
        let layout = Layout { left: 1, widths: shown.iter().map(width).collect() };
        let line = |row: &Vec<String>| {
            let line = layout.line(shown.iter().map(|&column| cell(row, column)));
            format!("{line}\n")
        };
        self.rows.iter().map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_empty_ones_go() {
        let mut columns = Columns::headed(["source", "F", "p"]);
        columns.row(["action", "17.9", ""]);
        columns.row(["all", "6"]);
        assert_eq!(columns.render(), "  source     F\n  action  17.9\n  all        6\n");
    }
}
