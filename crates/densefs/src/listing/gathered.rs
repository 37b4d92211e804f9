//! The entries of several buckets, sorted together.

use crate::arena::{Arena, Line, Ref, Word};
use crate::directory::places_in_use;
use crate::layout::bucket;
use crate::vectors::{self, PLACE_AT, TAG_AT};

/// Most entries that are processed together.
pub(super) const GATHERED_MAX: usize = 128;
/// Most buckets that are processed together.
pub(super) const GROUPS_MAX: usize = 16;

/// The entries of several buckets, sorted as far as their order is known.
///
/// Each step is done for all of them before the next step begins, so that their cache misses
/// overlap instead of adding up.
///
/// An entry is a word: its cell in the low half, and above that its place in the bucket, its tag,
/// and the number of its bucket. The top bits, down to the tag, are its prefix.
pub(super) struct Gathered {
    sorted: [u64; GATHERED_MAX + bucket::ENTRIES],
    /// Their positions, if these do not follow from their prefixes.
    positions: [u64; GATHERED_MAX],
    /// The entries that have the same prefix as the next one, and how many there are.
    alike: [u8; GATHERED_MAX],
    alike_count: usize,
    pub(super) groups: usize,
    pub(super) count: usize,
    /// If positions follow from prefixes: what to add to a prefix, and how far to shift the sum.
    by_prefix: Option<(u64, u32)>,
}

impl Gathered {
    /// The bit with which the number of the bucket begins in a word.
    const GROUP_AT: u32 = TAG_AT + 8;

    pub(super) const fn new() -> Self {
        Self {
            sorted: [0; GATHERED_MAX + bucket::ENTRIES],
            positions: [0; GATHERED_MAX],
            alike: [0; GATHERED_MAX],
            alike_count: 0,
            groups: 0,
            count: 0,
            by_prefix: None,
        }
    }

    pub(super) fn clear(&mut self) {
        (self.groups, self.count, self.by_prefix) = (0, 0, None);
    }

    /// Adds those entries of the next bucket that belong there; false if there is no room for them.
    #[inline(always)]
    pub(super) fn add_bucket(&mut self, line: Line<'_>) -> bool {
        let room = self.sorted.get_mut(self.count..).and_then(<[u64]>::first_chunk_mut);
        let (Some(room), natives) = (room, places_in_use(line).0) else { return false };
        let count = self.count + natives.count_ones() as usize;
        if count > GATHERED_MAX {
            return false;
        }
        let above = u32::from_bits(self.groups as u64) << (Self::GROUP_AT - PLACE_AT);
        vectors::sort(line, natives, above, room);
        self.count = count;
        self.groups += 1;
        true
    }

    /// Prefetches the cells of all entries.
    #[inline(always)]
    pub(super) fn fetch(&self, arena: &Arena<'_>) {
        for &word in self.sorted.iter().take(self.count) {
            arena.fetch(Ref(u32::from_bits(word)));
        }
    }

    /// Inserts an entry that belongs in one of these buckets but is stored elsewhere; false if
    /// there is no room for it.
    pub(super) fn add_stranger(&mut self, group: u32, tag: u8, cell: Ref) -> bool {
        if self.count >= GATHERED_MAX {
            return false;
        }
        let word =
            u64::from(group) << Self::GROUP_AT | u64::from(tag) << TAG_AT | u64::from(cell.0);
        let mut place = self.count;
        while place > 0 && prefix_of(self.sorted[place - 1]) > prefix_of(word) {
            self.sorted[place] = self.sorted[place - 1];
            place -= 1;
        }
        self.sorted[place] = word;
        self.count += 1;
        true
    }

    /// Derives positions from prefixes: each entry gets the last position that a name with its
    /// prefix can have. `first` is added to every prefix. Returns whether all prefixes differ.
    #[inline(always)]
    pub(super) fn locate(&mut self, first: u64, shift: u32) -> bool {
        let (mut count, mut last) = (0, u64::MAX);
        for number in 0..self.count.min(GATHERED_MAX) {
            let prefix = prefix_of(self.sorted[number]);
            self.alike[count % GATHERED_MAX] = u8::from_bits(number as u64).wrapping_sub(1);
            count += usize::from(prefix == last);
            last = prefix;
        }
        (self.alike_count, self.by_prefix) = (count, Some((first, shift)));
        count == 0
    }

    /// Stores the positions explicitly, so that some can be changed.
    pub(super) fn note_positions(&mut self) {
        for number in 0..self.count.min(GATHERED_MAX) {
            self.positions[number] = self.entry(number).0;
        }
        self.by_prefix = None;
    }

