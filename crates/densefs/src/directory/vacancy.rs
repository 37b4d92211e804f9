//! Names that a directory is to have: whether it has them, and where there is room.

use super::{BITS_MOST, Entry, Table, places_with};
use crate::annex::Inode;
use crate::arena::{Line, Ref, Word};
use crate::errno::Errno;
use crate::layout::{bucket, cell};
use crate::member::Member;
use crate::name::{NAME_MOST, Name};
use crate::seams::Seams;

/// Entries of a bucket, on average, from which on a table of more than one grows.
const FILL: u32 = 9;
/// Entries of a table of one bucket.
const SINGLE_MOST: u32 = 12;
/// Most buckets that an entry may lie away from where it belongs.
pub(crate) const REACH_MOST: u32 = 255;

const _: () = assert!(SINGLE_MOST as usize == bucket::ENTRIES);

/// Where an entry can be put, as long as the directory is locked and has the same table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Vacancy {
    /// Where the directory says where its entries are.
    body_at: Ref,
    /// The bucket, and the place there; no bucket if it is the directory's only entry.
    bucket: Ref,
    place: usize,
    tag: u8,
    /// Which entries of the bucket belong elsewhere then, if the bucket does not say so yet.
    strangers: Option<u16>,
    /// How far the bucket is from where the entry belongs, if that bucket does not say so yet.
    new_reach: Option<(Ref, u8)>,
}

/// What a directory has of a name.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Search<'a> {
    /// An entry.
    Found(Entry<'a>),
    /// None, and room for one.
    Vacant(Vacancy),
    /// Neither: it must grow before.
    Full,
}

impl Table {
    /// Whether it must be larger before another entry is added to so many.
    #[inline(always)]
    fn is_full_with(self, entries: u32) -> bool {
        match self.bits {
            BITS_MOST => false,
            0 => entries >= SINGLE_MOST,
            _ => entries >= FILL * self.buckets(),
        }
    }
}

