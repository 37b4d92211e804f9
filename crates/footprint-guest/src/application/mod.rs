//! Executes a whole program on a tree of files, to be traced from its start to its end.
//!
//! The program begins with a mark and ends with one: a process of ours executes the first and
//! becomes the program, and its parent executes the second when the program has ended. Meanwhile
//! the parent only waits, as the program writes to a device. The program is executed in this way on
//! an empty directory, and then on the tree: the difference is what the tree takes.
//!
//! Before that, it is executed three times on the tree. The first time reads everything into
//! memory. The second time shows what is mapped into it (`mapped`): addresses are not randomised in
//! a guest, so this is also where things are when it is traced. The third time is a rehearsal of
//! what is traced, marks apart.

mod execution;
mod job;
mod mapped;
mod perform;

pub use execution::{is_marked_start, start_marked};
pub use job::{ApplicationJob, ApplicationOutcome, DIRECTORY};
pub(crate) use perform::perform;
