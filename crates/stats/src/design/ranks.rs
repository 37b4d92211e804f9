//! Rank tests, which do not assume normality: Kruskal-Wallis for one factor, Friedman for one
//! factor within blocks.
//!
//! Tied values share their mean rank, and the statistics are corrected for the variance lost to
//! ties. Both are compared with chi-square, which is a rough approximation for few groups or blocks
//! (Conover, "Practical Nonparametric Statistics", 3rd edition, sections 5.2 and 5.8; Hollander &
//! Wolfe, "Nonparametric Statistical Methods", 2nd edition, sections 6.1 and 7.1).

use super::cells::Cells;
use super::{Refused, Replications, Table};
use crate::distribution::chi_square;
use crate::refusal::Refusal;

/// What ranks say about a factor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankTest {
    /// The statistic, corrected for ties.
    pub statistic: f64,
    /// Its degrees of freedom: levels minus one.
    pub df: u64,
    /// The probability of a statistic at least this large if the factor had no effect.
    pub p: f64,
}

/// Whether values tend to be larger at some levels of the only factor than at others.
///
/// # Errors
/// Refuses any number of factors other than one, a level that was never observed, and values that
/// are all equal.
pub fn kruskal_wallis(table: &Table) -> Result<RankTest, Refusal> {
    check_factors("Kruskal and Wallis's test", table, 1)?;
    let cells = cells(table)?;
    let ranked = mean_ranks(table.values());
    let n = table.values().len() as f64;
    let mut sums = vec![0.0; cells.len()];
    for (&level, rank) in table.levels()[0].iter().zip(&ranked.ranks) {
        sums[level as usize] += rank - (n + 1.0) / 2.0;
    }
    let squares: f64 =
        sums.iter().enumerate().map(|(level, sum)| sum * sum / cells.count(level)).sum();
    // Without ties, the variance of the ranks is n (n + 1) / 12.
    let untied = 1.0 - ranked.ties / (n * n * n - n);
    Ok(rank_test(squares * 12.0 / (n * (n + 1.0)) / untied, cells.len()))
}

/// Whether values tend to be larger at some levels of the factor `treatment` than at others, each
/// level of the other factor being a block.
///
/// # Errors
/// Refuses any number of factors other than two, a name that none of them has, cells that were not
/// observed exactly once, and values that are all equal within every block.
pub fn friedman(table: &Table, treatment: &str) -> Result<RankTest, Refusal> {
    check_factors("Friedman's test", table, 2)?;
    let axis = table.position_of(treatment)?;
    let cells = cells(table)?;
    if let Some((least, most)) = not_once(&cells) {
        return Err(Refused::NotOnce { test: "Friedman's test", least, most }.into());
    }
    let (levels, blocks) = (cells.dims[axis], cells.dims[1 - axis]);
    let mut sums = vec![0.0; levels];
    let (k, b) = (levels as f64, blocks as f64);
    let mut ties = 0.0;
    for block in 0..blocks {
        let cell = |level: usize| match axis {
            0 => level * cells.dims[1] + block,
            _ => block * cells.dims[1] + level,
        };
        let values: Vec<f64> = (0..levels).map(|level| cells.values_of(cell(level))[0]).collect();
        let ranked = mean_ranks(&values);
        ties += ranked.ties;
        sums.iter_mut().zip(&ranked.ranks).for_each(|(sum, rank)| *sum += rank - (k + 1.0) / 2.0);
    }
    let untied = 1.0 - ties / (b * (k * k * k - k));
    if untied <= 0.0 {
        return Err(Refused::TiedBlocks { blocks }.into());
    }
    let squares: f64 = sums.iter().map(|sum| sum * sum).sum();
    Ok(rank_test(12.0 * squares / (b * k * (k + 1.0)) / untied, levels))
}

fn check_factors(test: &'static str, table: &Table, wanted: usize) -> Result<(), Refused> {
    let given = table.factors().len();
    if given == wanted { Ok(()) } else { Err(Refused::Factors { test, wanted, given }) }
}

fn cells(table: &Table) -> Result<Cells, Refused> {
    table.check_not_constant()?;
    Cells::new(table, table.values(), table.offset())
}

fn not_once(cells: &Cells) -> Option<(u64, u64)> {
    match cells.replications() {
        Replications::Equal(most) if !cells.is_complete() => Some((0, most)),
        Replications::Unequal { most, .. } if !cells.is_complete() => Some((0, most)),
        Replications::Equal(1) => None,
        Replications::Equal(times) => Some((times, times)),
        Replications::Unequal { least, most } => Some((least, most)),
    }
}

fn rank_test(statistic: f64, levels: usize) -> RankTest {
    let df = levels as u64 - 1;
    RankTest { statistic, df, p: chi_square::sf(statistic, df as f64) }
}

struct Ranked {
    /// The rank of each value, from 1; tied ones have their mean rank.
    ranks: Vec<f64>,
    /// The sum of t^3 - t over groups of t tied values.
    ties: f64,
}

fn mean_ranks(values: &[f64]) -> Ranked {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranked = Ranked { ranks: vec![0.0; values.len()], ties: 0.0 };
    let mut before = 0.0;
    // Ties are detected by `==` instead of the order above: the two zeros are equal, and adjacent.
    for group in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let tied = group.len() as f64;
        for &index in group {
            ranked.ranks[index] = before + (tied + 1.0) / 2.0;
        }
        ranked.ties += tied * tied * tied - tied;
        before += tied;
    }
    ranked
}
