//! Any design: three or more factors with unequal numbers of observations, and combinations of
//! levels that were never observed.
//!
//! Least squares on the means of the existing cells, each weighted by its number of observations.
//! Every set of factors has a column per combination of its levels, except those with any factor's
//! first level; the Gram-Schmidt method, applied twice, makes them orthonormal (Bjorck, "Numerical
//! Methods for Least Squares Problems", section 2.4). Sums of squares are of type II: that of a set
//! is what it adds to all sets that do not contain it (Langsrud, "ANOVA for unbalanced data: Use
//! Type II instead of Type III sums of squares", Statistics and Computing 13, 2003). None is a
//! difference of two larger ones.
//!
//! The number of interacting factors is limited so that no set has fewer degrees of freedom than
//! its levels imply: otherwise it would share some with another set, and neither would show what
//! both explain. Whatever larger interactions contribute is a row of its own, the lack of fit,
//! tested against the observations within cells (Draper & Smith, "Applied Regression Analysis", 3rd
//! edition, section 2.1). The mean of a level is that over all combinations, observed or not, as
//! predicted by the model (Searle, Speed & Milliken, "Population Marginal Means in the Linear
//! Model", The American Statistician 34(4), 1980).

use std::collections::BTreeMap;

use super::cells::Cells;
use super::fit::{Fit, Margin, Term, effects, margins, subsets};
use super::{Grid, Refused};

/// Remainder, as a share of a column's length, below which other columns explain it apart from
/// rounding.
const NOTHING: f64 = 1e-10;

/// Maximum number of steps, of four multiplications each: seconds.
const WORK_MAX: f64 = 2e10;

/// Fits all effects of up to `order` factors, or of as many as can be told apart.
pub(super) fn fit(cells: &Cells, order: Option<usize>) -> Result<Fit, Refused> {
    let factors = cells.dims.len();
    let within_df = (cells.observations() - cells.len()) as u64;
    let data = Data::new(cells);
    let (order_used, basis) = data.largest(order, within_df)?;
    let rest = basis.rest(&data.weighted);
    let unexplained = (squares(&rest), (cells.len() - basis.rank()) as u64);
    let is_saturated = order_used == factors;
    let (grand, grand_variance, margins, grid) = if is_saturated {
        let inverse: f64 = (0..cells.len()).map(|cell| 1.0 / cells.count(cell)).sum();
        let grid = cells.grid();
        let variance = inverse / (cells.len() as f64).powi(2);
        (grid.margin(&[]).data[0], variance, margins(cells), Some(grid))
    } else {
        let predicted = data.predicted(order_used, &basis);
        (predicted.grand, predicted.grand_variance, predicted.margins, None)
    };
    let of_term = |axes: Vec<usize>| {
        let (sum_sq, df) = data.sum_of_squares(&axes, order_used);
        let effects = match (&grid, &axes[..]) {
            (Some(grid), _) => Some(effects(grid, &axes)),
            (None, &[axis]) => Some(margins[axis].effects()),
            (None, _) => None,
        };
        Term { axes, effects, sum_sq, df }
    };
    let mut terms: Vec<Term> = subsets(factors, order_used).into_iter().map(of_term).collect();
    let (mut error_sum_sq, mut error_df) = (cells.squares_within(), within_df);
    // Interactions that the caller wants to count as errors do so, as do those that there is
    // nothing to test against.
    let is_tested = within_df > 0 && order.is_none_or(|asked| asked > order_used);
    if !is_saturated && is_tested && unexplained.1 > 0 {
        let (sum_sq, df) = unexplained;
        terms.push(Term { axes: Vec::new(), effects: None, sum_sq, df });
    } else if !is_saturated {
        error_sum_sq += unexplained.0;
        error_df += unexplained.1;
    }
    let is_pooled = !is_saturated && !is_tested;
    Ok(Fit {
        grand,
        grand_variance,
        terms,
        residual_means: is_pooled
            .then(|| rest.iter().zip(&data.weights).map(|(rest, weight)| rest / weight).collect()),
        error_sum_sq,
        error_df,
        margins,
        predicting: (!is_saturated).then_some(order_used),
    })
}

/// The means of the cells, with their levels and weights.
struct Data<'a> {
    names: &'a [String],
    dims: &'a [usize],
    /// The level of each factor, by cell.
    levels: Vec<Vec<usize>>,
    /// The square root of each cell's number of observations.
    weights: Vec<f64>,
    /// Each cell's mean times its weight.
    weighted: Vec<f64>,
}

