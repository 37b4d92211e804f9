//! CFLRU (Park, Jung, Kang, Kim & Lee, "CFLRU: A Replacement Algorithm for Flash Memory", CASES
//! 2006): LRU in two regions. The clean-first region has the least recently used pages, and its
//! oldest clean page is evicted; a dirty one is only evicted if it has no clean ones.

use super::lists::PageLists;
use super::{Cache, Size};
use crate::trace::{Access, AccessKind};

const WORKING: u8 = 0;
const CLEAN: u8 = 1;
const DIRTY: u8 = 2;

pub(super) struct CleanFirst {
    capacity: u32,
    /// The length of the working region; the clean-first region is the other half of the capacity.
    /// The paper leaves its size ("window") to tuning.
    working_max: u32,
    lists: PageLists<3>,
    dirty: Vec<bool>,
}

impl CleanFirst {
    pub(super) fn new(size: Size) -> Self {
        let Size { capacity, pages } = size;
        let dirty = vec![false; pages as usize];
        Self { capacity, working_max: capacity.div_ceil(2), lists: PageLists::new(pages), dirty }
    }

    fn evict(&mut self) {
        let oldest = [CLEAN, DIRTY, WORKING].iter().find_map(|&list| self.lists.take_oldest(list));
        if let Some(page) = oldest {
            self.dirty[page as usize] = false;
        }
    }

    /// Moves the excess of the working region to the clean-first region, whose two lists are each
    /// in order of last use.
    fn demote(&mut self) {
        while self.lists.length(WORKING) > self.working_max {
            let Some(page) = self.lists.oldest(WORKING) else { return };
            let list = if self.dirty[page as usize] { DIRTY } else { CLEAN };
            self.lists.put_newest(list, page);
        }
    }

    fn resident(&self) -> u32 {
        [WORKING, CLEAN, DIRTY].iter().map(|&list| self.lists.length(list)).sum()
    }
}

impl Cache for CleanFirst {
    fn access(&mut self, access: Access) {
        if !self.is_resident(access.page) && self.resident() >= self.capacity {
            self.evict();
        }
        if access.kind == AccessKind::Write {
            self.dirty[access.page as usize] = true;
        }
        self.lists.put_newest(WORKING, access.page);
        self.demote();
    }

    fn is_resident(&self, page: u32) -> bool {
        self.lists.list_of(page).is_some()
    }
}
