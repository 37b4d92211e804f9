//! Pseudorandom numbers, the same in every run.

/// Marsaglia's xorshift, "Xorshift RNGs", Journal of Statistical Software 8(14), 2003. The seed
/// must not be 0.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// Any number but 0.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number less than `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}
