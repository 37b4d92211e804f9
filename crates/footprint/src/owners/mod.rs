//! Whose code misses caches while a whole program runs: the program's own, that of a file system's
//! library in it, the kernel's, or another's.
//!
//! Everybody's accesses go through the same caches as they came, so that what the program misses
//! includes what the others have moved out. Beside them, the accesses of the program alone go
//! through caches of its own: what these miss, the program misses anyway.

mod mapped;
mod simulator;

use serde::Serialize;

pub use mapped::{Mapped, MappedNames};
pub use simulator::{OwnerFigures, OwnerSimulator};

/// Whose code is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CodeOwner {
    /// The program's, with the libraries that it uses.
    Program,
    /// A library's that is a file system, with all that it calls in user mode.
    FileSystemLibrary,
    /// The kernel's, on behalf of the program: its system calls and exceptions.
    Kernel,
    /// Anybody else's: interrupts and other tasks.
    Others,
}

impl CodeOwner {
    /// All of them, in the order of [`OwnerFigures`].
    pub const ALL: [Self; 4] = [Self::Program, Self::FileSystemLibrary, Self::Kernel, Self::Others];

    pub(crate) fn index(self) -> usize {
        match self {
            Self::Program => 0,
            Self::FileSystemLibrary => 1,
            Self::Kernel => 2,
            Self::Others => 3,
        }
    }
}