    /// The first entry at or after `from` that has the same tag as the next one.
    pub(super) fn next_alike(&self, from: usize) -> Option<usize> {
        let mut all = self.alike.iter().take(self.alike_count).map(|&number| usize::from(number));
        all.find(|&number| number >= from)
    }

    /// The prefix of this entry, and how many entries from here on have it.
    pub(super) fn alike(&self, number: usize) -> (u64, usize) {
        let all = self.sorted.get(number..self.count).unwrap_or_default();
        let prefix = all.first().map_or(0, |&word| prefix_of(word));
        (prefix, all.iter().take_while(|&&word| prefix_of(word) == prefix).count())
    }

    /// Gives an entry its own position, and moves it to its place in the order from `begin` on.
    pub(super) fn relocate(&mut self, begin: usize, number: usize, position: u64) {
        let Some(mine) = self.positions.get_mut(number) else { return };
        *mine = position;
        for number in (begin + 1..=number).rev() {
            if self.positions[number - 1] <= self.positions[number] {
                return;
            }
            self.positions.swap(number - 1, number);
            self.sorted.swap(number - 1, number);
        }
    }

    /// The position and the cell of the entry with this number in the order.
    #[inline(always)]
    pub(super) fn entry(&self, number: usize) -> (u64, Ref) {
        let number = number % GATHERED_MAX;
        let word = self.sorted[number];
        let position = match self.by_prefix {
            Some((first, shift)) => ((first + prefix_of(word) + 1) << shift) - 2,
            None => self.positions[number],
        };
        (position, Ref(u32::from_bits(word)))
    }

    /// Inserts an entry by its position. If there is no room, it replaces the entry with the
    /// highest position or is dropped. Returns whether there was room.
    pub(super) fn add_lowest(&mut self, position: u64, cell: Ref) -> bool {
        let fits = self.count < GATHERED_MAX;
        if fits {
            self.count += 1;
        } else if position > self.positions[GATHERED_MAX - 1] {
            return false;
        }
        self.sorted[self.count - 1] = cell.0.into();
        self.relocate(0, self.count - 1, position);
        fits
    }
}

/// The part of a word that is the same for entries of a bucket with the same tag.
#[inline(always)]
fn prefix_of(word: u64) -> u64 {
    word >> TAG_AT
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;
    use crate::memory::Memory;

    fn entries(gathered: &Gathered) -> Vec<(u64, u32)> {
        (0..gathered.count)
            .map(|number| gathered.entry(number))
            .map(|(at, cell)| (at, cell.0))
            .collect()
    }

    /// Buckets with any number of entries whose tags all differ, and entries from elsewhere.
    #[test]
    fn entries_are_put_in_order() {
        const SHIFT: u32 = 10;
        let mut memory = Memory::of_pages(1);
        let (arena, mut gathered, mut wanted) = (memory.arena(), Gathered::new(), Vec::new());
        for (group, places) in [0x1f, 0, 0xfff, 0x800, 0x0aa, 0x555, 0x701].into_iter().enumerate()
        {
            let line = arena.line(Ref(u32::from_bits(group as u64))).expect("it is there");
            for place in (0..bucket::ENTRIES).filter(|place| places >> place & 1 == 1) {
                let tag = 1 + place as u64 * 85 % 251;
                line.store(bucket::TAG.element(place), u8::from_bits(tag));
                // This one belongs elsewhere.
                if place != 3 {
                    wanted.push(((((group as u64) << 8 | tag) + 1) << SHIFT) - 2);
                }
            }
            line.store(bucket::STRANGERS, 1 << 3);
            assert!(gathered.add_bucket(line));
        }
        assert!(gathered.locate(0, SHIFT), "two are alike");
        for (group, tag) in [(1, 3), (0, 200), (6, 1), (2, 1)] {
            assert!(gathered.add_stranger(group, tag, Ref(99)));
            wanted.push((((u64::from(group) << 8 | u64::from(tag)) + 1) << SHIFT) - 2);
        }
        wanted.sort_unstable();
        assert!(!gathered.locate(0, SHIFT), "some are alike");
        assert!(entries(&gathered).into_iter().map(|entry| entry.0).eq(wanted));
    }

    #[test]
    fn the_lowest_positions_of_a_bucket_are_gathered() {
        let mut gathered = Gathered::new();
        let all_fit = (0..300_u32)
            .map(|number| gathered.add_lowest(u64::from(number * 7 % 300), Ref(number)));
        assert_eq!(all_fit.filter(|fits| *fits).count(), GATHERED_MAX);
        let wanted = (0..GATHERED_MAX as u64).map(|at| (at, (0..300).find(|n| n * 7 % 300 == at)));
        let found = entries(&gathered).into_iter().map(|(at, cell)| (at, Some(u64::from(cell))));
        assert!(found.eq(wanted));
    }
}
