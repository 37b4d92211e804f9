//! 2Q, the full version (Johnson & Shasha, "2Q: A Low Overhead High Performance Buffer Management
//! Replacement Algorithm", VLDB 1994, section 3 and its figure "Full version").
//!
//! A page starts on A1in, a FIFO queue. When it is evicted from there, its number is kept on A1out;
//! only a page that is accessed while its number is on A1out moves to Am, an LRU list. A hit in
//! A1in changes nothing: accesses close together count as one.

use super::lists::PageLists;
use super::{Cache, Size};
use crate::trace::Access;

const AM: u8 = 0;
const A1_IN: u8 = 1;
const A1_OUT: u8 = 2;

pub(super) struct TwoQueue {
    capacity: u32,
    /// Kin: 25 % of the page slots, as the paper proposes (section 3.2).
    in_max: u32,
    /// Kout: as many numbers as 50 % of the page slots (section 3.2).
    out_max: u32,
    lists: PageLists<3>,
}

impl TwoQueue {
    pub(super) fn new(size: Size) -> Self {
        let Size { capacity, pages } = size;
        let (in_max, out_max) = ((capacity / 4).max(1), (capacity / 2).max(1));
        Self { capacity, in_max, out_max, lists: PageLists::new(pages) }
    }

    /// The paper's "reclaimfor".
    fn make_room(&mut self) {
        if self.lists.length(AM) + self.lists.length(A1_IN) < self.capacity {
            return;
        }
        if self.lists.length(A1_IN) <= self.in_max && self.lists.take_oldest(AM).is_some() {
            return;
        }
        if let Some(page) = self.lists.take_oldest(A1_IN) {
            self.lists.put_newest(A1_OUT, page);
            if self.lists.length(A1_OUT) > self.out_max {
                self.lists.take_oldest(A1_OUT);
            }
        }
    }
}

impl Cache for TwoQueue {
    fn access(&mut self, access: Access) {
        match self.lists.list_of(access.page) {
            Some(A1_IN) => {}
            Some(AM) => self.lists.put_newest(AM, access.page),
            Some(_) => {
                // Taken off A1out first, since making room may push the oldest number off it.
                self.lists.take(access.page);
                self.make_room();
                self.lists.put_newest(AM, access.page);
            }
            None => {
                self.make_room();
                self.lists.put_newest(A1_IN, access.page);
            }
        }
    }

    fn is_resident(&self, page: u32) -> bool {
        self.lists.is_on(AM, page) || self.lists.is_on(A1_IN, page)
    }
}
