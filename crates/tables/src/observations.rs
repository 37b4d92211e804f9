//! Observations of a designed experiment, from a table in long form (a row per observation) or in
//! wide form (a row per level of one factor, a column per level of the other).

use crate::decimal::Differences;
use crate::error::InputError;
use crate::grid::{Grid, Row};

/// The default name of the factor whose levels are a wide table's columns.
const COLUMNS: &str = "column";

/// Every observation, with the levels of the factors.
#[derive(Clone, Debug, PartialEq)]
pub struct Observations {
    /// The factors' names.
    pub factors: Vec<String>,
    /// To be added to every value. Only different from 0 if values agree in so many leading digits
    /// that doubles would lose their differences.
    pub offset: f64,
    /// For each observation, the level of each factor, in the order of `factors`, and the value
    /// minus the offset.
    pub rows: Vec<(Vec<String>, f64)>,
    /// The line of the file, from 1, of each observation; empty if they are not from a file.
    pub lines: Vec<u64>,
}

/// Observations that are being read.
#[derive(Default)]
struct Reading<'a> {
    levels: Vec<Vec<String>>,
    texts: Vec<&'a str>,
    values: Vec<f64>,
    lines: Vec<u64>,
}

impl<'a> Reading<'a> {
    /// Adds the observation in a cell.
    fn push(
        &mut self,
        levels: Vec<String>,
        grid: &Grid,
        row: &'a Row,
        column: usize,
    ) -> Result<(), InputError> {
        self.values.push(grid.number(row, column)?);
        self.texts.push(&row.cells[column]);
        self.lines.push(row.line);
        self.levels.push(levels);
        Ok(())
    }

    fn finished(self, factors: Vec<String>) -> Observations {
        let Differences { offset, values } = Differences::new(&self.texts, self.values);
        let rows = self.levels.into_iter().zip(values).collect();
        Observations { factors, offset, rows, lines: self.lines }
    }
}

impl Observations {
    /// Reads a table in long form, which has one column per factor, and one for the response.
    /// Several rows with the same levels are replicates.
    ///
    /// # Errors
    /// If columns do not exist or are named twice, responses are not numbers, or levels are
    /// missing.
    pub fn long(grid: &Grid, response: &str, factors: &[String]) -> Result<Self, InputError> {
        let twice = |(position, name): (usize, &String)| {
            name == response || factors[..position].contains(name)
        };
        if let Some((_, column)) = factors.iter().enumerate().find(|&one| twice(one)) {
            return Err(InputError::NamedTwice { column: column.clone() });
        }
        let columns: Vec<usize> =
            factors.iter().map(|factor| grid.column(factor)).collect::<Result<_, _>>()?;
        let response = grid.column(response)?;
        let mut reading = Reading::default();
        for row in grid.rows() {
            let levels = columns.iter().map(|&column| grid.level(row, column).map(str::to_owned));
            reading.push(levels.collect::<Result<_, _>>()?, grid, row, response)?;
        }
        Ok(reading.finished(factors.to_vec()))
    }

    /// Reads a table in wide form: the first column contains the levels of one factor, and the
    /// other columns are the levels of the second. Several rows of the same level are replicates.
    /// `factors` names both, rows first; if it is empty, the first is named after the first column,
    /// and the second is `column`.
    ///
    /// # Errors
    /// If the number of names is neither 0 nor 2, cells are not numbers, or levels are missing.
    pub fn wide(grid: &Grid, factors: &[String]) -> Result<Self, InputError> {
        let factors = match factors {
            [] => vec![grid.header()[0].clone(), COLUMNS.to_owned()],
            [_, _] => factors.to_vec(),
            _ => return Err(InputError::WideFactors { named: factors.len() }),
        };
        let mut reading = Reading::default();
        for row in grid.rows() {
            let first = grid.level(row, 0)?;
            for (column, second) in grid.header().iter().enumerate().skip(1) {
                reading.push(vec![first.to_owned(), second.clone()], grid, row, column)?;
            }
        }
        Ok(reading.finished(factors))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn long_and_wide_say_the_same() {
        let long = Grid::parse("l", "rate,fs,op\n1,a,w\n2,b,w\n3,a,r\n4,b,r\n").unwrap();
        let wide = Grid::parse("w", "op,a,b\nw,1,2\nr,3,4\n").unwrap();
        let long = Observations::long(&long, "rate", &names(&["op", "fs"])).unwrap();
        assert_eq!(long.lines, [2, 3, 4, 5]);
        let same = Observations::wide(&wide, &names(&["op", "fs"])).unwrap();
        assert_eq!((same.factors, same.rows), (long.factors, long.rows.clone()));
        assert_eq!(same.lines, [2, 2, 3, 3]);
        let unnamed = Observations::wide(&wide, &[]).unwrap();
        assert_eq!(unnamed.factors, ["op", "column"]);
        assert_eq!(unnamed.rows, long.rows);
    }

    #[test]
    fn leading_digits_that_all_values_share_become_the_offset() {
        let long = "t,y\na,1000000000000.4\nb,1000000000000.3\nb,1e12\n";
        let long = Grid::parse("l", long).unwrap();
        let got = Observations::long(&long, "y", &names(&["t"])).unwrap();
        assert_eq!(got.offset, "1000000000000.4".parse::<f64>().unwrap());
        let values: Vec<f64> = got.rows.iter().map(|(_, value)| *value).collect();
        assert_eq!(values, [0.0, -0.1, -0.4]);
        let wide = Grid::parse("w", "op,a,b\nw,-70000.1,-70000.2\n").unwrap();
        let got = Observations::wide(&wide, &[]).unwrap();
        assert_eq!((got.offset, got.rows[0].1, got.rows[1].1), (-70_000.1, 0.0, -0.1));
    }

    #[test]
    fn a_column_has_one_purpose() {
        let grid = Grid::parse("t", "rate,fs\n1,a\n").unwrap();
        for factors in [&["rate"][..], &["fs", "fs"]] {
            let refused = Observations::long(&grid, "rate", &names(factors)).unwrap_err();
            assert!(refused.to_string().contains("is named twice"), "{refused}");
        }
        let refused = Observations::wide(&grid, &names(&["one"])).unwrap_err().to_string();
        assert_eq!(
            refused,
            "a wide table has two factors, rows and columns, but --factors names 1"
        );
    }
}
