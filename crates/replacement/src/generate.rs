//! Generators of accesses. Each is seeded: the same seed gives the same accesses.

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, Zipf};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::trace::{Access, AccessKind};

/// A hot set that is in use during a scan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HotAndScan {
    /// The pages of the hot set, at the start of the file.
    pub hot_pages: u32,
    /// The pages of the scan, which follow the hot set and are read once.
    pub scan_pages: u32,
    /// The share of accesses that go to the hot set, at least 0 and below 1.
    pub hot_share: f64,
}

/// Reads each of `pages` pages once, from page 0 on.
pub fn scan(pages: u32) -> Vec<Access> {
    (0..pages).map(Access::read).collect()
}

/// Reads pages 0 to `pages` in order, over and over, `count` reads in total.
pub fn cycle(pages: u32, count: usize) -> Vec<Access> {
    (0..pages).cycle().take(count).map(Access::read).collect()
}

/// Generates random accesses.
#[derive(Debug)]
pub struct Generator {
    random: Xoshiro256PlusPlus,
}

impl Generator {
    /// A generator that starts from `seed`.
    pub fn new(seed: u64) -> Self {
        Self { random: Xoshiro256PlusPlus::seed_from_u64(seed) }
    }

    /// `count` reads, uniformly random among the `pages` pages from `first` on.
    ///
    /// # Panics
    /// If `pages` is 0.
    pub fn uniform(&mut self, first: u32, pages: u32, count: usize) -> Vec<Access> {
        let draw = |_| Access::read(first + self.random.random_range(0..pages));
        (0..count).map(draw).collect()
    }

    /// `count` reads of `pages` pages whose popularity follows Zipf's law with `exponent`. The
    /// ranks of the pages are random too.
    ///
    /// # Panics
    /// If `pages` is 0 or `exponent` is negative.
    pub fn zipf(&mut self, pages: u32, exponent: f64, count: usize) -> Vec<Access> {
        let law = Zipf::new(f64::from(pages), exponent).expect("a page, and an exponent from 0 on");
        let mut by_rank: Vec<u32> = (0..pages).collect();
        by_rank.shuffle(&mut self.random);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "ranks")]
        let draw = |_| by_rank[law.sample(&mut self.random) as usize - 1];
        (0..count).map(draw).map(Access::read).collect()
    }

    /// Reads the hot set once, then reads from it at random during a scan, until the scan is over.
    ///
    /// # Panics
    /// If there are no hot pages, or the share is out of range.
    pub fn hot_and_scan(&mut self, what: HotAndScan) -> Vec<Access> {
        let HotAndScan { hot_pages, scan_pages, hot_share } = what;
        assert!((0.0..1.0).contains(&hot_share), "the scan ends");
        let mut accesses = scan(hot_pages);
        for page in hot_pages..hot_pages + scan_pages {
            while self.random.random_bool(hot_share) {
                accesses.push(Access::read(self.random.random_range(0..hot_pages)));
            }
            accesses.push(Access::read(page));
        }
        accesses
    }

    /// The same accesses, each turned into a write with probability `share`.
    ///
    /// # Panics
    /// If `share` is not between 0 and 1.
    pub(crate) fn with_writes(&mut self, mut accesses: Vec<Access>, share: f64) -> Vec<Access> {
        for access in &mut accesses {
            if self.random.random_bool(share) {
                access.kind = AccessKind::Write;
            }
        }
        accesses
    }

    /// A number of pages within 10 % of `share` times `of`, and at least 1.
    pub(crate) fn about(&mut self, share: f64, of: u32) -> u32 {
        let pages = f64::from(of) * share * self.random.random_range(0.9..1.1);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a share of u32"
        )]
        let pages = pages.round() as u32;
        pages.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn popular_pages_of_zipf_are_drawn_as_often_as_the_law_says() {
        let accesses = Generator::new(3).zipf(100, 1.0, 100_000);
        let mut counts = vec![0u32; 100];
        accesses.iter().for_each(|access| counts[access.page as usize] += 1);
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let harmonic: f64 = (1..=100).map(|rank| 1.0 / f64::from(rank)).sum();
        for rank in [1u32, 2, 10] {
            let expected = 1e5 / harmonic / f64::from(rank);
            let drawn = f64::from(counts[rank as usize - 1]);
            assert!((drawn / expected - 1.0).abs() < 0.06, "{rank}: {drawn} for {expected}");
        }
    }

    #[test]
    fn the_scan_goes_by_once_and_the_hot_set_gets_its_share() {
        let what = HotAndScan { hot_pages: 50, scan_pages: 4000, hot_share: 0.6 };
        let accesses = Generator::new(1).hot_and_scan(what);
        let scanned = accesses.iter().filter(|access| access.page >= 50).count();
        assert_eq!(scanned, 4000);
        let hot = accesses.len() - scanned - 50;
        let share = hot as f64 / (hot + scanned) as f64;
        assert!((share - 0.6).abs() < 0.03, "{share}");
    }

    #[test]
    fn writes_have_their_share_and_leave_the_pages_alone() {
        let mut generator = Generator::new(9);
        let reads = generator.uniform(10, 20, 10_000);
        assert!(reads.iter().all(|access| (10..30).contains(&access.page)));
        let mixed = generator.with_writes(reads.clone(), 0.3);
        assert!(mixed.iter().zip(&reads).all(|(a, b)| a.page == b.page));
        let writes = mixed.iter().filter(|access| access.kind == AccessKind::Write).count();
        assert!((2800..3200).contains(&writes), "{writes}");
    }
}
