//! Entries of some buckets, put in order together.

use crate::arena::{Line, Ref, Word};
use crate::directory::places_in_use;
use crate::layout::bucket;
use crate::vectors;

/// Most entries that are looked at together.
pub(super) const GATHERED_MOST: usize = 128;
/// Most buckets that are.
pub(super) const GROUPS_MOST: usize = 32;

/// Entries of some buckets, as far as they are known.
///
/// Each step is done with all of them before the next one is begun: what the processor waits for in
/// one entry it does not wait for in another, and the entries of all come from memory at once.
pub(super) struct Gathered {
    /// Their cells below, and above in which of the buckets each is.
    pub(super) found: [u64; GATHERED_MOST],
    /// Their positions.
    pub(super) positions: [u64; GATHERED_MOST],
    /// The numbers of their buckets, then the beginnings of their positions behind what all of a
    /// bucket have in common, then their places here, so that no two are the same.
    pub(super) keys: [i32; GATHERED_MOST + Self::BEHIND],
    /// Their places here in the order of their positions.
    order: [u8; GATHERED_MOST + Self::BEHIND],
    /// Where the entries of each bucket begin.
    begins: [u8; GROUPS_MOST + 1],
    pub(super) groups: usize,
    pub(super) count: usize,
    /// Whether any is not in the bucket where it belongs.
    pub(super) has_displaced: bool,
}

/// Stands for the position of what belongs elsewhere.
pub(super) const NOWHERE: u64 = 0;

impl Gathered {
    /// Keys are compared so many at a time, and others may lie behind the last.
    const BEHIND: usize = 16;
    /// Bits of a key.
    const PLACE_BITS: u32 = Self::BEHIND.ilog2();
    const POSITION_BITS: u32 = 31 - Self::PLACE_BITS - GROUPS_MOST.ilog2();

    pub(super) const fn new() -> Self {
        Self {
            found: [0; GATHERED_MOST],
            positions: [0; GATHERED_MOST],
            keys: [0; GATHERED_MOST + Self::BEHIND],
            order: [0; GATHERED_MOST + Self::BEHIND],
            begins: [0; GROUPS_MOST + 1],
            groups: 0,
            count: 0,
            has_displaced: false,
        }
    }

    pub(super) fn clear(&mut self) {
        (self.groups, self.count) = (0, 0);
    }

    /// Begins with another bucket; false if there is no room for that.
    #[inline(always)]
    fn begin_group(&mut self) -> bool {
        let has_room = self.groups < GROUPS_MOST;
        if has_room {
            self.begins[self.groups] = u8::of_bits(self.count as u64);
            self.groups += 1;
        }
        has_room
    }

    /// Adds the entries of the next bucket; false if there is no room for them.
    #[inline(always)]
    pub(super) fn add_bucket(&mut self, line: Line<'_>) -> bool {
        let (group, count) = (self.groups as u64, self.count);
        if !self.begin_group() {
            return false;
        }
        let room = self.found.get_mut(count..).and_then(<[u64]>::first_chunk_mut);
        let Some(room) = room else { return false };
        let cells: [u32; bucket::ENTRIES] =
            core::array::from_fn(|place| line.load(bucket::ENTRY.element(place)));
        self.count += vectors::compress(cells, places_in_use(line), group << 32, room);
        true
    }

    /// Adds the only entry of a directory.
    pub(super) fn add_only(&mut self, cell: Ref) {
        self.begin_group();
        self.found[0] = cell.0.into();
        self.count = 1;
    }

    /// An entry by its place in the order: its position, and its cell.
    #[inline(always)]
    pub(super) fn entry(&self, number: usize) -> (u64, Ref) {
        let place = usize::from(self.order[number % GATHERED_MOST]) % GATHERED_MOST;
        (self.positions[place], Ref(u32::of_bits(self.found[place])))
    }

    /// The key of an entry at a place whose position, behind what all of its bucket have in common,
    /// begins like this.
    #[inline(always)]
    pub(super) fn key(group: u64, begin: u64, place: usize) -> i32 {
        let within = place as u64 % Self::BEHIND as u64;
        let begin = begin >> (64 - Self::POSITION_BITS) << Self::PLACE_BITS;
        u32::of_bits(group << (31 - GROUPS_MOST.ilog2()) | begin | within).cast_signed()
    }

