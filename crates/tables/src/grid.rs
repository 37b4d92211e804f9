//! Separated values with a header, as text: every row as long as the header, every name once.

use csv::{ReaderBuilder, Trim};

use crate::error::InputError;

/// A table of text cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    file: String,
    header: Vec<String>,
    rows: Vec<Row>,
}

/// A row and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The line in the file, from 1.
    pub line: u64,
    /// One cell for each column, without white space around it.
    pub cells: Vec<String>,
}

impl Grid {
    /// Reads comma-separated values (RFC 4180) whose first line is a header. Blank lines are
    /// passed over. `file` is the name that errors give.
    ///
    /// # Errors
    /// Text that is no table, rows of another length than the header, two columns of one name, and
    /// a table without rows.
    pub fn parse(file: &str, text: &str) -> Result<Self, InputError> {
        // Spreadsheets put a byte order mark in front.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut reader = ReaderBuilder::new().trim(Trim::All).from_reader(text.as_bytes());
        let header: Vec<String> = reader
            .headers()
            .map_err(|error| not_a_table(file, 1, &error))?
            .iter()
            .map(str::to_owned)
            .collect();
        let mut rows = Vec::new();
        let mut lines = Lines { text, byte: 0, line: 1 };
        for record in reader.records() {
            let record = record.map_err(|error| match error.position() {
                Some(at) => not_a_table(file, lines.line_of(at.byte()), &error),
                None => not_a_table(file, 1, &error),
            })?;
            let line = record.position().map_or(1, |at| lines.line_of(at.byte()));
            rows.push(Row { line, cells: record.iter().map(str::to_owned).collect() });
        }
        let grid = Self { file: file.to_owned(), header, rows };
        if grid.rows.is_empty() {
            return Err(InputError::Empty { file: grid.file });
        }
        let doubled = |(position, name): (usize, &String)| grid.header[..position].contains(name);
        match grid.header.iter().enumerate().find(|&one| doubled(one)) {
            Some((_, column)) => {
                Err(InputError::DoubleColumn { file: grid.file.clone(), column: column.clone() })
            }
            None => Ok(grid),
        }
    }

    /// The columns' names.
    #[must_use]
    pub fn header(&self) -> &[String] {
        &self.header
    }

    /// The rows, at least one.
    #[must_use]
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The file's name, for errors.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Where the column of this name stands.
    ///
    /// # Errors
    /// A name that is not there.
    pub fn column(&self, name: &str) -> Result<usize, InputError> {
        self.header.iter().position(|column| column == name).ok_or_else(|| {
            InputError::MissingColumn {
                file: self.file.clone(),
                column: name.to_owned(),
                there: self.names(),
            }
        })
    }

    /// The number in a cell.
    ///
    /// # Errors
    /// A cell that holds no finite number.
    pub fn number(&self, row: &Row, column: usize) -> Result<f64, InputError> {
        let text = &row.cells[column];
        finite(text).ok_or_else(|| InputError::NotANumber {
            file: self.file.clone(),
            line: row.line,
            column: self.header[column].clone(),
            text: text.clone(),
        })
    }

    /// The level in a cell.
    ///
    /// # Errors
    /// An empty cell.
    pub fn level<'a>(&self, row: &'a Row, column: usize) -> Result<&'a str, InputError> {
        let text = row.cells[column].as_str();
        if text.is_empty() {
            return Err(InputError::NoLevel {
                file: self.file.clone(),
                line: row.line,
                column: self.header[column].clone(),
            });
        }
        Ok(text)
    }

    /// The names of all columns, for errors.
    pub(crate) fn names(&self) -> String {
        self.header.join(", ")
    }
}

/// A finite number written in decimal, or nothing.
pub(crate) fn finite(text: &str) -> Option<f64> {
    text.parse().ok().filter(|value: &f64| value.is_finite())
}

/// Counts lines up to positions that only grow. The parser's own count is that of where it began
/// to look for a row, which may be before blank lines, and before the second half of a line's end.
struct Lines<'a> {
    text: &'a str,
    byte: usize,
    line: u64,
}

impl Lines<'_> {
    /// The line, from 1, of the first row at or after `byte`.
    fn line_of(&mut self, byte: u64) -> u64 {
        let bytes = self.text.as_bytes();
        let mut to = usize::try_from(byte).map_or(bytes.len(), |byte| byte.min(bytes.len()));
        while bytes.get(to).is_some_and(|byte| matches!(byte, b'\r' | b'\n')) {
            to += 1;
        }
        let passed = bytes.get(self.byte..to).unwrap_or_default();
        self.line += passed.iter().filter(|&&byte| byte == b'\n').count() as u64;
        self.byte = to.max(self.byte);
        self.line
    }
}

fn not_a_table(file: &str, line: u64, error: &csv::Error) -> InputError {
    let why = match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("the header has {expected_len} columns, and this row has {len}")
        }
        _ => error.to_string(),
    };
    InputError::NotATable { file: file.to_owned(), line, why }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        Grid::parse("t.csv", text).unwrap_err().to_string()
    }

    #[test]
    fn quoted_cells_and_marks_are_read() {
        let grid = Grid::parse("t.csv", "\u{feff}a, b\r\n\"x, y\" , 3\r\n\r\nz,4\n").unwrap();
        assert_eq!(grid.header(), ["a", "b"]);
        assert_eq!(grid.rows()[0].cells, ["x, y", "3"]);
        assert_eq!((grid.rows()[1].line, grid.rows().len()), (4, 2));
    }

    #[test]
    fn what_is_no_table_names_its_line() {
        assert_eq!(
            refusal("a,b\n1,2\n3\n"),
            "t.csv, line 3: the header has 2 columns, and this row has 1"
        );
        assert_eq!(refusal("a,b\n"), "t.csv holds no values");
        assert_eq!(refusal(""), "t.csv holds no values");
        assert_eq!(refusal("a,b,a\n1,2,3\n"), "t.csv has two columns named a: rename one");
    }

    #[test]
    fn cells_are_looked_up_by_name_and_must_be_numbers() {
        let grid = Grid::parse("t.csv", "fs,rate\next2,fast\n,nan\nxfs,1e999\n").unwrap();
        assert_eq!(
            grid.column("speed").unwrap_err().to_string(),
            "t.csv has no column speed; it has fs, rate"
        );
        let rate = grid.column("rate").unwrap();
        assert_eq!(
            grid.number(&grid.rows()[0], rate).unwrap_err().to_string(),
            "t.csv, line 2, column rate: \"fast\" is no finite number"
        );
        assert!(grid.number(&grid.rows()[1], rate).is_err());
        assert!(grid.number(&grid.rows()[2], rate).is_err());
        assert_eq!(
            grid.level(&grid.rows()[1], 0).unwrap_err().to_string(),
            "t.csv, line 3, column fs: the level is missing"
        );
    }
}
