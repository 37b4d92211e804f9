//! Whether effects add up or multiply, and why.
//!
//! Jain, "The Art of Computer Systems Performance Analysis", sections 18.8 and 21.7: if the physics
//! says that effects multiply, if the largest observation is many times the smallest, or if the
//! spread of the errors grows with the mean, the logarithms of the observations are analysed
//! instead. Here, "many times" means two orders of magnitude. A growing spread is judged by the
//! slope of ln s on ln mean over cells: 0 if the spread is constant, and 1 if taking logarithms
//! makes it so (Box, Hunter & Hunter, "Statistics for Experimenters", 2nd edition, chapter 8).

use std::f64::consts::LN_10;
use std::fmt;

use super::cells::Cells;
use super::sums::{EXAMINED_MAX, correlation, mean, spread_positions, sum_of};
use super::{Refused, Table};
use textual::p_equation;

use crate::distribution::student;

/// The ratio of the largest to the smallest value from which on a model is multiplicative.
const WIDE_RATIO: f64 = 100.0;

/// The slope of ln s on ln mean from which on a model is multiplicative, halfway to proportional.
const STEEP_SLOPE: f64 = 0.5;

/// The p value below which that slope is believed.
const SLOPE_P: f64 = 0.01;

/// Sums of squares below this lose digits of their parts to underflow.
const SQUARES_MIN: f64 = 1e-280;

/// Minimum number of cells for comparing spread and mean.
const CELLS_MIN: usize = 5;

/// The spread, as a share of the largest value, below which values differ by rounding alone.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// Which model to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ModelChoice {
    /// Effects add up.
    Additive,
    /// Effects multiply: decimal logarithms are analysed.
    Multiplicative,
    /// Whichever the data call for; [`ModelReason`] says which and why.
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
pub enum ModelReason {
    /// The caller asked for it.
    AskedFor,
    /// This observation has no logarithm: additive.
    NotPositive {
        /// The index of the observation, from 0.
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
    /// Neither applies: additive.
    Plain {
        /// Largest divided by smallest.
        ratio: f64,
        /// The slope of ln s on ln mean, if there are enough cells with replications.
        slope: Option<f64>,
    },
}

impl fmt::Display for ModelReason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AskedFor => write!(out, "it was requested"),
            Self::NotPositive { index, value } => {
                write!(out, "observation {index} is {value}, which has no logarithm: additive")
            }
            Self::WideRatio { ratio } => write!(
                out,
                "the largest value is {} times the smallest, {WIDE_RATIO} or more: multiplicative",
                times(*ratio)
            ),
            Self::SpreadGrows { slope, p } => write!(
                out,
                "the spread within cells grows like the mean to the power {slope:.2} ({}): \
                 multiplicative",
                p_equation(*p)
            ),
            Self::Plain { ratio, slope } => {
                write!(
                    out,
                    "the largest value is {} times the smallest, less than {WIDE_RATIO}",
                    times(*ratio)
                )?;
                if let Some(slope) = slope {
                    write!(out, ", and the spread grows like the mean to the power {slope:.2}")?;
                }
                write!(out, ": additive")
            }
        }
    }
}

/// A ratio with a readable number of digits.
fn times(ratio: f64) -> String {
    if ratio < 1e6 { format!("{ratio:.4}") } else { format!("{ratio:.3e}") }
}

/// The model, why it was chosen, and the observations as transformed by it, by cell.
pub(super) struct Modelled {
    pub(super) model: Model,
    pub(super) why: ModelReason,
    pub(super) cells: Cells,
    /// The spread below which observations differ by rounding alone.
    pub(super) rounding: f64,
}

/// Chooses the model and groups the observations.
pub(super) fn modelled(table: &Table, choice: ModelChoice) -> Result<Modelled, Refused> {
    table.check_not_constant()?;
    match choice {
        ModelChoice::Additive => additive(table, ModelReason::AskedFor),
        ModelChoice::Multiplicative => multiplicative(table, ModelReason::AskedFor),
        ModelChoice::Auto => chosen(table),
    }
}

