//! A series of numbers, or two side by side: from a file with one number per line, or from columns
//! of a table.

use crate::error::InputError;
use crate::grid::{Grid, finite, shortened};

/// What tables have in place of a missing number.
const MISSING: [&str; 9] =
    ["na", "n/a", "nan", "nil", "none", "null", "inf", "infinity", "missing"];

/// The numbers of a file: those of its column `column`, or one per line. If it is not a table,
/// blank lines and comments that start with `#` are skipped.
///
/// # Errors
/// If there are no numbers, a line or a cell is not a number, the column does not exist, or there
/// are several columns and none was chosen.
pub fn series(file: &str, text: &str, column: Option<&str>) -> Result<Vec<f64>, InputError> {
    if let Some(column) = column {
        let grid = Grid::parse(file, text)?;
        return numbers_of(&grid, grid.column(column)?);
    }
    let mut values = Vec::new();
    for (number, line) in numbered_lines(text) {
        match finite(unquoted(line)) {
            Some(value) => values.push(value),
            // A table with a single column starts with its heading.
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

/// The numbers of a table's column `column`, grouped by the level of its column `by`, in order of
/// the levels' first appearance.
///
/// # Errors
/// As for [`series`], and if a level is empty.
pub fn series_by(
    file: &str,
    text: &str,
    column: &str,
    by: &str,
) -> Result<Vec<(String, Vec<f64>)>, InputError> {
    let grid = Grid::parse(file, text)?;
    let (column, by) = (grid.column(column)?, grid.column(by)?);
    let mut groups: Vec<(String, Vec<f64>)> = Vec::new();
    for row in grid.rows() {
        let (level, value) = (grid.level(row, by)?, grid.number(row, column)?);
        match groups.iter_mut().find(|(own, _)| own == level) {
            Some((_, values)) => values.push(value),
            None => groups.push((level.to_owned(), vec![value])),
        }
    }
    Ok(groups)
}

/// The numbers of the columns `first` and `second` of a table, row by row. A table with just two
/// columns of numbers needs no header.
///
/// # Errors
/// As for [`series`].
pub fn pairs(
    file: &str,
    text: &str,
    first: &str,
    second: &str,
) -> Result<(Vec<f64>, Vec<f64>), InputError> {
    let starts_with_numbers = numbered_lines(text)
        .next()
        .is_some_and(|(_, line)| line.split(',').all(|cell| finite(cell.trim()).is_some()));
    let grid = if starts_with_numbers {
        Grid::headless(file, text, &[first, second])?
    } else {
        Grid::parse(file, text)?
    };
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

/// The lines that are not blank or comments, with their numbers from 1.
fn numbered_lines(text: &str) -> impl Iterator<Item = (u64, &str)> {
    (1..).zip(text.lines()).filter_map(|(number, line)| {
        let line = line.split('#').next().unwrap_or_default().trim();
        (!line.is_empty()).then_some((number, line))
    })
}

/// Whether a first line is the name of a column: a word, but none that stands for a missing number.
fn is_heading(line: &str) -> bool {
    let word = unquoted(line);
    let begins_a_name = word.starts_with(|first: char| first.is_alphabetic() || first == '_');
    let is_exponent = word
        .strip_prefix(['e', 'E'])
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()));
    let missing = MISSING.iter().any(|missing| word.eq_ignore_ascii_case(missing));
    begins_a_name && !missing && !is_exponent
}

/// The line without surrounding quotes.
fn unquoted(line: &str) -> &str {
    line.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(line)
}

fn not_a_number(file: &str, line: u64, text: &str) -> InputError {
    InputError::NotANumber {
        file: file.to_owned(),
        line,
        column: "1".to_owned(),
        text: shortened(text),
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
            "f has several columns (a, b): choose one with --column"
        );
    }

    #[test]
    fn what_is_no_number_names_its_line() {
        for (text, wanted) in [
            ("1\n2\nx\n", "f, line 3, column 1: \"x\" is not a finite number"),
            ("nan\n", "f, line 1, column 1: \"nan\" is not a finite number"),
            ("1,2\n", "f, line 1, column 1: \"1,2\" is not a finite number"),
            ("\n\n", "f contains no values"),
        ] {
            assert_eq!(series("f", text, None).unwrap_err().to_string(), wanted, "{text:?}");
        }
    }

    #[test]
    fn only_a_name_is_a_heading() {
        for first in ["N/A", "null", "None", "\u{2212}1", "$5", "<1", "e5", "'1'", "1 ms"] {
            let text = format!("{first}\n2\n3\n");
            let refused = series("f", &text, None).unwrap_err().to_string();
            assert!(refused.starts_with("f, line 1"), "{first}: {refused}");
        }
        for first in ["seconds", "_time", "\"rate\"", "e5s", "Zeit"] {
            assert_eq!(series("f", &format!("{first}\n2\n3\n"), None).unwrap(), [2.0, 3.0]);
        }
        assert_eq!(series("f", "\"1\"\n\"2\"\n", None).unwrap(), [1.0, 2.0]);
    }

    #[test]
    fn pairs_have_a_header_or_are_numbers_only() {
        let expected = (vec![1.0, 2.0], vec![10.0, 18.0]);
        assert_eq!(pairs("f", "x,n\n10,1\n18,2\n", "n", "x").unwrap(), expected);
        assert_eq!(pairs("f", "1,10\n2,18\n", "n", "x").unwrap(), expected);
        let refused = pairs("f", "1,10\n2,y\n", "n", "x").unwrap_err().to_string();
        assert_eq!(refused, "f, line 2, column x: \"y\" is not a finite number");
        let refused = pairs("f", "1,10\n2,3,4\n", "n", "x").unwrap_err().to_string();
        assert_eq!(refused, "f, line 2: expected 2 columns, but this row has 3");
        let missing = pairs("f", "n,y\n1,2\n", "n", "x").unwrap_err().to_string();
        assert_eq!(missing, "f has no column x; it has n, y");
    }
}
