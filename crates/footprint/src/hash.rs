//! A hash for small keys that are looked up for every event: fast, and the same in every run.

use std::hash::{BuildHasherDefault, Hasher};

/// Builds [`Mix`].
pub(crate) type BuildMix = BuildHasherDefault<Mix>;

/// Mixes words by xor and multiplication by an odd number, like the checksum of traces. Keys come
/// from a trace, whose author could at most cause collisions that slow down the analysis.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mix(u64);

const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u8(&mut self, word: u8) {
        self.write_u64(u64::from(word));
    }

    fn write_u32(&mut self, word: u32) {
        self.write_u64(u64::from(word));
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(ODD).rotate_left(29);
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }

    fn write_isize(&mut self, word: isize) {
        self.write_u64(word.cast_unsigned() as u64);
    }
}
