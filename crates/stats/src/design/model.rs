//! Whether effects add up or multiply, and why.
//!
//! Jain, "The Art of Computer Systems Performance Analysis", sections 18.8 and 21.7: where the
//! physics says that effects multiply, where the largest observation is many times the smallest,
//! or where the spread of the errors grows with the mean, the logarithms of the observations are
//! analysed instead. Two orders of magnitude count as "many times" here. A spread that grows is
//! judged by the slope of ln s on ln mean over cells: 0 where the spread is constant and 1 where
//! logarithms make it so (Box, Hunter & Hunter, "Statistics for Experimenters", 2nd edition,
//! chapter 8).

use std::fmt;

use super::cells::Cells;
use super::sums::{EXAMINED_MOST, correlation, mean, spread_positions, sum_of};
use super::{Refused, Table};
use crate::distribution::student;

/// The ratio of the largest to the smallest value from which a model is multiplicative.
pub const WIDE_RATIO: f64 = 100.0;

/// The slope of ln s on ln mean from which a model is multiplicative, halfway to proportional.
pub const STEEP_SLOPE: f64 = 0.5;

/// The p value below which that slope is believed.
const SLOPE_P: f64 = 0.01;

/// The least number of cells whose spread and mean can be compared.
const CELLS_LEAST: usize = 5;

/// The spread, as a share of the largest value, below which values differ by rounding alone.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// Which model to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ModelChoice {
    /// Effects add up.
    Additive,
    /// Effects multiply: decimal logarithms are analysed.
    Multiplicative,
    /// Whichever the data call for, which [`Why`] tells.
    #[default]
    Auto,
}

/// The model that was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// Effects add up, in the unit of the observations.
    Additive,
    /// Effects multiply; estimates are decimal logarithms.
    Multiplicative,
}

impl fmt::Display for Model {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Additive => "additive",
            Self::Multiplicative => "multiplicative",
        })
    }
}

/// Why the model was used. Displays as a sentence with its numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Why {
    /// It was asked for.
    AskedFor,
    /// A logarithm of this observation does not exist: additive.
    NotPositive {
        /// Where the observation stands, from 0.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// The largest observation is very much larger than the smallest: multiplicative.
    WideRatio {
        /// Largest divided by smallest.
        ratio: f64,
    },
    /// The spread within cells grows with their mean: multiplicative.
    SpreadGrows {
        /// The slope of ln s on ln mean.
        slope: f64,
        /// Its two-sided p value against 0.
        p: f64,
    },
    /// Neither is so: additive.
    Plain {
        /// Largest divided by smallest.
        ratio: f64,
        /// The slope of ln s on ln mean, where there are enough cells with replications.
        slope: Option<f64>,
    },
}

impl fmt::Display for Why {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AskedFor => write!(out, "the model was asked for"),
            Self::NotPositive { index, value } => {
                write!(out, "observation {index} is {value}, which has no logarithm: additive")
            }
            Self::WideRatio { ratio } => write!(
                out,
                "the largest value is {ratio:.4} times the smallest, {WIDE_RATIO} or more: \
                 multiplicative"
            ),
            Self::SpreadGrows { slope, p } => write!(
                out,
                "the spread within cells grows as the mean to the power {slope:.2} (p = {p:.1e}): \
                 multiplicative"
            ),
            Self::Plain { ratio, slope } => {
                write!(
                    out,
                    "the largest value is {ratio:.4} times the smallest, less than {WIDE_RATIO}"
                )?;
                if let Some(slope) = slope {
                    write!(out, ", and the spread goes as the mean to the power {slope:.2}")?;
                }
                write!(out, ": additive")
            }
        }
    }
}

/// The model, why it was chosen, and the observations as the model sees them, by cell.
pub(super) struct Modelled {
    pub(super) model: Model,
    pub(super) why: Why,
    pub(super) cells: Cells,
    /// A spread below which observations differ by rounding alone.
    pub(super) rounding: f64,
}

