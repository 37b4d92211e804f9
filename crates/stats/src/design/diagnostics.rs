//! What the residuals say about the assumptions: errors that are independent, normal and equally
//! spread, and effects that add up (Jain, "The Art of Computer Systems Performance Analysis",
//! section 18.7 and chapters 20 and 21, where this is judged by eye).

use std::fmt;

use super::cells::Cells;
use super::fit::Fit;
use super::model::p_of_correlation;
use super::run_order;
use super::sums::{EXAMINED_MAX, correlation, mean, spread_positions, squares_about, sum, sum_of};
use textual::p_equation;

use crate::distribution::{anderson_darling, fisher, normal};

/// The p value below which a diagnostic is a warning. There are up to five diagnostics, so one
/// analysis in twenty warns without cause.
pub const WARNING_P: f64 = 0.01;

/// Number of observations per cell from which on spreads are compared between cells. With fewer,
/// distances from the median are tied to each other or 0, and the test almost never warns.
const PER_CELL_ENOUGH: f64 = 6.0;

/// Minimum number at which that is still better than nothing.
const PER_CELL_MIN: f64 = 4.0;

/// Minimum number of residuals for a test of normality (D'Agostino & Stephens, table 4.9).
const NORMALITY_MIN: usize = 8;

/// Minimum number of cells for comparing their spreads with their means.
const CELLS_MIN: usize = 5;

/// One finding about the residuals. Displays as a sentence with its numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Diagnostic {
    /// The model fits exactly, apart from rounding, so there is no F, no p and no interval.
    ExactFit,
    /// Whether residuals are normal, by the Anderson-Darling statistic.
    Normality {
        /// A squared, with the residuals' own mean and standard deviation.
        a_squared: f64,
        /// The probability of a statistic at least this large from normal errors.
        p: f64,
        /// The number of residuals examined, spread evenly over all of them.
        examined: usize,
    },
    /// Whether the spread is the same in all cells, by the Brown-Forsythe test: an analysis of
    /// variance of distances from the cells' medians.
    EqualSpread {
        /// F of the distances.
        f: f64,
        /// The degrees of freedom between cells.
        df1: u64,
        /// The degrees of freedom within cells.
        df2: u64,
        /// The p value of "the spreads are equal".
        p: f64,
    },
    /// Whether the size of residuals correlates with the fitted values, cell by cell. Without
    /// replications, p is up to twice too small.
    SpreadAgainstMean {
        /// Pearson's correlation of the two.
        correlation: f64,
        /// The two-sided p value of "it is 0", by Student's t, as an approximation.
        p: f64,
        /// The number of cells examined.
        cells: usize,
    },
    /// Whether errors of successive observations are correlated, in the order of rows.
    Order {
        /// The correlation of successive residuals.
        correlation: f64,
        /// Its expected value for independent errors; residuals are correlated even then.
        expected: f64,
        /// The two-sided p value of "errors are independent".
        p: f64,
        /// The number of successive pairs examined, spread evenly over all of them.
        pairs: usize,
    },
    /// Whether the effects of two factors multiply rather than add up, by Tukey's one degree of
    /// freedom.
    NonAdditivity {
        /// F of that degree of freedom.
        f: f64,
        /// The degrees of freedom that it leaves to errors.
        df: u64,
        /// The p value of "they add up".
        p: f64,
    },
}

impl Diagnostic {
    /// The probability of residuals at least this unusual if the assumption holds; none if there
    /// are no residuals.
    pub fn p(&self) -> Option<f64> {
        match *self {
            Self::ExactFit => None,
            Self::Normality { p, .. }
            | Self::EqualSpread { p, .. }
            | Self::SpreadAgainstMean { p, .. }
            | Self::Order { p, .. }
            | Self::NonAdditivity { p, .. } => Some(p),
        }
    }

