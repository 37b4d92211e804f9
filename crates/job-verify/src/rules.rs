//! Which fields of headers are compared with those of the write.

/// Whether a job reads or writes. One that only trims counts as one that reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accesses {
    /// It does not write.
    Reads,
    /// It writes and does not read.
    Writes,
    /// It does both.
    Both,
}

/// What of a job decides which fields of headers are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each says something else about the job")]
pub struct HeaderRules {
    /// Whether it reads or writes.
    pub accesses: Accesses,
    /// The smallest block in any direction, even one that the job does not have.
    pub block_bytes_min: u64,
    /// The largest block in any direction, even one that the job does not have.
    pub block_bytes_max: u64,
    /// `verify_backlog`, or 0.
    pub backlog: u64,
    /// `time_based`.
    pub is_time_based: bool,
    /// `verify_only`.
    pub is_verify_only: bool,
    /// Whether blocks may be written again in a pass without being remembered: of
    /// `experimental_verify`, where offsets may come twice.
    pub forgets_rewrites: bool,
    /// Whether blocks are verified in the order in which they were written, and none was written
    /// again: only then are their seeds those that the generator gives. fio 3.33 takes that for
    /// granted, and finds fault with blocks of mixed jobs that are as they were written.
    pub is_in_order: bool,
}

impl HeaderRules {
    /// Whether the seed in a header must be the one that the job's generator gives: only in jobs
    /// that read and write, and verify at their end. Elsewhere, any seed will do.
    pub fn checks_seed(&self) -> bool {
        self.accesses == Accesses::Both && self.backlog == 0 && self.is_in_order
    }

    /// Whether the number in a header must be that of the write: in jobs that have done the writes
    /// themselves, with blocks of one size, and did not go round again.
    pub fn checks_number(&self) -> bool {
        self.accesses != Accesses::Reads
            && self.block_bytes_min == self.block_bytes_max
            && !self.is_time_based
            && !self.is_verify_only
            && !self.forgets_rewrites
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: HeaderRules = HeaderRules {
        accesses: Accesses::Both,
        block_bytes_min: 4096,
        block_bytes_max: 4096,
        backlog: 0,
        is_time_based: false,
        is_verify_only: false,
        forgets_rewrites: false,
        is_in_order: true,
    };

    #[test]
    fn seeds_are_compared_in_mixed_jobs() {
        assert!(RULES.checks_seed());
        assert!(!HeaderRules { backlog: 8, ..RULES }.checks_seed());
        assert!(!HeaderRules { is_in_order: false, ..RULES }.checks_seed());
        assert!(!HeaderRules { accesses: Accesses::Writes, ..RULES }.checks_seed());
        assert!(!HeaderRules { accesses: Accesses::Reads, ..RULES }.checks_seed());
    }

    #[test]
    fn numbers_are_compared_where_they_are_known() {
        assert!(RULES.checks_number());
        assert!(HeaderRules { accesses: Accesses::Writes, backlog: 8, ..RULES }.checks_number());
        assert!(!HeaderRules { accesses: Accesses::Reads, ..RULES }.checks_number());
        assert!(!HeaderRules { block_bytes_max: 8192, ..RULES }.checks_number());
        assert!(!HeaderRules { is_time_based: true, ..RULES }.checks_number());
        assert!(!HeaderRules { is_verify_only: true, ..RULES }.checks_number());
        assert!(!HeaderRules { forgets_rewrites: true, ..RULES }.checks_number());
    }
}
