//! Whether errors depend on the order of observations: drift, a cache that fills, a neighbour.
//!
//! The statistic is the lag-1 correlation of residuals, as in Durbin & Watson, "Testing for Serial
//! Correlation in Least Squares Regression I", Biometrika 37, 1950. Residuals are correlated even
//! if errors are not, because they sum to 0 within rows and columns, so the correlation is compared
//! with what independent errors give: with residuals e = M y, `nu` degrees of freedom and a
//! symmetric matrix W that selects successive pairs, the ratio e'We / e'e has
//!
//! ```text
//! mean     = tr(MW) / nu
//! variance = 2 (nu tr(MWMW) - tr(MW)^2) / (nu^2 (nu + 2))
//! ```
//!
//! (ibid.; Cliff & Ord, "Spatial Processes", chapter 8) and is approximately normal. M is never
//! stored: its entries follow from which levels two observations share.

use super::cells::Cells;
use super::diagnostics::{Diagnostic, Residuals};
use super::fit::Fit;
use super::sums::spread_positions;
use crate::distribution::normal;

/// Maximum number of successive pairs examined: the variance takes time proportional to its square.
const PAIRS_MAX: usize = 800;

/// Minimum degrees of freedom of errors for the normal approximation to be useful.
const DF_MIN: u64 = 5;

/// The order effect; none if there are too few residuals to see one.
pub(super) fn order_effect(residuals: &Residuals) -> Option<Diagnostic> {
    let (cells, fit) = (residuals.cells, residuals.fit);
    if fit.error_df < DF_MIN {
        return None;
    }
    let maker = ResidualMaker::new(cells, fit)?;
    let firsts = spread_positions(cells.observations() - 1, PAIRS_MAX);
    let products = neighbours_product(residuals, &firsts);
    let nu = fit.error_df as f64;
    let ratio = products / fit.error_sum_sq;
    let (trace, trace_of_square) = maker.traces(&firsts);
    let expected = trace / nu;
    let variance = 2.0 * (nu * trace_of_square - trace * trace) / (nu * nu * (nu + 2.0));
    // Apart from rounding, the ratio does not vary: successive residuals determine each other.
    if variance <= 1e-12 {
        return None;
    }
    let p = (2.0 * normal::sf(((ratio - expected) / variance.sqrt()).abs())).min(1.0);
    let scale = cells.observations() as f64 / firsts.len() as f64;
    let (correlation, expected) = (ratio * scale, expected * scale);
    Some(Diagnostic::Order { correlation, expected, p, pairs: firsts.len() })
}

/// The sum of products of the residuals at `firsts` with their successors.
fn neighbours_product(residuals: &Residuals, firsts: &[usize]) -> f64 {
    let product = |&first: &usize| residuals.at(first) * residuals.at(first + 1);
    firsts.iter().map(product).sum()
}

/// An observation, with what its entries of M depend on.
struct PlacedObservation {
    observation: usize,
    cell: usize,
    levels: Vec<usize>,
}

/// M, the matrix that maps observations to residuals, entry by entry.
struct ResidualMaker<'a> {
    cells: &'a Cells,
    /// The entry of the projection for two observations, by the set of factors whose levels they
    /// share (bit f for factor f); none if the model has an effect for every cell.
    shared: Option<Vec<f64>>,
}

impl<'a> ResidualMaker<'a> {
    /// None for additive effects of unbalanced data, where M has no such simple form.
    fn new(cells: &'a Cells, fit: &Fit) -> Option<Self> {
        if fit.residual_means.is_none() {
            return Some(Self { cells, shared: None });
        }
        cells.balanced()?;
        let of_pattern = |pattern: usize| {
            let of_factor = |&axis: &usize| {
                let shared = if pattern >> axis & 1 == 1 { cells.dims[axis] as f64 } else { 0.0 };
                shared - 1.0
            };
            let of_terms = fit.terms.iter();
            let terms: f64 =
                of_terms.map(|term| term.axes.iter().map(of_factor).product::<f64>()).sum();
            (1.0 + terms) / cells.observations() as f64
        };
        let shared = (0..1_usize << cells.dims.len()).map(of_pattern).collect();
        Some(Self { cells, shared: Some(shared) })
    }

    fn place(&self, observation: usize) -> PlacedObservation {
        let (cell, _) = self.cells.grouped_at(self.cells.place_of(observation));
        let levels = self.cells.levels_of(cell);
        PlacedObservation { observation, cell, levels }
    }

    fn entry(&self, a: &PlacedObservation, b: &PlacedObservation) -> f64 {
        let own = if a.observation == b.observation { 1.0 } else { 0.0 };
        let Some(shared) = &self.shared else {
            return own - if a.cell == b.cell { 1.0 / self.cells.count(a.cell) } else { 0.0 };
        };
        let levels = a.levels.iter().zip(&b.levels).enumerate();
        let pattern: usize = levels.map(|(axis, (x, y))| usize::from(x == y) << axis).sum();
        own - shared[pattern]
    }

    /// tr(MW) and tr(MWMW), where W is 1/2 at both positions of each successive pair.
    fn traces(&self, firsts: &[usize]) -> (f64, f64) {
        let pairs: Vec<(PlacedObservation, PlacedObservation)> =
            firsts.iter().map(|&first| (self.place(first), self.place(first + 1))).collect();
        let trace = pairs.iter().map(|(a, b)| self.entry(a, b)).sum();
        let of_two = |(a, b): &(PlacedObservation, PlacedObservation),
                      (c, d): &(PlacedObservation, PlacedObservation)| {
            self.entry(a, c) * self.entry(b, d) + self.entry(a, d) * self.entry(b, c)
        };
        let mut trace_of_square = 0.0;
        for (index, pair) in pairs.iter().enumerate() {
            let others: f64 = pairs[..index].iter().map(|other| of_two(pair, other)).sum();
            // Two different pairs count twice, and by half each time.
            trace_of_square += others + of_two(pair, pair) / 2.0;
        }
        (trace, trace_of_square)
    }
}
