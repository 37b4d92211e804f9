//! Policies with a single queue of resident pages: FIFO, LRU, MRU and CLOCK.

use super::lists::Lists;
use super::{Cache, Size};
use crate::trace::Access;

const RESIDENT: u8 = 0;

/// What a hit does, and which end of the queue is evicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
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
    order: Order,
    capacity: u32,
    lists: Lists<1>,
    referenced: Vec<bool>,
}

impl Queue {
    pub(super) fn new(order: Order, size: Size) -> Self {
        let referenced = vec![false; size.pages as usize];
        Self { order, capacity: size.capacity, lists: Lists::new(size.pages), referenced }
    }

    fn hit(&mut self, page: u32) {
        match self.order {
            Order::Fifo => {}
            Order::Lru | Order::Mru => self.lists.put_newest(RESIDENT, page),
            Order::Clock => self.referenced[page as usize] = true,
        }
    }

    fn evict(&mut self) {
        match self.order {
            Order::Fifo | Order::Lru => self.lists.take_oldest(RESIDENT),
            Order::Mru => self.lists.take_newest(RESIDENT),
            Order::Clock => self.advance_hand(),
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