/// What a model predicts over all combinations of levels.
struct Predicted {
    grand: f64,
    grand_variance: f64,
    margins: Vec<Margin>,
}

impl<'a> Data<'a> {
    fn new(cells: &'a Cells) -> Self {
        let weights: Vec<f64> = (0..cells.len()).map(|cell| cells.count(cell).sqrt()).collect();
        let weighted = weights.iter().zip(&cells.means).map(|(weight, mean)| weight * mean);
        Self {
            names: &cells.names,
            dims: &cells.dims,
            levels: (0..cells.len()).map(|cell| cells.levels_of(cell)).collect(),
            weighted: weighted.collect(),
            weights,
        }
    }

    /// The largest number of interacting factors, up to `order`, at which no set of factors shares
    /// what it explains with others; and the corresponding basis.
    fn largest(&self, order: Option<usize>, within_df: u64) -> Result<(usize, Basis), Refused> {
        let factors = self.dims.len();
        let count = self.levels.len() as f64;
        let needed = |order: usize| {
            let terms = subsets(factors, order);
            1.0 + terms.iter().map(|axes| self.full_df(axes)).sum::<f64>()
        };
        let mut is_too_large = false;
        for order in (1..=order.unwrap_or(factors).clamp(1, factors)).rev() {
            // Without replications, errors are estimated from larger interactions.
            let has_errors = within_df > 0 || needed(order) < count || order == 1;
            if needed(order) > count || !has_errors {
                continue;
            }
            is_too_large = self.work(order) > WORK_MAX;
            if is_too_large {
                continue;
            }
            let basis = self.basis(order);
            if basis.rank() as f64 == needed(order) {
                return Ok((order, basis));
            }
        }
        if is_too_large {
            return Err(Refused::TooLarge { cells: self.levels.len() });
        }
        Err(Refused::Unlinked { factor: self.unlinked() })
    }

    /// The number of steps for effects of up to `order` factors.
    fn work(&self, order: usize) -> f64 {
        let cells = self.levels.len() as f64;
        let terms = subsets(self.dims.len(), order);
        let columns: f64 = terms.iter().map(|axes| self.full_df(axes).min(cells)).sum();
        terms.len() as f64 * columns * columns.min(cells) * cells
    }

    /// The degrees of freedom of a set of factors if every combination was observed.
    fn full_df(&self, axes: &[usize]) -> f64 {
        axes.iter().map(|&axis| self.dims[axis] as f64 - 1.0).product()
    }

    /// The columns of a set of factors: for each combination of levels that includes no first
    /// level, the weights of the cells that have it.
    fn columns(&self, axes: &[usize]) -> BTreeMap<Vec<usize>, Vec<f64>> {
        let mut columns = BTreeMap::new();
        for (cell, levels) in self.levels.iter().enumerate() {
            let of: Vec<usize> = axes.iter().map(|&axis| levels[axis]).collect();
            if of.iter().all(|&level| level > 0) {
                let column = columns.entry(of).or_insert_with(|| vec![0.0; self.levels.len()]);
                column[cell] = self.weights[cell];
            }
        }
        columns
    }

    /// A basis of what the effects of all sets of up to `order` factors can explain.
    fn basis(&self, order: usize) -> Basis {
        self.basis_of(subsets(self.dims.len(), order).iter())
    }

