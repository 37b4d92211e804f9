//! Names, prepared for lookups: checked, hashed, and split into words.

use crate::arena::{LINE_BYTES, Line};
use crate::errno::Errno;
use crate::layout::cell;

/// The longest name, in bytes.
pub const NAME_MAX: usize = 255;

/// Arbitrary odd numbers (digits of pi) that spread the bits of names.
const SPREAD: [u64; 3] = [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7345, 0xa409_3822_299f_31d1];

/// The name of an entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Name<'n> {
    bytes: &'n [u8],
    /// The words in the entry's cell: all of the name, or the beginning of a long one, padded with
    /// zeros.
    words: [u64; cell::NAME_WORDS],
    hash: u64,
}

impl<'n> Name<'n> {
    /// Prepares a name for an arena with this secret.
    ///
    /// # Errors
    /// [`Errno::NAMETOOLONG`]; [`Errno::NOENT`] if it is empty.
    #[inline(always)]
    pub(crate) fn new(bytes: &'n [u8], secret: u64) -> Result<Self, Errno> {
        if bytes.len() > NAME_MAX {
            return Err(Errno::NAMETOOLONG);
        }
        if bytes.is_empty() {
            return Err(Errno::NOENT);
        }
        let (first, rest) = bytes.split_at(bytes.len().min(cell::NAME_MAX));
        let words = words_of(first);
        let hash = hash_of(bytes.len(), words, secret);
        if rest.is_empty() {
            return Ok(Self { bytes, words, hash });
        }
        // The upper half of the third word refers to the run with the whole name.
        let words = [words[0], words[1], words[2] & u64::from(u32::MAX)];
        Ok(Self { bytes, words, hash: long_hash(rest, hash, secret) })
    }

    /// The first component of a path, and its length; none if it is `.` or `..`, empty, or does not
    /// fit into a cell.
    #[inline(always)]
    pub(crate) fn first_of(path: &'n [u8], secret: u64) -> Option<(Self, usize)> {
        let (words, length) = match short_words(path) {
            Some(words) if !has_slash(words) => (words, path.len()),
            Some(words) => up_to_slash(words, path.len()),
            None => first_words(path)?,
        };
        if length <= 2 && matches!(words[0], 0 | DOT | DOTS) {
            return None;
        }
        let bytes = path.get(..length)?;
        Some((Self { bytes, words, hash: hash_of(length, words, secret) }, length))
    }

    /// A path that is a single name; none if it is another path, or does not fit into a cell. This
    /// is shorter than [`Self::first_of`], but slower.
    #[inline(always)]
    pub(crate) fn only(path: &'n [u8], secret: u64) -> Option<Self> {
        let mut words = [0_u64; cell::NAME_WORDS];
        if !(1..=cell::NAME_MAX).contains(&path.len()) {
            return None;
        }
        for (index, &byte) in path.iter().enumerate() {
            if byte == b'/' {
                return None;
            }
            *words.get_mut(index / 8)? |= u64::from(byte) << (index % 8 * 8);
        }
        if path.len() <= 2 && matches!(words[0], DOT | DOTS) {
            return None;
        }
        Some(Self { bytes: path, words, hash: hash_of(path.len(), words, secret) })
    }

    #[inline(always)]
    pub(crate) fn bytes(&self) -> &'n [u8] {
        self.bytes
    }

    #[inline(always)]
    pub(crate) fn words(&self) -> [u64; cell::NAME_WORDS] {
        self.words
    }

    #[inline(always)]
    pub(crate) fn hash(&self) -> u64 {
        self.hash
    }

    /// Whether all of it fits into its entry's cell.
    #[inline(always)]
    pub(crate) fn is_short(&self) -> bool {
        self.bytes.len() <= cell::NAME_MAX
    }

    /// How many lines a long name takes.
    #[inline]
    pub(crate) fn lines(&self) -> u32 {
        lines_of_name(self.bytes.len())
    }

    /// Whether a cell has this name, which must be short.
    #[inline(always)]
    pub(crate) fn is_all_in(&self, cell: Line<'_>) -> bool {
        cell.load(cell::NAME) == self.words[0]
            && cell.load(cell::NAME.element(1)) == self.words[1]
            && cell.load(cell::NAME.element(2)) == self.words[2]
            && usize::from(cell.load(cell::NAME_LENGTH)) == self.bytes.len()
    }

    /// Whether a cell matches this name as far as the cell shows: for a long name, its length and
    /// its beginning.
    #[inline(always)]
    pub(crate) fn is_in(&self, cell: Line<'_>) -> bool {
        let third = cell.load(cell::NAME.element(2));
        let third = if self.is_short() { third } else { third & u64::from(u32::MAX) };
        usize::from(cell.load(cell::NAME_LENGTH)) == self.bytes.len()
            && cell.load(cell::NAME) == self.words[0]
            && cell.load(cell::NAME.element(1)) == self.words[1]
            && third == self.words[2]
    }
}

