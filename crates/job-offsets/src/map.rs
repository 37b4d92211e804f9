//! Which blocks of a file were accessed: a bit for each, and above it levels of bits that say which
//! words of the level below are full.
//!
//! It takes 1/8 byte for each block, and 1/63 more for the levels. Whether a block is used is one
//! look; the next free one is found in as many steps up and down as there are levels, 5 for 2^30
//! blocks.

/// Blocks that were used.
#[derive(Clone, Debug)]
pub struct RandomMap {
    blocks: u64,
    /// From the level with a bit for each block to the one with a single word.
    levels: Vec<Vec<u64>>,
}

const FULL: u64 = u64::MAX;
const WORD_BITS: u64 = u64::BITS as u64;

impl RandomMap {
    /// A map in which all blocks are free.
    #[must_use]
    pub fn new(blocks: u64) -> Self {
        let mut levels = Vec::new();
        let mut words = blocks.div_ceil(WORD_BITS).max(1);
        loop {
            let length = usize::try_from(words).expect("a map that does not fit cannot be made");
            levels.push(vec![0; length]);
            if words == 1 {
                return Self { blocks, levels };
            }
            words = words.div_ceil(WORD_BITS);
        }
    }

    /// Frees all blocks.
    pub fn clear(&mut self) {
        for level in &mut self.levels {
            level.fill(0);
        }
    }

    /// Whether a block is used.
    #[must_use]
    #[inline]
    pub fn is_used(&self, block: u64) -> bool {
        let (word, bit) = place(block);
        self.levels[0].get(word).is_some_and(|word| word >> bit & 1 == 1)
    }

    /// Uses blocks from one on, up to the first that is used already, and says how many they were.
    ///
    /// After the last block, there is room up to the end of its word. A transfer that is longer
    /// than what remains of the file uses it, and so is not shortened, as in fio.
    #[inline]
    pub fn claim(&mut self, first: u64, blocks: u64) -> u64 {
        let mut claimed = 0;
        while claimed < blocks {
            let (word, bit) = place(first + claimed);
            let Some(bits) = self.levels[0].get_mut(word) else { break };
            let free = u64::from((*bits >> bit).trailing_zeros()).min(WORD_BITS - u64::from(bit));
            let here = free.min(blocks - claimed);
            if here == 0 {
                break;
            }
            *bits |= (FULL >> (WORD_BITS - here)) << bit;
            if *bits == FULL {
                self.mark_full(word);
            }
            claimed += here;
        }
        claimed
    }

    /// The first free block after one, or from the beginning if there is none.
    #[must_use]
    #[inline]
    pub fn next_free(&self, block: u64) -> Option<u64> {
        if block >= self.blocks {
            return None;
        }
        self.free_from(block + 1).or_else(|| self.free_from(0))
    }

    /// How much memory the bits take.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.levels.iter().map(|level| size_of_val(&**level)).sum()
    }

    /// Notes on the levels above that a word of the first is full.
    fn mark_full(&mut self, mut word: usize) {
        for level in self.levels.iter_mut().skip(1) {
            let (above, bit) = place(word as u64);
            level[above] |= 1 << bit;
            if level[above] != FULL {
                return;
            }
            word = above;
        }
    }

    /// The first free block from one on. Climbs until a word has a free bit at or after the place,
    /// then follows first free bits down.
    fn free_from(&self, block: u64) -> Option<u64> {
        let mut index = block;
        for height in 0..self.levels.len() {
            let (word, bit) = place(index);
            let free = !self.levels[height].get(word)? & (FULL << bit);
            if free != 0 {
                return self.descend(height, word, free);
            }
            index = word as u64 + 1;
        }
        None
    }

    /// The first block below the first of these free bits of a word.
    fn descend(&self, height: usize, word: usize, free: u64) -> Option<u64> {
        let mut index = first_bit(word, free);
        for level in self.levels[..height].iter().rev() {
            let word = usize::try_from(index).expect("an index below the length of a level");
            index = first_bit(word, !*level.get(word)?);
        }
        (index < self.blocks).then_some(index)
    }
}

/// The word and the bit in it with this index.
fn place(index: u64) -> (usize, u32) {
    let word = usize::try_from(index / WORD_BITS).expect("an index of what is in memory");
    let bit = (index % WORD_BITS) as u32;
    (word, bit)
}

/// The index of the first bit that is set in the word with an index.
fn first_bit(word: usize, bits: u64) -> u64 {
    word as u64 * WORD_BITS + u64::from(bits.trailing_zeros())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// The same, as a set of used blocks.
    struct Model {
        blocks: u64,
        used: BTreeSet<u64>,
    }

    impl Model {
        fn claim(&mut self, first: u64, blocks: u64) -> u64 {
            let end = self.blocks.div_ceil(64).max(1) * 64;
            (0..blocks).take_while(|at| first + at < end && self.used.insert(first + at)).count()
                as u64
        }

        fn next_free(&self, block: u64) -> Option<u64> {
            let after = block + 1..self.blocks;
            let from_start = 0..self.blocks;
            (block < self.blocks)
                .then(|| after.chain(from_start).find(|at| !self.used.contains(at)))?
        }
    }

    proptest! {
        #[test]
        fn the_map_is_a_set(
            blocks in prop_oneof![1_u64..200, 4000..4200_u64, 262_100..262_200_u64],
            claims in prop::collection::vec((any::<prop::sample::Index>(), 1_u64..300), 1..80),
        ) {
            let mut map = RandomMap::new(blocks);
            let mut model = Model { blocks, used: BTreeSet::new() };
            for (index, length) in claims {
                let at = index.index(usize::try_from(blocks).unwrap()) as u64;
                let at = if map.is_used(at) { map.next_free(at) } else { Some(at) };
                let Some(at) = at else { continue };
                prop_assert_eq!(map.claim(at, length), model.claim(at, length));
                prop_assert_eq!(map.is_used(at), true);
                for near in [0, at.saturating_sub(1), at, at + 1, blocks - 1] {
                    prop_assert_eq!(map.is_used(near), model.used.contains(&near));
                    prop_assert_eq!(map.next_free(near), model.next_free(near));
                }
            }
        }
    }

    #[test]
    fn a_full_map_has_no_free_block_until_it_is_cleared() {
        for blocks in [1, 63, 64, 65, 4096, 4097, 300_000] {
            let mut map = RandomMap::new(blocks);
            let mut at = Some(blocks / 2);
            for _ in 0..blocks {
                let block = at.unwrap();
                assert!(!map.is_used(block));
                assert_eq!(map.claim(block, 1), 1);
                assert_eq!(map.claim(block, 1), 0);
                at = map.next_free(block);
            }
            assert_eq!(at, None);
            map.clear();
            assert_eq!(map.next_free(blocks - 1), Some(0));
        }
    }

    #[test]
    fn it_takes_little_more_than_a_bit_for_each_block() {
        assert_eq!(RandomMap::new(1 << 24).memory_bytes(), (1 << 21) + (1 << 15) + (1 << 9) + 8);
    }

    #[test]
    fn a_transfer_beyond_the_last_block_uses_the_rest_of_its_word() {
        let mut map = RandomMap::new(100);
        assert_eq!(map.claim(99, 2), 2);
        assert_eq!(map.claim(98, 2), 1);
        let mut map = RandomMap::new(128);
        assert_eq!(map.claim(127, 2), 1);
    }
}
