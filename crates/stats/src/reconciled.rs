//! Levels of several things that best agree with their pairwise comparisons.
//!
//! Compared pair by pair, a is 1.2 times b, b is 1.5 times c, and a is 1.83 times c: each is the
//! best estimate for its pair, but no three levels have all of these quotients. This finds the
//! levels whose differences are closest to those of the pairs, by weighted least squares (Jiang,
//! Lim, Yao & Ye, "Statistical Ranking and Combinatorial Hodge Theory", Mathematical Programming
//! 127(1), 2011, section 2).

use crate::positive::{cholesky, solve};

/// How far one level is above another, according to their own comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distance {
    /// Index of the lower level.
    pub from: usize,
    /// Index of the other level.
    pub to: usize,
    /// How far the other is above it; negative if it is below.
    pub distance: f64,
    /// Its weight, above 0: the reciprocal of its variance.
    pub weight: f64,
}

/// The levels, moved so that their differences are as close as possible to the distances. The mean
/// of each connected set stays the same, and a level without distances stays where it is.
///
/// # Panics
/// If a distance has an index out of range, or connects a level to itself.
#[must_use]
pub fn reconciled(levels: &[f64], distances: &[Distance]) -> Vec<f64> {
    let mut moved = levels.to_vec();
    for members in connected(levels.len(), distances) {
        let own: Vec<&Distance> =
            distances.iter().filter(|one| members.contains(&one.from)).collect();
        let moves = moves(&members, levels, &own);
        let mean = moves.iter().sum::<f64>() / moves.len() as f64;
        members.iter().zip(moves).for_each(|(&place, by)| moved[place] += by - mean);
    }
    moved
}

/// How far each member moves if the last one is fixed, which determines the others.
fn moves(members: &[usize], levels: &[f64], distances: &[&Distance]) -> Vec<f64> {
    let free = members.len() - 1;
    let mut matrix = vec![vec![0.0; free]; free];
    let mut right = vec![0.0; free];
    let position = |place| members.iter().position(|&member| member == place).unwrap_or(free);
    for one in distances {
        assert!(one.from != one.to, "a distance is between two");
        let missing = one.distance - (levels[one.to] - levels[one.from]);
        let (from, to) = (position(one.from), position(one.to));
        for (here, sign) in [(from, -1.0), (to, 1.0)].into_iter().filter(|it| it.0 < free) {
            matrix[here][here] += one.weight;
            right[here] += sign * one.weight * missing;
        }
        if from < free && to < free {
            matrix[from.max(to)][from.min(to)] -= one.weight;
        }
    }
    let mut moves = solve(&cholesky(matrix), right);
    moves.push(0.0);
    moves
}

/// The indices connected by distances, each set in ascending order.
fn connected(count: usize, distances: &[Distance]) -> Vec<Vec<usize>> {
    let mut sets: Vec<Vec<usize>> = (0..count).map(|place| vec![place]).collect();
    for one in distances {
        let of = |sets: &[Vec<usize>], place| sets.iter().position(|set| set.contains(&place));
        let (from, to) = (of(&sets, one.from), of(&sets, one.to));
        let (from, to) = from.zip(to).expect("a distance is between two of the levels");
        if from != to {
            let other = std::mem::take(&mut sets[to]);
            sets[from].extend(other);
        }
    }
    sets.retain(|set| !set.is_empty());
    sets
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distance(from: usize, to: usize, distance: f64, weight: f64) -> Distance {
        Distance { from, to, distance, weight }
    }

    fn near(one: &[f64], other: &[f64]) {
        let is_near = one.iter().zip(other).all(|(one, other)| (one - other).abs() < 1e-12);
        assert!(is_near && one.len() == other.len(), "{one:?}, not {other:?}");
    }

    #[test]
    fn two_are_as_far_apart_as_their_distance_says_about_the_same_middle() {
        near(&reconciled(&[1.0, 2.0], &[distance(0, 1, 3.0, 7.0)]), &[0.0, 3.0]);
        near(&reconciled(&[1.0, 2.0], &[distance(1, 0, 3.0, 7.0)]), &[3.0, 0.0]);
    }

    #[test]
    fn what_does_not_add_up_is_spread_over_the_pairs_by_their_weights() {
        let of = |weight| {
            let pairs =
                [distance(0, 1, 1.0, 1.0), distance(1, 2, 1.0, 1.0), distance(0, 2, 2.3, weight)];
            let levels = reconciled(&[0.0; 3], &pairs);
            [levels[1] - levels[0], levels[2] - levels[1], levels[2] - levels[0]]
        };
        near(&of(1.0), &[1.1, 1.1, 2.2]);
        let surely = of(1e6);
        assert!((surely[2] - 2.3).abs() < 1e-6 && (surely[0] - 1.15).abs() < 1e-6, "{surely:?}");
    }

    #[test]
    fn those_that_nothing_connects_stay_apart() {
        let pairs = [distance(0, 2, 1.0, 1.0), distance(3, 4, -2.0, 1.0)];
        let levels = [5.0, 7.0, 5.0, 1.0, 1.0];
        near(&reconciled(&levels, &pairs), &[4.5, 7.0, 5.5, 2.0, 0.0]);
        near(&reconciled(&[1.0, 2.0], &[]), &[1.0, 2.0]);
        assert!(reconciled(&[], &[]).is_empty());
    }
}
