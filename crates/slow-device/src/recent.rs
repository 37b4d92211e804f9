//! Which blocks were used most recently: a list of so many of them, without their contents.

use std::collections::HashMap;
use std::ops::Range;

/// The unit in which a device's cache keeps what was used.
pub(crate) const BLOCK_BYTES: u64 = 4096;
/// No slot.
const NONE: u32 = u32::MAX;

/// A number of blocks, of which the least recently used gives way. It takes all of its memory when
/// it is made.
#[derive(Debug)]
pub(crate) struct RecentBlocks {
    slots: Vec<Slot>,
    slots_max: usize,
    slot_of: HashMap<u64, u32>,
    /// The slot of the block that was used last, and of the one that was not used for longest.
    newest: u32,
    oldest: u32,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    block: u64,
    /// The slot of the block that was used next after this one, and of the one before.
    newer: u32,
    older: u32,
}

impl RecentBlocks {
    /// A list of up to `bytes` of blocks.
    pub(crate) fn new(bytes: u64) -> Self {
        let blocks = (bytes / BLOCK_BYTES).clamp(1, u64::from(NONE));
        let slots_max = usize::try_from(blocks).unwrap_or(usize::MAX);
        Self {
            slots: Vec::with_capacity(slots_max),
            slots_max,
            // Twice the room, so that removals never make it grow.
            slot_of: HashMap::with_capacity(2 * slots_max),
            newest: NONE,
            oldest: NONE,
        }
    }

    /// Uses the blocks that a range of bytes touches, in order; returns whether all of them were in
    /// the list.
    pub(crate) fn use_bytes(&mut self, bytes: Range<u64>) -> bool {
        let blocks = bytes.start / BLOCK_BYTES..bytes.end.div_ceil(BLOCK_BYTES);
        let new = blocks.filter(|&block| !self.use_block(block)).count();
        new == 0
    }

    fn use_block(&mut self, block: u64) -> bool {
        let known = self.slot_of.get(&block).copied();
        let slot = match known {
            Some(slot) => {
                self.unlink(slot);
                slot
            }
            None => self.slot_for(block),
        };
        self.link_newest(slot);
        known.is_some()
    }

    /// A slot for a block that has none: a new one, or that of the oldest block.
    fn slot_for(&mut self, block: u64) -> u32 {
        let new = Slot { block, newer: NONE, older: NONE };
        let slot = if self.slots.len() < self.slots_max {
            self.slots.push(new);
            u32::try_from(self.slots.len() - 1).unwrap_or(NONE)
        } else {
            let slot = self.oldest;
            self.unlink(slot);
            let old = std::mem::replace(&mut self.slots[slot as usize], new);
            self.slot_of.remove(&old.block);
            slot
        };
        self.slot_of.insert(block, slot);
        slot
    }

    fn unlink(&mut self, slot: u32) {
        let Slot { newer, older, .. } = self.slots[slot as usize];
        match newer {
            NONE => self.newest = older,
            newer => self.slots[newer as usize].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            older => self.slots[older as usize].newer = newer,
        }
    }

    fn link_newest(&mut self, slot: u32) {
        let before = std::mem::replace(&mut self.newest, slot);
        let linked = &mut self.slots[slot as usize];
        (linked.newer, linked.older) = (NONE, before);
        match before {
            NONE => self.oldest = slot,
            before => self.slots[before as usize].newer = slot,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(blocks: Range<u64>) -> Range<u64> {
        blocks.start * BLOCK_BYTES..blocks.end * BLOCK_BYTES
    }

    #[test]
    fn the_least_recently_used_gives_way() {
        let mut recent = RecentBlocks::new(3 * BLOCK_BYTES);
        for block in [1, 2, 3] {
            assert!(!recent.use_bytes(blocks(block..block + 1)), "{block} is new");
        }
        assert!(recent.use_bytes(blocks(1..2)), "which makes 2 the oldest");
        assert!(!recent.use_bytes(blocks(4..5)));
        assert!(!recent.use_bytes(blocks(2..3)), "4 came in its place, and 3 is the oldest");
        assert!(recent.use_bytes(blocks(1..2)) && recent.use_bytes(blocks(4..5)));
        assert!(!recent.use_bytes(blocks(3..4)));
    }

    #[test]
    fn a_range_is_known_if_every_block_it_touches_is() {
        let mut recent = RecentBlocks::new(8 * BLOCK_BYTES);
        assert!(!recent.use_bytes(BLOCK_BYTES - 1..BLOCK_BYTES + 1));
        assert!(recent.use_bytes(blocks(0..2)));
        assert!(!recent.use_bytes(blocks(1..3)), "the last one is new");
        assert!(recent.use_bytes(blocks(0..3)));
        assert!(!recent.use_bytes(blocks(100..200)), "more than there is room for");
        assert!(recent.use_bytes(blocks(192..200)), "its end is what is left of it");
    }

    /// The same as a list that is searched, and no more memory than at the start.
    #[test]
    fn it_is_the_list_that_it_says() {
        let mut recent = RecentBlocks::new(16 * BLOCK_BYTES);
        let capacity = recent.slot_of.capacity();
        let mut list: Vec<u64> = Vec::new();
        let mut state = 1_u64;
        for _ in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let block = (state >> 33) % 24;
            let at = list.iter().position(|&one| one == block);
            assert_eq!(recent.use_bytes(blocks(block..block + 1)), at.is_some());
            at.map(|at| list.remove(at));
            list.push(block);
            if list.len() > 16 {
                list.remove(0);
            }
        }
        assert_eq!((recent.slots.len(), recent.slot_of.capacity()), (16, capacity));
    }
}
