//! Observations of a designed experiment, from a table in long form (a row for each observation)
//! or in wide form (a row for each level of one factor, a column for each level of the other).

use crate::error::InputError;
use crate::grid::Grid;

/// What a wide table's columns are called where nobody names the factor.
const COLUMNS: &str = "column";

/// Every observation with the levels that it was made at.
#[derive(Clone, Debug, PartialEq)]
pub struct Observations {
    /// The factors' names.
    pub factors: Vec<String>,
    /// For each observation the level of each factor, in the order of `factors`, and the value.
    pub rows: Vec<(Vec<String>, f64)>,
}

impl Observations {
    /// From a table in long form: a column for each factor, and one for the response. Several rows
    /// with the same levels are replicates.
    ///
    /// # Errors
    /// Columns that are not there or are named twice, responses that are no numbers, and levels
    /// that are missing.
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
        let mut rows = Vec::with_capacity(grid.rows().len());
        for row in grid.rows() {
            let levels = columns.iter().map(|&column| grid.level(row, column).map(str::to_owned));
            rows.push((levels.collect::<Result<_, _>>()?, grid.number(row, response)?));
        }
        Ok(Self { factors: factors.to_vec(), rows })
    }

    /// From a table in wide form: the first column holds the levels of one factor, the other
    /// columns are the levels of the second. Several rows of one level are replicates. `factors`
    /// names both, rows first; where it is empty, the first is called as the first column, the
    /// second `column`.
    ///
    /// # Errors
    /// Other than no or two names, cells that are no numbers, and levels that are missing.
    pub fn wide(grid: &Grid, factors: &[String]) -> Result<Self, InputError> {
        let factors = match factors {
            [] => vec![grid.header()[0].clone(), COLUMNS.to_owned()],
            [_, _] => factors.to_vec(),
            _ => return Err(InputError::WideFactors { named: factors.len() }),
        };
        let mut rows = Vec::new();
        for row in grid.rows() {
            let first = grid.level(row, 0)?;
            for (column, second) in grid.header().iter().enumerate().skip(1) {
                rows.push((vec![first.to_owned(), second.clone()], grid.number(row, column)?));
            }
        }
        Ok(Self { factors, rows })
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
        assert_eq!(Observations::wide(&wide, &names(&["op", "fs"])).unwrap(), long);
        let unnamed = Observations::wide(&wide, &[]).unwrap();
        assert_eq!(unnamed.factors, ["op", "column"]);
        assert_eq!(unnamed.rows, long.rows);
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
            "a wide table has two factors, rows and columns, and --factors names 1"
        );
    }
}