    /// Works the order out. Jumps that depend on it would cost more than all comparisons.
    #[inline(never)]
    pub(super) fn sort(&mut self) {
        const FEW: usize = 2;
        const ALL: usize = bucket::ENTRIES / vectors::WIDTH;
        let count = self.count.min(GATHERED_MOST);
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
        if self.has_displaced {
            self.finish_order();
        }
    }

    /// Whether so many are in order.
    #[cold]
    #[inline(never)]
    pub(super) fn is_sorted_to(&self, count: usize) -> bool {
        (1..count).all(|number| self.entry(number - 1).0 <= self.entry(number).0)
    }

    /// Puts entries in order that come too late: because they are not in the bucket where they
    /// belong, or because their keys say too little.
    #[cold]
    #[inline(never)]
    pub(super) fn finish_order(&mut self) {
        for number in 0..self.count {
            self.move_forward(number);
        }
    }

    /// Puts entries in the order of their keys, up to those that belong to the next bucket: as many
    /// come before one as have lower keys.
    #[inline(always)]
    fn rank<const VECTORS: usize>(&mut self, begin: usize) {
        let keys = self.keys.get(begin..).unwrap_or_default().as_chunks().0;
        let order = self.order.get_mut(begin..).and_then(<[u8]>::first_chunk_mut);
        let (Some(keys), Some(order)) = (keys.first_chunk::<VECTORS>(), order) else { return };
        let order: &mut [u8; Self::BEHIND] = order;
        let first = u8::of_bits(begin as u64);
        for (place, rank) in (first..).zip(vectors::ranks(keys).as_flattened()) {
            order[*rank as usize % Self::BEHIND] = place;
        }
    }

    #[inline(always)]
    fn move_forward(&mut self, number: usize) {
        for number in (1..=number).rev() {
            if self.entry(number - 1).0 <= self.entry(number).0 {
                return;
            }
            self.order.swap(number - 1, number);
        }
    }

    /// Works the order out without any keys.
    pub(super) fn order_by_positions(&mut self) {
        for number in 0..self.count {
            self.order[number % GATHERED_MOST] = u8::of_bits(number as u64);
            self.move_forward(number);
        }
    }

    /// Adds an entry of one bucket, if need be instead of that with the highest position; whether
    /// all fit.
    pub(super) fn add_lowest(&mut self, position: u64, cell: Ref) -> bool {
        let fits = self.count < GATHERED_MOST;
        let mut place = self.count;
        if fits {
            self.count += 1;
        } else {
            let all = self.positions.into_iter().enumerate();
            let last = all.max_by_key(|&(_, position)| position).unwrap_or_default();
            if position > last.1 {
                return false;
            }
            place = last.0;
        }
        (self.found[place], self.positions[place]) = (cell.0.into(), position);
        fits
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    fn positions(gathered: &Gathered) -> Vec<u64> {
        (0..gathered.count).map(|number| gathered.entry(number).0).collect()
    }

    /// Positions that begin alike, and ones that belong elsewhere.
    #[test]
    fn positions_are_put_in_order() {
        let mut gathered = Gathered::new();
        for (group, count) in (1..).zip([5, 0, 12, 1, 8, 9, 3]) {
            assert!(gathered.begin_group());
            for number in 0..count {
                let place = gathered.count;
                let home = group - u64::from(number % 4 == 3);
                let position = match number % 5 {
                    0 => NOWHERE,
                    begin => (home << 58) | (begin << 50) | (number * 7 % 11),
                };
                gathered.positions[place] = position;
                gathered.found[place] = group << 32;
                gathered.keys[place] = Gathered::key(group, position << 6, place);
                gathered.count += 1;
            }
        }
        gathered.has_displaced = true;
        gathered.sort();
        assert!(gathered.is_sorted_to(gathered.count));
        let mut sorted = gathered.positions[..gathered.count].to_vec();
        sorted.sort_unstable();
        assert_eq!(positions(&gathered), sorted);
    }

    #[test]
    fn the_lowest_positions_of_a_bucket_are_gathered() {
        let mut gathered = Gathered::new();
        let all_fit = (0..300_u32)
            .map(|number| gathered.add_lowest(u64::from(number * 7 % 300), Ref(number)));
        assert_eq!(all_fit.filter(|fits| *fits).count(), GATHERED_MOST);
        gathered.order_by_positions();
        assert_eq!(positions(&gathered), (0..GATHERED_MOST as u64).collect::<Vec<_>>());
    }
}
