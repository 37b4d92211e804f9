//! Directory entries: finding them by hash, adding and removing them.
//!
//! A directory with one entry refers to it directly. A larger one has a table of 2^n buckets of one
//! line. A bucket is for the names whose hashes begin with the same n bits, and buckets are in the
//! order of those bits. So a table of twice the size has everything in the same order, and a
//! listing that began before can continue. A bucket has twelve entries; entries that do not fit go
//! into one of the next buckets, and the bucket where they belong records how far away the farthest
//! is.

mod vacancy;

use crate::arena::{LINES_PER_PAGE, Line, Ref, Word};
use crate::errno::Errno;
use crate::layout::{bucket, cell, zone};
use crate::member::Member;
use crate::name::{NAME_MAX, Name, hash_of};
use crate::seams::Seams;
pub(crate) use vacancy::{Search, Vacancy};

/// The base-2 logarithm of the largest number of buckets in a table: as many as a run can have.
const BITS_MAX: u32 = (zone::RUN_PAGES_MAX * LINES_PER_PAGE).ilog2();
/// How many buckets ahead cells are prefetched.
const BUCKETS_AHEAD: u32 = 4;

/// The buckets of a directory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Table {
    pub(crate) start: Ref,
    pub(crate) bits: u32,
}

impl Table {
    /// The table of the directory with this body; none if it has at most one entry.
    #[inline(always)]
    pub(crate) fn from_body(body: Line<'_>) -> Option<Self> {
        let form = u32::from(body.load(cell::FORM));
        let bits = form.checked_sub(1)?.min(BITS_MAX);
        Some(Self { start: Ref(body.load(cell::DATA)), bits })
    }

    pub(crate) fn buckets(self) -> u32 {
        1 << self.bits
    }

    /// The number of the bucket where an entry with this hash belongs.
    #[inline(always)]
    pub(crate) fn home(self, hash: u64) -> u32 {
        // In two steps, since the shift may be by 64.
        u32::from_bits((hash >> 1) >> (63 - self.bits))
    }

    /// The tag of an entry with this hash, never 0. Where tags differ, sorting the entries of a
    /// bucket by tag sorts them by hash.
    #[inline(always)]
    pub(crate) fn tag(self, hash: u64) -> u8 {
        u8::from_bits((hash << self.bits) >> 56).max(1)
    }

    /// The bucket `distance` after another, wrapping around.
    #[inline(always)]
    pub(crate) fn after(self, home: u32, distance: u32) -> Ref {
        self.start.plus((home + distance) & (self.buckets() - 1))
    }
}

/// A directory entry, and where it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<'a> {
    /// The cell with its name: an inode's, or that of an additional name.
    pub(crate) cell: Ref,
    pub(crate) line: Line<'a>,
    /// Its bucket, and its place there; no bucket if it is the directory's only entry.
    bucket: Ref,
    place: usize,
}