/// How many lines a long name with this many bytes takes.
#[expect(clippy::cast_possible_truncation, reason = "a name has 255 bytes at most")]
pub(crate) fn lines_of_name(bytes: usize) -> u32 {
    bytes.div_ceil(LINE_BYTES) as u32
}

/// `.` and `..` as words.
const DOT: u64 = b'.' as u64;
const DOTS: u64 = DOT << 8 | DOT;

/// A path of 1 to 24 bytes as words, padded with zeros.
#[inline(always)]
fn short_words(path: &[u8]) -> Option<[u64; cell::NAME_WORDS]> {
    let word = |from: usize| {
        let bytes = path.get(from..from + 8)?;
        bytes.first_chunk().map(|eight| u64::from_le_bytes(*eight))
    };
    // The last eight bytes, without those that are in the previous word.
    let last = |before: usize| Some(word(path.len() - 8)? >> (8 * (before + 8 - path.len())));
    match path.len() {
        1..8 => Some([word_of(path), 0, 0]),
        8 => Some([word(0)?, 0, 0]),
        9..=16 => Some([word(0)?, last(8)?, 0]),
        17..=24 => Some([word(0)?, word(8)?, last(16)?]),
        _ => None,
    }
}

/// The words of the first component of a path of more than 24 bytes, padded with zeros, and its
/// length; none if it does not fit into a cell, or if the path is empty.
#[inline(never)]
fn first_words(path: &[u8]) -> Option<([u64; cell::NAME_WORDS], usize)> {
    let beginning = path.get(..cell::NAME_MAX)?;
    let (words, length) = up_to_slash(words_of(beginning), beginning.len());
    let ends = length < cell::NAME_MAX || path.get(length) == Some(&b'/');
    ends.then_some((words, length))
}

/// Cuts words of a path off at its first slash; also returns how many bytes come before, which are
/// all of its `length` if there is none.
#[inline(always)]
fn up_to_slash(words: [u64; cell::NAME_WORDS], length: usize) -> ([u64; cell::NAME_WORDS], usize) {
    let mut before = [0; cell::NAME_WORDS];
    for (index, word) in words.into_iter().enumerate() {
        if let Some(slash) = first_slash(word) {
            before[index] = word & !(u64::MAX << (8 * slash));
            return (before, 8 * index + slash);
        }
        before[index] = word;
    }
    (words, length)
}

/// Whether a byte of any word is a slash.
#[inline(always)]
fn has_slash(words: [u64; cell::NAME_WORDS]) -> bool {
    words.into_iter().fold(0, |found, word| found | slashes_in(word)) != 0
}

/// The index of the first slash among the bytes of a word.
#[inline(always)]
pub(crate) fn first_slash(word: u64) -> Option<usize> {
    let slashes = slashes_in(word);
    (slashes != 0).then(|| slashes.trailing_zeros() as usize / 8)
}

/// Sets the highest bit of each byte that is a slash. Above the first slash, other bytes may be
/// marked as well.
#[inline(always)]
fn slashes_in(word: u64) -> u64 {
    const LOW: u64 = u64::from_le_bytes([1; 8]);
    const SLASHES: u64 = u64::from_le_bytes([b'/'; 8]);
    let differ = word ^ SLASHES;
    differ.wrapping_sub(LOW) & !differ & (LOW << 7)
}

/// Up to 24 bytes as words, padded with zeros.
#[inline(always)]
fn words_of(piece: &[u8]) -> [u64; cell::NAME_WORDS] {
    let (first, rest) = piece.split_at(piece.len().min(8));
    let (second, third) = rest.split_at(rest.len().min(8));
    [word_of(first), word_of(second), word_of(third)]
}

