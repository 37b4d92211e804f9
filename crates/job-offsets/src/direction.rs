//! Directions of transfers, and what a job has one of for each.

use std::ops::{Index, IndexMut};

/// The direction of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From the file.
    Read,
    /// To the file.
    Write,
    /// Blocks are given back.
    Trim,
}

impl Direction {
    /// All of them, in the order in which options list their values.
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Trim];
}

/// One value for each direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PerDirection<T>([T; 3]);

impl<T> PerDirection<T> {
    /// The values for reads, writes and trims.
    #[must_use]
    pub const fn new(read: T, write: T, trim: T) -> Self {
        Self([read, write, trim])
    }

    /// The value that a function gives for each.
    pub fn from_fn(mut value: impl FnMut(Direction) -> T) -> Self {
        Self(Direction::ALL.map(&mut value))
    }

    /// The values, in the order of [`Direction::ALL`].
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter()
    }
}

impl<T: Clone> PerDirection<T> {
    /// The same value for all.
    pub fn all(value: &T) -> Self {
        Self::from_fn(|_| value.clone())
    }
}

impl<T> Index<Direction> for PerDirection<T> {
    type Output = T;

    fn index(&self, direction: Direction) -> &T {
        &self.0[direction as usize]
    }
}

impl<T> IndexMut<Direction> for PerDirection<T> {
    fn index_mut(&mut self, direction: Direction) -> &mut T {
        &mut self.0[direction as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_direction() {
        let mut values = PerDirection::new(1, 2, 3);
        values[Direction::Trim] += 4;
        assert_eq!(Direction::ALL.map(|one| values[one]), [1, 2, 7]);
        assert_eq!(PerDirection::all(&'a').iter().collect::<String>(), "aaa");
    }
}
