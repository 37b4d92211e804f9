//! The directions of data: reads, writes and trims are counted apart.

use std::ops::{Index, IndexMut};

/// Which way data go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DataDirection {
    /// From the file.
    Read,
    /// To the file.
    Write,
    /// Blocks are discarded.
    Trim,
}

impl DataDirection {
    /// All, in the order in which fio numbers and prints them.
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Trim];

    /// Its number in logs: 0, 1 or 2.
    pub fn number(self) -> usize {
        match self {
            Self::Read => 0,
            Self::Write => 1,
            Self::Trim => 2,
        }
    }

    /// Its name in outputs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Trim => "trim",
        }
    }

    /// Its letter in the status line.
    pub fn letter(self) -> char {
        match self {
            Self::Read => 'r',
            Self::Write => 'w',
            Self::Trim => 't',
        }
    }
}

/// One thing for each direction, indexed by it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PerDirection<T>([T; 3]);

impl<T> PerDirection<T> {
    /// The things for reads, writes and trims.
    pub fn new(read: T, write: T, trim: T) -> Self {
        Self([read, write, trim])
    }

    /// The things in the order of [`DataDirection::ALL`].
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter()
    }

    /// Each direction with its thing.
    pub fn each(&self) -> impl Iterator<Item = (DataDirection, &T)> {
        DataDirection::ALL.into_iter().zip(&self.0)
    }
}

impl<T> Index<DataDirection> for PerDirection<T> {
    type Output = T;

    fn index(&self, direction: DataDirection) -> &T {
        &self.0[direction.number()]
    }
}

impl<T> IndexMut<DataDirection> for PerDirection<T> {
    fn index_mut(&mut self, direction: DataDirection) -> &mut T {
        &mut self.0[direction.number()]
    }
}
