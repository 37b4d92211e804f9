//! Policies that keep resident pages ordered by a key and evict the one with the smallest: LRU-2
//! and LFU. An access takes logarithmic time.

use std::collections::BTreeSet;

use super::{Cache, Size};
use crate::trace::Access;

/// What the key is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RankKey {
    /// The time of the second to last access, which is also remembered for evicted pages.
    LastButOne,
    /// The number of accesses since the page came in.
    Count,
}

/// A page's key and the time of its last access, which breaks ties. Times count accesses from 1; 0
/// means never.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    key: u32,
    last: u32,
}

pub(super) struct RankedCache {
    key: RankKey,
    capacity: usize,
    now: u32,
    ranks: Vec<Rank>,
    is_resident: Vec<bool>,
    resident: BTreeSet<(Rank, u32)>,
}

impl RankedCache {
    pub(super) fn new(key: RankKey, size: Size) -> Self {
        let pages = size.pages as usize;
        Self {
            key,
            capacity: size.capacity as usize,
            now: 0,
            ranks: vec![Rank::default(); pages],
            is_resident: vec![false; pages],
            resident: BTreeSet::new(),
        }
    }

    fn next_rank(&self, page: u32) -> Rank {
        let rank = self.ranks[page as usize];
        let key = match self.key {
            RankKey::LastButOne => rank.last,
            RankKey::Count if self.is_resident(page) => rank.key + 1,
            RankKey::Count => 1,
        };
        Rank { key, last: self.now }
    }
}

impl Cache for RankedCache {
    fn access(&mut self, access: Access) {
        let page = access.page;
        self.now += 1;
        if self.is_resident(page) {
            self.resident.remove(&(self.ranks[page as usize], page));
        } else if self.resident.len() >= self.capacity
            && let Some((_, evicted)) = self.resident.pop_first()
        {
            self.is_resident[evicted as usize] = false;
        }
        let rank = self.next_rank(page);
        self.ranks[page as usize] = rank;
        self.is_resident[page as usize] = true;
        self.resident.insert((rank, page));
    }

    fn is_resident(&self, page: u32) -> bool {
        self.is_resident[page as usize]
    }
}
