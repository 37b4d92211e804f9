//! Synthetic streams: sequential, random, or looping accesses.

use std::fmt;

use crate::access::{Access, Purpose};

/// The order of the addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Ascending, without ever going back.
    Sequential,
    /// Ascending through this many bytes, then from the start again.
    Loop(u64),
    /// Uniformly random within this many bytes, at multiples of the access size.
    Random(u64),
}

/// A stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    /// The order of the addresses.
    pub pattern: Pattern,
    /// The purpose of all accesses.
    pub purpose: Purpose,
}

/// The length of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The number of accesses.
    pub accesses: u64,
    /// The size of each in bytes.
    pub bytes: u32,
    /// The seed of random addresses.
    pub seed: u64,
}

/// Why a stream is not valid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// The accesses have a size of zero.
    #[error("accesses of 0 bytes touch nothing: give --bytes at least 1")]
    NoBytes,
    /// Not even one access fits.
    #[error(
        "{stream}: an access of {bytes} bytes does not fit: give a larger size or a smaller --bytes"
    )]
    Small {
        /// The stream.
        stream: String,
        /// The access size in bytes.
        bytes: u32,
    },
    /// The stream exceeds the address space.
    #[error(
        "{accesses} accesses of {bytes} bytes reach beyond all addresses: give a smaller --accesses"
    )]
    Addresses {
        /// The number of accesses.
        accesses: u64,
        /// The size of each in bytes.
        bytes: u32,
    },
}

/// Where streams begin: well beyond the first page, as in a process.
const BEGIN: u64 = 1 << 32;

impl fmt::Display for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let purpose = match self.purpose {
            Purpose::Fetch => "fetch",
            Purpose::Load => "load",
            Purpose::Store => "store",
        };
        match self.pattern {
            Pattern::Sequential => write!(f, "sequential:{purpose}"),
            Pattern::Loop(bytes) => write!(f, "loop:{bytes}:{purpose}"),
            Pattern::Random(bytes) => write!(f, "random:{bytes}:{purpose}"),
        }
    }
}

impl Stream {
    /// The accesses, in order. All streams begin at the same address.
    ///
    /// # Errors
    ///
    /// If the stream is not valid; the message names the option to change.
    pub fn accesses(self, extent: Extent) -> Result<impl Iterator<Item = Access>, StreamError> {
        let Extent { accesses, bytes, mut seed } = extent;
        if bytes == 0 {
            return Err(StreamError::NoBytes);
        }
        let step = u64::from(bytes);
        let places = match self.pattern {
            Pattern::Sequential => accesses.max(1),
            Pattern::Loop(size) | Pattern::Random(size) => size / step,
        };
        if places == 0 {
            return Err(StreamError::Small { stream: self.to_string(), bytes });
        }
        let end = places.checked_mul(step).and_then(|length| length.checked_add(BEGIN));
        if end.is_none() {
            return Err(StreamError::Addresses { accesses, bytes });
        }
        Ok((0..accesses).map(move |number| {
            let place = match self.pattern {
                Pattern::Random(_) => crate::random::below(&mut seed, places),
                Pattern::Sequential | Pattern::Loop(_) => number % places,
            };
            Access { purpose: self.purpose, address: BEGIN + place * step, bytes }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(pattern: Pattern, accesses: u64) -> Vec<u64> {
        let stream = Stream { pattern, purpose: Purpose::Load };
        let extent = Extent { accesses, bytes: 8, seed: 1 };
        stream.accesses(extent).expect("a stream").map(|access| access.address - BEGIN).collect()
    }

    #[test]
    fn the_order_is_the_one_asked_for() {
        assert_eq!(addresses(Pattern::Sequential, 4), [0, 8, 16, 24]);
        assert_eq!(addresses(Pattern::Loop(20), 5), [0, 8, 0, 8, 0]);
        let random = addresses(Pattern::Random(80), 2000);
        assert!(random.iter().all(|address| address % 8 == 0 && *address < 80));
        let each = |place: u64| random.iter().filter(|address| **address == 8 * place).count();
        assert!((0..10).all(|place| (140..260).contains(&each(place))));
        assert_eq!(random, addresses(Pattern::Random(80), 2000), "the seed is the same");
    }

    #[test]
    fn what_is_no_stream_is_refused() {
        let refused = |pattern, accesses, bytes| {
            let stream = Stream { pattern, purpose: Purpose::Store };
            let refusal = stream.accesses(Extent { accesses, bytes, seed: 1 }).err();
            refusal.expect("refused").to_string()
        };
        assert!(refused(Pattern::Sequential, 1, 0).contains("--bytes"));
        assert!(refused(Pattern::Loop(7), 1, 8).starts_with("loop:7:store: an access of 8 bytes"));
        assert!(refused(Pattern::Sequential, u64::MAX, 8).contains("--accesses"));
    }
}
