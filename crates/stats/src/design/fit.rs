//! Effects and sums of squares of balanced data.
//!
//! The effects of a set of factors are the means over the other factors, centred along each of the
//! set's axes (Jain, "The Art of Computer Systems Performance Analysis", chapters 20 to 23). Every
//! sum of squares is one of effects or residuals themselves: none is the difference of two larger
//! ones, so none can lose its digits.

use super::cells::Cells;
use super::sums::sum_of;
use super::{Grid, Refused, general, unbalanced};

/// Maximum number of factors whose interactions are computed, since there are 2^factors.
pub(super) const FACTORS_MAX: usize = 10;

/// One factor, or the interaction of several.
#[derive(Clone, Debug)]
pub(super) struct Term {
    /// The factors, ascending; none for the lack of fit.
    pub(super) axes: Vec<usize>,
    /// The effect of each combination of their levels. None for interactions if combinations were
    /// never observed, or if larger interactions count as errors in unbalanced data.
    pub(super) effects: Option<Grid>,
    pub(super) sum_sq: f64,
    pub(super) df: u64,
}

/// A fitted model. All variances are in units of the variance of one observation.
#[derive(Clone, Debug)]
pub(super) struct Fit {
    /// The grand mean, minus the pivot.
    pub(super) grand: f64,
    pub(super) grand_variance: f64,
    /// By number of factors, then in the order of the factors.
    pub(super) terms: Vec<Term>,
    /// The residuals of the cells' means; none if the model fits them exactly.
    pub(super) residual_means: Option<Vec<f64>>,
    pub(super) error_sum_sq: f64,
    pub(super) error_df: u64,
    /// By factor.
    pub(super) margins: Vec<Margin>,
    /// The maximum number of factors that interact in the model whose predictions the margins are;
    /// none if the margins are means of cells.
    pub(super) predicting: Option<usize>,
}

impl Fit {
    /// The effects of the levels of one factor.
    pub(super) fn effects_of(&self, axis: usize) -> &Grid {
        let term = self.terms.iter().find(|term| term.axes == [axis]);
        term.and_then(|term| term.effects.as_ref()).expect("every factor has effects")
    }
}

/// Fits all effects of up to `order` factors, or of as many as the design allows.
pub(super) fn fit(cells: &Cells, order: Option<usize>) -> Result<Fit, Refused> {
    let factors = cells.dims.len();
    if factors > FACTORS_MAX {
        return Err(Refused::TooMany { what: "factors", given: factors, most: FACTORS_MAX });
    }
    let fitted = match (cells.balanced(), factors) {
        (Some(times), _) => balanced(cells, times, order),
        (None, 1) => unbalanced::one_factor(cells),
        (None, 2) if cells.is_complete() => unbalanced::two_factors(cells, order),
        (None, _) => general::fit(cells, order)?,
    };
    if fitted.error_df == 0 {
        return Err(Refused::NoErrors { design: cells.design() });
    }
    Ok(fitted)
}

fn balanced(cells: &Cells, replications: u64, order: Option<usize>) -> Fit {
    let factors = cells.dims.len();
    let possible = if replications > 1 { factors } else { (factors - 1).max(1) };
    let order = order.unwrap_or(factors).clamp(1, possible);
    let observations = cells.observations();
    let grid = cells.grid();
    let grand = grid.margin(&[]).data[0];
    let terms: Vec<Term> = subsets(factors, order)
        .into_iter()
        .map(|axes| term(&grid, axes, observations as f64))
        .collect();
    let residual_means = (order < factors).then(|| residuals(grid, grand, &terms));
    let lack_of_fit = residual_means
        .as_ref()
        .map_or(0.0, |rest| replications as f64 * sum_of(rest, |value| value * value));
    let used: u64 = terms.iter().map(|term| term.df).sum();
    Fit {
        grand,
        grand_variance: 1.0 / observations as f64,
        terms,
        residual_means,
        error_sum_sq: cells.squares_within() + lack_of_fit,
        error_df: observations as u64 - 1 - used,
        margins: margins(cells),
        predicting: None,
    }
}