/// Up to 8 bytes as a word, padded with zeros.
#[inline(always)]
pub(crate) fn word_of(bytes: &[u8]) -> u64 {
    // Two loads that overlap, to avoid a loop over bytes.
    if let Some(eight) = bytes.first_chunk() {
        u64::from_le_bytes(*eight)
    } else if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let behind = 8 * (bytes.len() - 4);
        u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << behind
    } else {
        match *bytes {
            [] => 0,
            [a] => a.into(),
            [a, b, ref rest @ ..] => {
                let c = rest.first().copied().unwrap_or(0);
                u64::from(a) | u64::from(b) << 8 | u64::from(c) << 16
            }
        }
    }
}

/// The hash of a name with this length; `words` are its first 24 bytes, padded with zeros.
#[inline(always)]
pub(crate) fn hash_of(length: usize, words: [u64; cell::NAME_WORDS], secret: u64) -> u64 {
    hash_on(mix(length as u64 ^ secret, SPREAD[2]), words, secret)
}

/// The hash of a name that does not fit into a cell: continues the hash of its first bytes with the
/// rest.
#[cold]
#[inline(never)]
fn long_hash(rest: &[u8], hash: u64, secret: u64) -> u64 {
    let pieces = rest.chunks(cell::NAME_MAX);
    pieces.fold(hash, |hash, piece| hash_on(hash, words_of(piece), secret))
}

/// Continues a hash with 24 bytes.
#[inline(always)]
fn hash_on(hash: u64, words: [u64; cell::NAME_WORDS], secret: u64) -> u64 {
    let hash = mix(words[0] ^ hash, words[1] ^ secret ^ SPREAD[0]);
    mix(hash ^ words[2], SPREAD[1] ^ secret)
}

/// The exclusive or of the two halves of the product.
#[inline(always)]
fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    ((product >> 64) as u64) ^ a.wrapping_mul(b)
}

#[cfg(test)]
mod tests {
    use std::{format, vec};

    use super::*;

    #[test]
    fn names_are_measured() {
        assert_eq!(Name::new(b"", 1).unwrap_err(), Errno::NOENT);
        assert_eq!(Name::new(&[b'a'; 256], 1).unwrap_err(), Errno::NAMETOOLONG);
        assert!(Name::new(&[b'a'; 24], 1).unwrap().is_short());
        let long = Name::new(&[b'a'; 255], 1).unwrap();
        assert!(!long.is_short() && long.lines() == 4);
    }

    #[test]
    fn the_first_name_of_a_path_is_what_comes_before_a_slash() {
        for length in 1..40 {
            for rest in ["", "/", "/b", "//", "/bcd/efg", "/0123456789abcdef0123456789abcdef"] {
                let name = "x".repeat(length);
                let path = format!("{name}{rest}");
                let found = Name::first_of(path.as_bytes(), 7);
                if length > cell::NAME_MAX {
                    assert!(found.is_none(), "{path}");
                    continue;
                }
                let (found, found_length) = found.expect("it fits");
                let expected = Name::new(name.as_bytes(), 7).unwrap();
                assert_eq!((found.bytes(), found_length), (name.as_bytes(), length), "{path}");
                assert_eq!((found.words(), found.hash()), (expected.words(), expected.hash()));
            }
        }
        for path in ["", "/", "/a", ".", "..", "./a", "../a", "//////////////////////////////"] {
            assert!(Name::first_of(path.as_bytes(), 7).is_none(), "{path}");
        }
    }

    /// 60,000 similar names, in 4,096 buckets, and 256 tags from the following bits.
    #[test]
    fn hashes_spread_names_that_differ_little() {
        let secret = 0x0123_4567_89ab_cdef;
        let (mut places, mut tags) = (vec![0_u32; 1 << 12], vec![0_u32; 256]);
        for number in 0..60_000 {
            let text = format!("file{number:08}");
            let name = Name::new(text.as_bytes(), secret).unwrap();
            places[usize::try_from(name.hash() >> 52).unwrap()] += 1;
            tags[usize::try_from(name.hash() >> 44 & 0xff).unwrap()] += 1;
        }
        let most = places.iter().max().unwrap();
        assert!(*most < 40, "{most} of 14.6");
        assert!(tags.iter().all(|&count| (150..330).contains(&count)), "{tags:?}");
    }
}