impl<'a, S: Seams> Member<'a, S> {
    /// The entry with this name.
    #[inline(always)]
    pub(crate) fn find(
        &self,
        directory: Line<'a>,
        name: &Name<'_>,
    ) -> Result<Option<Entry<'a>>, Errno> {
        let body = self.body(directory)?;
        let Some(table) = Table::from_body(body) else {
            let cell = Ref(body.load(cell::DATA));
            if !cell.is_some() {
                return Ok(None);
            }
            let line = self.line(cell)?;
            let is_it = self.is_named(line, name)?;
            return Ok(is_it.then_some(Entry { cell, line, bucket: Ref::NONE, place: 0 }));
        };
        let (home, tag) = (table.home(name.hash()), table.tag(name.hash()));
        let (mut distance, mut reach) = (0, 0);
        while distance <= reach {
            let at = table.after(home, distance);
            let line = self.line(at)?;
            if distance == 0 {
                reach = line.load(bucket::REACH).into();
            }
            for place in places_with(line, tag) {
                let cell = Ref(line.load(bucket::ENTRY.element(place)));
                let found = self.line(cell)?;
                if self.is_named(found, name)? {
                    return Ok(Some(Entry { cell, line: found, bucket: at, place }));
                }
            }
            distance += 1;
        }
        Ok(None)
    }

    /// The cell with this name, which must be short. [`Errno::AGAIN`] for a directory with an
    /// annex, whose table is not in its cell.
    #[inline(always)]
    pub(crate) fn find_short(
        &self,
        directory: Line<'a>,
        name: &Name<'_>,
    ) -> Result<Option<(Ref, Line<'a>)>, Errno> {
        let form = directory.load(cell::FORM);
        let data = Ref(directory.load(cell::DATA));
        let Some(bits) = u32::from(form).checked_sub(1) else {
            if !data.is_some() {
                return Ok(None);
            }
            let line = self.line(data)?;
            return Ok(name.is_all_in(line).then_some((data, line)));
        };
        if bits > BITS_MAX {
            return Err(Errno::AGAIN);
        }
        let table = Table { start: data, bits };
        let (home, tag) = (table.home(name.hash()), table.tag(name.hash()));
        let (mut distance, mut reach) = (0, 0);
        loop {
            let line = self.line(table.after(home, distance))?;
            if distance == 0 {
                reach = line.load(bucket::REACH).into();
            }
            for place in places_with(line, tag) {
                let cell = Ref(line.load(bucket::ENTRY.element(place)));
                let found = self.line(cell)?;
                if name.is_all_in(found) {
                    return Ok(Some((cell, found)));
                }
            }
            if distance >= reach {
                return Ok(None);
            }
            distance += 1;
        }
    }

    #[inline(always)]
    fn is_named(&self, cell: Line<'_>, name: &Name<'_>) -> Result<bool, Errno> {
        Ok(name.is_in(cell) && (name.is_short() || self.has_long_name(cell, name)?))
    }

    #[cold]
    #[inline(never)]
    fn has_long_name(&self, cell: Line<'_>, name: &Name<'_>) -> Result<bool, Errno> {
        let mut bytes = [0; NAME_MAX];
        Ok(self.name_of(cell, &mut bytes)? == name.bytes())
    }

    /// The name of an entry.
    pub(crate) fn name_of<'b>(
        &self,
        cell: Line<'_>,
        into: &'b mut [u8; NAME_MAX],
    ) -> Result<&'b [u8], Errno> {
        let length = usize::from(cell.load(cell::NAME_LENGTH));
        let name = into.get_mut(..length).ok_or(Errno::CORRUPT)?;
        if length > cell::NAME_MAX {
            self.arena().copy_out(Ref(cell.load(cell::LONG_NAME)), 0, name)?;
        } else {
            for (index, piece) in name.chunks_mut(8).enumerate() {
                let word = cell.load(cell::NAME.element(index)).to_le_bytes();
                piece.copy_from_slice(word.get(..piece.len()).ok_or(Errno::CORRUPT)?);
            }
        }
        Ok(name)
    }

    /// The hash of the name in a cell.
    #[inline(always)]
    pub(crate) fn hash_in(&self, line: Line<'_>) -> Result<u64, Errno> {
        let length = usize::from(line.load(cell::NAME_LENGTH));
        if (1..=cell::NAME_MAX).contains(&length) {
            return Ok(hash_of(length, name_words(line), self.secret()));
        }
        self.hash_of_long(line)
    }

    #[cold]
    #[inline(never)]
    fn hash_of_long(&self, line: Line<'_>) -> Result<u64, Errno> {
        let mut bytes = [0; NAME_MAX];
        let name = self.name_of(line, &mut bytes)?;
        Ok(Name::new(name, self.secret()).map_err(|_| Errno::CORRUPT)?.hash())
    }

    /// Prefetches the cells of a bucket's entries.
    #[inline(always)]
    pub(crate) fn fetch_cells(&self, bucket: Ref) {
        if let Ok(line) = self.line(bucket) {
            for place in places_used(line) {
                self.arena().fetch(Ref(line.load(bucket::ENTRY.element(place))));
            }
        }
    }

    /// Calls `act` for every entry's cell, bucket by bucket.
    pub(crate) fn each_entry(
        &self,
        directory: Line<'a>,
        mut act: impl FnMut(&Self, Ref) -> Result<(), Errno>,
    ) -> Result<(), Errno> {
        let body = self.body(directory)?;
        let Some(table) = Table::from_body(body) else {
            let only = Ref(body.load(cell::DATA));
            return if only.is_some() { act(self, only) } else { Ok(()) };
        };
        for number in 0..table.buckets() {
            // The cells lie anywhere, so their cache misses must overlap.
            self.fetch_cells(table.after(number, BUCKETS_AHEAD));
            let line = self.line(table.after(number, 0))?;
            for place in places_used(line) {
                act(self, Ref(line.load(bucket::ENTRY.element(place))))?;
            }
        }
        Ok(())
    }

    /// Whether an entry's bucket is right about whether the entry belongs there.
    pub(crate) fn is_marked(&self, body: Line<'a>, entry: &Entry<'a>, name: &Name<'_>) -> bool {
        let Some(table) = Table::from_body(body) else { return true };
        let is_native = table.after(table.home(name.hash()), 0) == entry.bucket;
        let strangers = self.line(entry.bucket).map(|line| line.load(bucket::STRANGERS));
        strangers.is_ok_and(|strangers| (strangers >> entry.place & 1 == 0) == is_native)
    }

    /// Logs that another cell takes over an entry.
    pub(crate) fn replace_entry(
        &self,
        at: Ref,
        directory: Line<'a>,
        entry: &Entry<'_>,
        cell: Ref,
    ) -> Result<(), Errno> {
        if entry.bucket.is_some() {
            self.put(entry.bucket, bucket::ENTRY.element(entry.place), cell.0);
        } else {
            self.put(self.inode(at, directory)?.body_at, cell::DATA, cell.0);
        }
        Ok(())
    }

    /// Logs that an entry is removed, and with the last one the table. `left` entries remain; the
    /// caller updates the count.
    #[inline]
    pub(crate) fn clear_entry(
        &self,
        at: Ref,
        directory: Line<'a>,
        entry: &Entry<'_>,
        left: u32,
    ) -> Result<(), Errno> {
        let directory = self.inode(at, directory)?;
        match Table::from_body(directory.body) {
            Some(table) if left == 0 => {
                self.give_run(table.start, table.buckets())?;
                self.put(directory.body_at, cell::DATA, 0_u32);
                self.put(directory.body_at, cell::FORM, 0_u8);
            }
            Some(_) => self.put(entry.bucket, bucket::TAG.element(entry.place), 0_u8),
            None => self.put(directory.body_at, cell::DATA, 0_u32),
        }
        Ok(())
    }
}