/// All sets of one to `order` factors, by size, then in the order of the factors.
pub(super) fn subsets(factors: usize, order: usize) -> Vec<Vec<usize>> {
    let members = |mask: u32| (0..factors).filter(|f| mask >> f & 1 == 1).collect::<Vec<usize>>();
    let mut all: Vec<Vec<usize>> =
        (1..1_u32 << factors).map(members).filter(|axes| axes.len() <= order).collect();
    all.sort_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
    all
}

fn term(grid: &Grid, axes: Vec<usize>, observations: f64) -> Term {
    let effects = effects(grid, &axes);
    let each = observations / effects.data.len() as f64;
    let sum_sq = each * sum_of(&effects.data, |effect| effect * effect);
    let df = effects.dims.iter().map(|&levels| levels as u64 - 1).product();
    Term { axes, effects: Some(effects), sum_sq, df }
}

/// The effects of a set of factors: their margin, centred along every axis.
pub(super) fn effects(grid: &Grid, axes: &[usize]) -> Grid {
    let mut effects = grid.margin(axes);
    for axis in 0..axes.len() {
        effects.centre(axis);
    }
    effects
}

fn residuals(mut grid: Grid, grand: f64, terms: &[Term]) -> Vec<f64> {
    grid.data.iter_mut().for_each(|value| *value -= grand);
    for term in terms {
        if let Some(effects) = &term.effects {
            grid.subtract(&term.axes, effects);
        }
    }
    grid.data
}

/// The mean over the cells of each level of a factor, and its variance.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Margin {
    /// Minus the pivot.
    pub(super) means: Vec<f64>,
    pub(super) variances: Vec<f64>,
    /// If the means depend on each other: each as a combination of independent values of variance
    /// 1.
    pub(super) loadings: Option<Vec<Vec<f64>>>,
}

/// The margins of all factors if every cell was observed. Different levels of a factor share no
/// observations, so their means are independent.
pub(super) fn margins(cells: &Cells) -> Vec<Margin> {
    let means = cells.grid();
    let variances = variances(cells);
    let margin = |axis: usize| Margin {
        means: means.margin(&[axis]).data,
        variances: variances(axis),
        loadings: None,
    };
    (0..cells.dims.len()).map(margin).collect()
}

/// The variance of the mean of each level of a factor.
fn variances(cells: &Cells) -> impl Fn(usize) -> Vec<f64> {
    let observations = cells.observations() as f64;
    let inverse_counts = cells.balanced().is_none().then(|| Grid {
        dims: cells.dims.clone(),
        data: (0..cells.len()).map(|cell| 1.0 / cells.count(cell)).collect(),
    });
    let all = cells.len();
    let dims = cells.dims.clone();
    move |axis| {
        let levels = dims[axis];
        let Some(inverse_counts) = &inverse_counts else {
            return vec![levels as f64 / observations; levels];
        };
        let cells_per_level = (all / levels) as f64;
        let margin = inverse_counts.margin(&[axis]).data;
        margin.into_iter().map(|mean| mean / cells_per_level).collect()
    }
}

impl Margin {
    /// The variance of each level's mean minus the mean of all levels.
    pub(super) fn effect_variances(&self) -> Vec<f64> {
        let levels = self.variances.len() as f64;
        if let Some(loadings) = &self.loadings {
            let mean = |at: usize| loadings.iter().map(|of| of[at]).sum::<f64>() / levels;
            let mean: Vec<f64> = (0..loadings[0].len()).map(mean).collect();
            return loadings.iter().map(|of| squared_distance(of, &mean)).collect();
        }
        let all: f64 = self.variances.iter().sum::<f64>() / levels.powi(2);
        let of = |variance: &f64| all + variance * (1.0 - 2.0 / levels);
        self.variances.iter().map(of).collect()
    }

    /// The variance of the difference of two levels' means.
    pub(super) fn difference_variance(&self, first: usize, second: usize) -> f64 {
        match &self.loadings {
            Some(loadings) => squared_distance(&loadings[first], &loadings[second]),
            None => self.variances[first] + self.variances[second],
        }
    }
}

fn squared_distance(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| (a - b) * (a - b)).sum()
}
