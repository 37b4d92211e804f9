//! Observations of a designed experiment: one value each, at one level of every factor.

use std::collections::HashMap;

use super::Refused;
use crate::refusal::{Refusal, check_count, check_finite};

/// What was varied on purpose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Factor {
    /// Its name, different from those of the other factors.
    pub name: String,
    /// The names of its levels, all different.
    pub levels: Vec<String>,
}

/// Validated observations, by columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    factors: Vec<Factor>,
    levels: Vec<Vec<u32>>,
    offset: f64,
    values: Vec<f64>,
}

impl Table {
    /// Validates columns: `levels[f][o]` is the level of factor `f` at observation `o`, counted
    /// from 0 in the order of the factor's levels, and `values[o]` is what was observed.
    /// Observations come in the order in which they were made, if that is known.
    ///
    /// # Errors
    /// Refuses an empty list of factors, duplicate names, columns of different lengths, level
    /// numbers that are out of range, fewer than two observations, and values that are infinite or
    /// not a number.
    pub fn new(
        factors: Vec<Factor>,
        levels: Vec<Vec<u32>>,
        values: Vec<f64>,
    ) -> Result<Self, Refusal> {
        check_factors(&factors)?;
        check_length("the columns of levels", factors.len(), levels.len())?;
        for (factor, column) in factors.iter().zip(&levels) {
            check_length(&format!("the column of {:?}", factor.name), values.len(), column.len())?;
            check_levels(factor, column)?;
        }
        check_observations(&values)?;
        Ok(Self { factors, levels, offset: 0.0, values })
    }

    /// Makes the observations `offset` plus each value, sums that need not be representable as
    /// doubles. If observations agree in so many leading digits that doubles would lose their
    /// differences, let the offset be the part in which they agree, and the values the exact
    /// differences from it. Effects, sums of squares around the mean, F and p are computed from the
    /// values; means, ratios and logarithms are those of the sums.
    ///
    /// # Errors
    /// Refuses an offset, and a sum of it and a value, that is infinite or not a number.
    pub fn with_offset(mut self, offset: f64) -> Result<Self, Refusal> {
        self.offset = offset;
        let infinite = self.observed().enumerate().find(|(_, value)| !value.is_finite());
        match infinite {
            None => Ok(self),
            Some((index, value)) => Err(Refusal::NotFinite { index, value }),
        }
    }

    /// The factors.
    pub fn factors(&self) -> &[Factor] {
        &self.factors
    }

    /// The level of each observation, from 0, per factor.
    pub fn levels(&self) -> &[Vec<u32>] {
        &self.levels
    }

    /// What must be added to every value: 0 unless set by [`Table::with_offset`].
    pub fn offset(&self) -> f64 {
        self.offset
    }

    /// The value of each observation, minus the offset.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The value of each observation, offset included.
    pub(super) fn observed(&self) -> impl Iterator<Item = f64> {
        self.values.iter().map(|value| self.offset + value)
    }

    /// Refuses observations that are all equal.
    pub(super) fn check_not_constant(&self) -> Result<(), Refused> {
        if self.values.iter().any(|value| *value != self.values[0]) {
            return Ok(());
        }
        let (observations, value) = (self.values.len(), self.offset + self.values[0]);
        Err(Refused::Constant { observations, value })
    }

    /// The number of levels per factor.
    pub(super) fn dims(&self) -> Vec<usize> {
        self.factors.iter().map(|factor| factor.levels.len()).collect()
    }

    /// The index of the factor with this name.
    pub(super) fn position_of(&self, name: &str) -> Result<usize, Refused> {
        position_of(&self.factors, name)
    }
}

/// The index of the factor with this name among `factors`.
pub(super) fn position_of(factors: &[Factor], name: &str) -> Result<usize, Refused> {
    factors.iter().position(|factor| factor.name == name).ok_or_else(|| Refused::NoFactor {
        name: name.to_owned(),
        known: factors.iter().map(|f| f.name.as_str()).collect::<Vec<_>>().join(", "),
    })
}

