//! Entries of some buckets, put in order together.

use crate::arena::{Arena, Line, Ref, Word};
use crate::directory::places_in_use;
use crate::layout::bucket;
use crate::vectors;

/// Most entries that are looked at together.
pub(super) const GATHERED_MOST: usize = 128;
/// Most buckets that are.
pub(super) const GROUPS_MOST: usize = 16;

/// Entries of some buckets, as far as they are known.
///
/// Each step is done with all of them before the next one is begun: what the processor waits for in
/// one entry it does not wait for in another, and the entries of all come from memory at once.
///
/// An entry is a word: its cell below, and its key above. A key says in which of the buckets the
/// entry belongs, its tag, and its place, so that no two of a bucket are the same.
pub(super) struct Gathered {
    /// Those that are in the buckets where they belong, as they stand there.
    found: [u64; GATHERED_MOST + Self::BEHIND],
    /// Their keys.
    keys: [i32; GATHERED_MOST + Self::BEHIND],
    /// All, in order.
    sorted: [u64; GATHERED_MOST + Self::BEHIND],
    /// Their positions.
    positions: [u64; GATHERED_MOST],
    /// The first of each two in order that have the same tag, and how many such there are.
    alike: [u8; GATHERED_MOST],
    alike_count: usize,
    /// Where the entries of each bucket begin.
    begins: [u8; GROUPS_MOST + 1],
    pub(super) groups: usize,
    pub(super) count: usize,
}

impl Gathered {
    /// Keys are compared so many at a time, and others may lie behind the last.
    const BEHIND: usize = 16;
    /// Where a key begins in a word, and in that what entries with the same tag have in common.
    const KEY: u32 = 32;
    const PREFIX: u32 = Self::KEY + Self::BEHIND.ilog2();
    const GROUP: u32 = Self::PREFIX + 8;

    pub(super) const fn new() -> Self {
        Self {
            found: [0; GATHERED_MOST + Self::BEHIND],
            keys: [0; GATHERED_MOST + Self::BEHIND],
            sorted: [0; GATHERED_MOST + Self::BEHIND],
            positions: [0; GATHERED_MOST],
            alike: [0; GATHERED_MOST],
            alike_count: 0,
            begins: [0; GROUPS_MOST + 1],
            groups: 0,
            count: 0,
        }
    }

    pub(super) fn clear(&mut self) {
        (self.groups, self.count) = (0, 0);
    }

    /// Adds the entries of the next bucket that belong there; false if there is no room for them.
    #[inline(always)]
    pub(super) fn add_bucket(&mut self, line: Line<'_>) -> bool {
        let (group, count) = (self.groups, self.count);
        let room = self.found.get_mut(count..).and_then(<[u64]>::first_chunk_mut);
        let (Some(room), Some(begin)) = (room, self.begins.get_mut(group)) else { return false };
        if count + bucket::ENTRIES > GATHERED_MOST {
            return false;
        }
        *begin = u8::of_bits(count as u64);
        let words: [u64; bucket::ENTRIES] = core::array::from_fn(|place| {
            let tag = u64::from(line.load(bucket::TAG.element(place)));
            let above = (group as u64) << Self::GROUP | (place as u64) << Self::KEY;
            above | tag << Self::PREFIX | u64::from(line.load(bucket::ENTRY.element(place)))
        });
        self.count += vectors::compress(words, places_in_use(line).0, room);
        self.groups += 1;
        true
    }

    /// Has the processor fetch the cells of those that have been added.
    #[inline(always)]
    pub(super) fn fetch(&self, arena: &Arena<'_>) {
        for &word in self.found.iter().take(self.count) {
            arena.fetch(Ref(u32::of_bits(word)));
        }
    }

    /// Puts those that have been added in order. Jumps that depend on it would cost more than all
    /// comparisons.
    #[inline(never)]
    pub(super) fn sort(&mut self) {
        const FEW: usize = 2;
        const ALL: usize = bucket::ENTRIES / vectors::WIDTH;
        let count = self.count.min(GATHERED_MOST);
        for (key, word) in self.keys.iter_mut().zip(&self.found).take(count) {
            *key = u32::of_bits(word >> Self::KEY).cast_signed();
        }
        if let Some(keys) = self.keys.get_mut(count..).and_then(<[i32]>::first_chunk_mut) {
            *keys = [i32::MAX; Self::BEHIND];
        }
        let groups = self.groups.min(GROUPS_MOST);
        self.begins[groups] = u8::of_bits(count as u64);
        for group in 0..groups {
            let [begin, end] = [group, group + 1].map(|group| usize::from(self.begins[group]));
            if end - begin <= FEW * vectors::WIDTH {
                self.rank::<FEW>(begin);
            } else {
                self.rank::<ALL>(begin);
            }
        }
    }

    /// Puts entries in the order of their keys, up to those that belong to the next bucket: as many
    /// come before one as have lower keys.
    #[inline(always)]
    fn rank<const VECTORS: usize>(&mut self, begin: usize) {
        let keys = self.keys.get(begin..).unwrap_or_default().as_chunks().0;
        let found = self.found.get(begin..).and_then(<[u64]>::first_chunk);
        let sorted = self.sorted.get_mut(begin..).and_then(<[u64]>::first_chunk_mut);
        let (Some(keys), Some(found)) = (keys.first_chunk::<VECTORS>(), found) else { return };
        let Some(sorted) = sorted else { return };
        let (found, sorted): (&[u64; Self::BEHIND], &mut [u64; Self::BEHIND]) = (found, sorted);
        for (word, rank) in found.iter().zip(vectors::ranks(keys).as_flattened()) {
            sorted[*rank as usize % Self::BEHIND] = *word;
        }
    }

