//! Lists of what is in a directory, which can be left off and gone on with while it changes.
//!
//! Entries come in the order of their names' hashes, which is that of the table whatever its size.
//! A position is such a hash: whoever goes on behind it sees everything that was there all the
//! time once, and what came or went meanwhile once or not at all.

use crate::arena::{Line, Ref};
use crate::directory::Table;
use crate::errno::Errno;
use crate::layout::{bucket, cell};
use crate::member::Member;
use crate::modes::{Caller, READ, TYPE};
use crate::name::{NAME_MOST, Name, hash_of};
use crate::seams::Seams;
use crate::tree::Node;

/// The first position that an entry can have: those before are for whoever adds `.` and `..`.
pub const POSITION_FIRST: u64 = 4;

/// Entries that are put in order at a time.
const SORTED_MOST: usize = 48;

/// An entry of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listed<'n> {
    /// Its name.
    pub name: &'n [u8],
    /// The number of its inode.
    pub ino: u64,
    /// The type of its inode, as in `st_mode`.
    pub type_bits: u32,
    /// Where it is: below 2^63. To go on behind it, begin with this plus one.
    pub position: u64,
}

/// Entries in the order of their positions, as far as there is room.
struct Sorted {
    entries: [(u64, Ref); SORTED_MOST],
    count: usize,
    /// Whether some did not fit, which come later.
    is_full: bool,
}

impl Sorted {
    fn add(&mut self, position: u64, cell: Ref) {
        let place = self.entries[..self.count].partition_point(|&(other, _)| other < position);
        if self.count == SORTED_MOST {
            self.is_full = true;
            if place == SORTED_MOST {
                return;
            }
            self.count -= 1;
        }
        self.entries.copy_within(place..self.count, place + 1);
        self.entries[place] = (position, cell);
        self.count += 1;
    }
}

/// The position of a name with this hash.
fn position_of(hash: u64) -> u64 {
    (hash >> 1).max(POSITION_FIRST)
}

impl<'a, S: Seams> Member<'a, S> {
    /// Calls `visit` with each entry from a position on, until it returns false. The directory is
    /// locked meanwhile, a bucket at a time: `visit` must not use it.
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
        let mut next = Some(from);
        while let Some(from) = next {
            let line = self.lock_node(directory)?;
            let listed = self.list_bucket(line, from, &mut visit);
            self.unlock(directory.at);
            next = listed?;
        }
        Ok(())
    }

    /// Visits the entries that belong into the bucket of this position, from it on; where to go on,
    /// if there is more.
    fn list_bucket(
        &self,
        directory: Line<'a>,
        from: u64,
        visit: &mut impl FnMut(Listed<'_>) -> bool,
    ) -> Result<Option<u64>, Errno> {
        let mut sorted =
            Sorted { entries: [(0, Ref::NONE); SORTED_MOST], count: 0, is_full: false };
        let behind = self.sort_bucket(directory, from, &mut sorted)?;
        let mut last = from;
        for &(position, cell) in &sorted.entries[..sorted.count] {
            let line = self.line(cell)?;
            let mut bytes = [0; NAME_MOST];
            let name = self.name_of(line, &mut bytes)?;
            let is_inode = line.load(cell::MODE) != cell::LINK_MARK;
            let inode = if is_inode { cell } else { Ref(line.load(cell::TARGET)) };
            let mode = self.mode(self.line(inode)?.load(cell::MODE))?;
            let ino = self.ino_at(inode);
            if !visit(Listed { name, ino, type_bits: mode.mode & TYPE, position }) {
                return Ok(None);
            }
            last = position;
        }
        Ok(if sorted.is_full { Some(last + 1) } else { behind })
    }

    /// Puts the entries in order that belong into the bucket of this position; the first position
    /// of the next bucket, if there is one.
    fn sort_bucket(
        &self,
        directory: Line<'a>,
        from: u64,
        sorted: &mut Sorted,
    ) -> Result<Option<u64>, Errno> {
        let body = self.body(directory)?;
        let Some(table) = Table::of(body) else {
            let only = Ref(body.load(cell::DATA));
            if only.is_some() {
                self.sort_entry(only, from, sorted, |_| true)?;
            }
            return Ok(None);
        };
        let home = table.home(from << 1);
        let reach = self.line(table.after(home, 0))?.load(bucket::REACH);
        for distance in 0..=reach.min(table.buckets() - 1) {
            let line = self.line(table.after(home, distance))?;
            for place in 0..bucket::ENTRIES {
                if line.load(bucket::TAG.element(place)) != 0 {
                    let cell = Ref(line.load(bucket::ENTRY.element(place)));
                    self.sort_entry(cell, from, sorted, |hash| table.home(hash) == home)?;
                }
            }
        }
        let next = home + 1;
        let is_last = next == table.buckets();
        Ok((!is_last).then(|| u64::from(next) << (63 - table.bits)))
    }

    /// The hash of the name that a cell has.
    #[inline]
    fn hash_in(&self, line: Line<'_>) -> Result<u64, Errno> {
        let length = usize::from(line.load(cell::NAME_LENGTH));
        if (1..=cell::NAME_MOST).contains(&length) {
            let words = core::array::from_fn(|index| line.load(cell::NAME.element(index)));
            return Ok(hash_of(length, words, self.secret()));
        }
        let mut bytes = [0; NAME_MOST];
        let name = self.name_of(line, &mut bytes)?;
        Ok(Name::of(name, self.secret()).map_err(|_| Errno::CORRUPT)?.hash())
    }

    fn sort_entry(
        &self,
        cell: Ref,
        from: u64,
        sorted: &mut Sorted,
        belongs: impl Fn(u64) -> bool,
    ) -> Result<(), Errno> {
        let hash = self.hash_in(self.line(cell)?)?;
        let position = position_of(hash);
        if belongs(hash) && position >= from {
            sorted.add(position, cell);
        }
        Ok(())
    }
}
