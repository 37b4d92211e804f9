//! Entries of directories: found by hash, added, taken away.
//!
//! A directory of one entry refers to it. A larger one has a table of 2^n buckets of one line, each
//! for the names whose hashes begin with the same n bits, in that order. So a table twice as large
//! has everything in the same order, and a listing that was begun before can go on. A bucket holds
//! twelve entries; what does not fit is put into one of the next ones, and the bucket where it
//! belongs says how far away the farthest is.

use crate::annex::Inode;
use crate::arena::{LINES_PER_PAGE, Line, Ref, Word};
use crate::errno::Errno;
use crate::layout::{bucket, cell, zone};
use crate::member::Member;
use crate::name::{NAME_MOST, Name};
use crate::seams::Seams;

/// Most buckets of a table, as bits: what a run can have.
const BITS_MOST: u32 = (zone::RUN_PAGES_MOST * LINES_PER_PAGE).ilog2();
/// Entries of a bucket, on average, from which on a table of more than one grows.
const FILL: u32 = 9;
/// Entries of a table of one bucket.
const SINGLE_MOST: u32 = 12;
/// Most buckets that an entry may lie away from where it belongs.
pub(crate) const REACH_MOST: u32 = 255;

const _: () = assert!(SINGLE_MOST as usize == bucket::ENTRIES);

/// The buckets of a directory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Table {
    pub(crate) start: Ref,
    pub(crate) bits: u32,
}

impl Table {
    /// That of the directory with this body; none if it has no more than one entry.
    #[inline(always)]
    pub(crate) fn of(body: Line<'_>) -> Option<Self> {
        let form = u32::from(body.load(cell::FORM));
        let bits = form.checked_sub(1)?.min(BITS_MOST);
        Some(Self { start: Ref(body.load(cell::DATA)), bits })
    }

    pub(crate) fn buckets(self) -> u32 {
        1 << self.bits
    }

    /// The number of the bucket where this hash belongs.
    #[inline(always)]
    pub(crate) fn home(self, hash: u64) -> u32 {
        // A shift by 64 in two steps.
        u32::of_bits((hash >> 1) >> (63 - self.bits))
    }

    /// A bucket so many after another.
    #[inline(always)]
    pub(crate) fn after(self, home: u32, distance: u32) -> Ref {
        self.start.plus((home + distance) & (self.buckets() - 1))
    }
}

/// Where an entry stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<'a> {
    /// The cell with its name: an inode's, or that of a further name.
    pub(crate) cell: Ref,
    pub(crate) line: Line<'a>,
    /// Its bucket, and its place there; no bucket if it is the directory's only one.
    bucket: Ref,
    place: usize,
}

/// Where an entry can be put.
#[derive(Clone, Copy, Debug)]
struct Vacancy {
    home: Ref,
    bucket: Ref,
    place: usize,
    /// How far the bucket is from where the entry belongs, if that bucket does not say so yet.
    new_reach: Option<u32>,
}