/// The part of a name that is in its cell.
#[inline(always)]
pub(crate) fn name_words(line: Line<'_>) -> [u64; cell::NAME_WORDS] {
    core::array::from_fn(|index| line.load(cell::NAME.element(index)))
}

/// The places of a bucket with this tag. Tags alone decide: a cleared place keeps its old cell.
#[inline(always)]
fn places_with(line: Line<'_>, tag: u8) -> impl Iterator<Item = usize> {
    places(line.bytes_like(tag))
}

/// The places of a bucket that are in use.
#[inline(always)]
fn places_used(line: Line<'_>) -> impl Iterator<Item = usize> {
    places(!line.bytes_like(0))
}

/// Like [`places_used`], as bits, the lowest for the first: of entries that belong in this bucket,
/// and of those that belong elsewhere.
#[inline(always)]
pub(crate) fn places_in_use(line: Line<'_>) -> (u32, u32) {
    let all = tags_among(!line.bytes_like(0));
    let strangers = u32::from(line.load(bucket::STRANGERS));
    (all & !strangers, all & strangers)
}

/// The places whose tags are among these bits, which stand for a bucket's first 16 bytes.
#[inline(always)]
fn places(bytes: u32) -> impl Iterator<Item = usize> {
    bits(tags_among(bytes))
}

/// The numbers of the bits that are set, from the lowest on.
#[inline(always)]
pub(crate) fn bits(all: u32) -> impl Iterator<Item = usize> {
    let mut all = all;
    core::iter::from_fn(move || {
        let place = (all != 0).then(|| all.trailing_zeros() as usize)?;
        all &= all - 1;
        Some(place)
    })
}

/// The bits of the tags, among the bits for a bucket's first 16 bytes.
#[inline(always)]
fn tags_among(bytes: u32) -> u32 {
    bytes >> bucket::TAG.byte() & ((1 << bucket::ENTRIES) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_is_found_at_its_byte() {
        for place in 0..bucket::ENTRIES {
            let bytes = 1 << (bucket::TAG.byte() + place) | 0xffff_000f;
            assert_eq!(places(bytes).collect::<std::vec::Vec<_>>(), [place]);
        }
    }
}
