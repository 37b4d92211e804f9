//! The system calls of programs that run in an arena: which of them concern files, and, in memory
//! that all of these programs share, how many of each were served where.

mod counts;
mod table;

pub use counts::{Counts, Outcome, create, map};
pub use table::{Argument, Call, NUMBERS, call, on_files};