/// Builds a [`Table`] row by row; levels are numbered in the order in which they first occur.
#[derive(Clone, Debug)]
pub struct TableBuilder {
    factors: Vec<Factor>,
    known: Vec<HashMap<String, u32>>,
    levels: Vec<Vec<u32>>,
    offset: f64,
    values: Vec<f64>,
}

impl TableBuilder {
    /// An empty table with these factors.
    pub fn new<S: Into<String>>(factors: impl IntoIterator<Item = S>) -> Self {
        let named = |name: S| Factor { name: name.into(), levels: Vec::new() };
        let factors: Vec<Factor> = factors.into_iter().map(named).collect();
        let count = factors.len();
        let (known, levels) = (vec![HashMap::new(); count], vec![Vec::new(); count]);
        Self { factors, known, levels, offset: 0.0, values: Vec::new() }
    }

    /// Sets an offset to be added to the values, as in [`Table::with_offset`].
    #[must_use]
    pub fn with_offset(self, offset: f64) -> Self {
        Self { offset, ..self }
    }

    /// Adds one observation: the level of every factor, in their order, and the value.
    ///
    /// # Errors
    /// Refuses a number of levels other than that of the factors. The table is then unchanged.
    pub fn row<S: AsRef<str>>(&mut self, levels: &[S], value: f64) -> Result<(), Refusal> {
        let what = format!("row {}", self.values.len());
        check_length(&what, self.factors.len(), levels.len())?;
        for (factor, level) in levels.iter().enumerate() {
            let number = self.number_of(factor, level.as_ref())?;
            self.levels[factor].push(number);
        }
        self.values.push(value);
        Ok(())
    }

    /// The finished table.
    ///
    /// # Errors
    /// Refuses what [`Table::new`] and [`Table::with_offset`] refuse.
    pub fn build(self) -> Result<Table, Refusal> {
        Table::new(self.factors, self.levels, self.values)?.with_offset(self.offset)
    }

    fn number_of(&mut self, factor: usize, level: &str) -> Result<u32, Refused> {
        if let Some(&number) = self.known[factor].get(level) {
            return Ok(number);
        }
        let given = self.factors[factor].levels.len();
        let too_many = Refused::TooMany { what: "levels", given, most: u32::MAX as usize };
        let number = u32::try_from(given).map_err(|_| too_many)?;
        self.known[factor].insert(level.to_owned(), number);
        self.factors[factor].levels.push(level.to_owned());
        Ok(number)
    }
}

fn check_factors(factors: &[Factor]) -> Result<(), Refused> {
    if factors.is_empty() {
        return Err(Refused::NoFactor { name: String::new(), known: "none".to_owned() });
    }
    check_different(factors.iter().map(|factor| &factor.name), "the factors")?;
    for factor in factors {
        check_different(factor.levels.iter(), &format!("the levels of {:?}", factor.name))?;
    }
    Ok(())
}

fn check_different<'a>(
    names: impl Iterator<Item = &'a String>,
    among: &str,
) -> Result<(), Refused> {
    let mut seen = std::collections::HashSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(Refused::SameName { name: name.clone(), among: among.to_owned() });
        }
    }
    Ok(())
}

fn check_levels(factor: &Factor, column: &[u32]) -> Result<(), Refused> {
    let levels = factor.levels.len();
    match column.iter().position(|&level| level as usize >= levels) {
        None => Ok(()),
        Some(index) => Err(Refused::NoLevel {
            index,
            factor: factor.name.clone(),
            level: column[index],
            levels,
        }),
    }
}

fn check_observations(values: &[f64]) -> Result<(), Refusal> {
    check_count("an analysis of variance", values.len(), 2)?;
    let most = u32::MAX as usize;
    if values.len() > most {
        return Err(Refused::TooMany { what: "observations", given: values.len(), most }.into());
    }
    check_finite(values)
}

fn check_length(what: &str, wanted: usize, given: usize) -> Result<(), Refused> {
    if wanted == given {
        return Ok(());
    }
    Err(Refused::Length { what: what.to_owned(), wanted, given })
}
