//! Numbers that look as if they were drawn at random, and are the same each time.

/// Marsaglia's xorshift, "Xorshift RNGs", Journal of Statistical Software 8(14), 2003. It begins
/// with any number but 0.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// Any number but 0.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// One below this.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}
