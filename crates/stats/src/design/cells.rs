//! Observations grouped by cell, that is, by combination of levels.
//!
//! A counting sort puts the observations of a cell next to each other. Before that, a pivot close
//! to their mean is subtracted from all: if values agree in their leading digits, the difference is
//! exact (Sterbenz's lemma: Higham, "Accuracy and Stability of Numerical Algorithms", 2nd edition,
//! theorem 2.5), so that no square computed later loses the digits in which they differ. A table's
//! offset was never added to its values, and is part of the pivot.

use super::sums::{mean, squares_about, sum_of, sum_over};
use super::{DesignKind, Grid, Refused, Replications, Table};

/// The observations of every cell, in cell order: the last factor varies fastest.
pub(super) struct Cells {
    /// The factors' names.
    pub(super) names: Vec<String>,
    /// The number of levels per factor.
    pub(super) dims: Vec<usize>,
    /// What was subtracted from all observations.
    pub(super) pivot: f64,
    /// The mean of each cell, minus the pivot.
    pub(super) means: Vec<f64>,
    /// The mean of all observations, minus the pivot.
    pub(super) mean: f64,
    /// The sum of squares around the mean of all observations.
    pub(super) total_squares: f64,
    /// The levels of each cell, if some combinations of levels have no cell.
    observed: Option<Vec<Vec<u32>>>,
    starts: Vec<u32>,
    grouped: Vec<f64>,
    /// The position of each observation among the grouped ones.
    places: Vec<u32>,
}

impl Cells {
    /// Groups `values`, either the table's own or as transformed by a model, each minus `offset`.
    pub(super) fn new(table: &Table, values: &[f64], offset: f64) -> Result<Self, Refused> {
        check_levels(table)?;
        let dims = table.dims();
        let (mut places, observed) = placed(table, &dims);
        let count = observed.as_ref().map_or_else(|| dims.iter().product(), Vec::len);
        let starts = starts(&places, count);
        let centre = mean(values);
        let pivot = offset + centre;
        let grouped = grouped(values, centre, &mut places, &starts);
        let mean_of_all = mean(&grouped);
        let total_squares = squares_about(&grouped, mean_of_all);
        let bounds = starts.windows(2).map(|w| w[0] as usize..w[1] as usize);
        let means = bounds.map(|bounds| mean(&grouped[bounds])).collect();
        Ok(Self {
            names: table.factors().iter().map(|factor| factor.name.clone()).collect(),
            dims,
            pivot,
            means,
            mean: mean_of_all,
            total_squares,
            observed,
            starts,
            grouped,
            places,
        })
    }

    /// The number of cells.
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The number of observations.
    pub(super) fn observations(&self) -> usize {
        self.grouped.len()
    }

    /// The observations of each cell, minus the pivot.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[f64]> {
        (0..self.len()).map(|cell| self.values_of(cell))
    }

    /// The observations of one cell, minus the pivot.
    pub(super) fn values_of(&self, cell: usize) -> &[f64] {
        &self.grouped[self.starts[cell] as usize..self.starts[cell + 1] as usize]
    }

    /// The number of observations of one cell.
    pub(super) fn count(&self, cell: usize) -> f64 {
        f64::from(self.starts[cell + 1] - self.starts[cell])
    }

    /// The position of an observation in cell order.
    pub(super) fn place_of(&self, observation: usize) -> usize {
        self.places[observation] as usize
    }

    /// The cell and the observation, minus the pivot, at this position in cell order.
    pub(super) fn grouped_at(&self, place: usize) -> (usize, f64) {
        let cell = self.starts.partition_point(|&start| start as usize <= place) - 1;
        (cell, self.grouped[place])
    }

    /// Whether every combination of levels was observed.
    pub(super) fn is_complete(&self) -> bool {
        self.observed.is_none()
    }

    /// The number of observations of every combination of levels; none if it differs.
    pub(super) fn balanced(&self) -> Option<u64> {
        match self.replications() {
            Replications::Equal(times) if self.is_complete() => Some(times),
            Replications::Equal(_) | Replications::Unequal { .. } => None,
        }
    }

    /// The level of each factor in a cell.
    pub(super) fn levels_of(&self, cell: usize) -> Vec<usize> {
        if let Some(observed) = &self.observed {
            return observed[cell].iter().map(|&level| level as usize).collect();
        }
        let mut rest = cell;
        let level = |&dim: &usize| {
            let level = rest % dim;
            rest /= dim;
            level
        };
        let mut levels: Vec<usize> = self.dims.iter().rev().map(level).collect();
        levels.reverse();
        levels
    }

    /// The design of the experiment.
    pub(super) fn design(&self) -> DesignKind {
        let (factors, replications) = (self.dims.len(), self.replications());
        if self.is_complete() {
            return DesignKind::FullFactorial { factors, replications };
        }
        let of = self.dims.iter().fold(1_u128, |all, &levels| all.saturating_mul(levels as u128));
        DesignKind::Incomplete { factors, replications, observed: self.len(), of }
    }

    /// How often the cells were observed.
    pub(super) fn replications(&self) -> Replications {
        let counts = self.starts.windows(2).map(|w| u64::from(w[1] - w[0]));
        let (least, most) =
            counts.fold((u64::MAX, 0), |(least, most), n| (least.min(n), most.max(n)));
        if least == most {
            return Replications::Equal(least);
        }
        Replications::Unequal { least, most }
    }

    /// The sum of squares around the mean of each observation's cell.
    pub(super) fn squares_within(&self) -> f64 {
        sum_over(0..self.len(), |cell| squares_about(self.values_of(cell), self.means[cell]))
    }

    /// The means as a grid.
    pub(super) fn grid(&self) -> Grid {
        Grid { dims: self.dims.clone(), data: self.means.clone() }
    }

    /// The sum of squares of the observations themselves, pivot included.
    pub(super) fn raw_squares(&self) -> f64 {
        let pivot = self.pivot;
        sum_of(&self.grouped, |value| (value + pivot) * (value + pivot))
    }
}

