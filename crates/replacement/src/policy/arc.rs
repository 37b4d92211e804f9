//! ARC (Megiddo & Modha, "ARC: A Self-Tuning, Low Overhead Replacement Cache", FAST 2003, figure
//! 4): the lists of the ZFS cache.
//!
//! T1 has pages seen once recently, and T2 pages seen at least twice; B1 and B2 have the numbers of
//! pages evicted from them. A hit in B1 means that T1 should be longer, one in B2 that T2 should.
//! The steps of this adaptation are rounded down to whole pages.

use super::lists::PageLists;
use super::{Cache, Size};
use crate::trace::Access;

const T1: u8 = 0;
const T2: u8 = 1;
const B1: u8 = 2;
const B2: u8 = 3;

pub(super) struct Arc {
    capacity: u32,
    /// The target length of T1: the paper's "p".
    target: u32,
    lists: PageLists<4>,
}

impl Arc {
    pub(super) fn new(size: Size) -> Self {
        Self { capacity: size.capacity, target: 0, lists: PageLists::new(size.pages) }
    }

    /// The paper's REPLACE: evicts one page from T1 or T2, and keeps its number.
    fn replace(&mut self, wanted_from_b2: bool) {
        let length = self.lists.length(T1);
        let is_long = length > self.target || (wanted_from_b2 && length == self.target);
        let (from, to) = if length > 0 && is_long { (T1, B1) } else { (T2, B2) };
        if let Some(page) = self.lists.oldest(from) {
            self.lists.put_newest(to, page);
        }
    }

    /// Cases II and III: the page's number is still remembered.
    fn refault(&mut self, page: u32, ghost: u8) {
        let (first, second) = (self.lists.length(B1), self.lists.length(B2));
        if ghost == B1 {
            self.target = (self.target + (second / first).max(1)).min(self.capacity);
        } else {
            self.target = self.target.saturating_sub((first / second).max(1));
        }
        self.replace(ghost == B2);
        self.lists.put_newest(T2, page);
    }

    /// Case IV: the page is new or has been forgotten.
    fn fault(&mut self, page: u32) {
        let recent = self.lists.length(T1) + self.lists.length(B1);
        let all = recent + self.lists.length(T2) + self.lists.length(B2);
        if recent == self.capacity {
            if self.lists.length(T1) < self.capacity {
                self.lists.take_oldest(B1);
                self.replace(false);
            } else {
                self.lists.take_oldest(T1);
            }
        } else if all >= self.capacity {
            if all == 2 * self.capacity {
                self.lists.take_oldest(B2);
            }
            self.replace(false);
        }
        self.lists.put_newest(T1, page);
    }
}

impl Cache for Arc {
    fn access(&mut self, access: Access) {
        match self.lists.list_of(access.page) {
            Some(T1 | T2) => self.lists.put_newest(T2, access.page),
            Some(ghost) => self.refault(access.page, ghost),
            None => self.fault(access.page),
        }
    }

    fn is_resident(&self, page: u32) -> bool {
        self.lists.is_on(T1, page) || self.lists.is_on(T2, page)
    }
}