    /// Whether the analysis must not be read without it: p below [`WARNING_P`], or no errors.
    pub fn is_warning(&self) -> bool {
        self.p().is_none_or(|p| p < WARNING_P)
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::ExactFit => {
                write!(out, "the model fits without error, so there is no F, p or interval")
            }
            Self::Normality { a_squared, p, examined } => write!(
                out,
                "normality of {examined} residuals: Anderson-Darling A^2 = {a_squared:.3}, {}",
                p_equation(p)
            ),
            Self::EqualSpread { f, df1, df2, p } => write!(
                out,
                "equal spread of all cells: Brown-Forsythe F({df1}, {df2}) = {f:.3}, {}",
                p_equation(p)
            ),
            Self::SpreadAgainstMean { correlation, p, cells } => write!(
                out,
                "size of residuals against fitted values of {cells} cells: \
                 r = {correlation:.3}, {}",
                p_equation(p)
            ),
            Self::Order { correlation, expected, p, pairs } => write!(
                out,
                "order of {pairs} pairs of neighbours: r = {correlation:.3}, \
                 expected {expected:.3}, {}",
                p_equation(p)
            ),
            Self::NonAdditivity { f, df, p } => write!(
                out,
                "effects that multiply: Tukey's non-additivity F(1, {df}) = {f:.3}, {}",
                p_equation(p)
            ),
        }
    }
}

/// All findings about these residuals.
pub(super) fn diagnose(cells: &Cells, fit: &Fit, is_exact: bool) -> Vec<Diagnostic> {
    if is_exact {
        return vec![Diagnostic::ExactFit];
    }
    let residuals = Residuals { cells, fit };
    let found = [
        normality(&residuals),
        spread(&residuals),
        run_order::order_effect(&residuals),
        tukey(&residuals),
    ];
    found.into_iter().flatten().collect()
}

/// The residual of each observation under the model.
pub(super) struct Residuals<'a> {
    pub(super) cells: &'a Cells,
    pub(super) fit: &'a Fit,
}

impl Residuals<'_> {
    /// The model's prediction for a cell, minus the pivot.
    fn fitted(&self, cell: usize) -> f64 {
        let rest = self.fit.residual_means.as_ref().map_or(0.0, |rest| rest[cell]);
        self.cells.means[cell] - rest
    }

    /// The residuals of one cell, in the order in which they were observed.
    fn of_cell(&self, cell: usize) -> impl Iterator<Item = f64> {
        let fitted = self.fitted(cell);
        self.cells.values_of(cell).iter().map(move |value| value - fitted)
    }

    /// The residual at this position in cell order.
    fn grouped_at(&self, place: usize) -> f64 {
        let (cell, value) = self.cells.grouped_at(place);
        value - self.fitted(cell)
    }

    /// The residual of this observation.
    pub(super) fn at(&self, observation: usize) -> f64 {
        self.grouped_at(self.cells.place_of(observation))
    }
}

/// The Anderson-Darling test with estimated mean and variance (D'Agostino & Stephens,
/// "Goodness-of-Fit Techniques", section 4.8.5, both parameters unknown).
fn normality(residuals: &Residuals) -> Option<Diagnostic> {
    let positions = spread_positions(residuals.cells.observations(), EXAMINED_MAX);
    let mut values: Vec<f64> = positions.iter().map(|&at| residuals.grouped_at(at)).collect();
    let examined = values.len();
    if examined < NORMALITY_MIN {
        return None;
    }
    values.sort_unstable_by(f64::total_cmp);
    let n = examined as f64;
    let centre = mean(&values);
    let deviation = (squares_about(&values, centre) / (n - 1.0)).sqrt();
    if deviation <= 0.0 {
        return None;
    }
    let ln = |tail: f64| tail.max(f64::MIN_POSITIVE).ln();
    let z = |index: usize| (values[index] - centre) / deviation;
    let terms: Vec<f64> = (0..examined)
        .map(|i| {
            let weight = (2 * i + 1) as f64;
            weight * (ln(normal::cdf(z(i))) + ln(normal::sf(z(examined - 1 - i))))
        })
        .collect();
    let a_squared = (-n - sum(&terms) / n).max(0.0);
    let p = anderson_darling::p(a_squared, examined as u64);
    Some(Diagnostic::Normality { a_squared, p, examined })
}

fn spread(residuals: &Residuals) -> Option<Diagnostic> {
    let cells = residuals.cells;
    let have = |least: f64| (0..cells.len()).all(|cell| cells.count(cell) >= least);
    if have(PER_CELL_ENOUGH) {
        return brown_forsythe(cells);
    }
    let few = || if have(PER_CELL_MIN) { brown_forsythe(cells) } else { None };
    spread_against_mean(residuals).or_else(few)
}

