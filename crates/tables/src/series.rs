//! One series of numbers, or two side by side: a file with a number on each line, or columns of a
//! table.

use crate::error::InputError;
use crate::grid::{Grid, finite};

/// The numbers of a file: of its column `column`, or one on each line. Blank lines, and what
/// follows a `#`, are passed over where there is no table.
///
/// # Errors
/// Text without numbers, a line or a cell that holds none, a column that is not there, and several
/// columns without a choice.
pub fn series(file: &str, text: &str, column: Option<&str>) -> Result<Vec<f64>, InputError> {
    if let Some(column) = column {
        let grid = Grid::parse(file, text)?;
        return numbers_of(&grid, grid.column(column)?);
    }
    let mut values = Vec::new();
    for (number, line) in numbered_lines(text) {
        match finite(line) {
            Some(value) => values.push(value),
            // A table of one column has a heading.
            None if values.is_empty() && is_heading(line) => {
                return single_column(file, text);
            }
            None => return Err(not_a_number(file, number, line)),
        }
    }
    if values.is_empty() {
        return Err(InputError::Empty { file: file.to_owned() });
    }
    Ok(values)
}

/// The numbers of the columns `first` and `second` of a table, row by row. A table of two columns
/// of numbers needs no header.
///
/// # Errors
/// As [`series`].
pub fn pairs(
    file: &str,
    text: &str,
    first: &str,
    second: &str,
) -> Result<(Vec<f64>, Vec<f64>), InputError> {
    let starts_with_numbers = numbered_lines(text)
        .next()
        .is_some_and(|(_, line)| line.split(',').all(|cell| finite(cell.trim()).is_some()));
    let headed =
        if starts_with_numbers { format!("{first},{second}\n{text}") } else { text.into() };
    let grid = Grid::parse(file, &headed)?;
    Ok((numbers_of(&grid, grid.column(first)?)?, numbers_of(&grid, grid.column(second)?)?))
}

fn numbers_of(grid: &Grid, column: usize) -> Result<Vec<f64>, InputError> {
    grid.rows().iter().map(|row| grid.number(row, column)).collect()
}

fn single_column(file: &str, text: &str) -> Result<Vec<f64>, InputError> {
    let grid = Grid::parse(file, text)?;
    if grid.header().len() > 1 {
        return Err(InputError::WhichColumn { file: file.to_owned(), there: grid.names() });
    }
    numbers_of(&grid, 0)
}

/// The lines that hold something, with their numbers from 1.
fn numbered_lines(text: &str) -> impl Iterator<Item = (u64, &str)> {
    (1..).zip(text.lines()).filter_map(|(number, line)| {
        let line = line.split('#').next().unwrap_or_default().trim();
        (!line.is_empty()).then_some((number, line))
    })
}

/// A first line that no number begins.
fn is_heading(line: &str) -> bool {
    !line.starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first))
        && !["nan", "inf", "infinity"].contains(&line.to_ascii_lowercase().as_str())
}

fn not_a_number(file: &str, line: u64, text: &str) -> InputError {
    InputError::NotANumber {
        file: file.to_owned(),
        line,
        column: "1".to_owned(),
        text: text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_on_each_line() {
        let values = series("f", "# times\n1.5\n\n-2e3 # odd\n7\n", None).unwrap();
        assert_eq!(values, [1.5, -2000.0, 7.0]);
    }

    #[test]
    fn one_column_with_a_heading_or_one_of_several() {
        assert_eq!(series("f", "time\n1\n2\n", None).unwrap(), [1.0, 2.0]);
        assert_eq!(series("f", "a,b\n1,2\n3,4\n", Some("b")).unwrap(), [2.0, 4.0]);
        assert_eq!(
            series("f", "a,b\n1,2\n", None).unwrap_err().to_string(),
            "f has several columns: choose one with --column, of a, b"
        );
    }

    #[test]
    fn what_is_no_number_names_its_line() {
        for (text, wanted) in [
            ("1\n2\nx\n", "f, line 3, column 1: \"x\" is no finite number"),
            ("nan\n", "f, line 1, column 1: \"nan\" is no finite number"),
            ("1,2\n", "f, line 1, column 1: \"1,2\" is no finite number"),
            ("\n\n", "f holds no values"),
        ] {
            assert_eq!(series("f", text, None).unwrap_err().to_string(), wanted, "{text:?}");
        }
    }

    #[test]
    fn pairs_have_a_header_or_are_numbers_only() {
        let expected = (vec![1.0, 2.0], vec![10.0, 18.0]);
        assert_eq!(pairs("f", "x,n\n10,1\n18,2\n", "n", "x").unwrap(), expected);
        assert_eq!(pairs("f", "1,10\n2,18\n", "n", "x").unwrap(), expected);
        let missing = pairs("f", "n,y\n1,2\n", "n", "x").unwrap_err().to_string();
        assert_eq!(missing, "f has no column x; it has n, y");
    }
}
