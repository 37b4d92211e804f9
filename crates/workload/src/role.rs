//! What a data file is for: some are read, others are written.

/// What a data file is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Reads; its content is as made, always.
    Read,
    /// Writes; its content is checkable until an unverified write.
    Write,
}
