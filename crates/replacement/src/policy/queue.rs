//! Policies with a single queue of resident pages: FIFO, LRU, MRU and CLOCK.

use super::lists::PageLists;
use super::{Cache, Size};
use crate::trace::Access;

const RESIDENT: u8 = 0;

/// What a hit does, and which end of the queue is evicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QueuePolicy {
    /// A hit changes nothing; the oldest page is evicted.
    Fifo,
    /// A hit makes the page the newest; the oldest page is evicted.
    Lru,
    /// A hit makes the page the newest; the newest page is evicted.
    Mru,
    /// A hit sets the page's bit; the hand skips pages whose bit is set, and clears it.
    Clock,
}

pub(super) struct Queue {
    order: QueuePolicy,
    capacity: u32,
    lists: PageLists<1>,
    referenced: Vec<bool>,
}

impl Queue {
    pub(super) fn new(order: QueuePolicy, size: Size) -> Self {
        let referenced = vec![false; size.pages as usize];
        Self { order, capacity: size.capacity, lists: PageLists::new(size.pages), referenced }
    }

    fn hit(&mut self, page: u32) {
        match self.order {
            QueuePolicy::Fifo => {}
            QueuePolicy::Lru | QueuePolicy::Mru => self.lists.put_newest(RESIDENT, page),
            QueuePolicy::Clock => self.referenced[page as usize] = true,
        }
    }

    fn evict(&mut self) {
        match self.order {
            QueuePolicy::Fifo | QueuePolicy::Lru => self.lists.take_oldest(RESIDENT),
            QueuePolicy::Mru => self.lists.take_newest(RESIDENT),
            QueuePolicy::Clock => self.advance_hand(),
        };
    }

    /// The oldest page is the one under the hand; moving it to the front lets the hand pass it.
    fn advance_hand(&mut self) -> Option<u32> {
        while let Some(page) = self.lists.oldest(RESIDENT) {
            if !std::mem::take(&mut self.referenced[page as usize]) {
                break;
            }
            self.lists.put_newest(RESIDENT, page);
        }
        self.lists.take_oldest(RESIDENT)
    }
}

impl Cache for Queue {
    fn access(&mut self, access: Access) {
        if self.is_resident(access.page) {
            self.hit(access.page);
            return;
        }
        if self.lists.length(RESIDENT) >= self.capacity {
            self.evict();
        }
        self.lists.put_newest(RESIDENT, access.page);
    }

    fn is_resident(&self, page: u32) -> bool {
        self.lists.is_on(RESIDENT, page)
    }
}