/// Refuses a factor that does not vary, and one with a level that was never observed.
fn check_levels(table: &Table) -> Result<(), Refused> {
    for (factor, column) in table.factors().iter().zip(table.levels()) {
        if factor.levels.len() < 2 {
            let (factor, levels) = (factor.name.clone(), factor.levels.len());
            return Err(Refused::TooFewLevels { factor, levels });
        }
        let mut is_observed = vec![false; factor.levels.len()];
        column.iter().for_each(|&level| is_observed[level as usize] = true);
        let mut missing = factor.levels.iter().zip(is_observed).filter(|(_, is)| !is);
        if let Some((level, _)) = missing.next() {
            let (factor, level) = (factor.name.clone(), level.clone());
            return Err(Refused::Unobserved { factor, level, more: missing.count() });
        }
    }
    Ok(())
}

/// The cell of each observation, and the levels of each cell if some combinations have none.
fn placed(table: &Table, dims: &[usize]) -> (Vec<u32>, Option<Vec<Vec<u32>>>) {
    let all = dims.iter().fold(1_u128, |all, &levels| all.saturating_mul(levels as u128));
    if all <= table.values().len() as u128 {
        let cells = cells_of(table.levels(), dims);
        let mut seen = vec![false; dims.iter().product()];
        cells.iter().for_each(|&cell| seen[cell as usize] = true);
        if seen.iter().all(|&is| is) {
            return (cells, None);
        }
    }
    let levels = |row: usize| table.levels().iter().map(|column| column[row]).collect::<Vec<u32>>();
    let rows: Vec<Vec<u32>> = (0..table.values().len()).map(levels).collect();
    let mut observed = rows.clone();
    observed.sort_unstable();
    observed.dedup();
    let place = |row: &Vec<u32>| {
        let place = observed.binary_search(row).expect("it was observed");
        u32::try_from(place).expect("no more cells than observations")
    };
    (rows.iter().map(place).collect(), Some(observed))
}

fn cells_of(levels: &[Vec<u32>], dims: &[usize]) -> Vec<u32> {
    let mut cells = levels[0].clone();
    for (column, &dim) in levels.iter().zip(dims).skip(1) {
        let dim = u32::try_from(dim).expect("no more levels than observations");
        cells.iter_mut().zip(column).for_each(|(cell, level)| *cell = *cell * dim + level);
    }
    cells
}

/// Where each cell begins among the grouped observations, and where the last one ends.
fn starts(cell_of: &[u32], cells: usize) -> Vec<u32> {
    let mut starts = vec![0; cells + 1];
    for &cell in cell_of {
        starts[cell as usize + 1] += 1;
    }
    for cell in 0..cells {
        starts[cell + 1] += starts[cell];
    }
    starts
}

/// Groups `values` minus `centre`, and replaces the cell of each by its position among them.
fn grouped(values: &[f64], centre: f64, places: &mut [u32], starts: &[u32]) -> Vec<f64> {
    let mut next = starts.to_vec();
    let mut grouped = vec![0.0; values.len()];
    for (&value, place) in values.iter().zip(places) {
        let cell = *place as usize;
        *place = next[cell];
        next[cell] += 1;
        grouped[*place as usize] = value - centre;
    }
    grouped
}
