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

/// What is copied of an entry, so that it can be visited while the directory changes.
#[derive(Clone, Copy)]
struct Copied {
    cell: Ref,
    ino: u64,
    type_bits: u32,
    /// The name, if it is no longer than that.
    length: u8,
    words: [u64; cell::NAME_WORDS],
}

/// Entries in the order of their positions, as far as there is room.
struct Sorted {
    /// Positions, and where the entries are among the copied ones.
    order: [(u64, u8); SORTED_MOST],
    copied: [Copied; SORTED_MOST],
    count: usize,
    /// Whether some did not fit, which come later.
    is_full: bool,
}

impl Sorted {
    const fn new() -> Self {
        const NOTHING: Copied = Copied {
            cell: Ref::NONE,
            ino: 0,
            type_bits: 0,
            length: 0,
            words: [0; cell::NAME_WORDS],
        };
        Self {
            order: [(0, 0); SORTED_MOST],
            copied: [NOTHING; SORTED_MOST],
            count: 0,
            is_full: false,
        }
    }

    fn clear(&mut self) {
        self.count = 0;
        self.is_full = false;
    }

    /// Where an entry with this position is to be copied to, if it is one of the first.
    #[inline(always)]
    fn add(&mut self, position: u64) -> Option<&mut Copied> {
        let mut place = self.count;
        // They are few, and come in no order.
        while place > 0 && self.order.get(place - 1)?.0 > position {
            place -= 1;
        }
        let mut free = self.count;
        if self.count == SORTED_MOST {
            self.is_full = true;
            self.count -= 1;
            free = self.order.get(self.count)?.1.into();
            if place > self.count {
                self.count += 1;
                return None;
            }
        }
        self.order.copy_within(place..self.count, place + 1);
        *self.order.get_mut(place)? = (position, u8::of_bits(free as u64));
        self.count += 1;
        self.copied.get_mut(free)
    }

    fn entries(&self) -> impl Iterator<Item = (u64, &Copied)> {
        let order = self.order.get(..self.count).unwrap_or_default();
        order
            .iter()
            .filter_map(|&(position, at)| Some((position, self.copied.get(usize::from(at))?)))
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
        let (mut sorted, mut bytes) = (Sorted::new(), [0; NAME_MOST]);
        let mut next = Some(from);
        while let Some(from) = next {
            let behind = self.read_node(directory, |line| {
                sorted.clear();
                self.sort_bucket(self.body(line)?, from, &mut sorted)
            })?;
            let mut last = from;
            for (position, one) in sorted.entries() {
                last = position;
                let name = if usize::from(one.length) <= cell::NAME_MOST {
                    let short = bytes.get_mut(..cell::NAME_MOST).unwrap_or_default();
                    for (piece, word) in short.chunks_exact_mut(8).zip(one.words) {
                        piece.copy_from_slice(&word.to_le_bytes());
                    }
                    bytes.get(..one.length.into())
                } else {
                    self.long_name(directory, (one.cell, position), &mut bytes)?
                };
                // A long one may have gone meanwhile.
                let Some(name) = name else { continue };
                if !visit(Listed { name, ino: one.ino, type_bits: one.type_bits, position }) {
                    return Ok(());
                }
            }
            next = if sorted.is_full { Some(last + 1) } else { behind };
        }
        Ok(())
    }

    /// A long name that had this position, if it still has.
    #[cold]
    #[inline(never)]
    fn long_name<'b>(
        &self,
        directory: Node,
        (at, position): (Ref, u64),
        into: &'b mut [u8; NAME_MOST],
    ) -> Result<Option<&'b [u8]>, Errno> {
        let length = self.read_node(directory, |_| {
            let line = self.line(at)?;
            let is_it = position_of(self.hash_in(line)?) == position;
            Ok(if is_it { self.name_of(line, into)?.len() } else { 0 })
        })?;
        Ok(into.get(..length).filter(|name| !name.is_empty()))
    }

    /// Puts the entries in order that belong into the bucket of this position; the first position
    /// of the next bucket, if there is one.
    #[inline(always)]
    fn sort_bucket(
        &self,
        body: Line<'a>,
        from: u64,
        sorted: &mut Sorted,
    ) -> Result<Option<u64>, Errno> {
        let Some(table) = Table::of(body) else {
            let only = Ref(body.load(cell::DATA));
            if only.is_some() {
                self.sort_entry(only, from, sorted, |_| true)?;
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
                self.sort_entry(cell, from, sorted, |hash| table.home(hash) == home)?;
            }
        }
        let next = home + 1;
        let is_last = next == table.buckets();
        Ok((!is_last).then(|| u64::from(next) << (63 - table.bits)))
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

    #[inline(always)]
    fn sort_entry(
        &self,
        at: Ref,
        from: u64,
        sorted: &mut Sorted,
        belongs: impl Fn(u64) -> bool,
    ) -> Result<(), Errno> {
        let line = self.line(at)?;
        let hash = self.hash_in(line)?;
        let position = position_of(hash);
        if !belongs(hash) || position < from {
            return Ok(());
        }
        let is_inode = line.load(cell::MODE) != cell::LINK_MARK;
        let inode = if is_inode { at } else { Ref(line.load(cell::TARGET)) };
        let mode = self.mode(self.line(inode)?.load(cell::MODE))?;
        if let Some(copied) = sorted.add(position) {
            copied.cell = at;
            copied.ino = self.ino_at(inode);
            copied.type_bits = mode.mode & TYPE;
            copied.length = line.load(cell::NAME_LENGTH);
            copied.words = core::array::from_fn(|index| line.load(cell::NAME.element(index)));
        }
        Ok(())
    }
}
