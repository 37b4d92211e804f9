//! Stack distances: what LRU of any capacity hits, from one pass over a trace.
//!
//! The distance of an access is the number of different pages accessed since its page was accessed
//! last, itself included; LRU hits it exactly if its capacity is at least that (Mattson, Gecsei,
//! Slutz & Traiger, IBM Systems Journal 9(2), 1970). Different pages are counted in a Fenwick tree
//! over the times of last accesses (Bennett & Kruskal, "LRU Stack Processing", IBM Journal of
//! Research and Development 19(4), 1975), so an access takes logarithmic time.

use crate::trace::Access;

/// How many accesses of a trace have which stack distance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackDistances {
    accesses: u64,
    /// By capacity, from 0: the accesses that LRU hits.
    hits: Vec<u64>,
}

impl StackDistances {
    /// The distances of `accesses` to `pages` pages, from an empty cache on.
    ///
    /// # Panics
    /// When a page is not below `pages`.
    pub fn new(accesses: &[Access], pages: u32) -> Self {
        let mut last = vec![None; pages as usize];
        let mut latest = Fenwick::new(accesses.len());
        let mut hits = vec![0; pages as usize + 1];
        for (now, access) in accesses.iter().enumerate() {
            if let Some(before) = last[access.page as usize].replace(now) {
                hits[latest.count_from(before)] += 1;
                latest.clear(before);
            }
            latest.set(now);
        }
        for capacity in 1..hits.len() {
            hits[capacity] += hits[capacity - 1];
        }
        Self { accesses: accesses.len() as u64, hits }
    }

    /// The share of accesses that LRU of `capacity` pages hits, from 0 to 1. First accesses are
    /// misses at any capacity. Of no accesses, 0.
    pub fn hit_ratio(&self, capacity: u32) -> f64 {
        let hits = self.hits[(capacity as usize).min(self.hits.len() - 1)];
        hits as f64 / self.accesses.max(1) as f64
    }
}

/// A set of times, of which those from one on are counted in logarithmic time.
struct Fenwick {
    sums: Vec<u32>,
    total: u32,
}

impl Fenwick {
    fn new(times: usize) -> Self {
        Self { sums: vec![0; times + 1], total: 0 }
    }

    fn set(&mut self, time: usize) {
        self.total += 1;
        self.update(time, |sum| *sum += 1);
    }

    fn clear(&mut self, time: usize) {
        self.total -= 1;
        self.update(time, |sum| *sum -= 1);
    }

    fn update(&mut self, time: usize, change: impl Fn(&mut u32)) {
        let mut node = time + 1;
        while node < self.sums.len() {
            change(&mut self.sums[node]);
            node += node & node.wrapping_neg();
        }
    }

    /// The number of times in the set that are not before `time`.
    fn count_from(&self, time: usize) -> usize {
        let (mut before, mut node) = (0, time);
        while node > 0 {
            before += self.sums[node];
            node &= node - 1;
        }
        (self.total - before) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Generator, cycle};
    use crate::policy::{Policy, Size};

    #[test]
    fn hits_are_those_of_lru_simulated() {
        let accesses = Generator::new(5).zipf(300, 0.9, 3000);
        let distances = StackDistances::new(&accesses, 300);
        for capacity in [1, 7, 50, 299, 300, 1000] {
            let mut cache = Policy::Lru.cache(Size { capacity, pages: 300 }, 0);
            let mut hits = 0;
            for &access in &accesses {
                hits += u32::from(cache.is_resident(access.page));
                cache.access(access);
            }
            let expected = f64::from(hits) / 3000.0;
            assert!((distances.hit_ratio(capacity) - expected).abs() < 1e-12, "{capacity}");
        }
    }

    #[test]
    fn a_loop_is_a_cliff() {
        let distances = StackDistances::new(&cycle(100, 400), 100);
        assert!(distances.hit_ratio(99).abs() < f64::EPSILON);
        assert!((distances.hit_ratio(100) - 0.75).abs() < f64::EPSILON);
        assert!(StackDistances::new(&[], 0).hit_ratio(1).abs() < f64::EPSILON);
    }
}