/// Brown & Forsythe, "Robust Tests for the Equality of Variances", Journal of the American
/// Statistical Association 69(346), 1974, W50.
fn brown_forsythe(cells: &Cells) -> Option<Diagnostic> {
    let distances: Vec<Vec<f64>> = cells.iter().map(distances_from_median).collect();
    let means: Vec<f64> = distances.iter().map(|cell| mean(cell)).collect();
    let observations = cells.observations();
    let weighted = |term: &dyn Fn(usize) -> f64| {
        let terms: Vec<f64> = (0..cells.len()).map(term).collect();
        sum(&terms)
    };
    let grand = weighted(&|cell| cells.count(cell) * means[cell]) / observations as f64;
    let between = weighted(&|cell| cells.count(cell) * (means[cell] - grand).powi(2));
    let within = weighted(&|cell| squares_about(&distances[cell], means[cell]));
    let (df1, df2) = (cells.len() as u64 - 1, (observations - cells.len()) as u64);
    // If all distances within each cell are equal, there is nothing to judge by.
    if within <= f64::EPSILON * observations as f64 * grand * grand {
        return None;
    }
    let f = between / df1 as f64 / (within / df2 as f64);
    Some(Diagnostic::EqualSpread { f, df1, df2, p: fisher::sf(f, df1 as f64, df2 as f64) })
}

fn distances_from_median(values: &[f64]) -> Vec<f64> {
    let mut ascending = values.to_vec();
    ascending.sort_unstable_by(f64::total_cmp);
    let middle = ascending.len() / 2;
    let median = if ascending.len() % 2 == 1 {
        ascending[middle]
    } else {
        f64::midpoint(ascending[middle - 1], ascending[middle])
    };
    values.iter().map(|value| (value - median).abs()).collect()
}

fn spread_against_mean(residuals: &Residuals) -> Option<Diagnostic> {
    let cells = spread_positions(residuals.cells.len(), EXAMINED_MAX);
    if cells.len() < CELLS_MIN {
        return None;
    }
    let fitted: Vec<f64> = cells.iter().map(|&cell| residuals.fitted(cell)).collect();
    let size = |&cell: &usize| {
        let squares: f64 = residuals.of_cell(cell).map(|residual| residual * residual).sum();
        (squares / residuals.cells.count(cell)).sqrt()
    };
    let sizes: Vec<f64> = cells.iter().map(size).collect();
    let correlation = correlation(&fitted, &sizes)?;
    let p = p_of_correlation(correlation, (cells.len() - 2) as f64);
    Some(Diagnostic::SpreadAgainstMean { correlation, p, cells: cells.len() })
}

/// Tukey, "One Degree of Freedom for Non-Additivity", Biometrics 5(3), 1949; for two factors
/// without replications.
fn tukey(residuals: &Residuals) -> Option<Diagnostic> {
    let (cells, fit) = (residuals.cells, residuals.fit);
    if cells.dims.len() != 2 || cells.balanced() != Some(1) || fit.error_df < 2 {
        return None;
    }
    let (rows, columns) = (&fit.effects_of(0).data, &fit.effects_of(1).data);
    let of_rows = |row: usize| -> f64 {
        let start = row * columns.len();
        let rest = fit.residual_means.as_ref().map_or(&[][..], |rest| &rest[start..]);
        rows[row] * rest.iter().zip(columns).map(|(rest, column)| rest * column).sum::<f64>()
    };
    let products: Vec<f64> = (0..rows.len()).map(of_rows).collect();
    let squares = sum_of(rows, |effect| effect * effect) * sum_of(columns, |e| e * e);
    let sum_sq = sum(&products).powi(2) / squares;
    let (df, rest) = (fit.error_df - 1, fit.error_sum_sq - sum_sq);
    if !sum_sq.is_finite() || rest <= fit.error_sum_sq * 1e-12 {
        return None;
    }
    let f = sum_sq / (rest / df as f64);
    Some(Diagnostic::NonAdditivity { f, df, p: fisher::sf(f, 1.0, df as f64) })
}
