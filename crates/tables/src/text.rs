//! Plain text that lines up: columns of figures, and figures with as many digits as they deserve.

use std::fmt::Write as _;

/// Significant digits of a figure for people.
const DIGITS: i32 = 5;

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

/// A figure with five significant digits, without an exponent where it is between a millionth and
/// a billion.
#[must_use]
pub fn figure(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude == 0.0 {
        return "0".to_owned();
    }
    if !(1e-6..1e9).contains(&magnitude) {
        return format!("{value:.4e}");
    }
    #[expect(clippy::cast_possible_truncation, reason = "between -6 and 9")]
    let exponent = magnitude.log10().floor() as i32;
    let decimals = usize::try_from(DIGITS - 1 - exponent).unwrap_or(0);
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// A p-value as it is quoted: two significant digits, and nothing below a ten-thousandth.
#[must_use]
pub fn p_value(p: f64) -> String {
    if p < 1e-4 {
        return "< 0.0001".to_owned();
    }
    let decimals = if p < 0.001 {
        5
    } else if p < 0.01 {
        4
    } else if p < 0.1 {
        3
    } else {
        2
    };
    format!("{p:.decimals$}")
}

/// A p-value in a sentence: `p = 0.024`, `p < 0.0001`.
#[must_use]
pub fn p_equation(p: f64) -> String {
    let value = p_value(p);
    if value.starts_with('<') { format!("p {value}") } else { format!("p = {value}") }
}

/// A level or a share in percent, without a needless point.
#[must_use]
pub fn percent(share: f64) -> String {
    // Levels such as 0.95 are no exact multiples in binary.
    let rounded = (share * 1e10).round() / 1e8;
    format!("{rounded} %")
}

/// A sentence as lines of at most `width` columns: the first begins with `first`, all others with
/// `rest`.
#[must_use]
pub fn wrapped(first: &str, rest: &str, text: &str, width: usize) -> String {
    let mut lines = String::new();
    let mut line = first.to_owned();
    let mut is_empty = true;
    for word in text.split_whitespace() {
        let space = usize::from(!is_empty);
        if !is_empty && line.chars().count() + space + word.chars().count() > width {
            lines.push_str(line.trim_end());
            lines.push('\n');
            line = rest.to_owned();
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    lines.push_str(line.trim_end());
    lines.push('\n');
    lines
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

    #[test]
    fn figures_keep_five_digits() {
        for (value, text) in [
            (0.0, "0"),
            (814.066_67, "814.07"),
            (-1_469.066_7, "-1469.1"),
            (50_175_929.0, "50175929"),
            (0.000_123_456, "0.00012346"),
            (2.0, "2"),
            (1e-7, "1.0000e-7"),
            (1.5e12, "1.5000e12"),
        ] {
            assert_eq!(figure(value), text);
        }
    }

    #[test]
    fn p_values_and_levels_are_short() {
        assert_eq!((p_value(0.000_05), p_value(0.00047)), ("< 0.0001".into(), "0.00047".into()));
        assert_eq!((p_value(0.0243), p_value(0.41)), ("0.024".into(), "0.41".into()));
        assert_eq!((percent(0.95), percent(0.999)), ("95 %".into(), "99.9 %".into()));
    }

    #[test]
    fn long_sentences_wrap() {
        assert_eq!(wrapped("- ", "  ", "one two three", 9), "- one two\n  three\n");
    }
}
