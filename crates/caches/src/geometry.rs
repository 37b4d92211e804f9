//! The shape of one cache, validated once.

use std::fmt;

use serde::Serialize;

/// Which line is evicted from a full set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CachePolicy {
    /// The one that was used least recently.
    #[default]
    Lru,
    /// The one that a binary tree of bits points to; each use sets the bits on its path to point
    /// away (Al-Zoubi, Milenkovic & Milenkovic, "Performance evaluation of cache replacement
    /// policies for the SPEC CPU2000 benchmark suite", ACM-SE 2004, section 2).
    TreePlru,
    /// Any line, all with the same probability.
    Random {
        /// The seed of the choice: the same seed and stream give the same misses.
        seed: u64,
    },
}

impl fmt::Display for CachePolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lru => "LRU",
            Self::TreePlru => "tree-PLRU",
            Self::Random { .. } => "random",
        })
    }
}

/// The shape of a cache as specified by a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Capacity in bytes.
    pub size_bytes: u64,
    /// Line size in bytes: a power of two from 8 to 65,536.
    pub line_bytes: u32,
    /// Lines per set; 0 makes the cache fully associative.
    pub ways: u32,
    /// Which line is evicted from a full set.
    pub policy: CachePolicy,
}

/// A valid shape.
///
/// The number of sets need not be a power of two: last-level caches composed of slices often have
/// other numbers of sets. The set is then the line number modulo the number of sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    shape: Shape,
    sets: u64,
}

/// The maximum number of lines of a cache: 2 GiB with 64-byte lines. Each takes 8 bytes of memory
/// in the simulation.
const LINES_MAX: u64 = 1 << 25;
/// The maximum number of ways of a tree whose bits are in one word.
const TREE_WAYS_MAX: u32 = 64;
const LINE_BYTES_MIN: u32 = 8;
const LINE_BYTES_MAX: u32 = 1 << 16;

/// Why a shape is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CacheError {
    /// The line size is not valid.
    #[error("{0} is not a valid line size: give a power of two from 8 to 65536, such as 64")]
    Line(u32),
    /// The size is not valid.
    #[error(
        "{size_bytes} is not a valid size: give a whole number of {line_bytes}-byte lines, at \
         least one"
    )]
    Size {
        /// The size given.
        size_bytes: u64,
        /// The line size.
        line_bytes: u32,
    },
    /// There are more lines than this crate simulates.
    #[error("{0} lines are too many: the limit is 33554432, so give a smaller size")]
    Lines(u64),
    /// The number of lines is not a multiple of the number of ways.
    #[error(
        "{lines} lines do not divide into sets of {ways}: give a number of ways that divides them"
    )]
    Ways {
        /// The cache's lines.
        lines: u64,
        /// The ways given.
        ways: u32,
    },
    /// The number of ways is not a power of two, or is too large for a tree.
    #[error("tree-PLRU cannot have {0} ways: give a power of two up to 64, or use LRU")]
    Tree(u32),
}

impl Geometry {
    /// Validates a shape.
    ///
    /// # Errors
    ///
    /// If the shape is not valid; the message says what to change.
    pub fn new(shape: Shape) -> Result<Self, CacheError> {
        let Shape { size_bytes, line_bytes, ways, policy } = shape;
        let fits = (LINE_BYTES_MIN..=LINE_BYTES_MAX).contains(&line_bytes);
        if !fits || !line_bytes.is_power_of_two() {
            return Err(CacheError::Line(line_bytes));
        }
        if size_bytes == 0 || !size_bytes.is_multiple_of(u64::from(line_bytes)) {
            return Err(CacheError::Size { size_bytes, line_bytes });
        }
        let lines = size_bytes / u64::from(line_bytes);
        if lines > LINES_MAX {
            return Err(CacheError::Lines(lines));
        }
        let all = u32::try_from(lines).expect("no more than LINES_MAX");
        let ways = if ways == 0 { all } else { ways };
        if !lines.is_multiple_of(u64::from(ways)) {
            return Err(CacheError::Ways { lines, ways });
        }
        let is_tree = ways <= TREE_WAYS_MAX && ways.is_power_of_two();
        if policy == CachePolicy::TreePlru && !is_tree {
            return Err(CacheError::Tree(ways));
        }
        Ok(Self { shape: Shape { ways, ..shape }, sets: lines / u64::from(ways) })
    }

    /// Capacity in bytes.
    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        self.shape.size_bytes
    }

    /// Line size in bytes, a power of two.
    #[must_use]
    pub fn line_bytes(&self) -> u32 {
        self.shape.line_bytes
    }

    /// Lines per set, never 0.
    #[must_use]
    pub fn ways(&self) -> u32 {
        self.shape.ways
    }

    /// The number of sets.
    #[must_use]
    pub fn sets(&self) -> u64 {
        self.sets
    }

    /// Which line is evicted from a full set.
    #[must_use]
    pub fn policy(&self) -> CachePolicy {
        self.shape.policy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(size_bytes: u64, line_bytes: u32, ways: u32) -> Shape {
        Shape { size_bytes, line_bytes, ways, policy: CachePolicy::Lru }
    }

    #[test]
    fn shapes_of_real_caches_are_accepted() {
        let sets = |size, line, ways| Geometry::new(shape(size, line, ways)).map(|one| one.sets());
        assert_eq!(sets(32 << 10, 64, 8), Ok(64));
        assert_eq!(sets(48 << 10, 64, 12), Ok(64));
        assert_eq!(sets(33 << 20, 64, 11), Ok(49_152), "slices make no power of two");
        assert_eq!(sets(8, 8, 1), Ok(1));
        let all = Geometry::new(shape(1 << 10, 64, 0)).expect("fully associative");
        assert_eq!((all.ways(), all.sets()), (16, 1));
    }

    #[test]
    fn each_refusal_says_what_to_change() {
        let refused = |shape| Geometry::new(shape).expect_err("no cache").to_string();
        for line in [0, 4, 48, 131_072] {
            assert!(refused(shape(32 << 10, line, 8)).contains("power of two from 8"), "{line}");
        }
        for size in [0, 100, 63] {
            assert!(
                refused(shape(size, 64, 1)).contains("whole number of 64-byte lines"),
                "{size}"
            );
        }
        assert!(refused(shape(4 << 30, 64, 8)).contains("smaller size"));
        assert!(refused(shape(32 << 10, 64, 7)).contains("do not divide into sets"));
        assert!(refused(shape(64, 64, 2)).contains("do not divide into sets"));
        for ways in [12, 128] {
            let tree = Shape { policy: CachePolicy::TreePlru, ..shape(12 << 16, 64, ways) };
            assert!(refused(tree).contains("or use LRU"), "{ways}");
        }
    }
}
