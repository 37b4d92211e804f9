//! Tables whose columns line up.

use std::fmt::Write as _;

/// A table of text cells: the first column flush left, all others flush right.
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

    /// Adds a row. Cells that it lacks at the end are empty.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// The text, each line indented by two and ended by a newline. A column in which there is
    /// nothing but a heading is left out.
    #[must_use]
    pub fn render(&self) -> String {
        let count = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let cell = |row: &'_ [String], column: usize| -> String {
            row.get(column).cloned().unwrap_or_default()
        };
        let filled =
            |column: &usize| self.rows.iter().skip(1).any(|row| !cell(row, *column).is_empty());
        let shown: Vec<usize> = (0..count).filter(filled).collect();
        let width = |column: usize| {
            self.rows.iter().map(|row| cell(row, column).chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = shown.iter().map(|&column| width(column)).collect();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::from("  ");
            for (position, (&column, &width)) in shown.iter().zip(&widths).enumerate() {
                let content = cell(row, column);
                if position == 0 {
                    let _infallible = write!(line, "{content:<width$}");
                } else {
                    let _infallible = write!(line, "  {content:>width$}");
                }
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
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
