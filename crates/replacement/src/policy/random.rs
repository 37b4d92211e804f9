//! Random replacement: every resident page is equally likely to be evicted.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Cache, Size};
use crate::trace::Access;

pub(super) struct Random {
    capacity: usize,
    random: Xoshiro256PlusPlus,
    resident: Vec<u32>,
    is_resident: Vec<bool>,
}

impl Random {
    pub(super) fn new(size: Size, seed: u64) -> Self {
        Self {
            capacity: size.capacity as usize,
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            resident: Vec::with_capacity(size.capacity as usize),
            is_resident: vec![false; size.pages as usize],
        }
    }
}

impl Cache for Random {
    fn access(&mut self, access: Access) {
        if self.is_resident(access.page) {
            return;
        }
        if self.resident.len() >= self.capacity {
            let victim = self.random.random_range(0..self.resident.len());
            self.is_resident[self.resident.swap_remove(victim) as usize] = false;
        }
        self.resident.push(access.page);
        self.is_resident[access.page as usize] = true;
    }

    fn is_resident(&self, page: u32) -> bool {
        self.is_resident[page as usize]
    }
}
