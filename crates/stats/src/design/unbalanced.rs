//! One or two factors with unequal numbers of observations.
//!
//! One factor: the grand mean is that of all observations, and effects are the levels' differences
//! from it (Jain, "The Art of Computer Systems Performance Analysis", chapter 20, unequal sample
//! sizes).
//!
//! Two factors: effects are those of the unweighted means of cells, which do not depend on sample
//! sizes (Searle, Speed & Milliken, "Population Marginal Means in the Linear Model", The American
//! Statistician 34(4), 1980). Sums of squares are of type II: each factor adjusted for the other,
//! the interaction for both (Yates, "The Analysis of Multiple Classifications with Unequal Numbers
//! in the Different Classes", Journal of the American Statistical Association 29(185), 1934;
//! Langsrud, "ANOVA for unbalanced data: Use Type II instead of Type III sums of squares",
//! Statistics and Computing 13, 2003). The additive fit that they need is least squares on the
//! cells' means: the longer factor is eliminated, and Cholesky's method solves for the shorter one.

use super::Grid;
use super::cells::Cells;
use super::fit::{Fit, Term, effects, margins, subsets};
use super::sums::{sum, sum_over};
use crate::positive::{cholesky, solve};

/// Fits one factor with unequal numbers of observations per level.
pub(super) fn one_factor(cells: &Cells) -> Fit {
    let observations = cells.observations();
    let grand = cells.mean;
    let effects: Vec<f64> = cells.means.iter().map(|mean| mean - grand).collect();
    let squares: Vec<f64> = effects
        .iter()
        .enumerate()
        .map(|(cell, effect)| cells.count(cell) * effect * effect)
        .collect();
    let levels = cells.len();
    let term = Term {
        axes: vec![0],
        effects: Some(Grid { dims: vec![levels], data: effects }),
        sum_sq: sum(&squares),
        df: levels as u64 - 1,
    };
    Fit {
        grand,
        grand_variance: 1.0 / observations as f64,
        terms: vec![term],
        residual_means: None,
        error_sum_sq: cells.squares_within(),
        error_df: (observations - levels) as u64,
        margins: margins(cells),
        predicting: None,
    }
}

/// The variances of the effects of [`one_factor`], in units of the variance of one observation.
pub(super) fn one_factor_variances(cells: &Cells) -> Vec<f64> {
    let all = 1.0 / cells.observations() as f64;
    (0..cells.len()).map(|cell| 1.0 / cells.count(cell) - all).collect()
}

/// Fits two factors with unequal numbers of observations per cell, none of them empty.
pub(super) fn two_factors(cells: &Cells, order: Option<usize>) -> Fit {
    let grid = cells.grid();
    let two_way = TwoWay::new(cells);
    let additive = two_way.additive();
    let sums = two_way.sums_of_squares(&additive);
    let with_interaction = order.is_none_or(|order| order > 1);
    let (a, b) = (cells.dims[0] as u64 - 1, cells.dims[1] as u64 - 1);
    let terms: Vec<Term> = subsets(2, if with_interaction { 2 } else { 1 })
        .into_iter()
        .zip(sums)
        .zip([a, b, a * b])
        .map(|((axes, sum_sq), df)| Term { effects: Some(effects(&grid, &axes)), axes, sum_sq, df })
        .collect();
    let within_df = (cells.observations() - cells.len()) as u64;
    let pooled = if with_interaction { (0.0, 0) } else { (sums[2], a * b) };
    let inverse: f64 = (0..cells.len()).map(|cell| 1.0 / cells.count(cell)).sum();
    Fit {
        grand: grid.margin(&[]).data[0],
        grand_variance: inverse / (cells.len() as f64).powi(2),
        terms,
        residual_means: (!with_interaction).then(|| two_way.residuals(&additive)),
        error_sum_sq: cells.squares_within() + pooled.0,
        error_df: within_df + pooled.1,
        margins: margins(cells),
        predicting: None,
    }
}

/// Means and numbers of observations of the cells of two factors; at least as many columns as rows.
struct TwoWay {
    rows: usize,
    columns: usize,
    /// Whether the rows are the second factor.
    turned: bool,
    means: Vec<f64>,
    counts: Vec<f64>,
}

/// The contributions of each row and each column.
struct Additive {
    rows: Vec<f64>,
    columns: Vec<f64>,
}

impl TwoWay {
    fn new(cells: &Cells) -> Self {
        let (first, second) = (cells.dims[0], cells.dims[1]);
        let turned = first > second;
        let (rows, columns) = if turned { (second, first) } else { (first, second) };
        let cell_at = |row: usize, column: usize| {
            if turned { column * rows + row } else { row * columns + column }
        };
        let order: Vec<usize> =
            (0..rows * columns).map(|i| cell_at(i / columns, i % columns)).collect();
        let means = order.iter().map(|&cell| cells.means[cell]).collect();
        let counts = order.iter().map(|&cell| cells.count(cell)).collect();
        Self { rows, columns, turned, means, counts }
    }

