//! Lists of what is in a directory, which can be left off and gone on with while it changes.
//!
//! Entries come in the order of their names' hashes, which is that of the table whatever its size.
//! A position is such a hash: whoever goes on behind it sees everything that was there all the
//! time once, and what came or went meanwhile once or not at all.

use crate::arena::{Line, Ref, Word};
use crate::directory::{REACH_MOST, Table, places_used};
use crate::errno::Errno;
use crate::layout::{bucket, cell};
use crate::member::Member;
use crate::modes::{Caller, READ, TYPE};
use crate::name::{NAME_MOST, Name, hash_of};
use crate::seams::Seams;
use crate::tree::Node;
use crate::vectors;

/// The first position that an entry can have: those before are for whoever adds `.` and `..`.
pub const POSITION_FIRST: u64 = 4;

/// Entries that are put in order at a time.
const SORTED_MOST: usize = 64;
/// As long as there are no more, the next bucket is looked at as well.
const SORTED_ENOUGH: usize = SORTED_MOST - 2 * bucket::ENTRIES;

/// An entry of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listed<'n> {
    /// Its name.
    pub name: &'n [u8],
    /// The same with zeros behind, if it is no longer than that.
    pub short: Option<&'n [u8; cell::NAME_MOST]>,
    /// The number of its inode.
    pub ino: u64,
    /// The type of its inode, as in `st_mode`.
    pub type_bits: u32,
    /// Where it is: below 2^63. To go on behind it, begin with this plus one.
    pub position: u64,
}

/// What is copied of an entry, so that it can be visited while the directory changes.
#[derive(Clone, Copy)]
struct Copied {
    position: u64,
    ino: u64,
    /// The name, if it is no longer than that.
    name: [u8; cell::NAME_MOST],
    cell: Ref,
    type_bits: u32,
    length: u8,
}

/// Entries of some buckets in the order of their positions, as far as there is room.
struct Sorted {
    copied: [Copied; SORTED_MOST],
    count: usize,
    /// Whether some did not fit, which come later.
    is_full: bool,
    /// The mode of the entry before, and its type: most are alike.
    last_type: (u16, u32),
}

impl Sorted {
    const fn new() -> Self {
        const NOTHING: Copied = Copied {
            position: 0,
            ino: 0,
            name: [0; cell::NAME_MOST],
            cell: Ref::NONE,
            type_bits: 0,
            length: 0,
        };
        Self {
            copied: [NOTHING; SORTED_MOST],
            count: 0,
            is_full: false,
            last_type: (cell::LINK_MARK, 0),
        }
    }

    fn clear(&mut self) {
        (self.count, self.is_full) = (0, false);
    }

    fn entries(&self) -> &[Copied] {
        self.copied.get(..self.count).unwrap_or_default()
    }

    /// Sees to it that a bucket's entries, from `begin` on, are in order to the last bit.
    #[inline(always)]
    fn end_bucket(&mut self, begin: usize) {
        let new = self.copied.get(begin..self.count).unwrap_or_default();
        if !new.is_sorted_by_key(|one| one.position) {
            self.finish_order(begin);
        }
    }

    /// Puts entries from `begin` on in order, which but for the last bits of their positions they
    /// are.
    #[cold]
    #[inline(never)]
    fn finish_order(&mut self, begin: usize) {
        let entries = self.copied.get_mut(begin..self.count).unwrap_or_default();
        for end in 1..entries.len() {
            for place in (1..=end).rev() {
                if entries[place - 1].position > entries[place].position {
                    entries.swap(place - 1, place);
                }
            }
        }
    }
}

