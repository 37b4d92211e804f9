//! Patterns of single-page reads of a cold file.

use std::collections::BTreeMap;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::{Value, json};

const MIB: u64 = 1 << 20;
/// Windows that a sequential stream may need to grow and settle, with some to spare.
const WINDOWS: u64 = 8;
/// The kernel's default, used if the setting is unknown: 128 KiB (`VM_READAHEAD_PAGES`).
const WINDOW_BYTES: u64 = 128 << 10;
/// The most reads in a pattern that jumps.
const JUMPS_MAX: usize = 64;

/// The order in which pages are read, one page at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pattern {
    /// One read, at the start of a large file.
    FirstAtStart,
    /// One read, in the middle of a large file.
    FirstInMiddle,
    /// One read, at the start of a file of this size.
    SmallFile {
        /// Its size.
        bytes: u64,
    },
    /// Page by page from the start.
    Sequential,
    /// Page by page from the end.
    Backward,
    /// One page per stride.
    Strided {
        /// From the start of one page read to the start of the next.
        bytes: u64,
    },
    /// Two sequential streams in turn, from the start and from the middle.
    TwoStreams(Descriptors),
    /// Pages in random order, each once.
    Random,
}

/// How two streams share the kernel's read history, which is kept per open file description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Descriptors {
    /// Both read through the same one.
    Shared,
    /// Each has its own.
    Own,
}

/// One read: through which descriptor, and which page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PageRead {
    pub(super) descriptor: usize,
    pub(super) page: u64,
}

impl Pattern {
    /// The size of the file to read, given the maximum that the kernel reads ahead.
    pub(super) fn file_bytes(self, read_ahead_bytes: Option<u64>) -> u64 {
        let window_bytes = read_ahead_bytes.unwrap_or(WINDOW_BYTES);
        let to_settle = (WINDOWS * window_bytes).clamp(MIB, 64 * MIB);
        match self {
            Self::SmallFile { bytes } => bytes,
            Self::FirstAtStart | Self::FirstInMiddle => 4 * MIB,
            Self::Sequential => to_settle,
            Self::TwoStreams(_) => 2 * to_settle,
            Self::Strided { .. } | Self::Random | Self::Backward => 16 * MIB,
        }
    }

    /// How many descriptors it reads through.
    pub(super) fn descriptors(self) -> usize {
        if self == Self::TwoStreams(Descriptors::Own) { 2 } else { 1 }
    }

    /// How many consecutive fetches must bring in the same amount for the window to have settled
    /// and the pattern to end; `None` if it has a fixed number of reads. A growing window may
    /// repeat a size two or three times in each stream.
    pub(super) fn fetches_to_settle(self) -> Option<usize> {
        match self {
            Self::Sequential => Some(4),
            Self::TwoStreams(_) => Some(8),
            Self::FirstAtStart
            | Self::FirstInMiddle
            | Self::SmallFile { .. }
            | Self::Backward
            | Self::Strided { .. }
            | Self::Random => None,
        }
    }

    /// Its reads in a file of `pages` pages, in order; random ones are drawn from the seed.
    pub(super) fn reads(self, pages: u64, seed: u64) -> Vec<PageRead> {
        let page_bytes = rustix::param::page_size() as u64;
        let by_one = |page| PageRead { descriptor: 0, page };
        match self {
            Self::FirstAtStart | Self::SmallFile { .. } => vec![by_one(0)],
            Self::FirstInMiddle => vec![by_one(pages / 2)],
            Self::Sequential => (0..pages).map(by_one).collect(),
            Self::Backward => (0..pages).rev().take(JUMPS_MAX).map(by_one).collect(),
            Self::Strided { bytes } => {
                let stride_pages = usize::try_from((bytes / page_bytes).max(1));
                let stride_pages = stride_pages.expect("a stride is shorter than memory");
                (0..pages).step_by(stride_pages).take(JUMPS_MAX).map(by_one).collect()
            }
            Self::TwoStreams(descriptors) => {
                let second = usize::from(descriptors == Descriptors::Own);
                let pair =
                    |page| [by_one(page), PageRead { descriptor: second, page: pages / 2 + page }];
                (0..pages / 2).flat_map(pair).collect()
            }
            Self::Random => {
                let mut order: Vec<u64> = (0..pages).collect();
                let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
                let (drawn, _) = order.partial_shuffle(&mut generator, JUMPS_MAX);
                drawn.iter().copied().map(by_one).collect()
            }
        }
    }

