//! Which caches there are and how they are stacked, validated once.

use std::fmt;

use serde::Serialize;

use crate::geometry::Geometry;

/// The first level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstLevel {
    /// Separate caches for instructions and data.
    Split {
        /// The instruction cache, `l1i`.
        instruction: Geometry,
        /// The data cache, `l1d`.
        data: Geometry,
    },
    /// One cache for both, `l1`.
    Unified(Geometry),
    /// Only a data cache, `l1d`; fetches are skipped, and counted as such.
    Data(Geometry),
}

/// What happens to the lines above when a line leaves a level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Inclusion {
    /// They stay: non-inclusive non-exclusive.
    #[default]
    NonInclusive,
    /// They leave with it: inclusive, with back-invalidation.
    Inclusive,
}

impl fmt::Display for Inclusion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NonInclusive => "non-inclusive",
            Self::Inclusive => "inclusive",
        })
    }
}

/// A level below the first. It holds both instructions and data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LowerLevel {
    /// Its shape.
    pub geometry: Geometry,
    /// What happens to the lines above when a line leaves this level.
    pub inclusion: Inclusion,
}

/// A valid stack of caches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hierarchy {
    first: FirstLevel,
    lower: Vec<LowerLevel>,
}

/// The maximum number of levels; no known processor has more.
const LEVELS_MAX: usize = 8;

/// Why caches cannot be stacked like this.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HierarchyError {
    /// A level has shorter lines than one above.
    #[error(
        "{name} has lines of {line_bytes} bytes below lines of {above_bytes}: give it lines at \
         least as long as those above"
    )]
    ShorterLine {
        /// The lower level.
        name: String,
        /// Its line size.
        line_bytes: u32,
        /// The longest line size above.
        above_bytes: u32,
    },
    /// There are too many levels.
    #[error("{0} levels are too many: give at most 8")]
    Levels(usize),
}

impl Hierarchy {
    /// Checks that the caches can be stacked, with the first of `lower` next to `first`.
    ///
    /// # Errors
    ///
    /// If they cannot; the message says what to change.
    pub fn new(first: FirstLevel, lower: Vec<LowerLevel>) -> Result<Self, HierarchyError> {
        let levels = lower.len() + 1;
        if levels > LEVELS_MAX {
            return Err(HierarchyError::Levels(levels));
        }
        let hierarchy = Self { first, lower };
        let mut above_bytes =
            hierarchy.first_level().iter().map(|(_, one)| one.line_bytes()).max().unwrap_or(0);
        for (index, level) in hierarchy.lower.iter().enumerate() {
            let line_bytes = level.geometry.line_bytes();
            if line_bytes < above_bytes {
                let name = lower_name(index);
                return Err(HierarchyError::ShorterLine { name, line_bytes, above_bytes });
            }
            above_bytes = line_bytes;
        }
        Ok(hierarchy)
    }

    /// The first level.
    #[must_use]
    pub fn first(&self) -> FirstLevel {
        self.first
    }

    /// The levels below it, from top to bottom.
    #[must_use]
    pub fn lower(&self) -> &[LowerLevel] {
        &self.lower
    }

    /// The first level's caches with their names, instructions before data.
    pub(crate) fn first_level(&self) -> Vec<(&'static str, Geometry)> {
        match self.first {
            FirstLevel::Split { instruction, data } => vec![("l1i", instruction), ("l1d", data)],
            FirstLevel::Unified(both) => vec![("l1", both)],
            FirstLevel::Data(data) => vec![("l1d", data)],
        }
    }
}

/// The name of the lower level at `index`: `l2` and so on.
pub(crate) fn lower_name(index: usize) -> String {
    format!("l{}", index + 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CachePolicy, Shape};

    fn geometry(line_bytes: u32) -> Geometry {
        let shape = Shape { size_bytes: 1 << 16, line_bytes, ways: 4, policy: CachePolicy::Lru };
        Geometry::new(shape).expect("a cache")
    }

    fn lower(line_bytes: u32) -> LowerLevel {
        LowerLevel { geometry: geometry(line_bytes), inclusion: Inclusion::NonInclusive }
    }

    #[test]
    fn lines_grow_downwards() {
        let first = FirstLevel::Split { instruction: geometry(32), data: geometry(64) };
        assert!(Hierarchy::new(first, vec![lower(64), lower(128)]).is_ok());
        let refused = |lower| Hierarchy::new(first, lower).expect_err("refused").to_string();
        assert!(refused(vec![lower(32)]).starts_with("l2 has lines of 32 bytes below lines of 64"));
        assert!(refused(vec![lower(128), lower(64)]).starts_with("l3 has lines of 64 bytes"));
        assert!(refused(vec![lower(64); 8]).contains("at most 8"));
    }
}
