//! Comma-separated values with a header, as text: rows are as long as the header, names are unique.

use csv::{Reader, ReaderBuilder, Trim};

use crate::error::InputError;

/// How many columns an error names, and how many characters of a cell it quotes.
const COLUMNS_NAMED: usize = 10;
const TEXT_QUOTED: usize = 60;

/// A table of text cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    file: String,
    header: Vec<String>,
    rows: Vec<Row>,
}

/// A row and its position in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The line in the file, from 1.
    pub line: u64,
    /// One cell per column, without surrounding white space.
    pub cells: Vec<String>,
}

impl Grid {
    /// Reads comma-separated values (RFC 4180) whose first line is a header. Blank lines are
    /// skipped. `file` is the name to use in errors.
    ///
    /// # Errors
    /// If the text is not a table or has no rows, a row's length differs from the header's, a cell
    /// contains a line break (usually because of an unclosed quote), or two columns have the same
    /// name.
    pub fn parse(file: &str, text: &str) -> Result<Self, InputError> {
        let mut reader = ReaderBuilder::new().trim(Trim::All).from_reader(text.as_bytes());
        let header = reader.headers().map_err(|error| not_a_table(file, 1, &error))?;
        let header: Vec<String> = header.iter().map(str::to_owned).collect();
        let rows = rows(file, text, reader)?;
        let grid = Self { file: file.to_owned(), header, rows };
        let doubled = |(position, name): (usize, &String)| grid.header[..position].contains(name);
        match grid.header.iter().enumerate().find(|&one| doubled(one)) {
            Some((_, column)) => {
                Err(InputError::DoubleColumn { file: grid.file.clone(), column: column.clone() })
            }
            None => Ok(grid),
        }
    }

    /// Like [`Grid::parse`] for a table without a header: the columns are named `names`.
    ///
    /// # Errors
    /// As for [`Grid::parse`], and if a row's length differs from that of `names`.
    pub(crate) fn headless(file: &str, text: &str, names: &[&str]) -> Result<Self, InputError> {
        let mut builder = ReaderBuilder::new();
        builder.has_headers(false).flexible(true).trim(Trim::All);
        let rows = rows(file, text, builder.from_reader(text.as_bytes()))?;
        if let Some(row) = rows.iter().find(|row| row.cells.len() != names.len()) {
            let why =
                format!("expected {} columns, but this row has {}", names.len(), row.cells.len());
            return Err(InputError::NotATable { file: file.to_owned(), line: row.line, why });
        }
        let header = names.iter().map(|&name| name.to_owned()).collect();
        Ok(Self { file: file.to_owned(), header, rows })
    }

    /// The columns' names.
    #[must_use]
    pub fn header(&self) -> &[String] {
        &self.header
    }

    /// The rows, of which there is at least one.
    #[must_use]
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The file's name, for errors.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The position of the column with this name.
    ///
    /// # Errors
    /// If there is no such column.
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
    /// If the cell does not contain a finite number.
    pub fn number(&self, row: &Row, column: usize) -> Result<f64, InputError> {
        let text = &row.cells[column];
        finite(text).ok_or_else(|| InputError::NotANumber {
            file: self.file.clone(),
            line: row.line,
            column: self.header[column].clone(),
            text: shortened(text),
        })
    }

    /// The level in a cell.
    ///
    /// # Errors
    /// If the cell is empty.
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

    /// The names of the columns, for errors.
    pub(crate) fn names(&self) -> String {
        let named: Vec<String> =
            self.header.iter().take(COLUMNS_NAMED).map(|name| shortened(name)).collect();
        let more = self.header.len().saturating_sub(COLUMNS_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let hint = match self.header.as_slice() {
            [only] if only.contains([';', '\t']) => " (columns are separated by commas)",
            _ => "",
        };
        format!("{}{more}{hint}", named.join(", "))
    }
}

/// Text from a file, truncated to [`TEXT_QUOTED`] characters.
pub(crate) fn shortened(text: &str) -> String {
    if text.chars().count() <= TEXT_QUOTED {
        return text.to_owned();
    }
    text.chars().take(TEXT_QUOTED).chain("...".chars()).collect()
}

/// A finite decimal number.
pub(crate) fn finite(text: &str) -> Option<f64> {
    text.parse().ok().filter(|value: &f64| value.is_finite())
}

fn rows(file: &str, text: &str, mut reader: Reader<&[u8]>) -> Result<Vec<Row>, InputError> {
    let mut rows = Vec::new();
    let mut lines = Lines { text, byte: 0, line: 1 };
    for record in reader.records() {
        let record = record.map_err(|error| match error.position() {
            Some(at) => not_a_table(file, lines.line_of(at.byte()), &error),
            None => not_a_table(file, 1, &error),
        })?;
        let line = record.position().map_or(1, |at| lines.line_of(at.byte()));
        if record.iter().any(|cell| cell.contains(['\n', '\r'])) {
            let why = "a cell contains a line break: is a quote unclosed?".to_owned();
            return Err(InputError::NotATable { file: file.to_owned(), line, why });
        }
        rows.push(Row { line, cells: record.iter().map(str::to_owned).collect() });
    }
    if rows.is_empty() {
        return Err(InputError::Empty { file: file.to_owned() });
    }
    Ok(rows)
}

/// Counts lines up to positions that only increase. The parser's own count is for the position
/// where it started to look for a row, which may be before blank lines, or in the middle of a CRLF.
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

#[expect(clippy::wildcard_enum_match_arm, reason = "the enum is not ours")]
fn not_a_table(file: &str, line: u64, error: &csv::Error) -> InputError {
    let why = match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("the header has {expected_len} columns, but this row has {len}")
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
        let grid = Grid::parse("t.csv", "a, b\r\n\"x, y\" , 3\r\n\r\nz,4\n").unwrap();
        assert_eq!(grid.header(), ["a", "b"]);
        assert_eq!(grid.rows()[0].cells, ["x, y", "3"]);
        assert_eq!((grid.rows()[1].line, grid.rows().len()), (4, 2));
    }

    #[test]
    fn a_quote_that_is_never_closed_swallows_nothing() {
        assert_eq!(
            refusal("rate,fs\n5,a\n6,\"b\n7,b\n8,a\n"),
            "t.csv, line 3: a cell contains a line break: is a quote unclosed?"
        );
    }

    #[test]
    fn what_is_no_table_names_its_line() {
        assert_eq!(
            refusal("a,b\n1,2\n3\n"),
            "t.csv, line 3: the header has 2 columns, but this row has 1"
        );
        assert_eq!(refusal("a,b\n"), "t.csv contains no values");
        assert_eq!(refusal(""), "t.csv contains no values");
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
            "t.csv, line 2, column rate: \"fast\" is not a finite number"
        );
        assert!(grid.number(&grid.rows()[1], rate).is_err());
        assert!(grid.number(&grid.rows()[2], rate).is_err());
        assert_eq!(
            grid.level(&grid.rows()[1], 0).unwrap_err().to_string(),
            "t.csv, line 3, column fs: the level is missing"
        );
    }
}