    /// What distinguishes it from the others, for the record.
    pub(super) fn parameters(self) -> BTreeMap<String, Value> {
        let access = match self {
            Self::FirstAtStart | Self::FirstInMiddle | Self::SmallFile { .. } => "first",
            Self::Sequential => "sequential",
            Self::Backward => "backward",
            Self::Strided { .. } => "strided",
            Self::TwoStreams(_) => "interleaved",
            Self::Random => "random",
        };
        let mut parameters = BTreeMap::from([
            ("operation".to_owned(), json!("read")),
            ("request_bytes".to_owned(), json!(rustix::param::page_size())),
            ("access".to_owned(), json!(access)),
            ("cold".to_owned(), json!("data")),
        ]);
        let more = match self {
            Self::Strided { bytes } => Some(("stride_bytes", json!(bytes))),
            Self::SmallFile { bytes } => Some(("file_bytes", json!(bytes))),
            Self::TwoStreams(_) => Some(("descriptors", json!(self.descriptors()))),
            Self::FirstAtStart => Some(("position", json!("start"))),
            Self::FirstInMiddle => Some(("position", json!("middle"))),
            Self::Sequential | Self::Backward | Self::Random => None,
        };
        parameters.extend(more.map(|(name, value)| (name.to_owned(), value)));
        parameters
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(pattern: Pattern, pages: u64) -> Vec<u64> {
        pattern.reads(pages, 1).iter().map(|read| read.page).collect()
    }

    #[test]
    fn pages_are_read_in_the_order_that_the_name_says() {
        let page_bytes = rustix::param::page_size() as u64;
        assert_eq!(pages(Pattern::FirstAtStart, 8), [0]);
        assert_eq!(pages(Pattern::FirstInMiddle, 8), [4]);
        assert_eq!(pages(Pattern::Sequential, 4), [0, 1, 2, 3]);
        assert_eq!(pages(Pattern::Backward, 4), [3, 2, 1, 0]);
        assert_eq!(pages(Pattern::Strided { bytes: 3 * page_bytes }, 8), [0, 3, 6]);
        assert_eq!(pages(Pattern::TwoStreams(Descriptors::Shared), 6), [0, 3, 1, 4, 2, 5]);
        let own = Pattern::TwoStreams(Descriptors::Own).reads(4, 1);
        assert_eq!(own.iter().map(|read| read.descriptor).collect::<Vec<_>>(), [0, 1, 0, 1]);
    }

    #[test]
    fn random_pages_are_drawn_by_the_seed_each_once() {
        let mut drawn = pages(Pattern::Random, 1000);
        assert_eq!(drawn.len(), JUMPS_MAX);
        assert_eq!(drawn, pages(Pattern::Random, 1000));
        let other: Vec<u64> = Pattern::Random.reads(1000, 2).iter().map(|read| read.page).collect();
        assert_ne!(drawn, other);
        drawn.sort_unstable();
        drawn.dedup();
        assert_eq!(drawn.len(), JUMPS_MAX);
    }

    #[test]
    fn a_file_has_room_for_windows_to_settle() {
        let bytes = |read_ahead_bytes| Pattern::Sequential.file_bytes(read_ahead_bytes);
        assert_eq!(bytes(Some(0)), MIB);
        assert_eq!(bytes(Some(512 << 10)), 4 * MIB);
        assert_eq!(bytes(Some(4 * MIB)), 32 * MIB);
        assert_eq!(bytes(None), MIB);
    }
}