    fn basis_of<'b>(&self, terms: impl Iterator<Item = &'b Vec<usize>>) -> Basis {
        let mut basis = Basis::default();
        basis.add(self.weights.clone());
        for axes in terms {
            self.columns(axes).into_values().for_each(|column| basis.add(column));
        }
        basis
    }

    /// What a set of factors explains beyond all sets that do not contain it, and its degrees of
    /// freedom.
    fn sum_of_squares(&self, axes: &[usize], order: usize) -> (f64, u64) {
        let terms = subsets(self.dims.len(), order);
        let contains = |other: &Vec<usize>| axes.iter().all(|axis| other.contains(axis));
        let mut basis = self.basis_of(terms.iter().filter(|other| !contains(other)));
        let rest = basis.rest(&self.weighted);
        if axes.len() == self.dims.len() {
            return (squares(&rest), (self.levels.len() - basis.rank()) as u64);
        }
        let before = basis.rank();
        self.columns(axes).into_values().for_each(|column| basis.add(column));
        let added = &basis.vectors[before..];
        (added.iter().map(|vector| dot(vector, &rest).powi(2)).sum(), added.len() as u64)
    }

    /// The means that effects of up to `order` factors predict.
    fn predicted(&self, order: usize, basis: &Basis) -> Predicted {
        let fitted: Vec<f64> =
            basis.vectors.iter().map(|vector| dot(vector, &self.weighted)).collect();
        // A mean is a weighted sum of coefficients, hence of the components along the basis.
        let loadings = |axis: usize, level: usize| {
            basis.solve_transposed(self.mean_columns(order, Some((axis, level))))
        };
        let margin = |axis: usize| {
            let loadings: Vec<Vec<f64>> =
                (0..self.dims[axis]).map(|level| loadings(axis, level)).collect();
            Margin::predicted(loadings, &fitted)
        };
        let grand = basis.solve_transposed(self.mean_columns(order, None));
        Predicted {
            grand: dot(&grand, &fitted),
            grand_variance: squares(&grand),
            margins: (0..self.dims.len()).map(margin).collect(),
        }
    }

    /// The mean over all combinations, or over those with one level, of each column of the model.
    fn mean_columns(&self, order: usize, with: Option<(usize, usize)>) -> Vec<f64> {
        let share = |axis: usize, at: usize| match with {
            Some((fixed, level)) if fixed == axis => f64::from(u8::from(level == at)),
            _ => 1.0 / self.dims[axis] as f64,
        };
        let mut means = vec![1.0];
        for axes in subsets(self.dims.len(), order) {
            let of = |levels: &Vec<usize>| -> f64 {
                axes.iter().zip(levels).map(|(&axis, &at)| share(axis, at)).product()
            };
            means.extend(self.columns(&axes).keys().map(of));
        }
        means
    }

    /// The first factor whose effects cannot be told from those of the others.
    fn unlinked(&self) -> String {
        let alone: Vec<Vec<usize>> = (0..self.dims.len()).map(|axis| vec![axis]).collect();
        let all = self.basis_of(alone.iter()).rank();
        let is_told = |axis: usize| {
            let others = self.basis_of(alone.iter().filter(|other| other[0] != axis)).rank();
            all - others == self.dims[axis] - 1
        };
        let axis = (0..self.dims.len()).find(|&axis| !is_told(axis)).unwrap_or(0);
        self.names[axis].clone()
    }
}

/// Orthonormal columns, and the original columns in terms of them.
#[derive(Default)]
struct Basis {
    vectors: Vec<Vec<f64>>,
    /// Upper triangular, by column.
    triangle: Vec<Vec<f64>>,
}

impl Basis {
    fn rank(&self) -> usize {
        self.vectors.len()
    }

    /// Adds what the other columns do not explain of a column, if anything.
    fn add(&mut self, mut column: Vec<f64>) {
        let before = squares(&column).sqrt();
        let mut shares = vec![0.0; self.vectors.len()];
        for _ in 0..2 {
            for (vector, all) in self.vectors.iter().zip(&mut shares) {
                let share = dot(vector, &column);
                column.iter_mut().zip(vector).for_each(|(left, part)| *left -= share * part);
                *all += share;
            }
        }
        let left = squares(&column).sqrt();
        if left > NOTHING * before {
            column.iter_mut().for_each(|value| *value /= left);
            shares.push(left);
            self.vectors.push(column);
            self.triangle.push(shares);
        }
    }

    /// What the columns do not explain of `values`.
    fn rest(&self, values: &[f64]) -> Vec<f64> {
        let mut rest = values.to_vec();
        for _ in 0..2 {
            for vector in &self.vectors {
                let share = dot(vector, &rest);
                rest.iter_mut().zip(vector).for_each(|(left, part)| *left -= share * part);
            }
        }
        rest
    }

    /// Solves with the transposed triangle: one equation per column.
    fn solve_transposed(&self, mut right: Vec<f64>) -> Vec<f64> {
        for (place, column) in self.triangle.iter().enumerate() {
            right[place] = (right[place] - dot(&column[..place], &right[..place])) / column[place];
        }
        right
    }
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

fn squares(values: &[f64]) -> f64 {
    dot(values, values)
}

impl Margin {
    /// Means that are weighted sums of independent values of variance 1.
    fn predicted(loadings: Vec<Vec<f64>>, fitted: &[f64]) -> Self {
        Self {
            means: loadings.iter().map(|of| dot(of, fitted)).collect(),
            variances: loadings.iter().map(|of| squares(of)).collect(),
            loadings: Some(loadings),
        }
    }

    /// Each level's mean minus the mean of all levels.
    fn effects(&self) -> Grid {
        let mut effects = Grid { dims: vec![self.means.len()], data: self.means.clone() };
        effects.centre(0);
        effects
    }
}
