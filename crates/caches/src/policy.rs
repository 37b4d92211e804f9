//! The state that a cache keeps for choosing a victim.

use crate::geometry::CachePolicy;
use crate::random;

/// A policy's state for all sets.
#[derive(Clone, Debug)]
pub(crate) enum Memory {
    /// None: the words of a set are in order of use, the most recent first.
    Lru,
    /// The bits of each set's tree.
    TreePlru(Vec<u64>),
    /// The state of the generator.
    Random(u64),
}

impl Memory {
    pub(crate) fn new(policy: CachePolicy, sets: usize) -> Self {
        match policy {
            CachePolicy::Lru => Self::Lru,
            CachePolicy::TreePlru => Self::TreePlru(vec![0; sets]),
            CachePolicy::Random { seed } => Self::Random(seed),
        }
    }
}

/// Sets the bits on a way's path so that they point away from it.
///
/// The bits of a tree with `ways` leaves are numbered as in a heap, with the root at 1; a bit that
/// is 0 points to the lower half.
#[inline]
pub(crate) fn point_away(tree: &mut u64, ways: usize, way: usize) {
    let mut node = ways + way;
    while node > 1 {
        let is_lower_half = node & 1 == 0;
        node >>= 1;
        let bit = 1 << node;
        *tree = if is_lower_half { *tree | bit } else { *tree & !bit };
    }
}

/// The way that the bits point to.
#[inline]
pub(crate) fn pointed_at(tree: u64, ways: usize) -> usize {
    let mut node = 1;
    while node < ways {
        node = 2 * node + usize::from(tree >> node & 1 == 1);
    }
    node - ways
}

/// The next random choice among `ways`.
#[inline]
pub(crate) fn draw(state: &mut u64, ways: usize) -> usize {
    usize::try_from(random::below(state, ways as u64)).expect("below ways")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_points_away_from_what_was_used() {
        let mut tree = 0;
        assert_eq!(pointed_at(tree, 4), 0);
        for (used, next) in [(0, 2), (2, 1), (1, 3), (3, 0), (0, 2), (3, 1)] {
            point_away(&mut tree, 4, used);
            assert_eq!(pointed_at(tree, 4), next, "after {used}");
        }
        let mut alone = 0;
        point_away(&mut alone, 1, 0);
        assert_eq!((alone, pointed_at(alone, 1)), (0, 0));
        let mut wide = 0;
        (0..63).for_each(|way| point_away(&mut wide, 64, way));
        assert_eq!(pointed_at(wide, 64), 0, "63 was never used, but its half was used last");
    }
}