    /// For the first factor given the second, the second given the first, and the interaction given
    /// both: squared distances between fitted values, which are orthogonal projections.
    fn sums_of_squares(&self, additive: &Additive) -> [f64; 3] {
        let (row_means, column_means) =
            (self.row_means(&self.means), self.column_means(&self.means));
        let weighted = |distance: &dyn Fn(usize, usize, f64) -> f64| {
            sum_over(0..self.means.len(), |cell| {
                let (row, column) = (cell / self.columns, cell % self.columns);
                let both = additive.rows[row] + additive.columns[column];
                self.counts[cell] * distance(row, column, both).powi(2)
            })
        };
        let rows = weighted(&|_, column, both| both - column_means[column]);
        let columns = weighted(&|row, _, both| both - row_means[row]);
        let both = weighted(&|row, column, both| self.means[row * self.columns + column] - both);
        if self.turned { [columns, rows, both] } else { [rows, columns, both] }
    }

    /// The means minus the additive fit, in cell order.
    fn residuals(&self, additive: &Additive) -> Vec<f64> {
        let rest = |row: usize, column: usize| {
            self.means[row * self.columns + column] - additive.rows[row] - additive.columns[column]
        };
        let (outer, inner) =
            if self.turned { (self.columns, self.rows) } else { (self.rows, self.columns) };
        (0..outer * inner)
            .map(|cell| (cell / inner, cell % inner))
            .map(|(o, i)| if self.turned { rest(i, o) } else { rest(o, i) })
            .collect()
    }

    /// The additive least-squares fit; solved twice, the second time for the rounding residual.
    fn additive(&self) -> Additive {
        let factor = cholesky(self.normal_matrix());
        let mut rest = self.means.clone();
        let mut fit = Additive { rows: vec![0.0; self.rows], columns: vec![0.0; self.columns] };
        for _ in 0..2 {
            let step = self.step(&factor, &rest);
            fit.rows.iter_mut().zip(&step.rows).for_each(|(all, part)| *all += part);
            fit.columns.iter_mut().zip(&step.columns).for_each(|(all, part)| *all += part);
            for (row, rest) in rest.chunks_mut(self.columns).enumerate() {
                for (column, rest) in rest.iter_mut().enumerate() {
                    *rest -= step.rows[row] + step.columns[column];
                }
            }
        }
        fit
    }

    fn step(&self, factor: &[Vec<f64>], values: &[f64]) -> Additive {
        let column_means = self.column_means(values);
        let about_columns: Vec<f64> = values
            .chunks(self.columns)
            .flat_map(|row| row.iter().zip(&column_means).map(|(value, mean)| value - mean))
            .collect();
        // The last row is set to 0, since rows are only determined up to a constant.
        let right: Vec<f64> = (0..self.rows - 1)
            .map(|row| self.of_row(&self.counts, row).zip(self.of_row(&about_columns, row)))
            .map(|pairs| pairs.map(|(count, value)| count * value).sum())
            .collect();
        let mut rows = solve(factor, right);
        rows.push(0.0);
        let left: Vec<f64> = values
            .chunks(self.columns)
            .zip(&rows)
            .flat_map(|(row, &share)| row.iter().map(move |value| value - share))
            .collect();
        Additive { rows, columns: self.column_means(&left) }
    }

    /// The normal equations of all rows except the last, with columns eliminated; symmetric.
    fn normal_matrix(&self) -> Vec<Vec<f64>> {
        let in_column = self.in_columns();
        let entry = |i: usize, j: usize| -> f64 {
            let shared: f64 = self
                .of_row(&self.counts, i)
                .zip(self.of_row(&self.counts, j))
                .zip(&in_column)
                .map(|((a, b), all)| a * b / all)
                .sum();
            let own: f64 = if i == j { self.of_row(&self.counts, i).sum() } else { 0.0 };
            own - shared
        };
        (0..self.rows - 1).map(|i| (0..=i).map(|j| entry(i, j)).collect()).collect()
    }

    fn of_row<'a>(&self, data: &'a [f64], row: usize) -> impl Iterator<Item = &'a f64> {
        data[row * self.columns..(row + 1) * self.columns].iter()
    }

    fn in_columns(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.columns];
        for row in self.counts.chunks(self.columns) {
            sums.iter_mut().zip(row).for_each(|(sum, count)| *sum += count);
        }
        sums
    }

    fn row_means(&self, values: &[f64]) -> Vec<f64> {
        let mean = |row: usize| {
            let counts = self.of_row(&self.counts, row);
            let weighted = counts.zip(self.of_row(values, row)).map(|(count, value)| count * value);
            weighted.sum::<f64>() / self.of_row(&self.counts, row).sum::<f64>()
        };
        (0..self.rows).map(mean).collect()
    }

    fn column_means(&self, values: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.columns];
        for (counts, values) in self.counts.chunks(self.columns).zip(values.chunks(self.columns)) {
            for (sum, (count, value)) in sums.iter_mut().zip(counts.iter().zip(values)) {
                *sum += count * value;
            }
        }
        sums.iter_mut().zip(self.in_columns()).for_each(|(sum, count)| *sum /= count);
        sums
    }
}
