//! The checksum of a frame: Fowler, Noll and Vo's 64-bit hash (FNV-1a) over eight-byte words
//! instead of single bytes, since every instruction of a guest counts. It detects accidents, not
//! attacks.

const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// A checksum being computed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sum {
    hash: u64,
    /// Bytes that do not fill a word yet.
    rest: [u8; 8],
    rest_bytes: usize,
}

impl Sum {
    /// The checksum of no bytes.
    pub(crate) fn new() -> Self {
        Self { hash: BASIS, rest: [0; 8], rest_bytes: 0 }
    }

    /// Adds bytes; how they are split into pieces makes no difference.
    pub(crate) fn add(&mut self, mut bytes: &[u8]) {
        if self.rest_bytes > 0 {
            let taken = bytes.len().min(8 - self.rest_bytes);
            self.rest[self.rest_bytes..self.rest_bytes + taken].copy_from_slice(&bytes[..taken]);
            self.rest_bytes += taken;
            bytes = &bytes[taken..];
            if self.rest_bytes < 8 {
                return;
            }
            self.word(self.rest);
            self.rest_bytes = 0;
        }
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|&word| self.word(word));
        self.rest[..rest.len()].copy_from_slice(rest);
        self.rest_bytes = rest.len();
    }

    fn word(&mut self, word: [u8; 8]) {
        // The shift moves upper bits down, which multiplication alone never does.
        let hash = (self.hash ^ u64::from_le_bytes(word)).wrapping_mul(PRIME);
        self.hash = hash ^ (hash >> 32);
    }

    /// The checksum of everything added.
    pub(crate) fn finish(mut self) -> u64 {
        self.rest[self.rest_bytes..].fill(0);
        let length = self.rest_bytes as u64;
        self.word(self.rest);
        self.word(length.to_le_bytes());
        self.hash
    }
}

#[cfg(test)]
mod tests {
    use super::Sum;

    fn sum_of(pieces: &[&[u8]]) -> u64 {
        let mut sum = Sum::new();
        pieces.iter().for_each(|piece| sum.add(piece));
        sum.finish()
    }

    #[test]
    fn pieces_make_no_difference() {
        let bytes: Vec<u8> = (0..100).collect();
        let whole = sum_of(&[&bytes]);
        for cut in 0..100 {
            let (first, second) = bytes.split_at(cut);
            assert_eq!(sum_of(&[first, second]), whole);
            assert_eq!(sum_of(&[first, &second[..1], &second[1..]]), whole);
        }
    }

    #[test]
    fn every_bit_and_the_length_count() {
        let whole = sum_of(&[&[0; 20]]);
        assert_ne!(sum_of(&[&[0; 21]]), whole);
        for bit in 0..160 {
            let mut bytes = [0; 20];
            bytes[bit / 8] = 1 << (bit % 8);
            assert_ne!(sum_of(&[&bytes]), whole, "bit {bit}");
        }
    }
}