impl<'a, S: Seams> Member<'a, S> {
    /// The entry of that name.
    #[inline]
    pub(crate) fn find(
        &self,
        directory: Line<'a>,
        name: &Name<'_>,
    ) -> Result<Option<Entry<'a>>, Errno> {
        let body = self.body(directory)?;
        let Some(table) = Table::of(body) else {
            let cell = Ref(body.load(cell::DATA));
            if !cell.is_some() {
                return Ok(None);
            }
            let line = self.line(cell)?;
            let is_it = self.is_named(line, name)?;
            return Ok(is_it.then_some(Entry { cell, line, bucket: Ref::NONE, place: 0 }));
        };
        let home = table.home(name.hash());
        let (mut distance, mut reach) = (0, 0);
        while distance <= reach {
            let at = table.after(home, distance);
            let line = self.line(at)?;
            if distance == 0 {
                reach = line.load(bucket::REACH).min(REACH_MOST);
            }
            for place in places_with(line, name.tag()) {
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

    /// The cell with that name, which is short and no entry's of a directory with an annex.
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
        if bits > BITS_MOST {
            return Err(Errno::AGAIN);
        }
        let table = Table { start: data, bits };
        let home = table.home(name.hash());
        let (mut distance, mut reach) = (0, 0);
        loop {
            let line = self.line(table.after(home, distance))?;
            if distance == 0 {
                reach = line.load(bucket::REACH).min(REACH_MOST);
            }
            for place in places_with(line, name.tag()) {
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
        let mut bytes = [0; NAME_MOST];
        Ok(self.name_of(cell, &mut bytes)? == name.bytes())
    }

    /// The name of an entry.
    pub(crate) fn name_of<'b>(
        &self,
        cell: Line<'_>,
        into: &'b mut [u8; NAME_MOST],
    ) -> Result<&'b [u8], Errno> {
        let length = usize::from(cell.load(cell::NAME_LENGTH));
        let name = into.get_mut(..length).ok_or(Errno::CORRUPT)?;
        if length > cell::NAME_MOST {
            self.arena().copy_out(Ref(cell.load(cell::LONG_NAME)), 0, name)?;
        } else {
            for (index, piece) in name.chunks_mut(8).enumerate() {
                let word = cell.load(cell::NAME.element(index)).to_le_bytes();
                piece.copy_from_slice(word.get(..piece.len()).ok_or(Errno::CORRUPT)?);
            }
        }
        Ok(name)
    }

    /// Sees to it that one more entry fits into a directory, which is locked. The log must be
    /// empty.
    #[inline]
    pub(crate) fn make_room(&self, at: Ref, directory: Line<'a>) -> Result<(), Errno> {
        let entries = directory.load(cell::ENTRIES);
        let directory = self.inode(at, directory)?;
        let bits = match Table::of(directory.body) {
            None if entries == 0 => return Ok(()),
            None => 0,
            Some(Table { bits: BITS_MOST, .. }) => return Ok(()),
            Some(Table { bits: 0, .. }) if entries < SINGLE_MOST => return Ok(()),
            Some(table) if table.bits > 0 && entries < FILL * table.buckets() => return Ok(()),
            Some(table) => table.bits + 1,
        };
        self.grow(&directory, bits)
    }

    /// Gives a directory a table of 2^`bits` buckets.
    #[cold]
    #[inline(never)]
    fn grow(&self, directory: &Inode<'a>, bits: u32) -> Result<(), Errno> {
        let lines = 1 << bits;
        let start = self.obtain_run(lines)?;
        let table = Table { start, bits };
        self.zero(start, lines)?;
        self.each_entry(directory.line, |member, cell| {
            let mut bytes = [0; NAME_MOST];
            let name = member.name_of(member.line(cell)?, &mut bytes)?;
            let name = Name::of(name, member.secret()).map_err(|_| Errno::CORRUPT)?;
            let vacancy = member.vacancy(table, name.hash())?;
            if let Some(reach) = vacancy.new_reach {
                member.fill(member.line(vacancy.home)?, bucket::REACH, reach);
            }
            let line = member.line(vacancy.bucket)?;
            member.fill(line, bucket::ENTRY.element(vacancy.place), cell.0);
            member.fill(line, bucket::TAG.element(vacancy.place), name.tag());
            Ok(())
        })?;
        self.take_run(start)?;
        if let Some(old) = Table::of(directory.body) {
            self.give_run(old.start, old.buckets())?;
        }
        self.put(directory.body_at, cell::DATA, start.0);
        self.put(directory.body_at, cell::FORM, u8::of_bits(u64::from(bits) + 1));
        self.commit();
        Ok(())
    }

    /// Every entry's cell, bucket by bucket.
    pub(crate) fn each_entry(
        &self,
        directory: Line<'a>,
        mut act: impl FnMut(&Self, Ref) -> Result<(), Errno>,
    ) -> Result<(), Errno> {
        let body = self.body(directory)?;
        let Some(table) = Table::of(body) else {
            let only = Ref(body.load(cell::DATA));
            return if only.is_some() { act(self, only) } else { Ok(()) };
        };
        for number in 0..table.buckets() {
            let line = self.line(table.start.plus(number))?;
            for place in places_used(line) {
                act(self, Ref(line.load(bucket::ENTRY.element(place))))?;
            }
        }
        Ok(())
    }

    /// Where an entry with this hash can be put.
    fn vacancy(&self, table: Table, hash: u64) -> Result<Vacancy, Errno> {
        let home = table.home(hash);
        let mut reach = 0;
        for distance in 0..=REACH_MOST.min(table.buckets() - 1) {
            let at = table.after(home, distance);
            let line = self.line(at)?;
            if distance == 0 {
                reach = line.load(bucket::REACH);
            }
            if let Some(place) = places_with(line, 0).next() {
                let new_reach = (distance > reach).then_some(distance);
                return Ok(Vacancy { home: table.after(home, 0), bucket: at, place, new_reach });
            }
        }
        Err(Errno::NOSPC)
    }

    /// Puts an entry into the log, for which there is room; the count of entries is the caller's.
    #[inline]
    pub(crate) fn place_entry(
        &self,
        at: Ref,
        directory: Line<'a>,
        name: &Name<'_>,
        cell: Ref,
    ) -> Result<(), Errno> {
        let directory = self.inode(at, directory)?;
        let Some(table) = Table::of(directory.body) else {
            self.put(directory.body_at, cell::DATA, cell.0);
            return Ok(());
        };
        let vacancy = self.vacancy(table, name.hash())?;
        if let Some(reach) = vacancy.new_reach {
            self.put(vacancy.home, bucket::REACH, reach);
        }
        self.put(vacancy.bucket, bucket::ENTRY.element(vacancy.place), cell.0);
        self.put(vacancy.bucket, bucket::TAG.element(vacancy.place), name.tag());
        Ok(())
    }

    /// Puts into the log that another cell has the name of an entry.
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

    /// Puts into the log that an entry is gone, and with the last one the table; the count of
    /// entries, of which so many are `left`, is the caller's.
    #[inline]
    pub(crate) fn clear_entry(
        &self,
        at: Ref,
        directory: Line<'a>,
        entry: &Entry<'_>,
        left: u32,
    ) -> Result<(), Errno> {
        let directory = self.inode(at, directory)?;
        match Table::of(directory.body) {
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

/// The places of a bucket with this tag, and no others: a place that has been cleared still says
/// what was there.
#[inline(always)]
fn places_with(line: Line<'_>, tag: u8) -> impl Iterator<Item = usize> {
    places(line.bytes_like(tag))
}

/// The places of a bucket that hold an entry.
#[inline(always)]
pub(crate) fn places_used(line: Line<'_>) -> impl Iterator<Item = usize> {
    places(!line.bytes_like(0))
}

/// The same, a bit for each, the lowest for the first.
#[inline(always)]
pub(crate) fn places_in_use(line: Line<'_>) -> u32 {
    tags_among(!line.bytes_like(0))
}

/// The places of those bits that are tags' among the bits of a bucket's first 16 bytes.
#[inline(always)]
fn places(bytes: u32) -> impl Iterator<Item = usize> {
    let mut all = tags_among(bytes);
    core::iter::from_fn(move || {
        let place = (all != 0).then(|| all.trailing_zeros() as usize)?;
        all &= all - 1;
        Some(place)
    })
}

/// The bits that are tags' among those of a bucket's first 16 bytes.
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