/// Entries of one bucket as they come, those with the lowest positions.
struct Gathered<'a> {
    positions: [u64; SORTED_MOST],
    cells: [(Ref, Line<'a>); SORTED_MOST],
    /// The beginnings of their positions behind what all of a bucket have in common, and their
    /// places here, so that no two are the same.
    keys: [i32; SORTED_MOST],
    /// Which of them each is, in their order.
    ranks: [u32; SORTED_MOST],
    count: usize,
    is_full: bool,
}

impl<'a> Gathered<'a> {
    const fn new(any: Line<'a>) -> Self {
        Self {
            positions: [0; SORTED_MOST],
            cells: [(Ref::NONE, any); SORTED_MOST],
            keys: [0; SORTED_MOST],
            ranks: [0; SORTED_MOST],
            count: 0,
            is_full: false,
        }
    }

    /// Adds an entry of a bucket whose positions have so many bits in common.
    #[inline(always)]
    fn add(&mut self, position: u64, common: u32, cell: Ref, line: Line<'a>) {
        let mut place = self.count;
        if place < SORTED_MOST {
            self.count = place + 1;
        } else {
            self.is_full = true;
            match self.last() {
                (last, highest) if position < highest => place = last,
                _ => return,
            }
        }
        let place = place % SORTED_MOST;
        let begin = (position << common) >> 33 & !(SORTED_MOST as u64 - 1);
        self.positions[place] = position;
        self.cells[place] = (cell, line);
        self.keys[place] = u32::of_bits(begin | place as u64).cast_signed();
    }

    /// Where the entry with the highest position is, and that.
    #[cold]
    #[inline(never)]
    fn last(&self) -> (usize, u64) {
        let positions = self.positions.into_iter().enumerate();
        positions.max_by_key(|&(_, position)| position).unwrap_or_default()
    }

    /// Works the ranks out: as many come before an entry as have lower keys. Jumps that depend on
    /// the order would cost more.
    #[inline(always)]
    fn rank(&mut self) {
        if self.count <= vectors::RANKED
            && let (Some(ranks), Some(keys)) =
                (self.ranks.first_chunk_mut(), self.keys.first_chunk())
        {
            *ranks = vectors::ranks(keys, self.count);
        } else {
            self.rank_many();
        }
    }

    #[cold]
    #[inline(never)]
    fn rank_many(&mut self) {
        let keys = self.keys.get(..self.count).unwrap_or_default();
        for (rank, key) in self.ranks.iter_mut().zip(keys) {
            *rank = keys.iter().map(|other| u32::from(key > other)).sum();
        }
    }
}

/// The position of a name with this hash.
fn position_of(hash: u64) -> u64 {
    (hash >> 1).max(POSITION_FIRST)
}

impl<'a, S: Seams> Member<'a, S> {
    /// Calls `visit` with each entry from a position on, until it returns false. The directory may
    /// change meanwhile.
    ///
    /// # Errors
    /// [`Errno::NOTDIR`], [`Errno::ACCES`].
    pub fn list(
        &self,
        caller: &Caller<'_>,
        directory: Node,
        from: u64,
        mut visit: impl FnMut(Listed<'_>) -> bool,
    ) -> Result<(), Errno> {
        self.read_node(directory, |line| self.directory_mode(line)?.allow(caller, READ))?;
        let mut gathered = Gathered::new(self.line(directory.at)?);
        let (mut sorted, mut bytes) = (Sorted::new(), [0; NAME_MOST]);
        let mut next = Some(from);
        while let Some(from) = next {
            let behind = self.read_node(directory, |line| {
                sorted.clear();
                self.sort_buckets(self.body(line)?, from, (&mut gathered, &mut sorted))
            })?;
            let mut last = from;
            for one in sorted.entries() {
                last = one.position;
                let (name, short) = match one.name.get(..one.length.into()) {
                    Some(name) => (Some(name), Some(&one.name)),
                    None => (self.long_name(directory, one, &mut bytes)?, None),
                };
                // A long one may have gone meanwhile.
                let Some(name) = name else { continue };
                let (ino, type_bits, position) = (one.ino, one.type_bits, one.position);
                if !visit(Listed { name, short, ino, type_bits, position }) {
                    return Ok(());
                }
            }
            next = if sorted.is_full { Some(last + 1) } else { behind };
        }
        Ok(())
    }

    /// The long name of an entry, if it still has that position.
    #[cold]
    #[inline(never)]
    fn long_name<'b>(
        &self,
        directory: Node,
        one: &Copied,
        into: &'b mut [u8; NAME_MOST],
    ) -> Result<Option<&'b [u8]>, Errno> {
        let length = self.read_node(directory, |_| {
            let line = self.line(one.cell)?;
            let is_it = position_of(self.hash_in(line)?) == one.position;
            Ok(if is_it { self.name_of(line, into)?.len() } else { 0 })
        })?;
        Ok(into.get(..length).filter(|name| !name.is_empty()))
    }

    /// Puts the entries in order that belong into the bucket of this position and the next ones, as
    /// long as there is room; the first position of the bucket behind them, if there is one.
    #[inline(always)]
    fn sort_buckets(
        &self,
        body: Line<'a>,
        from: u64,
        (gathered, sorted): (&mut Gathered<'a>, &mut Sorted),
    ) -> Result<Option<u64>, Errno> {
        let mut next = Some(from);
        while let Some(from) = next {
            if sorted.is_full || sorted.count > SORTED_ENOUGH {
                break;
            }
            (gathered.count, gathered.is_full) = (0, false);
            next = self.gather_bucket(body, from, gathered)?;
            gathered.rank();
            self.sort(gathered, sorted)?;
        }
        Ok(next)
    }

    /// Gathers the entries that belong into the bucket of this position; the first position of the
    /// next bucket, if there is one.
    #[inline(always)]
    fn gather_bucket(
        &self,
        body: Line<'a>,
        from: u64,
        gathered: &mut Gathered<'a>,
    ) -> Result<Option<u64>, Errno> {
        let Some(table) = Table::of(body) else {
            let only = Ref(body.load(cell::DATA));
            if only.is_some() {
                let line = self.line(only)?;
                let position = position_of(self.hash_in(line)?);
                if position >= from {
                    gathered.add(position, 1, only, line);
                }
            }
            return Ok(None);
        };
        let home = table.home(from << 1);
        let reach = self.line(table.after(home, 0))?.load(bucket::REACH);
        let reach = reach.min(REACH_MOST).min(table.buckets() - 1);
        for distance in 0..=reach {
            let line = self.line(table.after(home, distance))?;
            for place in places_used(line) {
                let cell = Ref(line.load(bucket::ENTRY.element(place)));
                let line = self.line(cell)?;
                let hash = self.hash_in(line)?;
                let position = position_of(hash);
                if table.home(hash) == home && position >= from {
                    gathered.add(position, 1 + table.bits, cell, line);
                }
            }
        }
        let next = home + 1;
        let is_last = next == table.buckets();
        Ok((!is_last).then(|| u64::from(next) << (63 - table.bits)))
    }

    /// Copies a bucket's entries in their order behind those that are there.
    #[inline(always)]
    fn sort(&self, gathered: &Gathered<'a>, sorted: &mut Sorted) -> Result<(), Errno> {
        let begin = sorted.count;
        for place in 0..gathered.count.min(SORTED_MOST) {
            let (cell, line) = gathered.cells[place];
            let into = begin + gathered.ranks[place] as usize;
            let (inode, type_bits) = self.type_of(cell, line, &mut sorted.last_type)?;
            let Some(copied) = sorted.copied.get_mut(into) else { continue };
            (copied.position, copied.cell) = (gathered.positions[place], cell);
            (copied.ino, copied.type_bits) = (self.ino_at(inode), type_bits);
            copied.length = line.load(cell::NAME_LENGTH);
            for (index, piece) in copied.name.chunks_exact_mut(8).enumerate() {
                piece.copy_from_slice(&line.load(cell::NAME.element(index)).to_le_bytes());
            }
        }
        sorted.count = (begin + gathered.count).min(SORTED_MOST);
        sorted.is_full = gathered.is_full || begin + gathered.count > SORTED_MOST;
        sorted.end_bucket(begin);
        Ok(())
    }

    /// The inode that an entry stands for, and its type.
    #[inline(always)]
    fn type_of(
        &self,
        cell: Ref,
        line: Line<'a>,
        last: &mut (u16, u32),
    ) -> Result<(Ref, u32), Errno> {
        let (mut inode, mut index) = (cell, line.load(cell::MODE));
        if index == cell::LINK_MARK {
            inode = Ref(line.load(cell::TARGET));
            index = self.line(inode)?.load(cell::MODE);
        }
        if index != last.0 {
            *last = (index, self.mode(index)?.mode & TYPE);
        }
        Ok((inode, last.1))
    }

    /// The hash of the name that a cell has.
    #[inline(always)]
    fn hash_in(&self, line: Line<'_>) -> Result<u64, Errno> {
        let length = usize::from(line.load(cell::NAME_LENGTH));
        if (1..=cell::NAME_MOST).contains(&length) {
            let words = core::array::from_fn(|index| line.load(cell::NAME.element(index)));
            return Ok(hash_of(length, words, self.secret()));
        }
        self.hash_of_long(line)
    }

    #[cold]
    #[inline(never)]
    fn hash_of_long(&self, line: Line<'_>) -> Result<u64, Errno> {
        let mut bytes = [0; NAME_MOST];
        let name = self.name_of(line, &mut bytes)?;
        Ok(Name::of(name, self.secret()).map_err(|_| Errno::CORRUPT)?.hash())
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    #[test]
    fn positions_that_begin_alike_are_put_in_order() {
        let mut sorted = Sorted::new();
        for (one, position) in sorted.copied.iter_mut().zip([9, 5, 8, 7, 6]) {
            one.position = position;
        }
        sorted.count = 5;
        sorted.end_bucket(1);
        let positions: Vec<_> = sorted.entries().iter().map(|one| one.position).collect();
        assert_eq!(positions, [9, 5, 6, 7, 8]);
    }
}