    /// Adds one in order that is not in the bucket where it belongs, which is one of them; false if
    /// there is no room for it.
    pub(super) fn add_stranger(&mut self, group: u32, tag: u8, cell: Ref) -> bool {
        if self.count >= GATHERED_MOST {
            return false;
        }
        let prefix = u64::from(group) << Self::GROUP | u64::from(tag) << Self::PREFIX;
        let mut place = self.count;
        while place > 0 && self.sorted[place - 1] >> Self::PREFIX > prefix >> Self::PREFIX {
            self.sorted[place] = self.sorted[place - 1];
            place -= 1;
        }
        self.sorted[place] = prefix | u64::from(cell.0);
        self.count += 1;
        true
    }

    /// Gives each the last position that a name with its tag can have, where buckets begin with the
    /// prefix that the first one has and a tag of 0; whether no two have the same.
    #[inline(always)]
    pub(super) fn locate(&mut self, first: u64, shift: u32) -> bool {
        let (mut count, mut last) = (0, u64::MAX);
        let all = self.positions.iter_mut().zip(&self.sorted).take(self.count);
        for (number, (position, word)) in all.enumerate() {
            let prefix = word >> Self::PREFIX;
            *position = ((first + prefix + 1) << shift) - 2;
            self.alike[count % GATHERED_MOST] = u8::of_bits(number as u64).wrapping_sub(1);
            count += usize::from(prefix == last);
            last = prefix;
        }
        self.alike_count = count;
        count == 0
    }

    /// The place in order, from `from` on, of one that is followed by one with the same tag.
    pub(super) fn next_alike(&self, from: usize) -> Option<usize> {
        let mut all = self.alike.iter().take(self.alike_count).map(|&number| usize::from(number));
        all.find(|&number| number >= from)
    }

    /// What those at this place in the order and behind it have in common, and how many have it.
    pub(super) fn alike(&self, number: usize) -> (u64, usize) {
        let all = self.sorted.get(number..self.count).unwrap_or_default();
        let prefix = all.first().map_or(0, |word| word >> Self::PREFIX);
        (prefix, all.iter().take_while(|word| *word >> Self::PREFIX == prefix).count())
    }

    /// Gives an entry its own position, and puts it in order from `begin` on.
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

    /// An entry by its place in the order: its position, and its cell.
    #[inline(always)]
    pub(super) fn entry(&self, number: usize) -> (u64, Ref) {
        let number = number % GATHERED_MOST;
        (self.positions[number], Ref(u32::of_bits(self.sorted[number])))
    }

    /// Adds an entry by its position, if need be instead of that with the highest one; whether all
    /// fit.
    pub(super) fn add_lowest(&mut self, position: u64, cell: Ref) -> bool {
        let fits = self.count < GATHERED_MOST;
        if fits {
            self.count += 1;
        } else if position > self.positions[GATHERED_MOST - 1] {
            return false;
        }
        self.sorted[self.count - 1] = cell.0.into();
        self.relocate(0, self.count - 1, position);
        fits
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    fn entries(gathered: &Gathered) -> Vec<(u64, u32)> {
        (0..gathered.count)
            .map(|number| gathered.entry(number))
            .map(|(at, cell)| (at, cell.0))
            .collect()
    }

    /// Buckets of any number of entries, some of whose tags are alike, and ones from elsewhere.
    #[test]
    fn entries_are_put_in_order() {
        const SHIFT: u32 = 10;
        let mut gathered = Gathered::new();
        let mut wanted = Vec::new();
        for (group, count) in [5, 0, 12, 1, 8, 9, 3].into_iter().enumerate() {
            gathered.begins[group] = u8::of_bits(gathered.count as u64);
            gathered.groups += 1;
            for number in 0..count {
                let prefix = (group as u64) << 8 | (number * 7 % 11);
                let word = prefix << Gathered::PREFIX | number << Gathered::KEY | number;
                gathered.found[gathered.count] = word;
                gathered.count += 1;
                wanted.push(((prefix + 1) << SHIFT) - 2);
            }
        }
        gathered.sort();
        assert!(!gathered.locate(0, SHIFT), "two are alike");
        for (group, tag) in [(1, 3), (0, 200), (6, 1), (2, 0)] {
            assert!(gathered.add_stranger(group, tag, Ref(99)));
            wanted.push((((u64::from(group) << 8 | u64::from(tag)) + 1) << SHIFT) - 2);
        }
        gathered.locate(0, SHIFT);
        wanted.sort_unstable();
        assert!(entries(&gathered).into_iter().map(|entry| entry.0).eq(wanted));
        assert_eq!((gathered.alike(5), gathered.alike(6)), ((200, 1), (1 << 8 | 3, 1)));
    }

    #[test]
    fn the_lowest_positions_of_a_bucket_are_gathered() {
        let mut gathered = Gathered::new();
        let all_fit = (0..300_u32)
            .map(|number| gathered.add_lowest(u64::from(number * 7 % 300), Ref(number)));
        assert_eq!(all_fit.filter(|fits| *fits).count(), GATHERED_MOST);
        let wanted = (0..GATHERED_MOST as u64).map(|at| (at, (0..300).find(|n| n * 7 % 300 == at)));
        let found = entries(&gathered).into_iter().map(|(at, cell)| (at, Some(u64::from(cell))));
        assert!(found.eq(wanted));
    }
}