fn additive(table: &Table, why: ModelReason) -> Result<Modelled, Refused> {
    let (values, model) = (table.values(), Model::Additive);
    let cells = Cells::new(table, values, table.offset())?;
    let largest_observed = largest(table.observed());
    let squares = [cells.total_squares, largest_observed.powi(2) * values.len() as f64];
    if squares.iter().all(|squares| squares.is_finite() && *squares > SQUARES_MIN) {
        let rounding = ROUNDING * largest(values.iter().copied());
        return Ok(Modelled { model, why, cells, rounding });
    }
    Err(Refused::OutOfRange)
}

fn multiplicative(table: &Table, why: ModelReason) -> Result<Modelled, Refused> {
    if let Some((index, value)) = first_not_positive(table) {
        return Err(Refused::NotPositive { index, value });
    }
    let logarithms = Logarithms::new(table);
    let cells = Cells::new(table, &logarithms.values, logarithms.offset)?;
    Ok(Modelled { model: Model::Multiplicative, why, cells, rounding: logarithms.rounding })
}

/// Decimal logarithms of observations.
struct Logarithms {
    /// What must be added to each.
    offset: f64,
    values: Vec<f64>,
    /// The spread below which they differ by rounding alone.
    rounding: f64,
}

impl Logarithms {
    /// For observations close to their offset, these are the logarithms of their ratios to it,
    /// which preserves the digits of the differences from it.
    fn new(table: &Table) -> Self {
        let offset = table.offset();
        let largest_value = largest(table.values().iter().copied());
        if largest_value < offset / 2.0 {
            let log = |value: &f64| (value / offset).ln_1p() / LN_10;
            let values: Vec<f64> = table.values().iter().map(log).collect();
            let rounding = ROUNDING * largest(values.iter().copied());
            return Self { offset: offset.log10(), values, rounding };
        }
        let values: Vec<f64> = table.observed().map(f64::log10).collect();
        // A value's last digit changes its logarithm by up to this, however close to 0 the
        // logarithm is.
        let rounding = ROUNDING * largest(values.iter().copied()).max(1.0);
        Self { offset: 0.0, values, rounding }
    }
}

/// The largest magnitude among the values.
fn largest(values: impl Iterator<Item = f64>) -> f64 {
    let larger =
        |largest: f64, value: f64| if value.abs() > largest { value.abs() } else { largest };
    values.fold(0.0, larger)
}

fn chosen(table: &Table) -> Result<Modelled, Refused> {
    if let Some((index, value)) = first_not_positive(table) {
        return additive(table, ModelReason::NotPositive { index, value });
    }
    let (low, high) = table
        .observed()
        .fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
    let ratio = (high / low).min(f64::MAX);
    if ratio >= WIDE_RATIO {
        return multiplicative(table, ModelReason::WideRatio { ratio });
    }
    let plain = additive(table, ModelReason::Plain { ratio, slope: None })?;
    match slope(&plain.cells) {
        Some((slope, p)) if slope > STEEP_SLOPE && p < SLOPE_P => {
            multiplicative(table, ModelReason::SpreadGrows { slope, p })
        }
        found => {
            let slope = found.map(|(slope, _)| slope);
            Ok(Modelled { why: ModelReason::Plain { ratio, slope }, ..plain })
        }
    }
}

fn first_not_positive(table: &Table) -> Option<(usize, f64)> {
    table.observed().enumerate().find(|(_, value)| *value <= 0.0)
}

/// The slope of ln s on ln mean over (some of) the cells, and its p value against 0.
fn slope(cells: &Cells) -> Option<(f64, f64)> {
    let mut means = Vec::new();
    let mut spreads = Vec::new();
    for cell in spread_positions(cells.len(), EXAMINED_MAX) {
        let values = cells.values_of(cell);
        let squares = super::sums::squares_about(values, cells.means[cell]);
        if values.len() >= 2 && squares > 0.0 {
            means.push((cells.means[cell] + cells.pivot).ln());
            spreads.push((squares / (values.len() - 1) as f64).ln() / 2.0);
        }
    }
    if means.len() < CELLS_MIN {
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
