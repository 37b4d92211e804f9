//! The reference policies, each simulated page by page.

mod arc;
mod clean_first;
mod linux;
mod lists;
mod queue;
mod random;
mod ranked;
mod two_queue;

use std::fmt;

use crate::trace::Access;
use linux::{Linux, Statistics};
use queue::{Queue, QueuePolicy};
use ranked::{RankKey, RankedCache};

/// A page replacement policy from the literature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Policy {
    /// Evicts the page that came in first (Belady, "A Study of Replacement Algorithms for a
    /// Virtual-Storage Computer", IBM Systems Journal 5(2), 1966).
    Fifo,
    /// Evicts the least recently used page (Mattson, Gecsei, Slutz & Traiger, "Evaluation
    /// Techniques for Storage Hierarchies", IBM Systems Journal 9(2), 1970).
    Lru,
    /// FIFO in which a page used since the hand last passed gets a second chance (Corbató, "A
    /// Paging Experiment with the Multics System", 1968). The bit of a new page is clear, as in
    /// Bansal & Modha, "CAR: Clock with Adaptive Replacement", FAST 2004, section II.
    Clock,
    /// 2Q, full version, with Kin and Kout at 25 % and 50 % of the capacity (Johnson & Shasha, VLDB
    /// 1994).
    TwoQueue,
    /// Linux with an active and an inactive list and refault distances (mm/workingset.c,
    /// mm/vmscan.c), simplified.
    Linux,
    /// Linux while the statistics of the memory control group are stale: during a group's first two
    /// to four seconds nothing is deactivated, and nothing is activated by refaults
    /// (`mem_cgroup_flush_stats_ratelimited` in mm/memcontrol.c, Linux 6.8 and later).
    LinuxStale,
    /// CFLRU: LRU that spares dirty pages within the less recently used half (Park et al., CASES
    /// 2006).
    CleanFirst,
    /// LRU-2 without a correlated reference period, and with unlimited history (O'Neil, O'Neil &
    /// Weikum, "The LRU-K Page Replacement Algorithm for Database Disk Buffering", SIGMOD 1993).
    Lru2,
    /// Evicts the page used least often since it came in, and the least recently used of several
    /// such pages (Coffman & Denning, "Operating Systems Theory", 1973, section 6.2).
    Lfu,
    /// ARC (Megiddo & Modha, FAST 2003).
    Arc,
    /// Evicts the most recently used page (Chou et al., "An Evaluation of Buffer Management
    /// Strategies for Relational Database Systems", VLDB 1985, section 3).
    Mru,
    /// Evicts any page, all with the same probability (Belady 1966).
    Random,
}

impl Policy {
    /// All policies.
    pub const ALL: [Self; 12] = [
        Self::Fifo,
        Self::Lru,
        Self::Clock,
        Self::TwoQueue,
        Self::Linux,
        Self::LinuxStale,
        Self::CleanFirst,
        Self::Lru2,
        Self::Lfu,
        Self::Arc,
        Self::Mru,
        Self::Random,
    ];

    /// The policy's name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fifo => "FIFO",
            Self::Lru => "LRU",
            Self::Clock => "CLOCK",
            Self::TwoQueue => "2Q",
            Self::Linux => "Linux",
            Self::LinuxStale => "Linux, stale",
            Self::CleanFirst => "CFLRU",
            Self::Lru2 => "LRU-2",
            Self::Lfu => "LFU",
            Self::Arc => "ARC",
            Self::Mru => "MRU",
            Self::Random => "random",
        }
    }

    /// An empty cache under this policy. `seed` only affects [`Policy::Random`]: the others are
    /// deterministic.
    ///
    /// # Panics
    /// If the capacity is 0.
    pub fn cache(self, size: Size, seed: u64) -> Box<dyn Cache> {
        assert!(size.capacity > 0, "a cache holds a page");
        match self {
            Self::Fifo => Box::new(Queue::new(QueuePolicy::Fifo, size)),
            Self::Lru => Box::new(Queue::new(QueuePolicy::Lru, size)),
            Self::Clock => Box::new(Queue::new(QueuePolicy::Clock, size)),
            Self::Mru => Box::new(Queue::new(QueuePolicy::Mru, size)),
            Self::TwoQueue => Box::new(two_queue::TwoQueue::new(size)),
            Self::Linux => Box::new(Linux::new(Statistics::Current, size)),
            Self::LinuxStale => Box::new(Linux::new(Statistics::Stale, size)),
            Self::CleanFirst => Box::new(clean_first::CleanFirst::new(size)),
            Self::Lru2 => Box::new(RankedCache::new(RankKey::LastButOne, size)),
            Self::Lfu => Box::new(RankedCache::new(RankKey::Count, size)),
            Self::Arc => Box::new(arc::Arc::new(size)),
            Self::Random => Box::new(random::Random::new(size, seed)),
        }
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The dimensions of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// The maximum number of resident pages.
    pub capacity: u32,
    /// The number of pages in the file; the numbers of accessed pages are below it.
    pub pages: u32,
}

/// A simulated cache.
pub trait Cache {
    /// Accesses a page, which is resident afterwards.
    fn access(&mut self, access: Access);

    /// Whether `page` is resident.
    fn is_resident(&self, page: u32) -> bool;

    /// Adds 1 to the count of each resident page; `counts` is indexed by page.
    fn count_resident(&self, counts: &mut [u8]) {
        for (page, count) in (0..).zip(counts) {
            *count += u8::from(self.is_resident(page));
        }
    }
}

#[cfg(test)]
mod tests;
