//! What a data file is for: some are only read, others are written.

/// What a data file is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Reads; its content never changes.
    Read,
    /// Writes; its content can be checked until the first unverified write.
    Write,
}