/// Chooses the model and gathers the observations.
pub(super) fn modelled(table: &Table, choice: ModelChoice) -> Result<Modelled, Refused> {
    let values = table.values();
    if values.iter().all(|value| *value == values[0]) {
        return Err(Refused::Constant { observations: values.len(), value: values[0] });
    }
    match choice {
        ModelChoice::Additive => additive(table, Why::AskedFor),
        ModelChoice::Multiplicative => multiplicative(table, Why::AskedFor),
        ModelChoice::Auto => chosen(table),
    }
}

fn additive(table: &Table, why: Why) -> Result<Modelled, Refused> {
    let (values, model) = (table.values(), Model::Additive);
    let largest = largest(values);
    let cells = Cells::new(table, values)?;
    let squares = [cells.total_squares, largest * largest * values.len() as f64];
    if squares.iter().all(|squares| squares.is_finite() && *squares > 0.0) {
        return Ok(Modelled { model, why, cells, rounding: ROUNDING * largest });
    }
    Err(Refused::OutOfRange)
}

fn multiplicative(table: &Table, why: Why) -> Result<Modelled, Refused> {
    let (values, model) = (table.values(), Model::Multiplicative);
    if let Some((index, value)) = first_not_positive(values) {
        return Err(Refused::NotPositive { index, value });
    }
    let logs: Vec<f64> = values.iter().map(|value| value.log10()).collect();
    let cells = Cells::new(table, &logs)?;
    // A value's last digit moves its logarithm by up to this, however close to 0 that is.
    let rounding = ROUNDING * largest(&logs).max(1.0);
    Ok(Modelled { model, why, cells, rounding })
}

/// The largest magnitude among the values.
fn largest(values: &[f64]) -> f64 {
    let larger =
        |largest: f64, value: &f64| if value.abs() > largest { value.abs() } else { largest };
    values.iter().fold(0.0, larger)
}

fn chosen(table: &Table) -> Result<Modelled, Refused> {
    let values = table.values();
    if let Some((index, value)) = first_not_positive(values) {
        return additive(table, Why::NotPositive { index, value });
    }
    let (low, high) =
        values.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), &v| (low.min(v), high.max(v)));
    let ratio = (high / low).min(f64::MAX);
    if ratio >= WIDE_RATIO {
        return multiplicative(table, Why::WideRatio { ratio });
    }
    let plain = additive(table, Why::Plain { ratio, slope: None })?;
    match slope(&plain.cells) {
        Some((slope, p)) if slope > STEEP_SLOPE && p < SLOPE_P => {
            multiplicative(table, Why::SpreadGrows { slope, p })
        }
        found => {
            let slope = found.map(|(slope, _)| slope);
            Ok(Modelled { why: Why::Plain { ratio, slope }, ..plain })
        }
    }
}

fn first_not_positive(values: &[f64]) -> Option<(usize, f64)> {
    values.iter().position(|value| *value <= 0.0).map(|index| (index, values[index]))
}

/// The slope of ln s on ln mean over (some of) the cells, and its p value against 0.
fn slope(cells: &Cells) -> Option<(f64, f64)> {
    let mut means = Vec::new();
    let mut spreads = Vec::new();
    for cell in spread_positions(cells.len(), EXAMINED_MOST) {
        let values = cells.of(cell);
        let squares = super::sums::squares_about(values, cells.means[cell]);
        if values.len() >= 2 && squares > 0.0 {
            means.push((cells.means[cell] + cells.pivot).ln());
            spreads.push((squares / (values.len() - 1) as f64).ln() / 2.0);
        }
    }
    if means.len() < CELLS_LEAST {
        return None;
    }
    let r = correlation(&means, &spreads)?;
    let spread_of = |values: &[f64]| {
        let centre = mean(values);
        sum_of(values, |value| (value - centre).powi(2)).sqrt()
    };
    let df = (means.len() - 2) as f64;
    Some((r * spread_of(&spreads) / spread_of(&means), p_of_correlation(r, df)))
}

/// The two-sided p value of a correlation by Student's t with `df` degrees of freedom.
pub(super) fn p_of_correlation(r: f64, df: f64) -> f64 {
    let rest = (1.0 - r * r).max(f64::MIN_POSITIVE);
    student::two_sided_p(r * (df / rest).sqrt(), df)
}
