//! Runs inside the guest, at the end of its job: makes the table of what its memory is used for.

mod kcore;
#[cfg(test)]
mod tests;
mod walk;

pub use walk::memory_table;