impl<'a, S: Seams> Member<'a, S> {
    /// What a directory, which is locked, has of a name.
    #[inline(always)]
    pub(crate) fn search(
        &self,
        at: Ref,
        directory: Line<'a>,
        name: &Name<'_>,
    ) -> Result<Search<'a>, Errno> {
        let Inode { body_at, body, .. } = self.inode(at, directory)?;
        let Some(table) = Table::of(body) else {
            let (cell, bucket, place) = (Ref(body.load(cell::DATA)), Ref::NONE, 0);
            if cell.is_some() {
                let line = self.line(cell)?;
                let entry = Entry { cell, line, bucket, place };
                let is_it = self.is_named(line, name)?;
                return Ok(if is_it { Search::Found(entry) } else { Search::Full });
            }
            let (tag, strangers, new_reach) = (0, None, None);
            let vacancy = Vacancy { body_at, bucket, place, tag, strangers, new_reach };
            return Ok(Search::Vacant(vacancy));
        };
        let (home, tag) = (table.home(name.hash()), table.tag(name.hash()));
        let home_line = self.line(table.after(home, 0))?;
        let reach = home_line.load(bucket::REACH).into();
        let (mut line, mut distance, mut room) = (home_line, 0, None);
        loop {
            for place in places_with(line, tag) {
                let cell = Ref(line.load(bucket::ENTRY.element(place)));
                let found = self.line(cell)?;
                if self.is_named(found, name)? {
                    let bucket = table.after(home, distance);
                    return Ok(Search::Found(Entry { cell, line: found, bucket, place }));
                }
            }
            if room.is_none() {
                room = places_with(line, 0).next().map(|place| (line, distance, place));
            }
            if distance >= reach {
                break;
            }
            distance += 1;
            line = self.line(table.after(home, distance))?;
        }
        if table.is_full_with(directory.load(cell::ENTRIES)) {
            return Ok(Search::Full);
        }
        let (line, distance, place) = match room {
            Some(room) => room,
            None => {
                let distance = self.room_behind(table, home, reach + 1)?;
                let line = self.line(table.after(home, distance))?;
                (line, distance, places_with(line, 0).next().ok_or(Errno::CORRUPT)?)
            }
        };
        let new_reach = (distance > reach).then(|| (table.after(home, 0), reach_of(distance)));
        let strangers = new_strangers(line, place, distance > 0);
        let bucket = table.after(home, distance);
        Ok(Search::Vacant(Vacancy { body_at, bucket, place, tag, strangers, new_reach }))
    }

    /// How far from where an entry belongs a bucket with room is: so far or farther.
    #[cold]
    #[inline(never)]
    fn room_behind(&self, table: Table, home: u32, distance: u32) -> Result<u32, Errno> {
        let farthest = REACH_MOST.min(table.buckets() - 1);
        for distance in distance..=farthest {
            let line = self.line(table.after(home, distance))?;
            if places_with(line, 0).next().is_some() {
                return Ok(distance);
            }
        }
        Err(Errno::NOSPC)
    }

    /// Gives a directory, which is locked, twice as many buckets, or its first one. The log must be
    /// empty.
    #[cold]
    #[inline(never)]
    pub(crate) fn grow(&self, at: Ref, directory: Line<'a>) -> Result<(), Errno> {
        let inode = self.inode(at, directory)?;
        let bits = Table::of(inode.body).map_or(0, |table| table.bits + 1);
        self.grow_to(&inode, bits.min(BITS_MOST))
    }

    /// Gives a directory a table of 2^`bits` buckets.
    fn grow_to(&self, directory: &Inode<'a>, bits: u32) -> Result<(), Errno> {
        let lines = 1 << bits;
        let start = self.obtain_run(lines)?;
        let table = Table { start, bits };
        self.zero(start, lines)?;
        self.each_entry(directory.line, |member, cell| {
            let mut bytes = [0; NAME_MOST];
            let name = member.name_of(member.line(cell)?, &mut bytes)?;
            let name = Name::of(name, member.secret()).map_err(|_| Errno::CORRUPT)?;
            let home = table.home(name.hash());
            let distance = member.room_behind(table, home, 0)?;
            let line = member.line(table.after(home, distance))?;
            let place = places_with(line, 0).next().ok_or(Errno::CORRUPT)?;
            let home = member.line(table.after(home, 0))?;
            if distance > home.load(bucket::REACH).into() {
                member.fill(home, bucket::REACH, reach_of(distance));
            }
            if let Some(strangers) = new_strangers(line, place, distance > 0) {
                member.fill(line, bucket::STRANGERS, strangers);
            }
            member.fill(line, bucket::ENTRY.element(place), cell.0);
            member.fill(line, bucket::TAG.element(place), table.tag(name.hash()));
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

    /// Puts an entry into the log, for which there is room; the count of entries is the caller's.
    #[inline(always)]
    pub(crate) fn place_entry(&self, vacancy: &Vacancy, cell: Ref) {
        if !vacancy.bucket.is_some() {
            self.put(vacancy.body_at, cell::DATA, cell.0);
            return;
        }
        if let Some((home, reach)) = vacancy.new_reach {
            self.put(home, bucket::REACH, reach);
        }
        if let Some(strangers) = vacancy.strangers {
            self.put(vacancy.bucket, bucket::STRANGERS, strangers);
        }
        self.put(vacancy.bucket, bucket::ENTRY.element(vacancy.place), cell.0);
        self.put(vacancy.bucket, bucket::TAG.element(vacancy.place), vacancy.tag);
    }
}

/// Which entries of a bucket belong elsewhere once one at this place does or does not; none if the
/// bucket says so already.
#[inline(always)]
fn new_strangers(line: Line<'_>, place: usize, is_stranger: bool) -> Option<u16> {
    let before = line.load(bucket::STRANGERS);
    let now = before & !(1 << place) | u16::from(is_stranger) << place;
    (now != before).then_some(now)
}

/// A distance of buckets as a bucket says it.
#[inline(always)]
fn reach_of(distance: u32) -> u8 {
    u8::of_bits(distance.into())
}
